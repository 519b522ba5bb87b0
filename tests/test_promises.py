"""Names, commands and files that users rely on are there, as they were promised."""

import inspect
import json

import numpy as np
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

import kolchin as kp
from kolchin.cli import app
from kolchin.review.answers_file import Answer, AnswersFile, read_clock

PRIORS = {
    "NBNB": ["a", "q", "r", "p"],
    "NBD": ["a", "q", "alpha", "base"],
    "DirichletProcess": ["theta"],
    "PitmanYor": ["theta", "discount"],
    "ESCNB": ["r", "p"],
    "ESCD": ["alpha", "r", "p"],
    "KolchinPartition": ["kappa", "mu"],
}
RESULT = [
    *("entities", "links", "summary", "evaluate", "explain", "report", "entity", "doubtful"),
    *("golden", "update", "events", "review", "write", "merged"),
]
OPTIONS = {
    "resolve": "out fields id source truth prior likelihood chains draws seed quiet same different "
    "table query map safe-csv missing time-limit",
    "resume": "",
    "evaluate": "truth",
    "explain": "",
    "entity": "",
    "report": "",
    "golden": "rules",
    "review": "port reviewer audit",
    "add": "out key delete",
    "diff": "",
    "write": "prefix append",
    "simulate": "delta n seed out",
    "reproduce": "out quick",
}
RATES = {"precision", "recall", "f1", "fnr", "fdr"}
FIELDS = ["name", "year"]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A run through the command line, with golden records, an update and its events."""
    folder = tmp_path_factory.mktemp("promises")
    rows = {
        "id": [f"r{k}" for k in range(24)],
        "name": ["ann", "ann", "bob", "eve", "dan", "zoe"] * 4,
        "year": [1, 1, 2, 3, 4, 5] * 4,
        "who": [1, 1, 2, 3, 4, 5] * 4,
    }
    table = pl.DataFrame(rows)
    table[:20].write_csv(folder / "people.csv")
    table[20:].write_csv(folder / "new.csv")
    asked = ["--truth", "who", "--id", "id", "--chains", "2", "--draws", "20", "--seed", "1"]
    out = folder / "people.csv.resolved"
    for args in (
        ["resolve", str(folder / "people.csv"), *asked],
        ["add", str(out), str(folder / "new.csv")],
        ["golden", str(out)],
    ):
        run = CliRunner().invoke(app, args)
        assert run.exit_code == 0, run.stderr
        assert run.stdout == ""  # messages go to standard error
    return out


def columns_of(path):
    return pl.read_csv(path, infer_schema=False).columns


def test_the_files_have_their_columns(directory):
    assert columns_of(directory / "entities.csv") == [
        *("record", "entity", "entity_size", "confidence")
    ]
    assert columns_of(directory / "links.csv") == [
        *("record_a", "record_b", "probability", "same_entity", *FIELDS)
    ]
    golden = columns_of(directory / "golden.csv")
    assert golden[:2] == ["entity", "n_records"]
    for name in FIELDS:
        assert {name, f"{name}_probability", f"{name}_record"} <= set(golden)
    events = pl.read_csv(directory / "events.csv")
    assert {"event", "entity", "from_entities", "probability"} <= set(events.columns)
    assert set(events["event"]) <= {"created", "grew", "merged", "split", "unchanged"}
    assert (directory / "report.html").exists()
    assert (directory / "posterior").is_dir()
    assert pl.read_csv(directory / "entities.csv")["entity"].dtype == pl.Int64


def test_answers_have_their_columns(tmp_path):
    file = AnswersFile(tmp_path / "answers.csv")
    file.append([Answer("r0", "r1", "same", "ann", read_clock(), "pairs")])
    expected = ["record_a", "record_b", "answer", "reviewer", "time", "queue"]
    assert columns_of(tmp_path / "answers.csv") == expected


def test_the_summary_has_its_keys(directory):
    summary = json.loads((directory / "summary.json").read_text())
    assert summary["n_records"] == 24
    assert {"mean", "sd", "q05", "q50", "q95"} <= set(summary["n_entities"])
    assert {"singletons", "largest", "mean", "q90"} <= set(summary["sizes"])
    for about in summary["parameters"].values():
        assert {"mean", "sd", "q05", "q95"} <= set(about)
    assert {"rhat", "ess", "converged"} <= set(summary["diagnostics"])
    assert set(summary["evaluation"]["point_estimate"]) >= RATES
    assert all("mean" in summary["evaluation"]["posterior"][name] for name in RATES)
    assert {"seconds", "seed", "settings", "version"} <= set(summary)
    assert all(isinstance(seconds, float) for seconds in summary["seconds"].values())


@pytest.mark.parametrize("command", OPTIONS)
def test_commands_have_their_options(command):
    known = typer.main.get_command(app).commands[command]
    names = {name for parameter in known.params for name in parameter.opts}
    assert {f"--{name}" for name in OPTIONS[command].split()} <= names


@pytest.mark.parametrize("prior", PRIORS)
def test_priors_have_their_parameters(prior):
    assert set(PRIORS[prior]) <= set(inspect.signature(getattr(kp, prior)).parameters)


def test_results_have_their_methods():
    assert [name for name in RESULT if not hasattr(kp.Result, name)] == []


def test_the_layer_below():
    table = {"sex": ["f", "m", "f", "m"] * 5, "birth_year": [1, 2, 3, 1, 2] * 4}
    fields = [kp.Categorical("sex"), kp.Categorical("birth_year")]
    records = kp.Records.from_table(table, fields=fields)
    model = kp.Model(records, prior=kp.NBD(), delta=kp.Gamma(1, 1), tied=True)
    posterior = kp.sample(model, chains=2, draws=5, seed=1)
    # UnrelatedChances of sizes that nobody has are drawn so small that they are 0 as numbers.
    assert (posterior.parameters["mu"] == 0).any()
    assert posterior.labels.shape == (2, 5, 20)
    assert (posterior.labels[:, :, 0] == 0).all()  # canonical
    assert all(array.shape[:2] == (2, 5) for array in posterior.parameters.values())
    assert posterior.to_arviz().posterior.sizes["draw"] == 5
    for chain, draw in np.ndindex(2, 5):
        drawn = {name: array[chain, draw] for name, array in posterior.parameters.items()}
        assert np.isfinite(model.log_joint(posterior.labels[chain, draw], **drawn))
    labels = kp.NBNB(a=1, q=0.5, r=1, p=0.5).draw(n_records=1000, seed=1)
    assert len(labels) == 1000
