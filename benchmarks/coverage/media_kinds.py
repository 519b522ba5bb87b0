"""Songs, records, films and papers as catalogues have them: own formats, gaps, variants."""

import numpy as np
import polars as pl
from catalogue_kinds import draw_sides, write_some
from corrupting import misspell
from entities import as_table
from vocabulary import Rng, invent_words, list_words, pick

LANGUAGES = list_words("English English English English German French Spanish Japanese Unknown")
SHORT_LANGUAGES = {
    "English": "Eng.",
    "German": "Ger.",
    "French": "Fre.",
    "Spanish": "Spa.",
    "Japanese": "Jap.",
    "Unknown": "unk.",
}
COMMON = list_words("the of a love in you me my and to la i de night no on for dance world day it")
GENRES = list_words("rock folk jazz blues classical misc newage reggae soundtrack country data")
SHORT_JOURNALS = {
    "Proceedings of the International Conference on Very Large Data Bases": "VLDB",
    "ACM SIGMOD International Conference on Management of Data": "SIGMOD Conference",
    "ACM Transactions on Database Systems": "ACM Trans. Database Syst.",
    "ACM SIGMOD Record": "SIGMOD Record",
    "The VLDB Journal": "VLDB J.",
}


def _table(
    rng: Rng, names: list[str], rows: list[list[str | None]], entity: list[int], source: list[str]
) -> pl.DataFrame:
    fields = {
        name: np.array([row[k] for row in rows], dtype=object) for k, name in enumerate(names)
    }
    return as_table(rng, fields, np.array(entity), np.array(source, dtype=object))


def _titles(rng: Rng, n: int, fewest: int, most: int, n_words: int) -> list[str]:
    texts = write_some(rng, [*COMMON, *invent_words(rng, n_words)], n, fewest, most)
    return [text.title() for text in texts]


def draw_five_sources(rng: Rng, n_records: int, heavy: float = 0.35) -> pl.DataFrame:
    """Draw songs of five lists, each in a format of its own; some lists have a song twice."""
    n = n_records
    album = rng.integers(max(1, n // 4), size=n)
    artists = _titles(rng, max(2, n // 8), 1, 3, 1_500)
    artist = rng.integers(len(artists), size=int(album.max()) + 1)
    albums, titles = _titles(rng, int(album.max()) + 1, 1, 5, 1_500), _titles(rng, n, 1, 6, 2_500)
    number, seconds = rng.integers(1, 20, n), rng.integers(90, 500, n)
    year = rng.integers(1960, 2015, int(album.max()) + 1)
    language = np.array(LANGUAGES)[rng.integers(len(LANGUAGES), size=int(album.max()) + 1)]
    names = ["number", "title", "length", "artist", "album", "year", "language"]
    rows: list[list[str | None]] = []
    entity: list[int] = []
    source: list[str] = []
    for k in range(n):
        copies = 1 if rng.random() < 0.5 else int(rng.integers(2, 6))
        for at in rng.integers(1, 6, copies):
            a = int(album[k])
            cells = _song(rng, int(at), titles[k], artists[artist[a]], albums[a])
            length, when, track, tongue = (
                seconds[k] + int(rng.integers(-1, 2)),
                year[a],
                number[k],
                language[a],
            )
            cells[0] = (str(track), f"{track:03d}", f"{track}", f"track {track}", str(track))[
                at - 1
            ]
            cells[2] = (
                str(length),
                str(1000 * length),
                f"{length // 60}m {length % 60}sec",
                f"{length / 60:.3f}",
                f"{length // 60:02d}:{length % 60:02d}",
            )[at - 1]
            cells[5] = (str(when), f"'{when % 100:02d}", str(when), f"{when % 100:02d}", str(when))[
                at - 1
            ]
            cells[6] = (tongue, SHORT_LANGUAGES[tongue], tongue, tongue, SHORT_LANGUAGES[tongue])[
                at - 1
            ]
            for c, gap in enumerate((0.02, 0, 0.1, 0.05, 0.08, 0.3, 0.1)):
                if rng.random() < gap:
                    cells[c] = None
            for c in (1, 3, 4):
                cell = cells[c]
                if cell and rng.random() < heavy:
                    cells[c] = _corrupted(rng, cell)
            rows.append(cells)
            entity.append(k)
            source.append(str(at))
        if len(rows) >= n_records:
            break
    return _table(rng, names, rows[:n_records], entity[:n_records], source[:n_records])


def _song(rng: Rng, at: int, title: str, artist: str, album: str) -> list[str | None]:
    """Write title, artist and album as a list does."""
    if at == 2:
        return [None, f"{title} - {album}", None, artist, album, None, None]
    if at == 4:
        return [None, f"{artist} - {title}", None, None, album, None, None]
    if at == 5 and rng.random() < 0.3:
        return [
            None,
            f"{title} (live)",
            None,
            artist,
            f"{album} (disc {rng.integers(1, 3)})",
            None,
            None,
        ]
    return [None, title, None, artist, album, None, None]


def _corrupted(rng: Rng, text: str) -> str:
    """Spoil a text: some letters, a word lost, or words exchanged."""
    words = text.split()
    kind = rng.random()
    if kind < 0.25 and len(words) > 1:
        del words[rng.integers(len(words))]
    elif kind < 0.4 and len(words) > 1:
        words = [words[p] for p in rng.permutation(len(words))]
    else:
        for _ in range(rng.integers(1, 4)):
            at = rng.integers(len(words))
            words[at] = misspell(rng, words[at]) or words[at]
    return " ".join(words)


def draw_discs(rng: Rng, n_records: int, twice: float = 0.06) -> pl.DataFrame:
    """Draw records with their tracks, typed by many people: few are there twice."""
    n = int(n_records / (1 + twice))
    artists = _titles(rng, max(2, n // 3), 1, 3, 2_500)
    artist, titles = rng.integers(len(artists), size=n), _titles(rng, n, 1, 5, 2_500)
    genre = pick(rng, GENRES, n)
    year = rng.integers(1960, 2006, n)
    tracks = [_titles(rng, int(rng.integers(6, 14)), 1, 5, 600) for _ in range(200)]
    words = [*COMMON, *invent_words(rng, 3_000)]
    names = ["artist", "dtitle", "category", "genre", "year", "tracks"]
    del tracks
    rows: list[list[str | None]] = []
    entity = list(range(n))
    entity += [int(k) for k in rng.choice(n, n_records - n, replace=n_records - n > n)]
    lists = {k: write_some(rng, words, int(rng.integers(5, 16)), 1, 5) for k in range(n)}
    for k in entity:
        many = rng.random() < 0.04
        mine = list(lists[k])
        if rng.random() < 0.4:
            mine = [_corrupted(rng, one) if rng.random() < 0.15 else one for one in mine]
        if rng.random() < 0.1:
            mine = mine[: max(3, len(mine) - 2)]
        who, title = "Various" if many else artists[artist[k]], titles[k]
        if rng.random() < 0.15:
            who, title = _corrupted(rng, who), title
        if rng.random() < 0.15:
            title = _corrupted(rng, title)
        if rng.random() < 0.1:
            title = f"{title} (CD {rng.integers(1, 3)})"
        rows.append(
            [
                who,
                title,
                str(genre[k]) if rng.random() < 0.8 else str(rng.choice(GENRES)),
                str(genre[k]).title() if rng.random() < 0.6 else None,
                str(year[k]) if rng.random() < 0.55 else None,
                " | ".join(mine),
            ]
        )
    return _table(rng, names, rows, entity, ["list"] * len(rows)).drop("source")


def _people(rng: Rng, n: int) -> list[tuple[str, str]]:
    first = pick(rng, [w.capitalize() for w in invent_words(rng, 300)], n, flatness=10)
    last = pick(rng, [w.capitalize() for w in invent_words(rng, 2_500)], n, flatness=10)
    return list(zip(first, last, strict=True))


def draw_scholar(rng: Rng, n_records: int, first: float = 0.2, copies: float = 2.2) -> pl.DataFrame:
    """Draw papers of a curated list, and of one that a robot gathered: copies, gaps, noise."""
    n_first = int(first * n_records)
    n = n_records
    words = [*COMMON, *invent_words(rng, 3_000)]
    titles = [text.capitalize() for text in write_some(rng, words, n, 4, 12)]
    crowd = _people(rng, max(50, n // 2))
    authors = [
        [crowd[p] for p in rng.integers(len(crowd), size=rng.integers(1, 6))] for _ in range(n)
    ]
    journals = list(SHORT_JOURNALS)
    others = [text.title() for text in write_some(rng, words, 300, 2, 6)]
    years = rng.integers(1994, 2004, n)
    rows: list[list[str | None]] = []
    entity: list[int] = []
    source: list[str] = []
    venue = [str(v) for v in rng.choice(journals, n)]
    for k in range(n_first):
        who = ", ".join(f"{a} {b}" for a, b in authors[k])
        rows.append([titles[k], who, SHORT_JOURNALS[venue[k]], str(years[k])])
        entity.append(k)
        source.append("first")
    k = 0
    while len(rows) < n_records:
        inside = k < n_first
        times = (int(rng.poisson(copies)) if rng.random() < 0.7 else 0) if inside else 1
        for _ in range(times):
            title = titles[k]
            if rng.random() < 0.12:
                title = _corrupted(rng, title)
            if rng.random() < 0.06:
                title = " ".join(title.split()[: max(3, len(title.split()) - 3)])
            people = [f"{a[0]} {b}" for a, b in authors[k]]
            if rng.random() < 0.2 and len(people) > 2:
                people = (
                    [*people[: rng.integers(1, 3)], "et al."] if rng.random() < 0.5 else people[:-1]
                )
            where: str | None = venue[k] if inside else str(rng.choice(others))
            if inside and rng.random() < 0.4:
                where = SHORT_JOURNALS[venue[k]]
            if rng.random() < 0.25:
                where = None
            year = str(years[k]) if rng.random() < 0.45 else None
            rows.append([title, ", ".join(people), where, year])
            entity.append(k)
            source.append("second")
        k += 1
        if k >= n:
            break
    return _table(
        rng,
        ["title", "authors", "venue", "year"],
        rows[:n_records],
        entity[:n_records],
        source[:n_records],
    )


def draw_films(rng: Rng, n_records: int, first: float = 0.5, matched: float = 0.7) -> pl.DataFrame:
    """Draw films of two lists: remakes and series share titles, each list has its own actors."""
    sides = draw_sides(rng, n_records, first, matched)
    n = sides.n_things
    titles = _titles(rng, n, 1, 5, 2_000)
    again = rng.random(n) < 0.06
    for k in np.flatnonzero(again):
        other = titles[rng.integers(n)]
        titles[k] = (
            other if rng.random() < 0.5 else f"{other} {rng.choice(['2', 'II', '3', 'III'])}"
        )
    crowd = _people(rng, max(60, n))
    direct = rng.integers(max(20, n // 3), size=n)
    cast = rng.integers(len(crowd), size=(n, 8))
    year = rng.integers(1930, 2016, n)
    rows: list[list[str | None]] = []
    for row, k in enumerate(sides.entity):
        title = titles[k]
        inside = row < sides.first.size
        if not inside and rng.random() < 0.1:
            title = f"{title} ({year[k]} film)"
        if not inside and rng.random() < 0.08:
            title = _titles(rng, 1, 1, 5, 50)[0]  # the title of another country
        shown = [" ".join(crowd[p]) for p in cast[k][: (4 if inside else int(rng.integers(1, 7)))]]
        if not inside and rng.random() < 0.4:
            shown = [shown[p] for p in rng.permutation(len(shown))]
        when = int(year[k]) + (0 if inside or rng.random() < 0.85 else int(rng.choice([-1, 1])))
        rows.append(
            [
                title,
                " ".join(crowd[direct[k]]) if rng.random() < (0.95 if inside else 0.75) else None,
                str(when) if rng.random() < (1 if inside else 0.85) else None,
                ", ".join(shown) if rng.random() < 0.9 else None,
            ]
        )
    names = ["title", "director", "year", "actors"]
    return _table(rng, names, rows, [int(k) for k in sides.entity], [str(s) for s in sides.source])


DRAWN = {
    "songs of five lists": draw_five_sources,
    "discs": draw_discs,
    "scholars": draw_scholar,
    "films": draw_films,
}
