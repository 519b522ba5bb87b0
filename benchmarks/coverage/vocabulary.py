"""Words, names, places and dates, made in code: syllables, and weights that fall with the rank."""

import numpy as np
from numpy.typing import NDArray

Rng = np.random.Generator
Texts = NDArray[np.object_]
"""An array of texts, with None where a value is missing."""

Fields = dict[str, Texts]
"""The columns of a table, one value a row."""


def list_words(text: str) -> list[str]:
    """Return the words of a text, which are read more easily than a list of them."""
    return text.split()


ONSETS = list_words(
    "b br c ch cl d dr f fl g gr h j k kl l m n p pr r s sch sh sl st t th tr v w wh z"
)
VOWELS = list_words("a a a e e e i i o o u ai au ea ee ei ie oo ou y")
CODAS = ["", "", "", *list_words("l m n n r r s t ck ld ll nd ng nn rd rn rt ss st tz x")]
MOST_TRIES = 50

NICKNAMES = {
    "alexander": "alex sandy",
    "andrew": "andy drew",
    "anthony": "tony",
    "barbara": "babs barb",
    "benjamin": "ben",
    "catherine": "cathy kate",
    "charles": "charlie chuck",
    "christopher": "chris kit",
    "daniel": "dan danny",
    "deborah": "debbie deb",
    "edward": "ted eddie",
    "elizabeth": "liz beth betty",
    "frederick": "fred",
    "gregory": "greg",
    "james": "jim jamie",
    "jennifer": "jenny jen",
    "joseph": "joe",
    "katherine": "kathy katie",
    "lawrence": "larry",
    "margaret": "maggie peggy meg",
    "matthew": "matt",
    "michael": "mike mick",
    "nicholas": "nick",
    "pamela": "pam",
    "patricia": "pat trish",
    "rebecca": "becky",
    "richard": "rick dick",
    "robert": "bob rob",
    "samuel": "sam",
    "stephen": "steve",
    "susan": "sue susie",
    "theresa": "terry tess",
    "thomas": "tom tommy",
    "victoria": "vicky",
    "william": "bill will",
    "zachary": "zack",
}
STREET_KINDS = list_words("Street Street Street Road Road Avenue Lane Drive Close Way")
TOWN_ENDINGS = list_words("ton ville bury ford field ham mouth stead wick ley")
MAIL_HOSTS = list_words("gmail.com gmail.com yahoo.com outlook.com web.de aol.com")


def invent_words(rng: Rng, n: int, fewest: int = 2, most: int = 3) -> list[str]:
    """Make distinct words of so many syllables, in random order."""
    words: dict[str, None] = {}
    for _ in range(MOST_TRIES):
        lengths = rng.integers(fewest, most + 1, n)
        onsets, vowels, codas = (
            pick_evenly(rng, among, n * most).reshape(n, most) for among in (ONSETS, VOWELS, CODAS)
        )
        for k, length in enumerate(lengths):
            word = "".join(onsets[k, s] + vowels[k, s] for s in range(length))
            words[word + codas[k, 0]] = None
        if len(words) >= n:
            return list(words)[:n]
    raise ValueError(f"There are no {n} words of {fewest} to {most} syllables.")


def falling_weights(n: int, flatness: float = 3.0, power: float = 1.0) -> NDArray[np.float64]:
    """Return weights that fall with the rank, as those of names do (Zipf)."""
    weights = 1 / (flatness + np.arange(n)) ** power
    return weights / weights.sum()


def pick(rng: Rng, words: list[str], n: int, flatness: float = 3.0, power: float = 1.0) -> Texts:
    """Draw words whose frequencies fall with their rank."""
    places = rng.choice(len(words), n, p=falling_weights(len(words), flatness, power))
    return np.array(words, dtype=object)[places]


def pick_evenly(rng: Rng, words: list[str], n: int) -> Texts:
    """Draw words that are all as frequent."""
    return np.array(words, dtype=object)[rng.integers(len(words), size=n)]


def draw_first_names(rng: Rng, n: int, n_names: int = 300) -> Texts:
    """Draw first names: common ones that have nicknames, and invented ones among them."""
    known = list(NICKNAMES)
    names = [*known, *invent_words(rng, n_names)][:n_names]
    names = [str(name) for name in rng.permutation(names)]
    return capitalise(pick(rng, names, n, flatness=10))


def draw_last_names(rng: Rng, n: int, n_names: int = 2_000) -> Texts:
    """Draw surnames."""
    return capitalise(pick(rng, invent_words(rng, n_names), n, flatness=10))


def capitalise(words: Texts) -> Texts:
    """Begin each word with a capital."""
    return np.array([word.capitalize() for word in words], dtype=object)


def draw_dates(rng: Rng, n: int, oldest: int = 1930, youngest: int = 2005) -> Texts:
    """Draw days as texts such as 1970-01-31."""
    first, last = (np.datetime64(f"{year}-01-01") for year in (oldest, youngest))
    days = first + rng.integers(0, int((last - first).astype(int)), n)
    return np.array([str(day) for day in days.astype("datetime64[D]")], dtype=object)


def draw_digits(rng: Rng, n: int, length: int) -> Texts:
    """Draw numbers of so many digits, as text; the first is not 0."""
    numbers = rng.integers(10 ** (length - 1), 10**length, n)
    return np.array([str(number) for number in numbers], dtype=object)


def draw_places(rng: Rng, n: int, n_towns: int = 60) -> tuple[Texts, Texts]:
    """Draw towns and postcodes: large towns have many postcodes, and each is of one town."""
    words = invent_words(rng, n_towns, 1, 2)
    towns = [f"{word}{TOWN_ENDINGS[k % len(TOWN_ENDINGS)]}" for k, word in enumerate(words)]
    n_codes = np.maximum(1, (6 * n_towns * falling_weights(n_towns)).astype(int))
    town_of = np.repeat(np.arange(n_towns), n_codes)
    codes = rng.choice(np.arange(10_000, 99_999), town_of.size, replace=False)
    place = rng.integers(town_of.size, size=n)
    names = capitalise(np.array(towns, dtype=object))
    return names[town_of[place]], codes[place].astype(str).astype(object)


def draw_streets(rng: Rng, n: int, n_streets: int = 400) -> Texts:
    """Draw names of streets."""
    words = capitalise(np.array(invent_words(rng, n_streets, 1, 3), dtype=object))
    names = [f"{word} {STREET_KINDS[k % len(STREET_KINDS)]}" for k, word in enumerate(words)]
    return pick(rng, names, n, flatness=30)
