"""Sets of records are numbered by what they hold."""

from typing import Any

import numpy as np

from kolchin.kernels.compiling import compiled


@compiled
def number_sets(
    members: Any,
    sizes: Any,
    times: Any,
    keys: Any,
    table: Any,
    hashes: Any,
    lengths: Any,
    counts: Any,
    n_known: int,
    ids: Any,
) -> int:
    """Give sets of records numbers by content and return how many are known now.

    Set k counts ``times[k]`` times. The hash of a set is the exclusive or of two random 64-bit
    keys of its members.
    """
    mask = np.uint64(table.size - 1)
    position = 0
    for k in range(sizes.size):
        low, high = np.uint64(0), np.uint64(0)
        for n in members[position : position + sizes[k]]:
            low ^= keys[n, 0]
            high ^= keys[n, 1]
        position += sizes[k]
        slot = np.int64(low & mask)
        while table[slot] >= 0:
            known = table[slot]
            if hashes[known, 0] == low and hashes[known, 1] == high:
                break
            slot = (slot + 1) & (table.size - 1)
        if table[slot] < 0:
            table[slot] = n_known
            hashes[n_known, 0] = low
            hashes[n_known, 1] = high
            lengths[n_known] = sizes[k]
            n_known += 1
        ids[k] = table[slot]
        counts[table[slot]] += times[k]
    return n_known


@compiled
def fill_table(table: Any, hashes: Any, n_known: int) -> None:
    """Enter known hashes into an empty table."""
    mask = np.uint64(table.size - 1)
    for known in range(n_known):
        slot = np.int64(hashes[known, 0] & mask)
        while table[slot] >= 0:
            slot = (slot + 1) & (table.size - 1)
        table[slot] = known


@compiled
def copy_sets(members: Any, sizes: Any, ids: Any, offsets: Any, n_known: int, out: Any) -> int:
    """Copy the members of sets not copied before; sets are numbered in order of appearance."""
    position = 0
    for k in range(sizes.size):
        if ids[k] == n_known:
            for i in range(sizes[k]):
                out[offsets[n_known] + i] = members[position + i]
            n_known += 1
        position += sizes[k]
    return n_known
