"""The parts of benchmarks/coverage that are easily wrong and never look it."""

import importlib
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
SMALL = 200


@pytest.fixture
def load(monkeypatch):
    # Flat names: a package `coverage` would hide the one that measures tests.
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.syspath_prepend(str(BENCHMARKS / "coverage"))
    return importlib.import_module


def pairs_of(table):
    """Return pairs of records of one entity, both in one row."""
    return table.join(table, on="ent_id", suffix="_b").filter(pl.col("rec_id") < pl.col("rec_id_b"))


def n_differences(pairs, names):
    """Count in how many columns the records of each pair differ."""
    differ = (pl.col(name).ne_missing(pl.col(f"{name}_b")) for name in names)
    return pairs.select(pl.sum_horizontal(differ)).to_series()


def row(name, kind="kind", checkout="here", **numbers):
    """Return a row of a table that went well."""
    usual = {
        "kind": kind,
        "number": 1,
        "name": name,
        "seed": 1,
        "limit": 20.0,
        "checkout": checkout,
        "commit": "abc",
        "n_records": 30,
        "n_entities": 20,
        "mean": 20.5,
        "sd": 1.0,
        "q05": 19.0,
        "q95": 22.0,
        "covered": True,
        "z": 0.5,
        "f1": 0.9,
        "reliability": [],
        "middle_pairs": 0,
        "middle_error": None,
        "rhat": 1.004,
        "converged": True,
        "seconds": 3.0,
    }
    return {**usual, **numbers}


def test_there_are_enough_kinds_and_tables(load):
    kinds = load("kinds").KINDS
    assert len(kinds) >= 20
    assert sum(len(tables) for tables in kinds.values()) >= 60
    names = {table.name for tables in kinds.values() for table in tables}
    assert len(names) == sum(len(tables) for tables in kinds.values())
    for tables in kinds.values():
        assert len(tables) >= 3
        assert min(table.n_records for table in tables) <= 1_000  # there for a quick look
        assert all(300 <= table.n_records <= 20_000 for table in tables)


def test_every_kind_draws_records_of_entities(load):
    for tables in load("kinds").KINDS.values():
        for table in tables:
            drawn = table.draw(1, SMALL)
            assert drawn.height == SMALL
            assert drawn["rec_id"].n_unique() == SMALL
            assert drawn["ent_id"].null_count() == 0
            assert 1 < drawn["ent_id"].n_unique() <= SMALL
            fields = drawn.drop("rec_id", "ent_id", "source", strict=False)
            assert all(dtype == pl.String for dtype in fields.dtypes)
            assert all(values.n_unique() > 1 for values in fields)
            assert set(table.settings.get("fields", [])) <= set(fields.columns)
            assert table.settings.get("source", "ent_id") in drawn.columns


def test_a_table_depends_on_its_name_and_the_seed_alone(load):
    for tables in load("kinds").KINDS.values():
        one, other = tables[0], tables[1]._replace(make=tables[0].make)
        assert one.draw(1, SMALL).equals(one.draw(1, SMALL))
        assert not one.draw(1, SMALL).equals(one.draw(2, SMALL))
        assert not one.draw(1, SMALL).equals(other.draw(1, SMALL))


def test_sizes_of_entities_are_as_asked(load):
    entities = load("entities")
    rng = np.random.default_rng(1)
    for sizes in (entities.geometric(2.5), entities.poisson(2.5), entities.fixed(2.5)):
        drawn = sizes(rng, 20_000)
        assert drawn.min() >= 1
        assert drawn.mean() == pytest.approx(2.5, abs=0.06)
    assert np.unique(entities.fixed(4)(rng, 50)).tolist() == [4]
    entity = entities.draw_entities(rng, 20_000, entities.in_pairs(0.1))
    linked = np.bincount(entity)[entity] > 1
    assert linked.mean() == pytest.approx(0.1, abs=0.015)


def test_voters_have_no_error_or_exactly_two(load):
    table = load("kinds").KINDS["voters"][0].draw(1, 1_000)
    pairs = pairs_of(table)
    differences = n_differences(pairs, table.columns[2:])
    assert pairs.height > 100
    assert set(differences) == {0, 2}
    # A postcode is of one suburb; where either is wrong, it need not be.
    assert table.group_by("postcode").agg(pl.col("suburb").n_unique())["suburb"].median() == 1


def test_most_sloppy_tables_are_clean(load):
    table = load("kinds").KINDS["clean and sloppy"][0].draw(1, 2_000)
    differences = n_differences(pairs_of(table), table.columns[2:])
    # Both records are clean in 64% of pairs, or sloppy without an error.
    assert 0.64 < (differences == 0).mean() < 0.85
    assert differences.max() >= 2


def test_one_of_three_files_is_bad(load):
    table = load("kinds").KINDS["one bad file"][0].draw(1, 3_000)
    assert table.select("ent_id", "source").is_unique().all()
    pairs = pairs_of(table).with_columns(bad=pl.any_horizontal(pl.col("^source.*$") == "survey"))
    wrong = pairs.with_columns(n=n_differences(pairs, table.columns[3:])).group_by("bad")
    shares = dict(wrong.agg(pl.col("n").mean()).iter_rows())
    assert shares[True] > 3 * shares[False] > 0


def test_work_changes_as_a_whole_in_a_panel(load):
    survey = load("survey_kinds")
    table = survey.draw_panel(np.random.default_rng(1), 3_000, changed=0.3, share=0.0)
    pairs = pairs_of(table)
    assert n_differences(pairs, ("birth_year", "sex", "region")).max() == 0
    work = n_differences(pairs, ("employment", "branch", "qualification"))
    assert (work >= 2).mean() > 0.1


def test_blocks_are_missing_together(load):
    table = load("kinds").KINDS["gaps in blocks"][0].draw(1, 1_000)
    for block in (("street", "city", "postcode"), ("phone", "email")):
        n_missing = table.select(pl.sum_horizontal(pl.col(block).is_null())).to_series()
        assert set(n_missing) == {0, len(block)}


def test_an_identifier_stands_twice_but_for_typos(load):
    table = load("kinds").KINDS["an identifier alone"][0].draw(1, 1_000)
    assert set(table.group_by("ent_id").len()["len"]) == {2}
    same = n_differences(pairs_of(table), ["insurance_number"]) == 0
    assert 0.9 < same.mean() < 0.98  # 3% of records are mistyped


def test_errors_change_every_value(load):
    corrupting = load("corrupting")
    rng = np.random.default_rng(1)
    samples = {
        corrupting.misspell: ["Al", "x", "Margaret", "a1", "0"],
        corrupting.misname: ["William", "Xu"],
        corrupting.misdigit: ["12345", "7", "none"],
        corrupting.misdate: ["1970-01-01", "1999-12-31", "1955-05-05"],
    }
    for error, values in samples.items():
        for value in values * 50:
            assert error(rng, value) not in (value, "")
    dates = [corrupting.misdate(rng, "1988-07-09") for _ in range(300)]
    assert pl.Series(dates).str.to_date("%Y-%m-%d").is_not_null().all()
    assert {"1988-09-07", "1988-01-01"} <= set(dates)


def test_interval_and_middle_of_one_table(load):
    worker = load("worker")
    found = {"mean": 12.0, "sd": 0.1, "q05": 11.0, "q95": 13.0}
    assert worker.count_entities(found, 13)["covered"]
    missed = worker.count_entities(found, 10)
    assert not missed["covered"]
    assert missed["z"] == pytest.approx(4.0)  # the standard deviation counts as 0.5
    bins = [
        {"bin": 0, "pairs": 50, "said": 0.05, "true": 0.5},
        {"bin": 1, "pairs": 3, "said": 0.1, "true": 0.2},
        {"bin": 8, "pairs": 1, "said": 0.85, "true": 0.0},
        {"bin": 9, "pairs": 50, "said": 0.99, "true": 0.5},
    ]
    middle = worker.measure_middle(bins)
    assert middle["middle_pairs"] == 4
    assert middle["middle_error"] == pytest.approx((3 * 0.1 + 0.85) / 4)
    assert worker.measure_middle(bins[:1])["middle_error"] is None


def test_middle_error_is_pooled_before_it_is_taken(load):
    summing = load("summing")
    low = [{"bin": 5, "pairs": 10, "said": 0.5, "true": 0.3}]
    high = [{"bin": 5, "pairs": 10, "said": 0.5, "true": 0.7}]
    sure = [{"bin": 9, "pairs": 80, "said": 0.99, "true": 0.0}]
    rows = [row("a", reliability=low), row("b", reliability=high), row("c", reliability=sure)]
    assert summing.summarise(rows[:1])["middle_error"] == pytest.approx(0.2)
    whole = summing.summarise(rows)
    assert whole["middle_error"] == pytest.approx(0.0)
    assert whole["middle_pairs"] == 20
    assert summing.summarise(rows[2:])["middle_error"] is None
    of_two_kinds = [rows[0], {**rows[1], "kind": "other"}]
    assert summing.middle_error_within_kinds(rows) == pytest.approx(0.0)
    assert summing.middle_error_within_kinds(of_two_kinds) == pytest.approx(0.2)
    assert summing.middle_error_within_kinds(rows[2:]) is None


def test_coverage_counts_what_was_done(load):
    missed = row("b", q05=21.0, covered=False, z=-1.5, f1=0.7, converged=False)
    failed = {"kind": "kind", "name": "c", "checkout": "here", "error": "no field"}
    whole = load("summing").summarise([row("a"), missed, failed])
    counts = {name: whole[name] for name in ("tables", "failed", "done", "covered", "converged")}
    assert counts == {"tables": 3, "failed": 1, "done": 2, "covered": 1, "converged": 1}
    assert (whole["too_low"], whole["too_high"]) == (0, 1)
    assert whole["f1"] == pytest.approx(0.8)
    assert whole["abs_z"] == pytest.approx(1.0)
    assert load("summing").summarise([failed])["f1"] is None


def test_a_file_of_rows_is_gone_on_with(load, tmp_path):
    rows, file = load("rows"), tmp_path / "new" / "rows.json"
    rows.Rows(file).add(row("voters 1"))
    kept = rows.Rows(file)
    assert kept.has("voters 1", 1, "here")
    assert not kept.has("voters 1", 2, "here")
    assert not kept.has("voters 1", 1, "beside")
    kept.add(row("voters 2"))
    assert [each["name"] for each in json.loads(file.read_text())] == ["voters 1", "voters 2"]


def test_a_line_tells_a_table(load):
    told = load("telling").tell_row(row("voters 2", middle_pairs=31, middle_error=0.04))
    expected = "K 20.5 +- 1.0 (19 to 22) of 20 | F1 .900 | mid .04 of 31 | R-hat 1.004 | 3 s"
    assert told == f"voters 2: {expected}"
    assert load("telling").tell_row({**row("a"), "error": "no field"}) == "a: no field"


def test_the_page_has_every_kind_and_table_of_both_checkouts(load, tmp_path):
    missed = row("b", "other", "beside", q05=21.0, covered=False)
    rows = [row("a"), row("a", checkout="beside"), {**row("b", "other"), "error": "none"}, missed]
    page = load("telling").write_page(
        rows, ["here", "beside"], "python benchmarks/coverage", tmp_path
    )
    text = page.read_text(encoding="utf-8")
    assert page.name == "coverage.md"
    assert "| kind | tables | here: covered |" in text
    assert "| other | 1 | 0 of 0 (1 failed) |" in text
    assert "| **all** | 2 | 1 of 1 (1 failed) | 0, 0 |" in text
    assert "| b | 30 | 20 | none | - | - | - | - | - | **20.5 (21 to 22)** |" in text


def test_a_table_that_cannot_be_resolved_is_a_row(load):
    table = pl.DataFrame({"rec_id": [1, 2], "ent_id": [1, 1], "name": ["a", "a"]})
    assert load("worker").resolve(table, {"seed": 1})["error"].startswith("DataError: ")
