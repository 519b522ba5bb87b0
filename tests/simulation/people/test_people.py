"""Simulated people: what was asked for is what is in the table."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import chisquare

from kolchin.partitions import size_counts
from kolchin.priors import KolchinPartition
from kolchin.simulation.people import COLUMNS, Options, simulate_people
from kolchin.simulation.people.names import read_names

NOTHING: Mapping[str, float] = dict.fromkeys(asdict(Options()), 0.0)
ADDRESS = ("street", "house_number", "city", "postcode")


def people(n: int = 20_000, seed: int = 1, **options: Any) -> pl.DataFrame:
    """Return people without anything that was not asked for."""
    return simulate_people(n, seed, **{**NOTHING, "city_from_postcode": 1.0, **options})


def within(count: float, n: int, share: float) -> bool:
    """Tell whether a count is within 4.5 standard deviations of a binomial's mean."""
    return bool(abs(count - n * share) <= 4.5 * np.sqrt(n * share * (1 - share)) + 1e-9)


def entities(table: pl.DataFrame) -> pl.DataFrame:
    """Return one row an entity: distinct values by column, and the number of records."""
    return table.group_by("ent_id").agg(
        pl.len().alias("size"), *(pl.col(name).n_unique() for name in COLUMNS)
    )


def persons(table: pl.DataFrame) -> pl.DataFrame:
    """Return the first record of each entity."""
    return table.unique("ent_id", keep="first", maintain_order=True)


def test_a_seed_gives_one_table() -> None:
    table = simulate_people(3000, 5)
    assert table.equals(simulate_people(3000, 5))
    assert not table.equals(simulate_people(3000, 6))
    assert table.columns == ["rec_id", "ent_id", *COLUMNS]
    assert set(table.dtypes[2:]) == {pl.String}
    assert table["rec_id"].to_list() == list(range(1, 3001))
    assert table["ent_id"].max() == table["ent_id"].n_unique()


@pytest.mark.parametrize("n", [1, 2, 3, 10, 57])
@pytest.mark.parametrize("seed", range(5))
def test_small_tables_work(n: int, seed: int) -> None:
    extreme = {"households": 0.5, "twins": 0.5, "typos": 1.0, "swapped_dates": 1.0, "moved": 1.0}
    for options in (
        {},
        extreme,
        {"households": 1.0, "twins": 0.0},
        {"twins": 1.0, "households": 0},
    ):
        assert simulate_people(n, seed, **options).height == n


def test_records_of_an_entity_agree_when_nothing_goes_wrong() -> None:
    table = people(households=0.5, twins=0.1, shared_phones=0.5, emails=0.5, emails_from_names=0.5)
    assert entities(table).select(COLUMNS).max().row(0) == (1,) * len(COLUMNS)
    assert table.drop("email").null_count().sum_horizontal().item() == 0
    assert table["birth_date"].str.to_date("%Y-%m-%d").null_count() == 0


@pytest.mark.statistical
def test_sizes_follow_the_default() -> None:
    counts = size_counts(people(50_000)["ent_id"])[1:]
    expected = counts.sum() * 2 / 3 ** np.arange(1, counts.size + 1)
    observed = np.append(counts[:5], counts[5:].sum())
    wanted = np.append(expected[:5], counts.sum() - expected[:5].sum())
    assert chisquare(observed, wanted).pvalue > 1e-4


def test_sizes_follow_a_prior() -> None:
    table = people(2000, prior=KolchinPartition(mu=[0, 0.5, 0.5]))
    assert set(np.flatnonzero(size_counts(table["ent_id"]))) == {2, 3}


@pytest.mark.statistical
def test_names_follow_their_frequencies() -> None:
    names = read_names()
    found = persons(people(60_000))
    weights = np.diff(names.last_cumulative, prepend=0.0) / names.last_cumulative[-1]
    for code in (0, 1, 10, 100):
        assert within((found["last_name"] == names.last[code]).sum(), found.height, weights[code])
    assert found["last_name"].n_unique() > 10_000
    assert weights.min() > 0


@pytest.mark.statistical
def test_people_are_of_all_ages_and_both_sexes() -> None:
    found = persons(people(households=0.8))
    assert within((found["sex"] == "F").sum(), found.height, 0.51)
    year = found["birth_date"].str.slice(0, 4).cast(int)
    assert year.min() >= 1924
    assert year.max() <= 2024
    assert 0.08 < (year > 2006).mean() < 0.35
    assert 0.05 < (year < 1960).mean() < 0.45


@pytest.mark.parametrize(("households", "twins"), [(0.0, 0.0), (0.4, 0.0), (0.3, 0.1), (0.0, 0.2)])
def test_households_share_surname_and_address(households: float, twins: float) -> None:
    found = persons(people(households=households, twins=twins))
    sharing = found.filter(pl.struct("last_name", *ADDRESS).is_duplicated()).height
    together = pl.struct("last_name", "birth_date", *ADDRESS).is_duplicated()
    born_together = found.filter(together)
    assert abs(sharing / found.height - households - twins) < 0.002
    assert abs(born_together.height / found.height - twins) < 0.002
    unlike = pl.struct("first_name", "last_name", "birth_date", *ADDRESS).is_duplicated()
    assert found.filter(unlike).height <= 2


@pytest.mark.statistical
def test_shared_phones() -> None:
    def sharing(share: float) -> tuple[int, int]:
        found = persons(people(households=1.0, shared_phones=share))
        homes = found.group_by("last_name", *ADDRESS).agg(pl.col("phone").n_unique())
        return int((homes["phone"] == 1).sum()), homes.height

    assert sharing(0.0)[0] <= 3
    assert within(*sharing(0.4), 0.4)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_city_from_postcode(share: float) -> None:
    found = persons(people(city_from_postcode=share))
    usual = found.group_by("postcode", "city").len().group_by("postcode").agg(pl.col("len").max())
    implied = usual["len"].sum() / found.height
    cities = found["city"].value_counts(normalize=True)["proportion"]
    by_chance = float(cities.max()) if share == 0 else float((cities**2).sum())
    assert implied == pytest.approx(share + (1 - share) * by_chance, abs=0.05)
    if share == 1:
        assert implied == 1


@pytest.mark.statistical
@pytest.mark.parametrize("from_names", [0.0, 0.7, 1.0])
def test_emails(from_names: float) -> None:
    found = persons(people(emails=0.5, emails_from_names=from_names))
    having = found.drop_nulls("email")
    assert within(having.height, found.height, 0.5)
    assert having["email"].is_unique().all()
    last = pl.col("last_name").str.to_lowercase()
    named = having.filter(pl.col("email").str.contains(last, literal=True)).height
    assert abs(named / having.height - from_names) < 0.03


@pytest.mark.statistical
def test_some_move_and_only_their_address_changes() -> None:
    found = entities(people(moved=0.3))
    several = found.filter(pl.col("size") > 1)
    movers = several.filter(pl.max_horizontal(ADDRESS) > 1)
    assert within(movers.height, several.height, 0.3)
    assert found.select(pl.max_horizontal(ADDRESS).max()).item() == 2
    others = [name for name in COLUMNS if name not in ADDRESS]
    assert found.select(others).max().row(0) == (1,) * len(others)


@pytest.mark.statistical
def test_grown_up_women_marry() -> None:
    table = people(married=0.2)
    found = entities(table).join(
        persons(table).select("ent_id", woman=pl.col("sex") == "F"), on="ent_id"
    )
    several = found.filter((pl.col("size") > 1) & pl.col("woman"))
    assert within(several.filter(pl.col("last_name") == 2).height, several.height, 0.2)
    assert found.filter(~pl.col("woman"))["last_name"].max() == 1
    assert found["first_name"].max() == 1


@pytest.mark.statistical
def test_nicknames() -> None:
    plain, familiar = people()["first_name"], people(nicknames=0.3)["first_name"]
    names = read_names()
    code = {name: k for k, name in reversed(list(enumerate(names.first)))}
    codes = np.array([code[name] for name in plain])
    has_one = np.diff(names.nickname_start)[codes] > 0
    changed = (plain != familiar).to_numpy()
    assert within(changed[has_one].sum(), int(has_one.sum()), 0.3)
    assert changed[~has_one].mean() < 0.01
    pairs = set(zip(plain.filter(changed), familiar.filter(changed), strict=True))
    assert ("Robert", "Bob") in pairs


@pytest.mark.statistical
def test_names_are_swapped_together() -> None:
    plain, swapped = people(), people(swapped_names=0.1)
    exchanged = (plain["first_name"] == swapped["last_name"]) & (
        plain["last_name"] == swapped["first_name"]
    )
    assert within(exchanged.sum(), plain.height, 0.1)
    assert plain.filter(~exchanged).equals(swapped.filter(~exchanged))


@pytest.mark.statistical
def test_days_and_months_are_swapped() -> None:
    plain, swapped = people()["birth_date"], people(swapped_dates=0.1)["birth_date"]
    month, day = plain.str.slice(5, 2), plain.str.slice(8, 2)
    possible = (day.cast(int) <= 12) & (day != month)
    changed = plain != swapped
    assert within(changed.sum(), int(possible.sum()), 0.1)
    exchanged = (plain.str.slice(0, 5) + day + "-" + month).filter(changed)
    assert exchanged.equals(swapped.filter(changed))


@pytest.mark.statistical
@pytest.mark.parametrize("column", COLUMNS)
def test_typos_and_gaps_by_column(column: str) -> None:
    plain = people(emails=1.0, emails_from_names=1.0)
    options: dict[str, Any] = {"typos": {column: 0.1}, "gaps": {column: 0.2}}
    table = people(emails=1.0, emails_from_names=1.0, **options)
    assert table.drop(column).equals(plain.drop(column))
    assert within(table[column].null_count(), table.height, 0.2)
    wrong = (table[column] != plain[column]).sum()
    assert within(wrong, table.height, 0.1 * 0.8)


def test_switches_leave_the_rest_alone() -> None:
    usual, clean = simulate_people(5000, 3), simulate_people(5000, 3, typos=0.0)
    assert usual["ent_id"].equals(clean["ent_id"])
    for name in COLUMNS:
        assert 0.93 < usual[name].eq_missing(clean[name]).mean() < 1
        assert usual[name].null_count() == clean[name].null_count()
