"""Typing and reading errors in texts, many at a time: one error a text, on arrays of bytes."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.simulation.people.coded import CodedTexts, Flags, Ints

_NEIGHBOUR, _LOOKALIKE, _EXCHANGED, _DROPPED, _DOUBLED = range(5)
_KIND_WEIGHTS = np.array([0.35, 0.1, 0.2, 0.2, 0.15])
_KEYS = ("1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm")
_LOOKALIKES = (
    *("ao", "bh", "ce", "do", "eo", "ft", "gq", "hn", "il", "ji", "kx", "lt", "mn", "nr"),
    *("oc", "pq", "qg", "rn", "sz", "tf", "uv", "vy", "wv", "xk", "yv", "zs"),
    *("08", "17", "27", "38", "49", "56", "65", "71", "83", "94"),
)
_CHOICES = 6

Bytes = NDArray[np.uint8]


def add_typos(rng: np.random.Generator, column: CodedTexts, share: float) -> CodedTexts:
    """Mistype a share of the texts of a column."""
    chosen = rng.random(column.codes.size) < share
    rows = np.flatnonzero(chosen & (column.codes >= 0))
    if not rows.size:
        return column
    texts = column.values.gather(column.codes[rows])
    return column.replace_texts(rows, mistype(rng, texts))


def mistype(rng: np.random.Generator, texts: pl.Series) -> pl.Series:
    """Return each text with one error; texts are ASCII and have a letter or digit.

    A key beside the right one, a letter that looks alike, two letters exchanged, one dropped or
    doubled. Where that changes nothing or leaves too little, a key beside the right one is hit.
    """
    packed = np.array(texts.to_list(), dtype=np.bytes_)
    width = packed.itemsize + 1
    chars = packed.astype(f"S{width}").view(np.uint8).reshape(-1, width)
    position = _draw_positions(rng, chars)
    kind = rng.choice(_KIND_WEIGHTS.size, position.size, p=_KIND_WEIGHTS)
    rows = np.arange(position.size)
    here, after = chars[rows, position], chars[rows, position + 1]
    exchangeable = _IS_TYPED[after] & (_LOWER[here] != _LOWER[after])
    long_enough = _IS_TYPED[chars].sum(axis=1) >= 3
    kind[(kind == _EXCHANGED) & ~exchangeable] = _NEIGHBOUR
    kind[(kind == _DROPPED) & ~long_enough] = _NEIGHBOUR
    # Dropping or doubling one of two equal letters is the same wherever it happens: a real error.
    result = _shift_letters(chars, position, kind)
    _exchange(result, position, rows[kind == _EXCHANGED])
    table = np.where((kind == _LOOKALIKE)[:, None], _LOOKS_LIKE[here], _BESIDE[here])
    other = table[rows, rng.integers(_CHOICES, size=rows.size)]
    hit = (kind == _NEIGHBOUR) | (kind == _LOOKALIKE)
    result[rows[hit], position[hit]] = other[hit]
    capital = _IS_CAPITAL[chars[:, 0]]
    result[capital, 0] = _UPPER[result[capital, 0]]
    return pl.Series(np.ascontiguousarray(result).view(f"S{width}").ravel().astype(np.str_))


def _draw_positions(rng: np.random.Generator, chars: Bytes) -> Ints:
    """Choose a letter or digit of each text; the first one is rarely wrong."""
    keys = np.where(_IS_TYPED[chars], rng.random(chars.shape), -1.0)
    keys[:, 0] *= 0.5
    positions: Ints = np.argmax(keys, axis=1)
    return positions


def _shift_letters(chars: Bytes, position: Ints, kind: Ints) -> Bytes:
    """Return the texts with letters dropped or doubled."""
    column = np.arange(chars.shape[1])
    source = column + ((kind == _DROPPED)[:, None] & (column >= position[:, None]))
    source -= (kind == _DOUBLED)[:, None] & (column > position[:, None])
    return np.take_along_axis(chars, np.minimum(source, column[-1]), axis=1)


def _exchange(chars: Bytes, position: Ints, rows: Ints) -> None:
    """Exchange a letter with the next one, in place; a capital stays where it was."""
    left, right = chars[rows, position[rows]], chars[rows, position[rows] + 1]
    capital = _IS_CAPITAL[left]
    chars[rows, position[rows]] = np.where(capital, _UPPER[right], right)
    chars[rows, position[rows] + 1] = np.where(capital, _LOWER[left], left)


def _make_case_tables() -> tuple[Bytes, Bytes, Flags, Flags]:
    """Return lower and upper case of each byte, and which are typed and capital."""
    lower = np.arange(256, dtype=np.uint8)
    lower[ord("A") : ord("Z") + 1] += 32
    upper = np.arange(256, dtype=np.uint8)
    upper[ord("a") : ord("z") + 1] -= 32
    letters = np.arange(256)
    typed = np.array([chr(letter).isalnum() and letter < 128 for letter in letters])
    return lower, upper, typed, (lower != letters)


_LOWER, _UPPER, _IS_TYPED, _IS_CAPITAL = _make_case_tables()


def _draw_replacements(others: dict[str, str]) -> Bytes:
    """Tabulate what may stand for each letter or digit, in its case."""
    table = np.zeros((256, _CHOICES), dtype=np.uint8)
    for letter, choices in others.items():
        table[ord(letter)] = np.resize([ord(choice) for choice in choices], _CHOICES)
        if letter.isalpha():
            table[ord(letter.upper())] = _UPPER[table[ord(letter)]]
    return table


def _list_keys_beside() -> dict[str, str]:
    """Return the keys left and right of each key and, for letters, above and below."""
    beside: dict[str, str] = {}
    for number, row in enumerate(_KEYS):
        for k, key in enumerate(row):
            near = row[max(k - 1, 0) : k] + row[k + 1 : k + 2]
            for other in (number - 1, number + 1):
                if number > 0 and 0 < other < len(_KEYS):
                    near += _KEYS[other][k : k + 1]
            beside[key] = near
    return beside


_BESIDE = _draw_replacements(_list_keys_beside())
_LOOKS_LIKE = _draw_replacements({pair[0]: pair[1] for pair in _LOOKALIKES})
