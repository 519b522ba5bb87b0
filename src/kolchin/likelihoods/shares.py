"""What the pairs of patterns are shared out into: sets, entities, families."""

from typing import NamedTuple

from kolchin.parameters import FloatArray


class Shares(NamedTuple):
    """Pairs by shared set and by set that entities have replaced, and the levels among them.

    ``linked`` and ``sharing`` are the pairs of each pattern (those that share a set which was
    counted among all records are left out of the latter), ``wrong`` those of entities by what is
    seen and how many of it is wrong. ``beside`` has the levels beside shared sets, ``leaked`` how
    many pairs share one more field for the same reason, and of how many. ``family`` has the levels
    of alike records, where these are a class.
    """

    by_set: FloatArray
    by_entity: FloatArray
    typed: FloatArray
    m: FloatArray
    linked: FloatArray
    sharing: FloatArray
    wrong: FloatArray
    beside: FloatArray
    leaked: FloatArray
    family: FloatArray
