"""Codes of how words sound, for texts in Latin letters."""

import polars as pl

LONGEST = 8
# Groups of letters that stand for one sound, then letters by sound; vowels, h, w and y go.
MENDED = (("ph", "f"), ("sch", "s"), ("ck", "k"), ("gh", "g"), ("kn", "n"), ("wr", "r"))
SOUNDS = (
    ("1", "[bfpvw]"),
    ("2", "[cgjkqsxz]"),
    ("3", "[dt]"),
    ("4", "l"),
    ("5", "[mn]"),
    ("6", "r"),
)


def encode_sounds(texts: pl.Series) -> pl.Series:
    """Return codes that words of like sound share, null where no Latin letter stands.

    It follows Soundex, but the first letter counts by its sound too, since people mistype that as
    well, and a vowel there is 0.

    >>> encode_sounds(pl.Series(["meier", "mayer", "philips", "filips", "otto", "山"])).to_list()
    ['56', '56', '1412', '1412', '03', None]
    """
    plain = texts.str.to_lowercase().str.replace_all(r"[^a-z]", "")
    for written, heard in MENDED:
        plain = plain.str.replace_all(written, heard, literal=True)
    plain = plain.str.replace(r"^[aeiouyh]+", "0")
    for digit, letters in SOUNDS:
        plain = plain.str.replace_all(letters, digit)
    plain = plain.str.replace_all(r"[aeiouyh]", "")
    for digit in "123456":
        plain = plain.str.replace_all(f"{digit}{digit}+", digit)
    codes = plain.str.head(LONGEST)
    return codes.set(codes == "", None)
