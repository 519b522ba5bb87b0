"""Tables of all shapes, each run through to the report; and files at random, as a long test."""

import os
import warnings

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kolchin as kp
import kolchin.report
from kolchin.cli import app
from kolchin.records import DataWarning
from kolchin.resolution.golden.golden_files import write_golden

render = kolchin.report.render
"""The page itself, which the tests of this folder leave out."""

N = 48
FUZZED = int(os.environ.get("KOLCHIN_FUZZED", "200"))
"""Files of the long test; KOLCHIN_FUZZED=10000 takes hours."""

COLUMNS = ("categories", "compared", "both", "one", "many")
CONTENTS = ("usual", "equal", "different", "giant", "gaps")
ROLES = ("none", "id", "source", "one_per_source", "truth")
WAYS = ("usual", "sharded", "keys", "both")

CASES = [
    *((columns, content, "none", "usual") for columns in COLUMNS for content in CONTENTS),
    *(("both", "usual", role, "usual") for role in ROLES[1:]),
    *(("both", content, role, "both") for content in ("usual", "gaps") for role in ROLES[1:]),
    *((columns, content, "id", way) for columns in COLUMNS for content, way in [
        ("usual", "sharded"), ("usual", "keys"), ("different", "sharded"), ("giant", "keys"),
    ]),
]  # fmt: skip


def make_table(columns: str, content: str) -> pl.DataFrame:
    """Return 48 records; those of one entity are next to each other and nearly equal."""
    rng = np.random.default_rng(len(content))
    sizes = {"giant": [20], "different": [1], "equal": [N]}.get(content, [2])
    entity = np.repeat(np.arange(N), [*sizes, *[1 if content == "giant" else sizes[-1]] * N][:N])[
        :N
    ]
    names = rng.permutation(
        [f"{a}{b}{c}" for a in "bcdfg" for b in ("ara", "elo") for c in "nmrst"]
    )
    made = {
        "sex": rng.choice(["f", "m"], N)[entity],
        "town": rng.choice(["Rome", "Pisa", "Bari"], N)[entity],
        "name": names[entity % 50],
        "born": np.array([f"19{k % 80 + 10}-0{k % 9 + 1}-1{k % 9}" for k in range(N)])[entity],
        "phone": np.array([f"555-{k * 37:04d}" for k in range(N)])[entity],
        **{f"more_{k}": rng.integers(0, 9, N).astype(str)[entity] for k in range(15)},
    }
    wanted = {
        "categories": ["sex", "town", "more_0"],
        "compared": ["name", "born", "phone"],
        "both": ["sex", "town", "name", "born"],
        "one": ["name"],
        "many": list(made),
    }[columns]
    table = pl.DataFrame({name: made[name].astype(str) for name in wanted})
    if content == "gaps":
        table = table.with_columns(
            pl.when(pl.Series(rng.random(N) < 0.5)).then(None).otherwise(pl.nth(k)).alias(name)
            for k, name in enumerate(table.columns)
        )
    return table.with_columns(
        rec_id=pl.Series([f"r{k}" for k in range(N)]),
        file=pl.Series(["a", "b"] * (N // 2)),
        ent_id=pl.Series(entity),
    )


def settings_of(role: str) -> dict:
    return {
        "none": {},
        "id": {"id": "rec_id"},
        "source": {"source": "file"},
        "one_per_source": {"source": "file", "one_per_source": True},
        "truth": {"truth": "ent_id"},
    }[role]


@pytest.fixture
def lower_sizes(monkeypatch):
    """Let small tables take the ways of large ones."""

    def lower(way: str) -> None:
        monkeypatch.setattr("kolchin.sampling.run.run_settings.FEWEST_WARMUP_STEPS", 12)
        if way in ("sharded", "both"):
            monkeypatch.setattr("kolchin.sampling.layout.SMALLEST_SHARDED", 20)
            monkeypatch.setattr("kolchin.sampling.layout.RECORDS_A_BLOCK", 8)
            monkeypatch.setattr("kolchin.sampling.layout.MOST_CUT", 1.0)
        if way in ("keys", "both"):
            monkeypatch.setattr("kolchin.comparison.blocking.blocked_pairs.FEWEST", 60)
            monkeypatch.setattr("kolchin.comparison.levels.level_chances.SAMPLED_PAIRS", 400)
            monkeypatch.setattr("kolchin.likelihoods.categorical_candidates.ALL_PAIRS_UP_TO", 10)

    return lower


def look_at_everything(result: kp.Result) -> None:
    """Ask a result for all it has."""
    n_records = result.entities.height
    assert result.golden()["n_records"].sum() == n_records
    assert result.golden_values().columns[0] == "entity"
    assert len(result.entity(0)) >= 1
    assert result.doubtful(3).height <= 3
    assert result.merged().height == n_records
    assert "Probability of one entity" in str(result.explain(*result.entities["record"][:2]))
    assert "records" in result._repr_html_()
    assert result.summary()["n_records"] == n_records


def marked(case: tuple[str, str, str, str]):
    """Sixteen fields take ten seconds a case: one of them runs every time."""
    is_long = case[0] == "many" and case[1:] != ("usual", "none", "usual")
    return pytest.param(*case, marks=pytest.mark.slow) if is_long else case


@pytest.mark.parametrize(("columns", "content", "role", "way"), [marked(case) for case in CASES])
def test_a_table_runs_through_to_the_report(
    columns, content, role, way, lower_sizes, tmp_path, monkeypatch
):
    lower_sizes(way)
    monkeypatch.setattr("kolchin.report.render", render)
    table = make_table(columns, content)
    fields = [name for name in table.columns if name not in ("rec_id", "file", "ent_id")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        run = {"chains": 2, "draws": 4, "seed": 1, "out": tmp_path / "run", "progress": False}
        result = kp.resolve(table, fields=fields[:16], **settings_of(role), **run)
    assert "<html" in (tmp_path / "run" / "report.html").read_text()
    look_at_everything(result)
    look_at_everything(kp.Result.load(tmp_path / "run"))


@pytest.mark.parametrize(
    "name", ["*", "^n.*$", "^.h$", "entity", "record", "n_records", "__proto__"]
)
def test_a_column_may_have_any_name(name, lower_sizes, tmp_path, monkeypatch):
    lower_sizes("usual")
    monkeypatch.setattr("kolchin.report.render", render)
    table = make_table("both", "usual").rename({"name": name})
    run = {"chains": 1, "draws": 3, "seed": 1, "out": tmp_path / "run", "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        result = kp.resolve(table, fields=[name, "born"], id="rec_id", merged=True, **run)
    look_at_everything(result)
    rules = {"fields": {name: {"keep": "longest"}, "*": {"keep": "complete"}}}
    assert result.golden(rules)["n_records"].sum() == N
    assert write_golden(tmp_path / "run")


def test_more_columns_than_are_compared_are_left_out_and_said():
    table = make_table("many", "usual")
    with pytest.warns(DataWarning, match="most telling are used"):
        result = kp.resolve(table, chains=1, draws=3, seed=1, progress=False)
    assert len(result.summary()["settings"]["fields"]) <= 16


@pytest.mark.slow
def test_processes_run_through_to_the_report(lower_sizes, tmp_path):
    table = make_table("both", "usual")
    table.write_parquet(tmp_path / "t.parquet")
    run = {"chains": 2, "draws": 4, "seed": 1, "progress": False, "id": "rec_id"}
    lower_sizes("both")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        here = kp.resolve(tmp_path / "t.parquet", **run)
        there = kp.resolve(tmp_path / "t.parquet", engine="pool:2", **run)
    look_at_everything(here)
    assert there.entities["record"].equals(here.entities["record"])


CELLS = (
    *(
        "",
        "a",
        "Ann",
        "NA",
        "0",
        "1",
        "007",
        "-5",
        "1.5",
        "1e400",
        "nan",
        "1970-01-02",
        "1502-02-30",
    ),
    *(
        "19700101",
        "é",
        "日本",
        "=1+1",
        "a@b.c",
        "+39 06 123",
        "x" * 400,
        "\u202e",
        "'",
        "<b>",
        "{{7}}",
    ),
    *("None", "true", "  ", "-", "*", "^a$", "constructor", "\x07"),
)
NAMES = (
    "id",
    "name",
    "dob",
    "*",
    "^.*$",
    "__proto__",
    "entity",
    "record",
    "source",
    "a b",
    "x,y",
    "",
)


def fuzzed_rows(rng: np.random.Generator) -> tuple[list[str], list[list[str]]]:
    names = list(rng.choice(NAMES, rng.integers(1, 6), replace=bool(rng.random() < 0.1)))
    some = rng.choice(CELLS, rng.integers(1, 12))
    rows = [list(rng.choice(some, len(names))) for _ in range(rng.integers(0, 14))]
    return [str(name) for name in names], [[str(cell) for cell in row] for row in rows]


def write_fuzzed(rng: np.random.Generator, folder) -> str:
    """Write a file of any kind, now and then with some bytes broken."""
    import csv
    import json

    names, rows = fuzzed_rows(rng)
    kind = str(rng.choice(["csv", "tsv", "json", "jsonl", "csv.gz", "parquet", "xlsx"]))
    path = folder / f"t.{kind}"
    if kind in ("json", "jsonl"):
        records = [dict(zip(names, row, strict=True)) for row in rows]
        lines = "\n".join(map(json.dumps, records))
        path.write_text(json.dumps(records) if kind == "json" else lines)
    elif kind in ("parquet", "xlsx") and len(set(names)) == len(names) and rows:
        frame = pl.DataFrame(rows, schema=names, orient="row")
        frame.write_parquet(path) if kind == "parquet" else frame.write_excel(path)
    else:
        with path.open("w", newline="") as file:
            writer = csv.writer(file, delimiter="\t" if kind == "tsv" else ",")
            writer.writerows([names, *rows])
    data = bytearray(path.read_bytes())
    if rng.random() < 0.2 and data:
        for place in rng.integers(0, len(data), 3):
            data[place] = rng.integers(256)
        path.write_bytes(data[: rng.integers(1, len(data) + 1)])
    return str(path)


def settle(path: str, out: str, runner: CliRunner) -> int:
    """Resolve a file; it is done, or refused in words."""
    given = ["--chains", "1", "--draws", "2", "--seed", "1", "--out", out, "--overwrite"]
    told = runner.invoke(app, ["resolve", path, *given])
    assert told.exit_code in (0, 2), (path, told.stderr, told.exception)
    assert "Traceback" not in told.stderr
    if told.exit_code == 2:
        assert told.stderr.startswith("Error: ") or "Error: " in told.stderr
        assert len(told.stderr.split("\n")) < 60
    return told.exit_code


@pytest.mark.slow
def test_files_at_random_are_resolved_or_refused_in_words(tmp_path, monkeypatch):
    monkeypatch.setattr("kolchin.sampling.run.run_settings.FEWEST_WARMUP_STEPS", 4)
    rng, runner = np.random.default_rng(22), CliRunner()
    codes = [
        settle(write_fuzzed(rng, tmp_path), str(tmp_path / "run"), runner) for _ in range(FUZZED)
    ]
    done = codes.count(0)
    assert 0 < done < FUZZED
