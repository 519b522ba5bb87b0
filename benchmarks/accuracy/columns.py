"""What a competent user of Splink would say about each table; kolchin is told none of this.

A description names the comparison of each column, pairs of columns to block on, rules to train
m probabilities on, and sure rules, with the share of links that they find, for the prior. Each is
tried in several specifications: `specifications` lists them, and the best one counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

Rules = Sequence[Sequence[str]]
Kinds = Mapping[str, str]


@dataclass(frozen=True)
class Description:
    """How Splink is to see a table.

    Parameters
    ----------
    kinds
        The comparison of each column: name, text, code, exact, email, or date and its format.
    block, train, sure
        Rules: lists of columns, or SQL expressions of them, that two records agree on.
    recall
        The share of links that the sure rules find, as a user would guess it.
    prepare
        Columns to be made by SQL, by name.
    names
        Columns with first name and surname, compared as a whole in one specification.
    fewer
        Columns that one specification leaves out, because others say the same or to see whether
        they do harm.
    instead
        Columns compared in one specification instead of all others.
    all_pairs
        Whether the table is small enough to compare every record with every other.
    """

    kinds: Kinds
    block: Rules
    train: Rules
    sure: Rules
    recall: float = 0.8
    prepare: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, str] | None = None
    fewer: Sequence[str] = ()
    instead: Kinds = field(default_factory=dict)
    all_pairs: bool = False


def specifications(of: Description) -> dict[str, dict[str, Any]]:
    """Return the descriptions that Splink is run with, by name, ready for JSON."""
    result = {
        "plain": _plain(of, of.kinds, frequencies=False),
        "term frequencies": _plain(of, of.kinds, frequencies=True),
    }
    if of.names:
        result["whole names"] = _whole_names(of)
    if of.fewer:
        kept = {name: kind for name, kind in of.kinds.items() if name not in of.fewer}
        result["fewer columns"] = _plain(of, kept, frequencies=True)
    if of.instead:
        result["other columns"] = _plain(of, of.instead, frequencies=True)
    if of.all_pairs:
        everything = {
            f"{name}, all pairs": {**description, "block": ["1 = 1"]}
            for name, description in result.items()
        }
        return result | everything
    return result


def _plain(of: Description, kinds: Kinds, frequencies: bool) -> dict[str, Any]:
    return {
        "comparisons": [_comparison(name, kind) for name, kind in kinds.items()],
        "frequencies": frequencies,
        "prepare": dict(of.prepare),
        "block": of.block,
        "train": of.train,
        "sure": of.sure,
        "recall": of.recall,
    }


def _whole_names(of: Description) -> dict[str, Any]:
    assert of.names is not None
    rest = {name: kind for name, kind in of.kinds.items() if name not in of.names}
    result = _plain(of, rest, frequencies=True)
    first, last = of.names
    result["prepare"]["whole_name"] = f"{first} || ' ' || {last}"
    whole = {"kind": "names", "columns": [first, last, "whole_name"]}
    return {**result, "comparisons": [whole, *result["comparisons"]]}


def _comparison(name: str, kind: str) -> dict[str, Any]:
    kind, _, form = kind.partition(" ")
    return {"kind": kind, "columns": [name], "form": form or None}


DAY = "date %Y-%m-%d"

GERMANS = Description(
    kinds={"fname_c1": "name", "lname_c1": "name", "fname_c2": "exact", "born": DAY},
    prepare={
        "year": '"by"',
        "born": "year || '-' || lpad(bm, 2, '0') || '-' || lpad(bd, 2, '0')",
    },
    block=(
        ("born",),
        ("fname_c1", "lname_c1"),
        ("lname_c1", "year"),
        ("fname_c1", "year", "bm"),
        ("fname_c1", "bm", "bd"),
        ("lname_c1", "bm", "bd"),
        ("substr(lname_c1, 1, 3)", "fname_c1", "year"),
    ),
    train=(("born",), ("fname_c1", "lname_c1")),
    sure=(("fname_c1", "born"), ("lname_c1", "born"), ("fname_c1", "lname_c1", "year", "bm")),
    recall=0.9,
    names=("fname_c1", "lname_c1"),
    instead={
        "fname_c1": "name",
        "lname_c1": "name",
        "year": "exact",
        "bm": "exact",
        "bd": "exact",
    },
)

FEBRL = Description(
    kinds={
        "given_name": "name",
        "surname": "name",
        "date_of_birth": "date %Y%m%d",
        "street_number": "exact",
        "address_1": "text",
        "suburb": "text",
        "postcode": "code",
        "state": "exact",
    },
    block=(
        ("date_of_birth",),
        ("given_name", "surname"),
        ("surname", "postcode"),
        ("given_name", "postcode"),
        ("address_1", "street_number"),
        ("address_1", "suburb"),
        ("given_name", "suburb"),
        ("surname", "suburb"),
        ("address_1", "postcode"),
        ("surname", "street_number"),
        ("postcode", "street_number"),
    ),
    train=(("date_of_birth",), ("given_name", "surname"), ("postcode", "suburb")),
    sure=(
        ("given_name", "surname", "date_of_birth"),
        ("given_name", "surname", "postcode"),
        ("date_of_birth", "postcode"),
    ),
    recall=0.9,
    names=("given_name", "surname"),
    fewer=("suburb", "state"),
)

FAKE = Description(
    kinds={
        "first_name": "name",
        "surname": "name",
        "dob": DAY,
        "city": "exact",
        "email": "email",
    },
    block=(
        ("dob",),
        ("email",),
        ("first_name", "city"),
        ("surname", "city"),
        ("first_name", "surname"),
        ("first_name", "substr(dob, 1, 7)"),
        ("surname", "substr(dob, 1, 7)"),
        ("substr(email, 1, 5)",),
    ),
    train=(("first_name", "surname"), ("dob",), ("email",)),
    sure=(("first_name", "surname", "dob"), ("email",), ("first_name", "dob")),
    recall=0.7,
    names=("first_name", "surname"),
    all_pairs=True,
)

RESTAURANTS = Description(
    kinds={
        "name": "text",
        "addr": "text",
        "city": "text",
        "digits": "code",
        "type": "exact",
    },
    prepare={"digits": "regexp_replace(phone, '[^0-9]', '', 'g')"},
    block=(
        ("digits",),
        ("substr(name, 1, 5)",),
        ("substr(addr, 1, 8)",),
        ("name",),
        ("substr(digits, 1, 7)",),
        ("substr(digits, 4, 7)",),
    ),
    train=(("digits",), ("substr(name, 1, 5)",), ("substr(addr, 1, 8)",)),
    sure=(("digits",), ("name", "city"), ("name", "addr")),
    recall=0.9,
    fewer=("city", "type"),
    all_pairs=True,
)

MULTILINK = Description(
    kinds={
        "gname": "name",
        "fname": "name",
        "phone": "code",
        "postcode": "code",
        "sex": "exact",
        "age": "exact",
        "occup": "exact",
    },
    block=(
        ("phone",),
        ("gname",),
        ("fname",),
        ("substr(phone, 1, 5)",),
        ("substr(gname, 1, 2)", "substr(fname, 1, 2)"),
        ("substr(gname, 1, 2)", "postcode"),
        ("substr(fname, 1, 2)", "postcode"),
        ("postcode", "age"),
        ("postcode", "sex"),
    ),
    train=(("phone",), ("gname",), ("fname",)),
    sure=(("phone",), ("gname", "fname"), ("gname", "postcode"), ("fname", "postcode")),
    recall=0.7,
    names=("gname", "fname"),
    all_pairs=True,
)

EXCHANGER = Description(
    kinds={
        "first_name": "name",
        "last_name": "name",
        "gender": "exact",
        "zipcode": "exact",
        "born": DAY,
    },
    prepare={
        "born": "birth_year || '-' || lpad(birth_month, 2, '0') || '-' || lpad(birth_day, 2, '0')"
    },
    block=(
        ("born",),
        ("last_name", "zipcode"),
        ("first_name", "zipcode"),
        ("last_name", "birth_year"),
        ("first_name", "birth_year"),
        ("first_name", "last_name"),
        ("birth_month", "birth_day"),
        ("zipcode", "birth_year"),
        ("zipcode", "substr(last_name, 1, 1)"),
    ),
    train=(("born",), ("first_name", "last_name"), ("zipcode", "birth_year")),
    sure=(("first_name", "last_name"), ("last_name", "born"), ("first_name", "born")),
    recall=0.6,
    names=("first_name", "last_name"),
    instead={
        "first_name": "name",
        "last_name": "name",
        "gender": "exact",
        "zipcode": "exact",
        "birth_year": "exact",
        "birth_month": "exact",
        "birth_day": "exact",
    },
    all_pairs=True,
)

ITALY = Description(
    kinds=dict.fromkeys(
        ("PARENT", "SEX", "ANASC", "NASCREG", "CIT", "ACOM4C", "STUDIO", "Q", "QUAL", "SETT"),
        "exact",
    ),
    block=(("ANASC",), ("PARENT", "SEX", "STUDIO", "NASCREG"), ("SEX", "STUDIO", "QUAL", "SETT")),
    train=(("ANASC", "SEX"), ("PARENT", "STUDIO"), ("QUAL", "SETT", "NASCREG")),
    sure=(("ANASC", "SEX", "NASCREG", "STUDIO", "PARENT", "ACOM4C"),),
    recall=0.6,
    fewer=("PARENT", "Q", "QUAL", "SETT"),
    all_pairs=True,
)

SURVEY = Description(
    kinds=dict.fromkeys(("EBMNTH", "TBYEAR", "ESEX", "ERACE", "TFIPSST"), "exact"),
    block=(
        ("EBMNTH", "TBYEAR"),
        ("TBYEAR", "TFIPSST"),
        ("EBMNTH", "TFIPSST", "ESEX", "ERACE"),
    ),
    train=(("EBMNTH", "TBYEAR"), ("TFIPSST", "ESEX", "ERACE")),
    sure=(("EBMNTH", "TBYEAR", "ESEX", "ERACE", "TFIPSST"),),
    recall=0.9,
    fewer=("ERACE",),
)

PEOPLE = Description(
    kinds={
        "first_name": "name",
        "last_name": "name",
        "sex": "exact",
        "birth_date": DAY,
        "street": "text",
        "house_number": "exact",
        "city": "exact",
        "postcode": "code",
        "phone": "code",
        "email": "email",
    },
    block=(
        ("birth_date",),
        ("email",),
        ("phone",),
        ("first_name", "last_name"),
        ("last_name", "postcode"),
        ("first_name", "postcode"),
        ("street", "house_number"),
        ("first_name", "substr(birth_date, 1, 7)"),
        ("last_name", "substr(birth_date, 1, 4)"),
    ),
    train=(("birth_date",), ("first_name", "last_name"), ("email",)),
    sure=(
        ("first_name", "last_name", "birth_date"),
        ("email", "first_name"),
        ("email", "birth_date"),
    ),
    recall=0.8,
    names=("first_name", "last_name"),
    fewer=("street", "house_number", "city"),
)

DESCRIPTIONS = {
    "rldata500": replace(GERMANS, all_pairs=True),
    "febrl1": replace(FEBRL, all_pairs=True),
    "febrl2": FEBRL,
    "splink_fake1000": FAKE,
    "restaurant": RESTAURANTS,
    "multilink_dup_data": MULTILINK,
    "exchanger_synth_mu1_dist1_n1000": EXCHANGER,
    "italy_friuli": ITALY,
    "sipp": SURVEY,
    "germans": GERMANS,
    "people": PEOPLE,
}
"""The description of each table; simulated people of every kind have one."""
