"""Two lists of things that are known by their words: catalogues, bibliographies, music."""

import numpy as np
import polars as pl
from corrupting import change_some, leave_out, misspell
from entities import Ints, as_table
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
    n = max(2, int(n_records / (1 + overlap)))
    both = rng.random(n) < overlap
    second = both | (rng.random(n) < 0.5)
    first = both | ~second
    entity = np.concatenate([np.flatnonzero(first), np.flatnonzero(second)])
    names = np.repeat(["first", "second"], [first.sum(), second.sum()]).astype(object)
    order = np.argsort(entity, kind="stable")
    return entity[order], names[order]


def write_texts(rng: Rng, words: list[str], n: int, fewest: int, most: int) -> list[list[str]]:
    """Draw texts of so many words, whose frequencies fall with their rank."""
    lengths = rng.integers(fewest, most + 1, n)
    drawn = pick(rng, words, int(lengths.sum()), flatness=8)
    return [list(part) for part in np.split(drawn, np.cumsum(lengths)[:-1])]


def draw_catalogues(
    rng: Rng, n_records: int, coded: float = 0.8, overlap: float = 0.6
) -> pl.DataFrame:
    """Draw products of two shops: lines of a brand, model numbers written in two ways, blurbs."""
    entity, shop = draw_two_lists(rng, n_records, overlap)
    n = int(entity.max()) + 1
    n_lines = max(1, n // 4)
    line = rng.integers(n_lines, size=n)
    sorts = write_texts(rng, invent_words(rng, 250), n_lines, 2, 4)
    brands = capitalise(pick(rng, invent_words(rng, 60), n_lines))
    letters = [word[:3].upper() for word in pick(rng, invent_words(rng, 300), n_lines)]
    blurbs = write_texts(rng, [*SMALL_WORDS, *invent_words(rng, 900)], n_lines, 8, 20)
    own = write_texts(rng, invent_words(rng, 900), n, 2, 8)
    numbers = rng.integers(10, 999, n)
    extra = pick(rng, [*COLOURS, *VERSIONS], n)
    has_code = rng.random(n) < coded
    price = np.exp(rng.normal(4, 0.8, n_lines))[line] * (1 + 0.2 * rng.random(n))
    names, texts, prices = [], [], []
    for k, at in zip(entity, shop, strict=True):
        of_line = line[k]
        parts = [*sorts[of_line], str(extra[k])]
        gone = rng.random(len(parts)) < 0.25
        parts = [word for word, out in zip(parts, gone, strict=True) if not out]
        model = f"{letters[of_line]}{numbers[k]}{str(extra[k])[0].upper()}"
        if at == "second":
            model = f"{letters[of_line]}-{numbers[k]}{str(extra[k])[0].upper()}"
            parts = [str(word) for word in rng.permutation(parts)]
        model = model if has_code[k] else str(numbers[k] % 12)
        shown = [model] if rng.random() < 0.9 else []
        name = [brands[of_line], *parts]
        names.append(" ".join([*name, "-", *shown] if at == "first" else [name[0], *shown, *parts]))
        text = [*blurbs[of_line], *own[k]]
        kept = [word for word in text if rng.random() < (0.9 if at == "first" else 0.4)]
        texts.append(" ".join(([names[-1], "/"] if at == "first" else []) + kept) or None)
        prices.append(f"{price[k] * rng.uniform(0.85, 1.15):.2f}")
    fields = {
        "title": change_some(rng, np.array(names, dtype=object), 0.05, misspell),
        "description": leave_out(np.array(texts, object), (shop == "second") & _some(rng, shop)),
        "manufacturer": leave_out(brands[line[entity]], rng.random(entity.size) < 0.4),
        "price": leave_out(np.array(prices, dtype=object), rng.random(entity.size) < 0.3),
    }
    return as_table(rng, fields, entity, shop)


def _some(rng: Rng, of: Texts) -> np.ndarray:
    return rng.random(of.size) < 0.4


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
    authors, venues = [], []
    for k, at in zip(entity, source, strict=True):
        people = list(zip(first[k], last[k], strict=True))[: n_authors[k]]
        if at == "second" and rng.random() < 0.5:
            people = [(f"{one[0]}.", other) for one, other in people]
        if rng.random() < 0.1:
            people = [people[p] for p in rng.permutation(len(people))]
        if at == "second" and len(people) > 2 and rng.random() < 0.1:
            people = [people[0], ("et", "al.")]
        authors.append(", ".join(" ".join(person) for person in people))
        venues.append(list(VENUES)[venue[k]] if at == "first" else list(VENUES.values())[venue[k]])
    title = change_some(rng, np.array(titles, dtype=object)[entity], 0.08, misspell)
    years = np.array([str(y) for y in year], dtype=object)[entity]
    fields = {
        "title": title,
        "authors": leave_out(np.array(authors, object), rng.random(entity.size) < 0.02),
        "venue": np.array(venues, dtype=object),
        "year": years,
    }
    return as_table(rng, fields, entity, source)


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
