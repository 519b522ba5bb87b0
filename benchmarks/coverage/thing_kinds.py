"""Firms and products: words, abbreviations, legal forms and model numbers."""

import numpy as np
import polars as pl
from corrupting import change_some, leave_out, misdigit, misspell
from entities import as_table, draw_entities, fixed, geometric, repeat
from vocabulary import (
    Fields,
    Rng,
    Texts,
    capitalise,
    draw_places,
    draw_streets,
    invent_words,
    list_words,
    pick,
    pick_evenly,
)

TRADES = list_words(
    "Bakery Printing Motors Foods Systems Consulting Logistics Garden Furniture Electric Pharma "
    "Travel Textiles Glass Software Dental Roofing Optics Books Plumbing"
)
FORMS = list_words("Ltd. Ltd. Limited GmbH Inc. LLC plc")
SHORT = {
    "Street": "St",
    "Road": "Rd",
    "Avenue": "Ave",
    "Lane": "Ln",
    "Drive": "Dr",
    "Limited": "Ltd.",
    "Systems": "Sys",
    "Consulting": "Cons.",
    "Logistics": "Log.",
    "&": "and",
}
SORTS = list_words("Laptop Phone Camera Monitor Printer Speaker Router Drill Kettle Toaster")
COLOURS = list_words("black white silver red blue")


def draw_firms(
    rng: Rng, n_records: int, errors: float = 0.25, namesakes: float = 0.05
) -> pl.DataFrame:
    """Draw firms of two registers: forms are dropped, words shortened, names misspelt."""
    entity = draw_entities(rng, n_records, fixed(1.5))
    n = int(entity[-1]) + 1
    city, _ = draw_places(rng, n, 40)
    firms = {"company": _firm_names(rng, n), "street": _addresses(rng, n), "city": city}
    shared = rng.random(n) < namesakes  # branches of a chain, which are firms of their own
    firms["company"] = np.where(shared, firms["company"][rng.integers(n, size=n)], firms["company"])
    fields = repeat(firms, entity)
    company = change_some(rng, fields["company"], 2 * errors, _drop_form)
    company = change_some(rng, company, errors, _shorten)
    company = change_some(rng, company, errors / 2, _drop_word)
    fields["company"] = change_some(rng, company, errors / 2, misspell)
    fields["street"] = change_some(rng, fields["street"], 2 * errors, _shorten)
    fields["street"] = change_some(rng, fields["street"], errors / 2, misspell)
    fields["city"] = change_some(rng, fields["city"], errors / 5, misspell)
    return as_table(rng, fields, entity)


def _firm_names(rng: Rng, n: int) -> Texts:
    words = capitalise(pick(rng, invent_words(rng, 1_500), 2 * n, flatness=20)).reshape(2, n)
    parts = zip(words[0], words[1], pick(rng, TRADES, n), pick_evenly(rng, FORMS, n), strict=True)
    two = rng.random(n) < 0.3
    return np.array(
        [
            f"{one} & {other} {trade} {form}" if both else f"{one} {trade} {form}"
            for both, (one, other, trade, form) in zip(two, parts, strict=True)
        ],
        dtype=object,
    )


def _addresses(rng: Rng, n: int) -> Texts:
    numbers = rng.integers(1, 150, n)
    streets = draw_streets(rng, n)
    return np.array([f"{k} {name}" for k, name in zip(numbers, streets, strict=True)], object)


def _drop_form(rng: Rng, name: str) -> str:
    words = name.split()
    return " ".join(words[:-1]) if words[-1] in FORMS and len(words) > 1 else name


def _shorten(rng: Rng, text: str) -> str:
    return " ".join(SHORT.get(word, word) for word in text.split())


def _drop_word(rng: Rng, text: str) -> str:
    words = text.split()
    if len(words) < 3:
        return text
    gone = rng.integers(1, len(words))
    return " ".join(word for k, word in enumerate(words) if k != gone)


def draw_products(rng: Rng, n_records: int, errors: float = 0.3) -> pl.DataFrame:
    """Draw products of several shops: one title each, brand and price; models are numbered."""
    entity = draw_entities(rng, n_records, geometric(1.6))
    products = _products(rng, int(entity[-1]) + 1)
    fields = repeat(products, entity)
    title = change_some(rng, fields["title"], errors, _drop_word)
    title = change_some(rng, title, errors, _shuffle_words)
    title = change_some(rng, title, errors / 3, misspell)
    fields["title"] = change_some(rng, title, errors / 10, misdigit)
    fields["brand"] = leave_out(fields["brand"], rng.random(n_records) < errors)
    fields["price"] = change_some(rng, fields["price"], 0.7, _reprice)
    return as_table(rng, fields, entity)


def _products(rng: Rng, n: int) -> Fields:
    """Draw products in lines of a brand, whose models differ in a digit or in the colour."""
    n_lines = max(1, n // 3)
    line = rng.integers(n_lines, size=n)
    brand = capitalise(pick(rng, invent_words(rng, 80), n_lines))[line]
    sort = pick_evenly(rng, SORTS, n_lines)[line]
    letters = pick_evenly(rng, ["X", "Z", "GT", "Pro", "SL"], n_lines)[line]
    model = (rng.integers(10, 100, n_lines)[line] * 100) + 5 * rng.integers(20, size=n)
    parts = zip(brand, sort, letters, model, pick(rng, COLOURS, n), strict=True)
    titles = [f"{b} {s} {letter}-{m} {colour}" for b, s, letter, m, colour in parts]
    prices = np.exp(rng.normal(5, 0.6, n_lines))[line] * (1 + 0.1 * rng.random(n))
    return {
        "title": np.array(titles, dtype=object),
        "brand": brand,
        "price": np.array([f"{price:.2f}" for price in prices], dtype=object),
    }


def _shuffle_words(rng: Rng, text: str) -> str:
    return " ".join(rng.permutation(text.split()))


def _reprice(rng: Rng, price: str) -> str:
    return f"{float(price) * rng.uniform(0.9, 1.1):.2f}"
