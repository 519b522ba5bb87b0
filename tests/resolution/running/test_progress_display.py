"""What people see while a table is resolved."""

import numpy as np
import pytest

import kolchin as kp
from kolchin.records import load
from kolchin.resolution.running.progress_display import Display, describe_sampling
from kolchin.resolution.running.settings import read_seconds
from kolchin.sampling import Progress


def state(**changes):
    rng = np.random.default_rng(1)
    given = {
        "share": 0.25,
        "warming_up": False,
        "draws": 400,
        "total_draws": 1600,
        "n_clusters": rng.normal(590, 5, size=(4, 100)),
        "now": 590.0,
        "seconds": 10.0,
    }
    return Progress(**given | changes)


def test_sampling_until_enough_tells_the_limit():
    words = describe_sampling(state(), 125.0, until_enough=True)
    assert words.startswith("sampling: 400 draws, 590 entities (58")
    assert f"R-hat {state().rhat:.3f}" in words
    assert words.endswith("at most 2:05 left")


def test_sampling_a_number_of_draws_tells_when_it_ends():
    words = describe_sampling(state(), 125.0, until_enough=False)
    assert "400 of 1,600 draws" in words
    assert words.endswith(" 0:30 left")
    assert describe_sampling(state(), 20.0, until_enough=False).endswith(" 0:20 left")


def test_warming_up():
    words = describe_sampling(state(warming_up=True), np.inf, until_enough=True)
    assert words == "warming up: 590 entities now, no time limit"


def test_columns_are_shown_with_shares_in_percent(capsys):
    table = {"name": ["ann", "eve", "ann", None] * 20, "born": ["1", "NA", "2", "3"] * 20}
    Display(True).fields(load(table).field_table())
    header, name, born = capsys.readouterr().err.splitlines()
    assert header.split() == ["column", "kind", "used", "distinct", "missing", "bits"]
    assert "25.0%" in name
    assert "25.0%" in born
    assert "NA" not in born


def test_a_live_line_on_a_terminal(people, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    kp.resolve(people, id="rec_id", truth="ent_id", chains=2, draws=20, seed=3)
    told = capsys.readouterr()
    assert told.out == ""
    assert "60 records" in told.err
    assert "field_2" in told.err


def test_silent_away_from_a_terminal(people, capsys):
    kp.resolve(people, id="rec_id", truth="ent_id", chains=2, draws=4, seed=3)
    told = capsys.readouterr()
    assert told.out == told.err == ""


def test_a_function_watches(people, capsys):
    seen = []
    kp.resolve(people, id="rec_id", truth="ent_id", chains=2, draws=9, seed=3, progress=seen.append)
    assert seen[-1].draws == 18
    assert capsys.readouterr().err == ""


def test_notes_are_warnings_where_nothing_is_told(people):
    table = people.drop("ent_id", "rec_id").with_columns(constant=1)
    with pytest.warns(kp.records.DataWarning, match="constant"):
        kp.resolve(table, chains=1, draws=2, seed=3)


def test_notes_are_told(people, capsys):
    table = people.drop("ent_id", "rec_id").with_columns(constant=1)
    with Display(True):
        kp.resolve(table, chains=1, draws=2, seed=3, progress=True)
    assert "Note: 'constant' was left out" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "m", "-1", "0", "soon", "nan"])
def test_a_time_limit_that_is_none(text):
    with pytest.raises(kp.ModelError, match="must be a time such as"):
        read_seconds(text)


def test_no_time_limit():
    assert read_seconds("none") == np.inf
