"""Whether unrelated records may share a set of fields, or all else be replaced in an entity's.

Pairs that agree on some fields alone can be read in both ways, and no likelihood of pairs can tell.
What is known of other sets, and of how much agreement says, can.
"""

from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from kolchin.parameters import FloatArray

FEW_VALUES = 0.34
"""Unrelated records agree so often on a field of few values."""

FAR_MORE = 2.0
"""Fields that tell so many times more than those that differ are not shared by coincidence, and
one of two readings counts if its fields are shared by so many times more pairs."""

MORE = 1.25
"""Who agrees on fields that tell so many times more than those that differ may well be the same."""

UNSUPPORTED, SUPPORTED = 0.1, 0.5
"""So many pairs a record may share a set that identifies, or so many for each pair that shares all
of the set but for a field."""


class Agreement(NamedTuple):
    """What agreement says of fields (in nats), which have few values, and who shares which sets.

    ``sharing[set]`` is the number of unrelated pairs, of ``n_records``, that share a set (bits).
    """

    says: FloatArray
    has_few_values: NDArray[np.bool_]
    n_records: int
    sharing: Mapping[int, float]

    @classmethod
    def of(
        cls, exact: FloatArray, shows: FloatArray, n_records: int, sharing: Mapping[int, float]
    ) -> Self:
        """Return what agreement says, by how often unrelated records agree and records show."""
        return cls(-np.log(exact) * shows, exact > FEW_VALUES, n_records, sharing)

    def tell_readings(self, agreed: int, rest: int) -> tuple[bool, bool]:
        """Tell whether a set may be shared by unrelated records, and whether the rest be replaced.

        What unrelated records share, as they do an address, is what changes at once, too: where one
        reading has such fields together far more than the other, that one counts. But who agrees on
        far more than differs is the same.
        """
        together, moved = self._count_most_sharing(agreed), self._count_most_sharing(rest)
        agreeing, differing = self._sum(agreed), self._sum(rest)
        may_share = FAR_MORE * together >= moved and agreeing < FAR_MORE * differing
        return may_share, FAR_MORE * moved >= together or not may_share

    def may_share(self, agreed: int, n_pairs: float) -> bool:
        """Tell whether so many unrelated pairs may share a set.

        Unrelated records that agree on what identifies do so for a reason by which far more agree
        on a little less: twins live in households. Without such pairs there are few, and many are
        of one entity, all else of which was replaced.
        """
        if self._sum(agreed) < np.log(self.n_records):
            return True
        with_less = [n for one, n in self.sharing.items() if (agreed & ~one).bit_count() == 1]
        return n_pairs < max(UNSUPPORTED * self.n_records, SUPPORTED * sum(with_less))

    def says_more(self, agreed: int, rest: int) -> bool:
        """Tell whether who agrees on a set, and on nothing else, may well be the same."""
        return self._sum(agreed) > MORE * self._sum(rest)

    def _sum(self, fields: int) -> float:
        """Return what agreement on some fields says."""
        return float(sum(nats for f, nats in enumerate(self.says) if fields >> f & 1))

    def _count_most_sharing(self, fields: int) -> float:
        """Return how many unrelated pairs share a set that has two of some fields together.

        Fields of few values do not count: a first name tells the sex, and that is no reason.
        """
        telling = fields & sum(1 << f for f, few in enumerate(self.has_few_values) if not few)
        inside = [n for one, n in self.sharing.items() if (one & telling).bit_count() >= 2]
        return max(inside, default=0.0)
