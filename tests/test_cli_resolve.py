"""The commands around a run: what they write, say and return."""

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kolchin as kp
from kolchin.cli import app

runner = CliRunner()
SHORT = ["--id", "rec_id", "--chains", "2", "--draws", "20", "--seed", "3"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, and a finished run of it; not to be changed."""
    from kolchin.sampling.run import run_settings

    folder = tmp_path_factory.mktemp("cli")
    fields = {f"field_{k}": 1 / np.arange(1, n + 1) ** 0.5 for k, n in enumerate((6, 10, 12, 20))}
    table = kp.simulate(fields, sizes={1: 37, 2: 7, 3: 3}, delta=0.05, seed=3)
    table.write_csv(folder / "people.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_settings, "FEWEST_WARMUP_STEPS", 60)
        path = str(folder / "people.csv")
        result = runner.invoke(app, ["resolve", path, *SHORT, "--truth", "ent_id", "--merged"])
    assert result.exit_code == 0, result.stderr
    (folder / "told.txt").write_text(result.stderr)
    assert result.stdout == ""
    return folder


@pytest.fixture
def run(folder):
    return folder / "people.csv.resolved"


def test_resolve_writes_beside_the_table_and_tells(folder, run):
    names = {"entities.csv", "links.csv", "summary.json", "merged.csv", "posterior"}
    assert names <= {path.name for path in run.iterdir()}
    told = (folder / "told.txt").read_text()
    assert "people.csv: 60 records" in told
    assert "field_3" in told
    assert "among 60 records" in told
    assert "all draws that were asked for are made: 2 chains of 20 draws" in told
    assert "Against the truth of 60 records: precision" in told
    assert f"Results are in {run}" in told


def test_a_folder_of_parquet_files_is_a_table(folder, tmp_path, monkeypatch):
    from kolchin.sampling.run import run_settings

    monkeypatch.setattr(run_settings, "FEWEST_WARMUP_STEPS", 60)
    table = pl.read_csv(folder / "people.csv")
    (tmp_path / "people").mkdir()
    monkeypatch.chdir(tmp_path / "people")
    table[:30].write_parquet("part-0.parquet")
    table[30:].write_parquet("part-1.parquet")
    result = runner.invoke(app, ["resolve", ".", *SHORT, "--truth", "ent_id"])
    assert result.exit_code == 0, result.stderr
    assert "people: 60 records" in result.stderr
    assert pl.read_csv(tmp_path / "people.resolved" / "entities.csv").height == 60


def test_entities_join_back_by_one_column(folder, run):
    table = pl.read_csv(folder / "people.csv", infer_schema=False)
    entities = pl.read_csv(run / "entities.csv", infer_schema=False)
    joined = table.join(entities, left_on="rec_id", right_on="record", how="inner")
    assert joined.height == table.height
    merged = pl.read_csv(run / "merged.csv", infer_schema=False)
    assert merged["entity"].to_list() == joined["entity"].to_list()


def test_quiet_says_nothing(folder, tmp_path):
    table = pl.read_csv(folder / "people.csv").with_columns(constant=pl.lit("x"))
    table.write_csv(tmp_path / "people.csv")
    result = runner.invoke(app, ["resolve", str(tmp_path / "people.csv"), *SHORT, "--quiet"])
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_resume_of_a_finished_run_says_so(run):
    result = runner.invoke(app, ["resume", str(run)])
    assert result.exit_code == 0
    assert "is finished. A larger --draws draws more." in result.stderr


def test_resume_draws_more(folder, tmp_path):
    out = str(tmp_path / "run")
    runner.invoke(app, ["resolve", str(folder / "people.csv"), *SHORT, "--out", out])
    result = runner.invoke(app, ["resume", out, "--draws", "25"])
    assert result.exit_code == 0, result.stderr
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["draws"] == 25


def test_evaluate_writes_to_standard_output(folder, run):
    truth = f"{folder / 'people.csv'}:ent_id"
    result = runner.invoke(app, ["evaluate", str(run), "--truth", truth])
    assert result.exit_code == 0, result.stderr
    assert "60 records with known entities" in result.stdout
    for words in ("precision", "B-cubed", "whole entities", "90% interval"):
        assert words in result.stdout
    whole = runner.invoke(app, ["evaluate", str(run), "--truth", truth, "--json"]).stdout
    summary = json.loads((run / "summary.json").read_text())
    assert json.loads(whole) == summary["evaluation"]


def test_evaluate_says_how_many_have_no_truth(folder, run, tmp_path):
    pl.read_csv(folder / "people.csv").head(50).write_csv(tmp_path / "some.csv")
    result = runner.invoke(
        app, ["evaluate", str(run), "--truth", f"{tmp_path / 'some.csv'}:ent_id"]
    )
    assert "50 records with known entities; 10 without are left out" in result.stdout


def test_explain_writes_a_table(run):
    pair = pl.read_csv(run / "links.csv").row(0)
    result = runner.invoke(app, ["explain", str(run), str(pair[0]), str(pair[1])])
    assert result.exit_code == 0, result.stderr
    assert f"record {pair[0]}" in result.stdout
    assert "all fields" in result.stdout
    assert "before looking" in result.stdout
    assert f"Probability of one entity: {pair[2]:.4f}" in result.stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["resolve", "nothing.csv"], "nothing.csv"),
        (["resolve", "{table}"], "holds an earlier run"),
        (["resolve", "{table}", "--id", "no", "--out", "new"], "'no'"),
        (["resolve", "{table}", "--prior", "flat"], "flat"),
        (["resolve", "{table}", "--draws", "0"], "draws"),
        (["resolve", "{table}", "--time-limit", "soon"], "must be a time such as 90s, 10m or 2h"),
        (["resolve", "{table}", "--one-per-source", "--out", "new"], "the source of each record"),
        (["resolve"], "TABLE"),
        (["resume", "nothing"], "There is no run in nothing"),
        (["explain", "{run}", "1", "none"], "There is no record 'none'"),
        (["explain", "nothing", "1", "2"], "There is no run in nothing"),
        (["evaluate", "{run}"], "--truth"),
        (["evaluate", "{run}", "--truth", "nothing.csv"], "nothing.csv"),
        (["report", "nothing"], "There is no run in nothing"),
    ],
)
def test_faults_are_told_in_one_screen(folder, run, tmp_path, monkeypatch, args, message):
    monkeypatch.chdir(tmp_path)
    filled = [arg.format(table=folder / "people.csv", run=run) for arg in args]
    result = runner.invoke(app, filled)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) < 24
    assert list(tmp_path.iterdir()) == []


def test_a_run_without_time_for_a_draw_cannot_finish(folder, tmp_path):
    out = str(tmp_path / "run")
    args = ["resolve", str(folder / "people.csv"), *SHORT, "--out", out, "--time-limit", "1e-9s"]
    result = runner.invoke(app, args)
    assert result.exit_code == 1
    assert f"'kolchin resume {out}' goes on" in result.stderr
    result = runner.invoke(app, ["explain", out, "1", "2"])
    assert result.exit_code == 2
    assert "no draws yet" in result.stderr


def test_ctrl_c_outside_sampling_says_how_to_go_on(folder, tmp_path, monkeypatch):
    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("kolchin.resolution.running.session.write_results", interrupt)
    out = str(tmp_path / "run")
    result = runner.invoke(app, ["resolve", str(folder / "people.csv"), *SHORT, "--out", out])
    assert result.exit_code == 130
    assert f"Stopped. 'kolchin resume {out}' goes on." in result.stderr


def test_ctrl_c_during_warm_up_says_what_is_kept(folder, tmp_path, monkeypatch):
    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("kolchin.sampling.run.chain.Chain.advance", interrupt)
    out = str(tmp_path / "a run")
    result = runner.invoke(app, ["resolve", str(folder / "people.csv"), *SHORT, "--out", out])
    assert result.exit_code == 130
    assert f"The chains are kept: 'kolchin resume '{out}'' goes on." in result.stderr
    assert "results are made" not in result.stderr  # there are none yet


def test_ctrl_c_before_anything_is_kept_promises_nothing(folder, tmp_path, monkeypatch):
    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("kolchin.resolution.resolving.load", interrupt)
    result = runner.invoke(app, ["resolve", str(folder / "people.csv"), "--out", str(tmp_path)])
    assert result.exit_code == 130
    assert "Stopped before anything was kept: the same command begins again." in result.stderr


def test_keys_are_columns_with_commas_between(folder, tmp_path):
    rows = {"name": ["anna", "ana", "berta", "berta"] * 5, "born": ["1970", "1971"] * 10}
    pl.DataFrame(rows).write_csv(tmp_path / "people.csv")
    path, out = str(tmp_path / "people.csv"), str(tmp_path / "run")
    given = ["--draws", "2", "--chains", "1", "--seed", "1", "--out", out]
    done = runner.invoke(app, ["resolve", path, *given, "--key", "name, born", "--key", "born"])
    assert done.exit_code == 0, done.stderr
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["settings"]["keys"] == [["name", "born"], ["born"]]
    wrong = runner.invoke(app, ["resolve", path, *given, "--overwrite", "--key", "nam"])
    assert wrong.exit_code == 2
    assert "Did you mean 'name'?" in wrong.stderr


def test_an_entity_is_shown(run):
    shown = runner.invoke(app, ["entity", str(run), "0"])
    assert shown.exit_code == 0, shown.stderr
    assert shown.stdout.startswith("Entity 0: ")
    wrong = runner.invoke(app, ["entity", str(run), "x"])
    assert wrong.exit_code == 2
    assert "There is no entity 'x'" in wrong.stderr


def test_files_that_name_columns_differently_are_linked_and_resumed(tmp_path):
    rows = {"name": ["ann", "bob", "eve", "-"] * 3, "born": ["1970", "1971", "none"] * 4}
    pl.DataFrame(rows).write_csv(tmp_path / "a.csv")
    pl.DataFrame(rows).rename({"name": "Nome"}).write_csv(tmp_path / "b.csv")
    files, out = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")], str(tmp_path / "run")
    given = ["--chains", "1", "--draws", "3", "--seed", "1", "--out", out]
    names = ["--map", "b.csv:Nome=name", "--missing", "-"]
    done = runner.invoke(app, ["resolve", *files, *given, *names])
    assert done.exit_code == 0, done.stderr
    assert "'name' has values that count as missing: '-' (6)" in done.stderr
    assert "'born' has values" not in done.stderr
    more = runner.invoke(app, ["resume", out, "--draws", "4"])
    assert more.exit_code == 0, more.stderr
    wrong = runner.invoke(app, ["resolve", *files, *given, "--overwrite", "--map", "b.csv"])
    assert wrong.exit_code == 2
    assert "FILE:COLUMN=NAME" in wrong.stderr


def test_evaluate_says_how_records_are_matched(folder, run, tmp_path):
    truth = pl.read_csv(folder / "people.csv")
    by_id = runner.invoke(app, ["evaluate", str(run), "--truth", f"{folder / 'people.csv'}:ent_id"])
    assert "matched by the ids in 'rec_id'" in by_id.stderr
    truth.select("ent_id").write_csv(tmp_path / "truth.csv")
    by_row = runner.invoke(app, ["evaluate", str(run), "--truth", str(tmp_path / "truth.csv")])
    assert "matched row by row" in by_row.stderr
    assert by_row.stdout == by_id.stdout
    truth.with_columns(rec_id=pl.col("rec_id") + 10_000).write_csv(tmp_path / "other.csv")
    none = runner.invoke(app, ["evaluate", str(run), "--truth", f"{tmp_path / 'other.csv'}:ent_id"])
    assert none.exit_code == 2
    assert "has none of the ids of the run" in none.stderr
