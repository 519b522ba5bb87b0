"""Pairs of records: drawn from weighted lists (alias tables) or uniformly, in a shard."""

import numpy as np

from kolchin.kernels.arrays import Floats, Int32s, Int64s, Pairs
from kolchin.kernels.compiling import compiled, hot, lean


@hot
def is_inside(within: Int64s, record: int) -> bool:
    """Tell whether a record is in a shard."""
    return within[0] <= record < within[1] or within[2] <= record < within[3]


@hot
def record_at(within: Int64s, place: int) -> int:
    """Return the record at a place of a shard."""
    n_first = within[1] - within[0]
    return within[0] + place if place < n_first else within[2] + place - n_first


@hot
def find_index(within: Int64s, record: int) -> int:
    """Return the place of a record in its shard."""
    if within[0] <= record < within[1]:
        return record - within[0]
    return within[1] - within[0] + record - within[2]


@hot
def draw_pair(rng: np.random.Generator, pairs: Pairs) -> tuple[np.int64, np.int64]:
    """Draw two different records of a shard."""
    share = rng.random()
    if share < pairs.uniform_share:
        n_records = pairs.within[1] - pairs.within[0] + pairs.within[3] - pairs.within[2]
        i = int(rng.random() * n_records)
        j = int(rng.random() * (n_records - 1))
        if j >= i:
            j += 1
        return np.int64(record_at(pairs.within, i)), np.int64(record_at(pairs.within, j))
    position = (share - pairs.uniform_share) / (1.0 - pairs.uniform_share)
    s = 0
    below = 0.0
    while s < pairs.reach.size - 1 and position >= pairs.reach[s]:
        below = pairs.reach[s]
        s += 1
    n_rows = pairs.slices[s, 1] - pairs.slices[s, 0]
    position = (position - below) / (pairs.reach[s] - below) * n_rows
    k = min(int(position), n_rows - 1)
    chance = position - k
    k += pairs.slices[s, 0]
    if chance * 2147483647.0 < pairs.table[k, 4]:
        return np.int64(pairs.table[k, 0]), np.int64(pairs.table[k, 1])
    return np.int64(pairs.table[k, 2]), np.int64(pairs.table[k, 3])


@compiled
def build_alias_tables(pairs: Int32s, weight: Floats, begins: Int64s) -> Int32s:
    """Build the rows of ``Pairs.table`` for lists of weighted pairs, one after another."""
    longest = 0
    for s in range(begins.size - 1):
        longest = max(longest, begins[s + 1] - begins[s])
    table = np.empty((weight.size, 5), dtype=np.int32)
    scaled = np.empty(longest)
    small = np.empty(longest, dtype=np.int64)
    large = np.empty(longest, dtype=np.int64)
    for s in range(begins.size - 1):
        if begins[s] < begins[s + 1]:
            fill_alias_table(pairs, weight, begins[s], begins[s + 1], table, scaled, small, large)
    return table


@lean
def fill_alias_table(
    pairs: Int32s,
    weight: Floats,
    begin: int,
    end: int,
    table: Int32s,
    scaled: Floats,
    small: Int64s,
    large: Int64s,
) -> None:
    """Build the rows of one list (Vose's alias method)."""
    total = 0.0
    for k in range(begin, end):
        total += weight[k]
    n_small = 0
    n_large = 0
    for k in range(begin, end):
        table[k, 0] = pairs[k, 0]
        table[k, 1] = pairs[k, 1]
        table[k, 2] = pairs[k, 0]
        table[k, 3] = pairs[k, 1]
        table[k, 4] = 2147483647
        scaled[k - begin] = weight[k] * ((end - begin) / total)
        if scaled[k - begin] < 1.0:
            small[n_small] = k
            n_small += 1
        else:
            large[n_large] = k
            n_large += 1
    while n_small > 0 and n_large > 0:
        n_small -= 1
        k = small[n_small]
        donor = large[n_large - 1]
        table[k, 2] = pairs[donor, 0]
        table[k, 3] = pairs[donor, 1]
        table[k, 4] = int(scaled[k - begin] * 2147483647.0)
        scaled[donor - begin] -= 1.0 - scaled[k - begin]
        if scaled[donor - begin] < 1.0:
            n_large -= 1
            small[n_small] = donor
            n_small += 1
