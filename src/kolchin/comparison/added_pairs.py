"""Candidate pairs that have an added record, found by the keys that the table was compared by.

Blocks that have no added record are not looked at: what is found costs as much as is new, and one
look at each key's blocks.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.blocking.blocked_pairs import KeySelection, put_order
from kolchin.comparison.blocking.keys import ORDER, RANK, SCANNED, Section, hash_blocks
from kolchin.comparison.blocking.pair_budget import (
    KeyUse,
    PairBudget,
    list_neighbours,
    sort_distinct,
)
from kolchin.comparison.kinds.preparing import PreparedField
from kolchin.comparison.pair_kernels.blocks import count_pairs, list_pairs, unpack_pairs
from kolchin.store import StoreShelf
from kolchin.workplace import fetch_held, work_here

MARKS = (1 << 22) - 1
"""Blocks with an added record are marked by so many bits of theirs; few others have the same."""

LIMIT, WINDOW = 200, 2
"""Of keys that users gave, which may have found nothing before."""


def find_added_candidates(
    prepared: Sequence[PreparedField],
    is_added: NDArray[np.bool_],
    used: Sequence[KeyUse],
    given: Sequence[Sequence[str]] = (),
) -> NDArray[np.int32]:
    """Return pairs with an added record that some key finds, sorted, each once.

    ``used`` are the keys that the others were compared by, ``given`` those of users.
    """
    work, n_records = work_here(), is_added.size
    shelf = StoreShelf(work.store)
    put_order(prepared, shelf)
    keys = KeySelection(prepared, shelf, PairBudget(work, n_records, 1), 0.0)
    reach = {one.key: (one.limit, one.window) for one in used}
    found = [np.empty(0, dtype=np.int64)]
    for key in keys.list_named_keys(reach, given):
        section = Section(work.store, key, n_records)
        if key.window:
            pairs = list_neighbours(section)
        else:
            pairs = _in_blocks(section, is_added, *reach.get(key.name, (LIMIT, WINDOW)))
        low, high = np.divmod(pairs, n_records)
        found.append(pairs[is_added[low] | is_added[high]])
    shelf.clear()
    listed: NDArray[np.int32] = unpack_pairs(sort_distinct(np.concatenate(found)), n_records)[0]
    return listed


def _in_blocks(
    section: Section, is_added: NDArray[np.bool_], limit: int, window: int
) -> NDArray[np.int64]:
    """List the pairs of blocks that have an added record, packed as low * n_records + high."""
    packed = _pack_added(section, is_added)
    records = fetch_held(section.store, ORDER)[packed & ((1 << section.shift) - 1)]
    packed >>= section.shift
    out = np.empty(int(count_pairs(packed, np.array([limit]), window)[0, 0]), dtype=np.int64)
    n = list_pairs(packed, records, section.n_records, limit, window, out)
    return out[:n]


def _pack_added(section: Section, is_added: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the blocks that may have an added record, as sections do, and the places in them."""
    store, key, rank = section.store, section.key, fetch_held(section.store, RANK)
    marked = np.zeros(MARKS + 1, dtype=bool)
    scanned = []
    for first in range(0, key.size, SCANNED):
        last = min(first + SCANNED, key.size)
        blocks = hash_blocks(key.blocks(store, first, last), 63 - section.shift)
        inside = slice(first, last)
        records = inside if key.records is None else fetch_held(store, key.records)[inside]
        marked[blocks[is_added[records] & (blocks >= 0)] & MARKS] = True
        scanned.append((blocks, records))
    found = [np.empty(0, dtype=np.int64)]
    for blocks, records in scanned:
        near = marked[blocks & MARKS] & (blocks >= 0)
        found.append(blocks[near] << section.shift | rank[records][near])
    packed = np.concatenate(found)
    packed.sort()
    return packed


def all_with_added(is_added: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return all pairs that have an added record, sorted.

    >>> all_with_added(np.array([False, True, False])).tolist()
    [[0, 1], [1, 2]]
    """
    every, added = np.arange(is_added.size), np.flatnonzero(is_added)
    low = np.minimum(added[:, None], every).ravel()
    high = np.maximum(added[:, None], every).ravel()
    packed = sort_distinct((low * is_added.size + high)[low < high])
    return np.column_stack(np.divmod(packed, is_added.size)).astype(np.int32)
