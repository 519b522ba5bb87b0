"""Texts become words: codes are one word each, however they are divided."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.comparison.text_kernels.joined_words import choose_joined

MOST_JOINED = 4
"""At most so many neighbours are one word elsewhere: 'KX-TG 5673/B' and 'kxtg5673b'."""

SHORTEST_CODE, SHORTEST_JOINED = 4, 6
"""Neighbours are joined into codes of so many letters and digits, or words of so many letters."""

WORD = r"[\pL\pN\pM]+(?:·[\pL\pN]+)*"
CODE = r"^(?:.*\pL.*\d.*|.*\d.*\pL.*|\d{4,})$"
POINT = "·"


def split_tokens(texts: pl.Series) -> pl.DataFrame:
    """Return the words of texts one after another: text (its place) and word, in order.

    >>> rows = split_tokens(pl.Series(["Sony DSC-W120/B, 7.2 MP", "sony's dscw120 black"]))
    >>> rows.group_by("text", maintain_order=True).all()["word"].to_list()
    [['sony', 'dscw120', 'b', '7·2', 'mp'], ['sonys', 'dscw120', 'black']]
    """
    plain = (
        texts.str.to_lowercase()
        .str.replace_all(r"['’`]", "")
        .str.replace_all(r"(\d),(\d\d\d)", "$1$2")
        .str.replace_all(r"(\d)\.(\d)", f"$1{POINT}$2")
    )
    rows = (
        pl.DataFrame({"text": np.arange(texts.len(), dtype=np.int32)})
        .with_columns(plain.str.extract_all(WORD).alias("word"))
        .explode("word")
        .filter(pl.col("word").is_not_null())
    )
    return _join_tokens(rows)


def _join_tokens(rows: pl.DataFrame) -> pl.DataFrame:
    """Join neighbours that are one word elsewhere."""
    if not rows.height:
        return rows
    known = rows["word"].unique().implode()
    lengths = np.ones(rows.height, dtype=np.int8)
    longer: list[pl.Series] = []
    for size in range(2, MOST_JOINED + 1):
        parts = [pl.col("word").shift(-k) for k in range(size)]
        last = pl.col("text").shift(1 - size) == pl.col("text")
        joined = rows.select(
            pl.when(last).then(pl.concat_str(parts)).otherwise(None).alias("word")
        ).to_series()
        n_letters = joined.str.len_chars()
        long = (
            n_letters
            >= pl.select(
                pl.when(joined.str.contains(r"\d")).then(SHORTEST_CODE).otherwise(SHORTEST_JOINED)
            ).to_series()
        )
        found = (joined.is_in(known) & long).fill_null(value=False).to_numpy()
        lengths[found] = size
        longer.append(joined)
    kept = choose_joined(lengths)
    words = rows["word"]
    for size, joined in enumerate(longer, start=2):
        words = words.zip_with(pl.Series(lengths != size), joined)
    return rows.with_columns(words).filter(pl.Series(kept))


def are_codes(words: pl.Series) -> NDArray[np.bool_]:
    """Tell words that have letters and digits, or many digits.

    >>> are_codes(pl.Series(["dscw120", "90210", "12", "2000", "sony"])).tolist()
    [True, True, False, True, False]
    """
    enough = words.str.len_chars() >= SHORTEST_CODE
    result: NDArray[Any] = (words.str.contains(CODE) & enough).to_numpy()
    return result
