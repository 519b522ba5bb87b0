"""Values that are probably slips: rare ones, near to values that are more frequent."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.compared_pairs import PairParts
from kolchin.comparison.kinds.base import EXACT, Levels
from kolchin.comparison.kinds.preparing import PreparedField

MOST_RECORDS, TIMES = 2, 3
"""A slip stands in so few records, and what was meant in so many times as many."""


def find_slips(
    prepared: Sequence[PreparedField],
    parts: PairParts,
    outcomes: Levels,
    agrees: Sequence[NDArray[np.bool_]],
    likely: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Tell which values of each record are probably slips, (record, field), as likely links show.

    Where two records of a person have Anna, and a third one Amna, that one shows the slip.
    ``likely`` are the outcomes of likely links.
    """
    is_slip = np.zeros((prepared[0].codes.size, len(prepared)), dtype=np.bool_)
    is_near = [
        likely & agree[levels] & (levels > EXACT)
        for agree, levels in zip(agrees, outcomes.T, strict=True)
    ]
    # A missing value has the code -1.
    n_equal = [np.append(one.counts, 0)[one.codes] for one in prepared]
    for part in parts:
        for f, near in enumerate(is_near):
            pairs = part.pairs[near[part.which]]
            left, right = n_equal[f][pairs].T
            for own, other, records in ((left, right, pairs[:, 0]), (right, left, pairs[:, 1])):
                found = (own <= MOST_RECORDS) & (other >= TIMES * own)
                is_slip[records[found], f] = True
    return is_slip
