"""The similarity of texts of many words, by the weights of the words that they share.

Text k has the words ``starts[k]`` to ``starts[k + 1]`` of ``words``, sorted; word w has
the letters ``begins[w]`` to ``begins[w + 1]``. Words are numbered in alphabetical order.
"""

from typing import Any

import numpy as np

from kolchin.comparison.text_kernels.alike_words import are_alike
from kolchin.kernels.compiling import compiled

ALIKE = 0.8
"""What words count that are alike, where the same would count 1."""
ONE_HAS_MORE = 0
BOTH_HAVE_MORE = 1
OTHER_NUMBERS = 2


@compiled
def _find_longest(starts: Any, left: Any, right: Any) -> int:
    """Return the largest number of words of the texts."""
    longest = 1
    for k in range(left.size):
        longest = max(longest, starts[left[k] + 1] - starts[left[k]])
        longest = max(longest, starts[right[k] + 1] - starts[right[k]])
    return longest


@compiled
def _sum_shared_weights(
    words: Any, told: Any, weights: Any, a: int, a_end: int, b: int, b_end: int, rest: Any, n: Any
) -> Any:
    """Return the squared weights of words of both texts, of the first and of the second.

    Words that stand in one of them are left in ``rest``, ``n`` of each text; words that other
    fields tell already do not count.
    """
    both, first, second = 0.0, 0.0, 0.0
    n[:] = 0
    while a < a_end or b < b_end:
        if b == b_end or (a < a_end and words[a] < words[b]):
            if not told[a]:
                rest[0, n[0]] = words[a]
                n[0] += 1
                first += weights[words[a]] ** 2
            a += 1
        elif a == a_end or words[b] < words[a]:
            if not told[b]:
                rest[1, n[1]] = words[b]
                n[1] += 1
                second += weights[words[b]] ** 2
            b += 1
        else:
            if not (told[a] and told[b]):
                both += weights[words[a]] ** 2
            a, b = a + 1, b + 1
    return both, first + both, second + both


@compiled
def _add_alike(
    letters: Any, begins: Any, classes: Any, weights: Any, rest: Any, n: Any, sums: Any
) -> None:
    """Find for each word of the first text one of the second that is alike, the best first come.

    Both count as the more frequent one does. Words are in alphabetical order, and those that are
    alike begin with the same letter; what has found its partner is -1 in ``rest[2]``, and in
    ``rest[0]``.
    """
    both, first, second = sums[0], sums[1], sums[2]
    rest[2, : n[1]] = 0
    begin = 0
    for i in range(n[0]):
        one, best, weight = rest[0, i], -1, 0.0
        letter = letters[begins[one]]
        while begin < n[1] and letters[begins[rest[1, begin]]] < letter:
            begin += 1
        for j in range(begin, n[1]):
            other = rest[1, j]
            if letters[begins[other]] != letter:
                break
            if rest[2, j] < 0 or min(weights[one], weights[other]) <= weight:
                continue
            if are_alike(letters, begins, classes, one, other):
                best, weight = j, min(weights[one], weights[other])
        if best >= 0:
            least = weight**2
            both += ALIKE * least
            first -= weights[one] ** 2 - least
            second -= weights[rest[1, best]] ** 2 - least
            rest[2, best] = -1
            rest[0, i] = -1
    sums[0], sums[1], sums[2] = both, first, second


@compiled
def _how_they_differ(classes: Any, rest: Any, n: Any) -> int:
    """Tell which of two texts have words that the other has nothing like, and numbers."""
    words, numbers = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64)
    for text in range(2):
        for k in range(n[text]):
            # Those of the first text that found a partner are -1, those of the second in row 2.
            if rest[0 if text == 0 else 2, k] >= 0:
                words[text] += 1
                numbers[text] += 1 <= classes[rest[text, k]] <= 2
    if numbers[0] > 0 and numbers[1] > 0:
        return OTHER_NUMBERS
    return BOTH_HAVE_MORE if words[0] > 0 and words[1] > 0 else ONE_HAS_MORE


@compiled
def measure_word_similarities(
    words: Any,
    told: Any,
    starts: Any,
    weights: Any,
    letters: Any,
    begins: Any,
    classes: Any,
    left: Any,
    right: Any,
) -> Any:
    """Return the cosine of the weighted words of pairs of texts, 0 to 1, and how they differ."""
    result, differences = np.zeros(left.size, dtype=np.float32), np.zeros(left.size, dtype=np.int8)
    rest = np.empty((3, _find_longest(starts, left, right)), dtype=np.int32)
    n = np.zeros(2, dtype=np.int64)
    sums = np.zeros(3)
    for k in range(left.size):
        a, b = left[k], right[k]
        both, first, second = _sum_shared_weights(
            *(words, told, weights, starts[a], starts[a + 1], starts[b], starts[b + 1], rest, n)
        )
        sums[0], sums[1], sums[2] = both, first, second
        _add_alike(letters, begins, classes, weights, rest, n, sums)
        if sums[0] > 0.0:
            result[k] = min(sums[0] / np.sqrt(sums[1] * sums[2]), 1.0)
            differences[k] = _how_they_differ(classes, rest, n)
    return result, differences
