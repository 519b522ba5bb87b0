"""Records are compared, and what it means that they agree is learned from all pairs."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison import Comparisons
from kolchin.comparison import compare as compare_fields
from kolchin.errors import ModelError
from kolchin.likelihoods.compared_patterns import MOST_FIELDS
from kolchin.likelihoods.exemplar import Exemplar
from kolchin.records import Categorical, Records
from kolchin.workplace import Workplace


def compare(
    records: Records,
    keys: Sequence[Sequence[str]] = (),
    sources: NDArray[np.int32] | None = None,
) -> Exemplar:
    """Compare records, and learn from all pairs what it means that they agree.

    All fields are compared: how near values are, which fields move together, how many err. Returns
    a likelihood for :class:`Model`.

    Parameters
    ----------
    records
        The encoded table; categorical fields are compared, too.
    keys
        Keys beside those that are found automatically, each a tuple of columns: records that agree
        on all of them are compared.
    sources
        The number of each record's source (-1: none), if records of one source are never of one
        entity, as in lists that have each thing once.

    Examples
    --------
    >>> names = ["anna", "ana", "berta", "carla", "dora", "emma"]
    >>> records = Records.from_table({"name": names}, fields=["name"])
    >>> compare(records)
    Exemplar(6 records, 1 field)
    """
    return Exemplar.fit(compare_records(records, keys, sources=sources))


def compare_records(
    records: Records,
    keys: Sequence[Sequence[str]] = (),
    tell: Callable[[str], None] | None = None,
    work: Workplace | None = None,
    sources: NDArray[np.int32] | None = None,
) -> Comparisons:
    """Compare all fields of records, for the pairs that may be of one entity.

    ``tell`` is called with a few words on what is going on; ``work`` is where that is done. Records
    of one of the ``sources`` are never of one entity.
    """
    given = [f.column for f in records.fields if isinstance(f, Categorical) and f.frequencies]
    if given:
        raise ModelError(
            f"The frequencies of {', '.join(map(repr, given))} can only be given with "
            "likelihood='categorical': where fields are compared, chance is learnt from the table."
        )
    if len(records.fields) > MOST_FIELDS:
        raise ModelError(
            f"There may be at most {MOST_FIELDS} compared fields. Got {len(records.fields)} "
            "instead: leave some out, or use likelihood='categorical'."
        )
    return compare_fields(records.as_compared(), keys=keys, sources=sources, tell=tell, work=work)
