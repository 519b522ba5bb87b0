"""Whether one of two words is the other mistyped, shortened or an initial."""

from typing import Any

from kolchin.comparison.text_kernels.edits import count_edits, count_same_at_start
from kolchin.kernels.compiling import compiled

SHORTEST_MISTYPED = 5
SHORTEST_START = 3
LONGEST_SHORT = 5
LEAST_LEFT_OUT = 2
SHORTEST_CODE_START = 5
MOST_CODE_REST = 3


@compiled
def _is_short_for(letters: Any, a: int, n_a: int, b: int, n_b: int) -> bool:
    """Tell whether the first of two words is the second one with letters inside left out."""
    if n_a < 2 or n_a > LONGEST_SHORT or n_b < n_a + LEAST_LEFT_OUT:
        return False
    if letters[a] != letters[b] or letters[a + n_a - 1] != letters[b + n_b - 1]:
        return False
    k = 1
    for j in range(1, n_b):
        if k < n_a and letters[a + k] == letters[b + j]:
            k += 1
    return k == n_a


@compiled
def are_alike(letters: Any, begins: Any, classes: Any, one: int, other: int) -> bool:
    """Tell whether one of two words is the other mistyped, shortened or an initial.

    ``classes`` are 0 for words, 3 for those of one text alone, of which each may be a slip, 1 for
    numbers, which are never alike, and 2 for codes, of which one may have some letters more at its
    end.
    """
    if classes[one] % 3 != classes[other] % 3 or classes[one] == 1:
        return False
    lone = classes[one] == 3 or classes[other] == 3
    a, n_a = begins[one], begins[one + 1] - begins[one]
    b, n_b = begins[other], begins[other + 1] - begins[other]
    if n_a > n_b:
        a, n_a, b, n_b = b, n_b, a, n_a
    if letters[a] != letters[b]:
        return False
    starts = count_same_at_start(letters, a, a + n_a, b, b + n_b) == n_a
    if classes[one] == 2:
        next_digit = n_a < n_b and 48 <= letters[b + n_a] <= 57
        enough = n_a >= SHORTEST_CODE_START and n_b - n_a <= MOST_CODE_REST
        return starts and enough and not next_digit
    if starts and (n_a >= SHORTEST_START or n_a == 1):
        return True
    if lone and n_a >= SHORTEST_MISTYPED and count_edits(letters, a, a + n_a, b, b + n_b) < 2:
        return True
    return _is_short_for(letters, a, n_a, b, n_b)
