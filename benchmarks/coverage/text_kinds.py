"""Two lists of things that are known by their words: catalogues, bibliographies, music."""

import sys
from typing import NamedTuple

import numpy as np
import polars as pl
from corrupting import Flags, change_some, leave_out, misspell
from entities import Ints, as_table
from numpy.typing import NDArray
from thing_kinds import COLOURS
from vocabulary import Rng, Texts, capitalise, falling_weights, invent_words, list_words, pick

SMALL_WORDS = list_words("for with and the of in a to by from on at")
VENUES = {
    "SIGMOD Conference": "International Conference on Management of Data",
    "VLDB": "Very Large Data Bases",
    "VLDB J.": "The VLDB Journal: Very Large Data Bases",
    "ACM Trans. Database Syst.": "ACM Transactions on Database Systems (TODS)",
    "SIGMOD Record": "ACM SIGMOD Record",
}
VERSIONS = list_words("deluxe standard pro upgrade academic home premium mac windows")


def draw_two_lists(rng: Rng, n_records: int, overlap: float) -> tuple[Ints, Texts]:
    """Return the entity and the list of each record: a share of the entities is in both."""
    both = rng.random(n_records) < overlap
    second = both | (rng.random(n_records) < 0.5)
    first = both | ~second
    entity = np.concatenate([np.flatnonzero(first), np.flatnonzero(second)])
    names = np.repeat(["first", "second"], [first.sum(), second.sum()]).astype(object)
    order = np.argsort(entity, kind="stable")[:n_records]
    return entity[order], names[order]


def write_texts(rng: Rng, words: list[str], n: int, fewest: int, most: int) -> list[list[str]]:
    """Draw texts of so many words, whose frequencies fall with their rank."""
    lengths = rng.integers(fewest, most + 1, n)
    drawn = pick(rng, words, int(lengths.sum()), flatness=8)
    return [list(part) for part in np.split(drawn, np.cumsum(lengths)[:-1])]


class Products(NamedTuple):
    """Products in lines of a brand: what a line's have in common, and what is each one's own."""

    line: Ints
    sorts: list[list[str]]
    brands: Texts
    letters: list[str]
    blurbs: list[list[str]]
    own: list[list[str]]
    numbers: Ints
    variants: Texts
    has_code: Flags
    price: NDArray[np.float64]

    @classmethod
    def draw(cls, rng: Rng, n: int, coded: float) -> "Products":
        """Draw lines of four products on average."""
        n_lines = max(1, n // 4)
        line = rng.integers(n_lines, size=n)
        return cls(
            line=line,
            sorts=write_texts(rng, invent_words(rng, 250), n_lines, 2, 4),
            brands=capitalise(pick(rng, invent_words(rng, 60), n_lines)),
            letters=[word[:3].upper() for word in pick(rng, invent_words(rng, 300), n_lines)],
            blurbs=write_texts(rng, [*SMALL_WORDS, *invent_words(rng, 900)], n_lines, 8, 20),
            own=write_texts(rng, invent_words(rng, 900), n, 2, 8),
            numbers=rng.integers(10, 999, n),
            variants=pick(rng, [*COLOURS, *VERSIONS], n),
            has_code=rng.random(n) < coded,
            price=np.exp(rng.normal(4, 0.8, n_lines))[line] * (1 + 0.2 * rng.random(n)),
        )

    def name(self, rng: Rng, k: int, shop: str) -> str:
        """Write the name of a product as a shop does: the model last, or in the middle."""
        line, variant = self.line[k], str(self.variants[k])
        words = [word for word in (*self.sorts[line], variant) if rng.random() < 0.75]
        hyphen = "" if shop == "first" else "-"
        model = f"{self.letters[line]}{hyphen}{self.numbers[k]}{variant[0].upper()}"
        shown = [model if self.has_code[k] else str(self.numbers[k] % 12)]
        shown = shown if rng.random() < 0.9 else []
        if shop == "first":
            return " ".join([self.brands[line], *words, "-", *shown])
        return " ".join([self.brands[line], *shown, *map(str, rng.permutation(words))])

    def text(self, rng: Rng, k: int, shop: str, name: str) -> str | None:
        """Describe a product: one shop repeats the name, the other takes a part of the words."""
        share = 0.9 if shop == "first" else 0.4
        words = [*self.blurbs[self.line[k]], *self.own[k]]
        kept = [word for word in words if rng.random() < share]
        return " ".join([f"{name} /", *kept] if shop == "first" else kept) or None


def draw_catalogues(
    rng: Rng, n_records: int, coded: float = 0.8, overlap: float = 0.6
) -> pl.DataFrame:
    """Draw products of two shops: lines of a brand, model numbers written in two ways, blurbs."""
    entity, shop = draw_two_lists(rng, n_records, overlap)
    products = Products.draw(rng, int(entity.max()) + 1, coded)
    names = [products.name(rng, k, at) for k, at in zip(entity, shop, strict=True)]
    rows = zip(entity, shop, names, strict=True)
    texts = np.array([products.text(rng, k, at, name) for k, at, name in rows], dtype=object)
    prices = [f"{price * rng.uniform(0.85, 1.15):.2f}" for price in products.price[entity]]
    gaps = rng.random((3, n_records))
    fields = {
        "title": change_some(rng, np.array(names, dtype=object), 0.05, misspell),
        "description": leave_out(texts, (shop == "second") & (gaps[0] < 0.4)),
        "manufacturer": leave_out(products.brands[products.line[entity]], gaps[1] < 0.4),
        "price": leave_out(np.array(prices, dtype=object), gaps[2] < 0.3),
    }
    return as_table(rng, fields, entity, shop)


def draw_papers(rng: Rng, n_records: int, overlap: float = 0.7) -> pl.DataFrame:
    """Draw papers of two bibliographies: titles, lists of authors, venues written in two ways."""
    entity, source = draw_two_lists(rng, n_records, overlap)
    n = int(entity.max()) + 1
    topics = write_texts(rng, [*SMALL_WORDS, *invent_words(rng, 1_500)], n, 4, 11)
    titles = [" ".join(words).capitalize() for words in topics]
    again = rng.random(n) < 0.03  # the same title twice: a conference and its journal
    titles = [titles[rng.integers(n)] if same else t for same, t in zip(again, titles, strict=True)]
    first = capitalise(pick(rng, invent_words(rng, 250), 4 * n, flatness=10)).reshape(n, 4)
    last = capitalise(pick(rng, invent_words(rng, 1_200), 4 * n, flatness=10)).reshape(n, 4)
    n_authors = rng.integers(1, 5, n)
    venue = rng.choice(len(VENUES), n, p=falling_weights(len(VENUES)))
    year = rng.integers(1994, 2004, n)
    people = [list(zip(first[k], last[k], strict=True))[: n_authors[k]] for k in entity]
    authors = [_list_people(rng, one, at) for one, at in zip(people, source, strict=True)]
    spelled = {"first": list(VENUES), "second": list(VENUES.values())}
    venues = [spelled[at][venue[k]] for k, at in zip(entity, source, strict=True)]
    title = change_some(rng, np.array(titles, dtype=object)[entity], 0.08, misspell)
    years = np.array([str(y) for y in year], dtype=object)[entity]
    fields = {
        "title": title,
        "authors": leave_out(np.array(authors, object), rng.random(entity.size) < 0.02),
        "venue": np.array(venues, dtype=object),
        "year": years,
    }
    return as_table(rng, fields, entity, source)


def _list_people(rng: Rng, people: list[tuple[str, str]], source: str) -> str:
    """Write a list of authors: whole names or initials, sometimes in another order, or cut."""
    if source == "second" and rng.random() < 0.5:
        people = [(f"{first[0]}.", last) for first, last in people]
    if rng.random() < 0.1:
        people = [people[p] for p in rng.permutation(len(people))]
    if source == "second" and len(people) > 2 and rng.random() < 0.1:
        people = [people[0], ("et", "al.")]
    return ", ".join(" ".join(person) for person in people)


def draw_songs(rng: Rng, n_records: int, overlap: float = 0.5) -> pl.DataFrame:
    """Draw songs of two lists: artists with albums, 'feat.', 'remastered', lengths in seconds."""
    entity, source = draw_two_lists(rng, n_records, overlap)
    n = int(entity.max()) + 1
    n_albums = max(1, n // 5)
    album = rng.integers(n_albums, size=n)
    words = [*SMALL_WORDS, *invent_words(rng, 1_200)]
    artists = [" ".join(one).title() for one in write_texts(rng, words, n_albums, 1, 3)]
    albums = [" ".join(one).title() for one in write_texts(rng, words, n_albums, 1, 4)]
    titles = [" ".join(one).title() for one in write_texts(rng, words, n, 1, 5)]
    seconds = rng.integers(120, 400, n)
    shown: dict[str, list[str]] = {"song": [], "artist": [], "album": [], "length": []}
    for k, at in zip(entity, source, strict=True):
        song, record, artist = titles[k], albums[album[k]], artists[album[k]]
        if at == "second" and rng.random() < 0.25:
            song = f"{song} (Remastered)"
        if at == "second" and rng.random() < 0.15:
            song = f"{song} [feat. {artists[rng.integers(n_albums)]}]"
        if at == "first" and rng.random() < 0.2:
            record = f"{record} (Deluxe Edition)"
        if rng.random() < 0.1:
            record = f"Best of {artist}"
        shown["song"].append(song)
        shown["artist"].append(artist)
        shown["album"].append(record)
        shown["length"].append(str(seconds[k] + (rng.integers(-1, 2) if at == "second" else 0)))
    fields = {name: np.array(values, dtype=object) for name, values in shown.items()}
    fields["song"] = change_some(rng, fields["song"], 0.06, misspell)
    fields["artist"] = change_some(rng, fields["artist"], 0.06, misspell)
    return as_table(rng, fields, entity, source)


DRAWN = {"catalogues": draw_catalogues, "bibliographies": draw_papers, "songs": draw_songs}


def main() -> None:
    """Write a table: python benchmarks/coverage/text_kinds.py catalogues 2000 FILE."""
    kind, n_records, path = sys.argv[1:]
    DRAWN[kind](np.random.default_rng(1), int(n_records)).write_csv(path)


if __name__ == "__main__":
    main()
