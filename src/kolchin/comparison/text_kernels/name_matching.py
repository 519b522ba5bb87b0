"""Whether each word of one name has its partner in another.

Names are words one after another: name k has the words ``starts[k]`` to
``starts[k + 1]``, and word w the letters ``words[w]`` to ``words[w + 1]``.
"""

from typing import Any

import numpy as np

from kolchin.comparison.text_kernels.edits import count_edits
from kolchin.kernels.compiling import compiled

NO_PARTNER = 0
MISTYPED = 1
INITIALS = 2
SHORTEST_MISTYPED = 3
MOST_WORDS = 62


@compiled
def compare_words(letters: Any, a: int, a_end: int, b: int, b_end: int) -> int:
    """Return 3 for the same word, 2 for one edit, 1 for an initial and its word, else 0."""
    shorter = min(a_end - a, b_end - b)
    edits = count_edits(letters, a, a_end, b, b_end)
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
                if compare_words(letters, words[w], words[w + 1], words[v], words[v + 1]) == wanted:
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
