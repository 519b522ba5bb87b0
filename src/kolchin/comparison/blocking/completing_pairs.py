"""Pairs that keys left out of large groups: records that are linked through others.

A key lists large blocks in part only, else pairs would grow with the square of the records.
Entities of dozens of records fill such blocks, and a pair that was not compared counts as different
in all fields, so they could never be found whole. Records that agree on nearly all that both show,
beyond chance, are mostly of one entity: where they form a group, all of its pairs are candidates.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from kolchin.comparison.blocking.pair_budget import sort_distinct
from kolchin.comparison.compared_pairs import PairParts
from kolchin.comparison.kinds.base import Levels
from kolchin.comparison.levels.possible_pairs import Possible

LARGEST_GROUP = 400
"""Of larger groups nothing is completed: they are not of one entity."""

FEWEST_FIELDS, MOST_APART = 3, 0.25
"""Records agree clearly on so many fields at least, or on all that there are, and of those that
both show they differ in such a share at most, and in one."""

WORTH_IT = 0.02
"""Nothing is completed if there are fewer pairs to add, for each that agrees clearly."""

FOUND_BY = 3
"""Such pairs count as found by so many keys: they do not tell what keys miss."""


class Groups(NamedTuple):
    """Groups of records that are linked through others: of each record, and how many have it."""

    of_record: NDArray[np.int32]
    sizes: NDArray[np.int64]

    def list_pairs(self, wanted: NDArray[np.bool_]) -> NDArray[np.int64]:
        """List all pairs of some groups, packed as low * n_records + high, sorted."""
        n_records = self.of_record.size
        order = np.argsort(self.of_record, kind="stable")
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        packed = [np.empty(0, dtype=np.int64)]
        for group in np.flatnonzero(wanted):
            members = order[starts[group] : starts[group + 1]]
            low, high = np.triu_indices(members.size, 1)
            packed.append(members[low] * n_records + members[high])
        result: NDArray[np.int64] = np.sort(np.concatenate(packed))
        return result


def tell_clear_agreement(
    levels: Levels, likely: NDArray[np.bool_], agrees: list[NDArray[np.bool_]]
) -> NDArray[np.bool_]:
    """Tell the outcomes that are likely links and agree on nearly all that both records show."""
    shown = levels >= 0
    agree = np.column_stack([good[level] for good, level in zip(agrees, levels.T, strict=True)])
    n_shown, n_agree = shown.sum(axis=1), (agree & shown).sum(axis=1)
    n_apart = n_shown - n_agree
    is_near = (n_apart <= 1) & (n_apart <= MOST_APART * n_shown)
    result: NDArray[np.bool_] = likely & is_near & (n_agree >= min(FEWEST_FIELDS, levels.shape[1]))
    return result


def find_completing_pairs(
    parts: PairParts, clear: NDArray[np.bool_], possible: Possible, n_records: int, budget: int
) -> NDArray[np.int64]:
    """Return the pairs that complete groups of clear agreement, packed, sorted; none if too few.

    ``clear`` tells the outcomes of pairs that agree clearly. Small groups come first, as long as
    there is room for their pairs.
    """
    groups, n_clear = _find_groups(parts, clear, n_records)
    inside = [_pack_inside(one.pairs, groups) for one in parts]
    present = np.concatenate([np.empty(0, dtype=np.int64), *inside])
    n_present = np.bincount(groups.of_record[present // n_records], minlength=groups.sizes.size)
    missing = groups.sizes * (groups.sizes - 1) // 2 - n_present
    order = np.argsort(groups.sizes, kind="stable")
    fits = np.zeros(missing.size, dtype=bool)
    fits[order] = np.cumsum(missing[order]) <= budget
    wanted = fits & (missing > 0) & (groups.sizes <= LARGEST_GROUP)
    if missing[wanted].sum() < WORTH_IT * n_clear:
        return np.empty(0, dtype=np.int64)
    packed = np.setdiff1d(groups.list_pairs(wanted), sort_distinct(present), assume_unique=True)
    pairs = np.column_stack(np.divmod(packed, n_records)).astype(np.int32)
    packed = packed[possible.keeps(pairs)]
    return packed if packed.size >= WORTH_IT * n_clear else packed[:0]


def _find_groups(parts: PairParts, clear: NDArray[np.bool_], n_records: int) -> tuple[Groups, int]:
    """Return the groups that clear agreement joins, and how many pairs agree so."""
    joined = [one.pairs[clear[one.which]] for one in parts]
    pairs = np.concatenate([np.empty((0, 2), dtype=np.int32), *joined])
    graph = coo_array((np.ones(len(pairs), dtype=bool), tuple(pairs.T)), (n_records, n_records))
    n_groups, of_record = connected_components(graph, directed=False)
    return Groups(of_record, np.bincount(of_record, minlength=n_groups)), len(pairs)


def _pack_inside(pairs: NDArray[np.int32], groups: Groups) -> NDArray[np.int64]:
    """Pack the pairs whose records are of one group."""
    of_first, of_second = groups.of_record[pairs].T
    inside = pairs[of_first == of_second].astype(np.int64)
    result: NDArray[np.int64] = inside[:, 0] * groups.of_record.size + inside[:, 1]
    return result
