"""Compiled code of the comparison room: arrays in, arrays out, nothing else.

Names are words one after another: name k has the words ``starts[k]`` to ``starts[k + 1]``, and
word w the letters ``words[w]`` to ``words[w + 1]``.
"""

from typing import Any

import numpy as np
from numba import njit

compiled = njit(cache=True, nogil=True)

NO_PARTNER, MISTYPED, INITIALS = 0, 1, 2
SHORTEST_MISTYPED = 3
MOST_WORDS = 62
CROSSED = 3


@compiled
def _same_at_start(letters: Any, a: int, a_end: int, b: int, b_end: int) -> int:
    """Return how many letters at the start are the same."""
    n = 0
    while a + n < a_end and b + n < b_end and letters[a + n] == letters[b + n]:
        n += 1
    return n


@compiled
def _same_at_end(letters: Any, a: int, a_end: int, b: int, b_end: int) -> int:
    """Return how many letters at the end are the same."""
    n = 0
    while a_end - n > a and b_end - n > b and letters[a_end - n - 1] == letters[b_end - n - 1]:
        n += 1
    return n


@compiled
def _edits(letters: Any, a: int, a_end: int, b: int, b_end: int) -> int:
    """Return 0 for the same text, 1 for one letter more, less, other or exchanged, else 2."""
    n_a, n_b = a_end - a, b_end - b
    if abs(n_a - n_b) > 1:
        return 2
    start = _same_at_start(letters, a, a_end, b, b_end)
    if start == n_a and start == n_b:
        return 0
    a, b = a + start, b + start
    end = _same_at_end(letters, a, a_end, b, b_end)
    left = max(n_a, n_b) - start - end
    if left <= 1:
        return 1
    if left == 2 and n_a == n_b and letters[a] == letters[b + 1] and letters[a + 1] == letters[b]:
        return 1
    return 2


@compiled
def few_edits(letters: Any, starts: Any, left: Any, right: Any) -> Any:
    """Return of each pair of texts whether none (0), one (1) or more edits (2) are between them."""
    result = np.empty(left.size, dtype=np.int32)
    for k in range(left.size):
        a, b = left[k], right[k]
        result[k] = _edits(letters, starts[a], starts[a + 1], starts[b], starts[b + 1])
    return result


@compiled
def common_starts(letters: Any, starts: Any, left: Any, right: Any) -> Any:
    """Return how many letters at the start are the same in each pair of texts."""
    result = np.empty(left.size, dtype=np.int32)
    for k in range(left.size):
        a, b = left[k], right[k]
        result[k] = _same_at_start(letters, starts[a], starts[a + 1], starts[b], starts[b + 1])
    return result


@compiled
def words_alike(letters: Any, a: int, a_end: int, b: int, b_end: int) -> int:
    """Return 3 for the same word, 2 for one edit, 1 for an initial and its word, else 0."""
    shorter = min(a_end - a, b_end - b)
    edits = _edits(letters, a, a_end, b, b_end)
    if edits == 0:
        return 3
    if shorter == 1:
        return 1 if letters[a] == letters[b] else 0
    return 2 if edits == 1 and shorter >= SHORTEST_MISTYPED else 0


@compiled
def _match_name(letters: Any, words: Any, first: int, last: int, other: int, end: int) -> int:
    """Give each word of the shorter name the best free word of the longer one."""
    used, matched = np.int64(0), np.int64(0)
    n_matched, full, initials = 0, 0, 0
    for wanted in (3, 2, 1):
        for w in range(first, last):
            if matched >> (w - first) & 1:
                continue
            for v in range(other, end):
                if used >> (v - other) & 1:
                    continue
                if words_alike(letters, words[w], words[w + 1], words[v], words[v + 1]) == wanted:
                    used |= np.int64(1) << (v - other)
                    matched |= np.int64(1) << (w - first)
                    n_matched += 1
                    initials += wanted == 1
                    full += wanted > 1 and words[w + 1] - words[w] > 1
                    break
    if n_matched < last - first or full == 0:
        return NO_PARTNER
    if initials == 0 and last - first == end - other:
        return MISTYPED
    return INITIALS if last - first > 1 else NO_PARTNER


@compiled
def match_names(letters: Any, words: Any, starts: Any, left: Any, right: Any) -> Any:
    """Say of each pair of names whether every word of the shorter one has its partner."""
    result = np.zeros(left.size, dtype=np.int8)
    for k in range(left.size):
        a, b = left[k], right[k]
        if starts[a + 1] - starts[a] > starts[b + 1] - starts[b]:
            a, b = b, a
        if starts[b + 1] - starts[b] <= MOST_WORDS:
            result[k] = _match_name(
                letters, words, starts[a], starts[a + 1], starts[b], starts[b + 1]
            )
    return result


@compiled
def count_pairs(block: Any, limit: int, window: int) -> Any:
    """Count what blocks give: pairs, pairs by window, blocks cut short, and their records.

    ``block`` is sorted; records of no block have a negative one.
    """
    n_pairs, n_window, n_cut, n_records = 0, 0, 0, 0
    start = 0
    while start < block.size:
        end = start + 1
        while end < block.size and block[end] == block[start]:
            end += 1
        size = end - start
        if block[start] >= 0:
            if size <= limit:
                n_pairs += size * (size - 1) // 2
            else:
                reach = min(window, size - 1)
                by_window = reach * size - reach * (reach + 1) // 2
                n_pairs += by_window
                n_window += by_window
                n_cut += 1
                n_records += size
        start = end
    return n_pairs, n_window, n_cut, n_records


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
def find_crossed(
    pairs: Any, first: Any, second: Any, levels: Any, other_levels: Any, near: int, out: Any
) -> None:
    """Say which values agree across two columns: 1 first with second, 2 second with first, 3 both.

    Nothing is said of pairs with a value that is missing or near in its own column.
    """
    for k in range(len(pairs)):
        if levels[k] > near and other_levels[k] > near:
            i, j = pairs[k, 0], pairs[k, 1]
            out[k] = (first[i] == second[j]) + 2 * (second[i] == first[j])


@compiled
def least_hashes(letters: Any, starts: Any, q: int, seeds: Any, out: Any) -> None:
    """Write the least hash of each text's q-grams under each seed (MinHash).

    A text shorter than q is one gram. Empty texts keep the largest value.
    """
    for k in range(starts.size - 1):
        first, last = starts[k], starts[k + 1]
        for i in range(first, max(last - q + 1, min(first + 1, last))):
            gram = np.uint64(14695981039346656037)
            for j in range(i, min(i + q, last)):
                gram = (gram ^ np.uint64(letters[j])) * np.uint64(1099511628211)
            for h in range(seeds.size):
                mixed = (gram ^ seeds[h]) * np.uint64(0x9E3779B97F4A7C15)
                mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
                value = np.uint32(mixed >> np.uint64(32))
                out[k, h] = min(out[k, h], value)


@compiled
def number_pairs(
    left: Any, right: Any, n_forms: int, levels: Any, table: Any, slots: Any, numbers: Any
) -> Any:
    """Write levels of missing (-1) and equal forms (0), and give every other pair a number.

    ``numbers`` has for each pair the number (0 or more) of its two forms by first appearance, -1
    where there is a level. The two forms are returned as low * n_forms + high, once for each
    number. ``table`` has a power of two entries, more than there are pairs, all -1 at first.
    """
    mask = np.uint64(table.size - 1)
    keys = np.empty(left.size, dtype=np.int64)
    n = 0
    for k in range(left.size):
        a, b = np.int64(left[k]), np.int64(right[k])
        numbers[k] = -1
        if a < 0 or b < 0:
            levels[k] = -1
            continue
        if a == b:
            levels[k] = 0
            continue
        key = min(a, b) * n_forms + max(a, b)
        mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        slot = (mixed ^ (mixed >> np.uint64(32))) & mask
        while table[slot] >= 0 and table[slot] != key:
            slot = (slot + np.uint64(1)) & mask
        if table[slot] < 0:
            table[slot] = key
            slots[slot] = n
            keys[n] = key
            n += 1
        numbers[k] = slots[slot]
    return keys[:n]


@compiled
def write_levels(numbers: Any, of_number: Any, levels: Any) -> None:
    """Write the level of each pair that has a number."""
    for k in range(numbers.size):
        if numbers[k] >= 0:
            levels[k] = of_number[numbers[k]]


@compiled
def add_evidence(levels: Any, bands: Any, of_level: Any, of_band: Any, out: Any) -> None:
    """Add the evidence of a field: by band where values agree, none where one is missing."""
    for k in range(levels.size):
        if levels[k] == 0:
            out[k] += of_band[bands[k]]
        elif levels[k] > 0:
            out[k] += of_level[levels[k]]


@compiled
def unpack_pairs(packed: Any, n_records: int, pairs: Any, n_found: Any) -> None:
    """Write the pairs packed as low * n_records + high, sorted, and how often each is there."""
    n = -1
    for k in range(packed.size):
        if k == 0 or packed[k] != packed[k - 1]:
            n += 1
            low = packed[k] // n_records
            pairs[n, 0] = low
            pairs[n, 1] = packed[k] - low * n_records
        n_found[n] += 1


@compiled
def number_keys(keys: Any, table: Any, slots: Any, numbers: Any) -> int:
    """Write the number of each key (0 or more) by first appearance; return how many are distinct.

    ``table`` has a power of two entries, more than there are keys, all -1 at first.
    The distinct keys are put to the front of ``keys``.
    """
    mask = np.uint64(table.size - 1)
    n = 0
    for k in range(keys.size):
        key = keys[k]
        mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        slot = (mixed ^ (mixed >> np.uint64(32))) & mask
        while table[slot] >= 0 and table[slot] != key:
            slot = (slot + np.uint64(1)) & mask
        if table[slot] < 0:
            table[slot] = key
            slots[slot] = n
            keys[n] = key
            n += 1
        numbers[k] = slots[slot]
    return n
