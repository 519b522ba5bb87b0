"""Pairs of the records of blocks: counted, listed, put together."""

from typing import Any

import numpy as np

from kolchin.kernels.compiling import compiled


@compiled
def count_pairs(block: Any, limits: Any, window: int) -> Any:
    """Count what blocks give, a row a limit: pairs, pairs by window, blocks cut short, records cut.

    ``block`` is sorted; records of no block have a negative one.
    """
    result = np.zeros((limits.size, 4), dtype=np.int64)
    start = 0
    while start < block.size:
        end = start + 1
        while end < block.size and block[end] == block[start]:
            end += 1
        size = end - start
        if block[start] >= 0 and size > 1:
            reach = min(window, size - 1)
            by_window = reach * size - reach * (reach + 1) // 2
            for k in range(limits.size):
                if size <= limits[k]:
                    result[k, 0] += size * (size - 1) // 2
                else:
                    result[k, 0] += by_window
                    result[k, 1] += by_window
                    result[k, 2] += 1
                    result[k, 3] += size
        start = end
    return result


@compiled
def list_pairs(block: Any, records: Any, n_records: int, limit: int, window: int, out: Any) -> int:
    """Write the pairs that ``count_pairs`` counts as low * n_records + high; return how many."""
    n = 0
    start = 0
    while start < block.size:
        end = start + 1
        while end < block.size and block[end] == block[start]:
            end += 1
        reach = end - start if end - start <= limit else window
        if block[start] >= 0:
            for i in range(start, end):
                for j in range(i + 1, min(i + reach + 1, end)):
                    a, b = np.int64(records[i]), np.int64(records[j])
                    if a == b:
                        continue
                    if a > b:
                        a, b = b, a
                    out[n] = a * n_records + b
                    n += 1
        start = end
    return n


@compiled
def unpack_pairs(packed: Any, n_records: int) -> Any:
    """Return pairs packed as low * n_records + high, sorted, and how often each is there."""
    n = 0
    for k in range(packed.size):
        n += k == 0 or packed[k] != packed[k - 1]
    pairs, n_found = np.empty((n, 2), dtype=np.int32), np.zeros(n, dtype=np.uint8)
    n = -1
    for k in range(packed.size):
        if k == 0 or packed[k] != packed[k - 1]:
            n += 1
            low = packed[k] // n_records
            pairs[n, 0] = low
            pairs[n, 1] = packed[k] - low * n_records
        n_found[n] = min(n_found[n] + 1, 255)
    return pairs, n_found
