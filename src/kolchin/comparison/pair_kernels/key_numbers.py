"""Keys are numbered by first appearance, and a share of them is sampled."""

from typing import Any

import numpy as np

from kolchin.kernels.compiling import compiled
from kolchin.kernels.hashing import GOLDEN, STIRRING


@compiled
def sample_keys(keys: Any, share: float) -> Any:
    """Return the keys of a random share of all keys, always the same."""
    result = np.empty(keys.size, dtype=np.int64)
    below = np.uint64(share * 2**24)
    n = 0
    for k in range(keys.size):
        mixed = np.uint64(keys[k]) * GOLDEN
        mixed = (mixed ^ (mixed >> np.uint64(31))) * STIRRING
        if mixed >> np.uint64(40) < below:
            result[n] = keys[k]
            n += 1
    return result[:n].copy()


@compiled
def find_slot(table: Any, key: int) -> Any:
    """Return where a key is in a table of a power of two entries, or where it belongs."""
    mask = np.uint64(table.size - 1)
    mixed = np.uint64(key) * GOLDEN
    slot = (mixed ^ (mixed >> np.uint64(32))) & mask
    while table[slot] >= 0 and table[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@compiled
def number_keys(keys: Any, numbers: Any) -> Any:
    """Write the number of each key (0 or more) by first appearance; return where each is first.

    The table grows with the distinct keys, which are few: a small one stays in the cache.
    The distinct keys are put to the front of ``keys``.
    """
    table, slots = np.full(1 << 10, -1, dtype=np.int64), np.empty(1 << 10, dtype=np.int32)
    n = 0
    for k in range(keys.size):
        key = keys[k]
        slot = find_slot(table, key)
        if table[slot] < 0:
            table[slot] = key
            slots[slot] = n
            keys[n] = key
            numbers[k] = n
            n += 1
            if 2 * n > table.size:
                table, slots = np.full(4 * table.size, -1, dtype=np.int64), np.repeat(slots, 4)
                for i in range(n):
                    slot = find_slot(table, keys[i])
                    table[slot] = keys[i]
                    slots[slot] = i
        else:
            numbers[k] = slots[slot]
    first = np.empty(n, dtype=np.int64)
    seen = 0
    for k in range(keys.size):
        if numbers[k] == seen:
            first[seen] = k
            seen += 1
            if seen == n:
                break
    return first
