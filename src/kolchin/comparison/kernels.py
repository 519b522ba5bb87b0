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
BITS = 64
BOOSTED = 0.7
"""Texts that are more similar than this are the more so for a common start (Winkler)."""


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
def common_ends(letters: Any, starts: Any, left: Any, right: Any) -> Any:
    """Return how many letters at the end are the same in each pair of texts."""
    result = np.empty(left.size, dtype=np.int32)
    for k in range(left.size):
        a, b = left[k], right[k]
        result[k] = _same_at_end(letters, starts[a], starts[a + 1], starts[b], starts[b + 1])
    return result


@compiled
def same_texts(letters: Any, starts: Any, left: Any, right: Any) -> Any:
    """Tell which pairs of texts are the same."""
    result = np.zeros(left.size, dtype=np.bool_)
    for k in range(left.size):
        a, b = left[k], right[k]
        n = starts[a + 1] - starts[a]
        if n == starts[b + 1] - starts[b]:
            same = _same_at_start(letters, starts[a], starts[a + 1], starts[b], starts[b + 1])
            result[k] = same == n
    return result


@compiled
def _jaro(letters: Any, a: int, n_a: int, b: int, n_b: int, used_a: Any, used_b: Any) -> float:
    """Return the Jaro similarity of two texts, from 0 to 1."""
    if n_a == 0 or n_b == 0:
        return 1.0 if n_a == n_b else 0.0
    reach = max(max(n_a, n_b) // 2 - 1, 0)
    used_a[:n_a] = False
    used_b[:n_b] = False
    n_common = 0
    for j in range(n_b):
        for i in range(max(j - reach, 0), min(j + reach + 1, n_a)):
            if not used_a[i] and letters[a + i] == letters[b + j]:
                used_a[i] = True
                used_b[j] = True
                n_common += 1
                break
    if n_common == 0:
        return 0.0
    i, n_moved = 0, 0
    for j in range(n_b):
        if used_b[j]:
            while not used_a[i]:
                i += 1
            n_moved += letters[a + i] != letters[b + j]
            i += 1
    return (n_common / n_a + n_common / n_b + (n_common - n_moved // 2) / n_common) / 3.0


@compiled
def _jaro_of_bits(letters: Any, a: int, n_a: int, b: int, n_b: int, where: Any) -> float:
    """Return the same for texts of at most 64 letters: places are bits.

    ``where`` has, for each of 256 letters, the places at which the first text has it; it is left as
    it was found, without any.
    """
    if n_a == 0 or n_b == 0:
        return 1.0 if n_a == n_b else 0.0
    one = np.uint64(1)
    for i in range(n_a):
        where[letters[a + i]] |= one << np.uint64(i)
    reach = max(max(n_a, n_b) // 2 - 1, 0)
    window = (one << np.uint64(reach + 1)) - one
    used_a, used_b = np.uint64(0), np.uint64(0)
    n_common = 0
    for j in range(n_b):
        free = where[letters[b + j]] & window & ~used_a
        if free:
            used_a |= free & (~free + one)
            used_b |= one << np.uint64(j)
            n_common += 1
        window = window << one
        if j < reach:
            window |= one
    for i in range(n_a):
        where[letters[a + i]] = np.uint64(0)
    if n_common == 0:
        return 0.0
    i, n_moved = 0, 0
    for j in range(n_b):
        if used_b >> np.uint64(j) & one:
            while not used_a >> np.uint64(i) & one:
                i += 1
            n_moved += letters[a + i] != letters[b + j]
            i += 1
    return (n_common / n_a + n_common / n_b + (n_common - n_moved // 2) / n_common) / 3.0


@compiled
def similarities(letters: Any, starts: Any, left: Any, right: Any) -> Any:
    """Return the Jaro-Winkler similarity of each pair of texts, from 0 to 1."""
    result = np.empty(left.size, dtype=np.float32)
    longest = 0
    for k in range(left.size):
        n_a = starts[left[k] + 1] - starts[left[k]]
        longest = max(longest, n_a, starts[right[k] + 1] - starts[right[k]])
    used_a, used_b = np.empty(longest, dtype=np.bool_), np.empty(longest, dtype=np.bool_)
    where = np.zeros(256, dtype=np.uint64)
    small = letters.itemsize == 1
    for k in range(left.size):
        a, b = starts[left[k]], starts[right[k]]
        n_a, n_b = starts[left[k] + 1] - a, starts[right[k] + 1] - b
        if small and n_a <= BITS and n_b <= BITS:
            value = _jaro_of_bits(letters, a, n_a, b, n_b, where)
        else:
            value = _jaro(letters, a, n_a, b, n_b, used_a, used_b)
        if value > BOOSTED:
            start = _same_at_start(letters, a, a + min(n_a, 4), b, b + min(n_b, 4))
            value += start * 0.1 * (1.0 - value)
        result[k] = value
    return result


@compiled
def _distance(letters: Any, a: int, n_a: int, b: int, n_b: int, most: int, rows: Any) -> int:
    """Return how many edits are between two texts, at most one above ``most``.

    Only cells by which texts differ in length by at most ``most`` are looked at.
    """
    above = most + 1
    for j in range(n_b + 1):
        rows[0, j] = min(j, above)
    least_before = 0
    for i in range(1, n_a + 1):
        row, last, before = rows[i % 3], rows[(i - 1) % 3], rows[(i - 2) % 3]
        first, end = max(i - most, 1), min(i + most, n_b)
        row[first - 1] = i if first == 1 else above
        least = row[first - 1]
        for j in range(first, end + 1):
            here, there = a + i - 1, b + j - 1
            value = min(last[j - 1] + (letters[here] != letters[there]), row[j - 1] + 1)
            if j < i + most:
                value = min(value, last[j] + 1)
            inside = i > 1 and j > 1
            if (
                inside
                and letters[here] == letters[there - 1]
                and letters[here - 1] == letters[there]
            ):
                value = min(value, before[j - 2] + 1)
            row[j] = min(value, above)
            least = min(least, row[j])
        if min(least, least_before) > most:
            return above
        least_before = least
    return min(rows[n_a % 3, n_b], above)


@compiled
def distances(letters: Any, starts: Any, left: Any, right: Any, most: int) -> Any:
    """Return how many edits are between each pair of texts (OSA), at most one above ``most``."""
    result = np.empty(left.size, dtype=np.int32)
    longest = 0
    for k in range(left.size):
        longest = max(longest, starts[right[k] + 1] - starts[right[k]])
    rows = np.empty((3, longest + 1), dtype=np.int32)
    for k in range(left.size):
        a, a_end = starts[left[k]], starts[left[k] + 1]
        b, b_end = starts[right[k]], starts[right[k] + 1]
        if abs((a_end - a) - (b_end - b)) > most:
            result[k] = most + 1
            continue
        start = _same_at_start(letters, a, a_end, b, b_end)
        a, b = a + start, b + start
        end = _same_at_end(letters, a, a_end, b, b_end)
        result[k] = _distance(letters, a, a_end - end - a, b, b_end - end - b, most, rows)
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
def least_hashes(
    letters: Any, starts: Any, q: int, seeds: Any, begin: int, end: int, out: Any
) -> None:
    """Write the least hash of each text's q-grams under each seed (MinHash).

    Of texts ``begin`` to ``end``. A text shorter than q is one gram. Empty texts keep the
    largest value.
    """
    for k in range(begin, end):
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
def write_bands(levels: Any, pairs: Any, codes: Any, of_form: Any, n_near: int, out: Any) -> None:
    """Write the band of the more frequent form of each pair, 0 from level ``n_near`` on."""
    for k in range(levels.size):
        out[k] = 0
        if 0 <= levels[k] < n_near:
            out[k] = max(of_form[codes[pairs[k, 0]]], of_form[codes[pairs[k, 1]]])


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


@compiled
def sample_keys(keys: Any, share: float) -> Any:
    """Return the keys of a random share of all keys, always the same."""
    result = np.empty(keys.size, dtype=np.int64)
    below = np.uint64(share * 2**24)
    n = 0
    for k in range(keys.size):
        mixed = np.uint64(keys[k]) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
        if mixed >> np.uint64(40) < below:
            result[n] = keys[k]
            n += 1
    return result[:n].copy()


@compiled
def least_of_fields(of_form: Any, codes: Any, first: int, last: int, out: Any) -> None:
    """Lower the hashes of records ``first`` to ``last`` to those of their forms."""
    for n in range(first, last):
        if codes[n] >= 0:
            for h in range(out.shape[1]):
                out[n, h] = min(out[n, h], of_form[codes[n], h])


@compiled
def _slot(table: Any, key: int) -> Any:
    """Return where a key is in a table of a power of two entries, or where it belongs."""
    mask = np.uint64(table.size - 1)
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
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
        slot = _slot(table, key)
        if table[slot] < 0:
            table[slot] = key
            slots[slot] = n
            keys[n] = key
            numbers[k] = n
            n += 1
            if 2 * n > table.size:
                table, slots = np.full(4 * table.size, -1, dtype=np.int64), np.repeat(slots, 4)
                for i in range(n):
                    slot = _slot(table, keys[i])
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


@compiled
def count_neighbours(pairs: Any, place: Any, counts: Any) -> None:
    """Add the pairs of each place to ``counts``, which begins with an entry of no place."""
    for k in range(len(pairs)):
        counts[place[pairs[k, 0]] + 1] += 1
        counts[place[pairs[k, 1]] + 1] += 1


@compiled
def list_neighbours(
    pairs: Any, marks: Any, place: Any, reached: Any, others: Any, of_other: Any
) -> None:
    """Write for each place those it is paired with, in any order, and the marks of these pairs.

    Record n is at ``place[n]``; ``reached`` says where the next entry of each place goes.
    """
    for k in range(len(pairs)):
        i, j = place[pairs[k, 0]], place[pairs[k, 1]]
        others[reached[i]], of_other[reached[i]] = j, marks[k]
        others[reached[j]], of_other[reached[j]] = i, marks[k]
        reached[i] += 1
        reached[j] += 1


@compiled
def place_entries(
    at: Any, other: Any, marks: Any, first: int, reached: Any, others: Any, of_other: Any
) -> None:
    """Write entries of places from ``first`` on, as ``list_neighbours`` does."""
    for k in range(at.size):
        n = at[k] - first
        others[reached[n]], of_other[reached[n]] = other[k], marks[k]
        reached[n] += 1


@compiled
def sort_neighbours(begins: Any, others: Any, of_other: Any, first: int, last: int) -> None:
    """Sort what ``list_neighbours`` wrote of some places."""
    longest = 0
    for n in range(first, last):
        longest = max(longest, begins[n + 1] - begins[n])
    both = np.empty(longest, dtype=np.int64)
    for n in range(first, last):
        start, n_others = begins[n], begins[n + 1] - begins[n]
        in_order = True
        for k in range(n_others):
            both[k] = np.int64(others[start + k]) << 32 | of_other[start + k]
            in_order &= k == 0 or both[k - 1] < both[k]
        if in_order:
            continue
        both[:n_others].sort()
        for k in range(n_others):
            others[start + k] = both[k] >> 32
            of_other[start + k] = both[k] & 0xFFFFFFFF


@compiled
def find_pairs(pairs: Any, wanted: Any, places: Any) -> None:
    """Write the place of each wanted pair (either way round) among sorted ones, or -1."""
    for k in range(len(wanted)):
        i, j = min(wanted[k, 0], wanted[k, 1]), max(wanted[k, 0], wanted[k, 1])
        low, high = 0, len(pairs)
        while low < high:
            middle = (low + high) // 2
            a = pairs[middle, 0]
            if a < i or (a == i and pairs[middle, 1] < j):
                low = middle + 1
            else:
                high = middle
        found = low < len(pairs) and pairs[low, 0] == i and pairs[low, 1] == j
        places[k] = low if found else -1


@compiled
def compare_forms(left: Any, right: Any, ranks: Any, table: Any, levels: Any) -> Any:
    """Write levels of missing (-1), equal (0) and frequent forms; return the places of all others.

    Frequent forms have a rank (0 or more), and ``table`` the levels between them.
    """
    rest = np.empty(left.size, dtype=np.int64)
    n = 0
    for k in range(left.size):
        a, b = left[k], right[k]
        if a < 0 or b < 0:
            levels[k] = -1
        elif a == b:
            levels[k] = 0
        elif ranks.size > 0 and ranks[a] >= 0 and ranks[b] >= 0:
            levels[k] = table[ranks[a], ranks[b]]
        else:
            rest[n] = k
            n += 1
    return rest[:n]
