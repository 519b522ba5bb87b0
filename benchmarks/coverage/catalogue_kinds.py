"""Catalogues that were made apart: software, and what supermarkets sell, mostly in one of them.

Nothing here knows how kolchin compares: each shop writes in a style of its own and has its own
gaps, and things come in editions, versions and sizes that are things of their own.
"""

from typing import NamedTuple

import numpy as np
import polars as pl
from corrupting import change_some, misspell
from entities import Ints, as_table
from vocabulary import Fields, Rng, Texts, invent_words, list_words, pick

EDITIONS = ("", "", "", "Deluxe", "Standard", "Professional", "Premium", "Home", "Academic")
SYSTEMS = ("", "", "Mac", "Win", "Win/Mac")
LONG_SYSTEMS = {"Mac": "for Macintosh", "Win": "(Windows)", "Win/Mac": "Windows & Mac", "": ""}
SALE = ("", "", "", "", "Upgrade", "Retail Box", "5 User License")
FIRM_ENDINGS = ("Inc", "Software", "Systems Inc", "Corporation", "Interactive", "Ltd")
FILLER = list_words(
    "the and for with you your to of a in is it can all new easy powerful includes features create "
    "software designed complete make use more from"
)


class Sides(NamedTuple):
    """Which things each of two lists has: the entity and the list of each record."""

    entity: Ints
    first: Ints
    """The rows of the first list; the others are of the second."""

    source: Texts

    @property
    def n_things(self) -> int:
        """How many things there are."""
        return int(self.entity.max()) + 1


def draw_sides(rng: Rng, n_records: int, first: float, matched: float) -> Sides:
    """Draw which things are in both lists.

    ``first`` is the share of records that the first list has, ``matched`` the share of its things
    that the second has, too.
    """
    n_first = int(first * n_records)
    n_both = int(matched * n_first)
    entity = np.concatenate([np.arange(n_first), np.arange(n_first - n_both, n_records - n_both)])
    source = np.repeat(np.array(["first", "second"], dtype=object), [n_first, n_records - n_first])
    mixed = rng.permutation(int(entity.max()) + 1)
    return Sides(mixed[entity], np.arange(n_first), source)


def write_some(rng: Rng, words: list[str], n: int, fewest: int, most: int) -> list[str]:
    """Draw texts of so many words, of which a few are everywhere."""
    lengths = rng.integers(fewest, most + 1, n)
    drawn = pick(rng, words, int(lengths.sum()), flatness=5)
    return [" ".join(part) for part in np.split(drawn, np.cumsum(lengths)[:-1])]


def _join(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _some_words(rng: Rng, text: str, share: float) -> str:
    return " ".join(word for word in text.split() if rng.random() < share)


def draw_software(
    rng: Rng, n_records: int, first: float = 0.31, matched: float = 0.85
) -> pl.DataFrame:
    """Draw software of two shops: the second puts maker and number of the article first."""
    sides = draw_sides(rng, n_records, first, matched)
    n = sides.n_things
    n_lines = max(2, n // 3)
    line = np.sort(rng.integers(n_lines, size=n))
    makers = [word.capitalize() for word in invent_words(rng, max(12, n_lines // 6))]
    maker = pick(rng, makers, n_lines, flatness=4)[line]
    ending = {one: FIRM_ENDINGS[k % len(FIRM_ENDINGS)] for k, one in enumerate(makers)}
    base = np.array(write_some(rng, invent_words(rng, 1_200), n_lines, 1, 3), dtype=object)[line]
    version = [
        ("", str(v), f"{v}.0", f"20{v:02d}")[k] for v, k in rng.integers((2, 0), (12, 4), (n, 2))
    ]
    edition, system, sale = (
        np.array(one, dtype=object)[rng.integers(len(one), size=n)]
        for one in (EDITIONS, SYSTEMS, SALE)
    )
    article = rng.integers(10_000, 99_999_999, n)
    price = np.exp(rng.normal(3.6, 1, n_lines))[line] * np.where(sale == "Upgrade", 0.6, 1)
    words = [*FILLER, *invent_words(rng, 2_500)]
    blurb = write_some(rng, words, n, 15, 50)
    shown: dict[str, list[str | None]] = {}
    for row, k in enumerate(sides.entity):
        if row < sides.first.size:
            title = _join(base[k], version[k], edition[k], sale[k], system[k] and f"({system[k]})")
            title = _join(maker[k] if rng.random() < 0.6 else "", title)
            cells = (title.lower(), blurb[k], maker[k].lower(), f"{price[k]:.2f}")
        else:
            long = _join(maker[k], ending[maker[k]]) if rng.random() < 0.6 else str(maker[k])
            number = str(article[k]) if rng.random() < 0.4 else ""
            parts = [base[k], version[k], edition[k], sale[k], LONG_SYSTEMS[system[k]]]
            parts = [part for part in parts if rng.random() < 0.9]
            title = _join(long if rng.random() < 0.8 else "", number, *parts) or base[k]
            own = write_some(rng, words, 1, 4, 25)[0]
            text = _join(title, _some_words(rng, blurb[k], 0.2), own)
            paid = f"{price[k] * rng.uniform(0.75, 1.05):.2f}"
            cells = (
                title.lower(),
                text if rng.random() < 0.9 else None,
                f"{maker[k]} {ending[maker[k]]}".lower() if rng.random() < 0.08 else None,
                paid,
            )
        for name, cell in zip(
            ("title", "description", "manufacturer", "price"), cells, strict=True
        ):
            shown.setdefault(name, []).append(cell)
    return _as_two_lists(rng, shown, sides)


def _as_two_lists(rng: Rng, shown: dict[str, list[str | None]], sides: Sides) -> pl.DataFrame:
    fields: Fields = {name: np.array(cells, dtype=object) for name, cells in shown.items()}
    return as_table(rng, fields, sides.entity, sides.source)


SHELVES = list_words("electronics stationery toys kitchen garden computers photo audio")
UNITS = ("", "", "2 Pack", "500-Count", "16GB", "8GB", "32GB", "6 ft", "10 ft", "4-Port", "19-inch")
TINTS = ("", "", "", "Black", "White", "Silver", "Blue", "Red", "Pink")


def draw_supermarket(
    rng: Rng, n_records: int, first: float = 0.12, matched: float = 0.4
) -> pl.DataFrame:
    """Draw what two supermarkets sell: few of the first are among the many of the second."""
    sides = draw_sides(rng, n_records, first, matched)
    n = sides.n_things
    n_lines = max(2, n // 5)
    line = rng.integers(n_lines, size=n)
    brand = pick(rng, [w.capitalize() for w in invent_words(rng, max(20, n // 40))], n_lines)[line]
    sort = np.array(write_some(rng, invent_words(rng, 350), n_lines, 2, 4), dtype=object)[line]
    own = np.array(write_some(rng, invent_words(rng, 900), n, 0, 2), dtype=object)
    shelf = np.array(SHELVES, dtype=object)[rng.integers(len(SHELVES), size=n_lines)][line]
    letters = [word[:2].upper() for word in invent_words(rng, 400)]
    stem = np.array(
        [f"{letters[k % 400]}{rng.integers(1, 99)}" for k in range(n_lines)], dtype=object
    )
    model = [f"{stem[k]}{rng.choice(['-', '', 'B'])}{rng.integers(10, 9_999)}" for k in line]
    unit = np.array(UNITS, dtype=object)[rng.integers(len(UNITS), size=n)]
    tint = np.array(TINTS, dtype=object)[rng.integers(len(TINTS), size=n)]
    price = np.exp(rng.normal(3.2, 0.9, n_lines))[line] * rng.uniform(0.9, 1.3, n)
    size = rng.uniform(1, 20, (n, 3))
    weight = rng.gamma(2, 2, n)
    shown: dict[str, list[str | None]] = {}
    for row, k in enumerate(sides.entity):
        inside = row < sides.first.size
        words = [w for w in (sort[k], own[k], unit[k]) if w and (inside or rng.random() < 0.85)]
        if not inside:
            words = [words[p] for p in rng.permutation(len(words))]
        # One shop writes the model into a third of the titles, the other into half of them.
        code = str(model[k]) if rng.random() < (0.35 if inside else 0.5) else ""
        title = _join(
            brand[k], *(words if inside else [code, *words]), tint[k], code if inside else ""
        )
        number = str(model[k]) if rng.random() < 0.85 else None
        if number and not inside and rng.random() < 0.3:
            number = number.replace("-", "") if "-" in number else f"{number[:3]} {number[3:]}"
        paid = price[k] * (1 if inside else rng.uniform(0.7, 1.2))
        dims = " x ".join(
            f"{side * (1 if inside else rng.uniform(0.97, 1.1)):.1f}" for side in size[k]
        )
        cells = (
            title,
            _category(rng, str(shelf[k]), inside),
            str(brand[k]) if rng.random() < 0.9 else None,
            number,
            f"{paid:.2f}" if rng.random() < (1 if inside else 0.7) else None,
            f"{dims} inches" if rng.random() < 0.6 else None,
            f"{weight[k] * rng.uniform(0.9, 1.2):.1f} pounds" if rng.random() < 0.5 else None,
        )
        names = ("title", "category", "brand", "modelno", "price", "dimensions", "shipweight")
        for name, cell in zip(names, cells, strict=True):
            shown.setdefault(name, []).append(cell)
    shown["title"] = list(change_some(rng, np.array(shown["title"], dtype=object), 0.03, misspell))
    return _as_two_lists(rng, shown, sides)


def _category(rng: Rng, shelf: str, inside: bool) -> str | None:
    """Name the shelf as a shop does; the second has many names for each."""
    if inside:
        return f"{shelf} - general"
    return f"{shelf} {rng.choice(['accessories', 'supplies', 'products', 'parts'])}"


DRAWN = {"software": draw_software, "supermarkets": draw_supermarket}
