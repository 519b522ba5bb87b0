"""Known answers in a run: read by ids, refused together, kept, and conditioned on by resume."""

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kolchin as kp
from kolchin.cli import app
from kolchin.resolution.running.settings import Settings
from kolchin.review.answers_file import Answer, AnswersFile, read_clock

runner = CliRunner()
SHORT = {"chains": 2, "draws": 60, "seed": 1, "progress": False}


def people(n_pairs=20):
    """Pairs of records that agree in two of three fields, and some alone; ids are texts."""
    rng = np.random.default_rng(2)
    entity = [*np.repeat(np.arange(n_pairs), 2), *range(n_pairs, 2 * n_pairs)]
    names = ["".join(rng.choice(list("abcdefghij"), 7)) for _ in range(2 * n_pairs)]
    cities, years = rng.integers(6, size=2 * n_pairs), rng.integers(50, size=2 * n_pairs)
    return pl.DataFrame(
        {
            "id": [f"p{k}" for k in range(len(entity))],
            "name": [names[e] for e in entity],
            "city": [f"city {cities[e]}" for e in entity],
            "year": [str(1950 + years[e] + (k % 4 == 1)) for k, e in enumerate(entity)],
        }
    )


@pytest.fixture(autouse=True)
def short_warmup(monkeypatch):
    from kolchin.sampling.run import run_settings

    monkeypatch.setattr(run_settings, "STEPS_IF_COMPARED", {50_000: 60})
    monkeypatch.setattr(run_settings, "FEWEST_WARMUP_STEPS", 60)


def together(result, one, two):
    place = {name: row for row, name in enumerate(result.entities["record"].to_list())}
    labels = result.posterior.labels
    return labels[:, :, place[one]] == labels[:, :, place[two]]


def test_certain_answers_hold_in_every_draw_and_in_the_list():
    said = {"same": [("p0", "p2")], "different": [("p4", "p5"), ("p6", "p7")]}
    result = kp.resolve(people(), id="id", **said, **SHORT)
    assert together(result, "p0", "p2").all()
    assert not together(result, "p4", "p5").any()
    entity = dict(result.entities.select("record", "entity").iter_rows())
    assert entity["p0"] == entity["p2"]
    assert entity["p4"] != entity["p5"]
    assert entity["p6"] != entity["p7"]
    assert result.summary()["settings"]["answers"] == {"same": 1, "different": 2, "reviewed": 0}
    assert "known to be different: every draw" in str(result.explain("p4", "p5"))
    assert "known to be the same: every draw" in str(result.explain("p2", "p0"))
    assert "people's answers" not in str(result.explain("p8", "p9"))
    free = kp.resolve(people(), id="id", **SHORT)
    assert together(free, "p4", "p5").any()


@pytest.mark.parametrize("likelihood", ["compared", "categorical"])
def test_answers_that_may_err_move_the_probability(likelihood):
    shares = []
    for error in (None, 0.3, 0.0):
        said = {} if error is None else {"different": [("p4", "p5", error)]}
        result = kp.resolve(people(), id="id", likelihood=likelihood, **said, **SHORT)
        shares.append(together(result, "p4", "p5").mean())
    assert shares[0] >= shares[1] > shares[2] == 0


def test_pairs_in_a_table_a_file_or_a_list_are_the_same_answers(tmp_path):
    frame = pl.DataFrame({"one": ["p4", "p6"], "two": ["p5", "p7"]})
    frame.write_csv(tmp_path / "different.csv")
    given = [frame, frame.to_dicts(), tmp_path / "different.csv", [("p4", "p5"), ["p6", "p7"]]]
    labels = [
        kp.resolve(people(), id="id", different=one, **{**SHORT, "draws": 5}).posterior.labels
        for one in given
    ]
    for other in labels[1:]:
        np.testing.assert_array_equal(labels[0], other)


def test_all_that_is_wrong_with_answers_is_told_together():
    with pytest.raises(kp.DataError) as caught:
        kp.resolve(
            people(),
            id="id",
            same=[("p0", "nobody"), ("p1", "p1"), ("p2", "p3", 0.9)],
            different=pl.DataFrame({"a": ["p1"]}),
            answer_error=-1.0,
            **SHORT,
        )
    for words in ("'nobody'", "themselves: 'p1'", "0.9", "two columns", "'answer_error'"):
        assert words in str(caught.value)


def test_what_is_no_pair_is_told():
    table = {"name": ["Ann", "Anne", "Bob"], "born": [1970, 1970, 1981]}
    with pytest.raises(kp.DataError, match=r"'same' must be pairs of ids.*Got 0 among them"):
        kp.resolve(table, fields=["name", "born"], same=[0, 1], draws=2, progress=False)


def test_contradictions_are_refused_by_name():
    said = {"same": [("p0", "p1"), ("p1", "p2")], "different": [("p0", "p2"), ("p0", "p1")]}
    with pytest.raises(kp.DataError) as caught:
        kp.resolve(people(), id="id", **said, **SHORT)
    assert "'p0' and 'p2' are different, but the same by 'p0' = 'p1' and 'p1' = 'p2'" in str(
        caught.value
    )
    assert "'p0' and 'p1' are said to be the same and to be different" in str(caught.value)
    table = people().with_columns(source=pl.Series(["a", "b"] * 30))
    with pytest.raises(kp.DataError, match="of one source"):
        kp.resolve(table, id="id", source="source", one_per_source=True, same=[("p0", "p2")])


def test_the_command_takes_files_and_resume_still_knows(tmp_path):
    people().write_csv(tmp_path / "people.csv")
    (tmp_path / "same.csv").write_text("a,b\np0,p2\n")
    (tmp_path / "different.csv").write_text("a,b,error\np4,p5,\np6,p7,0.1\n")
    out = tmp_path / "run"
    how = ["--id", "id", "--out", str(out), "--chains", "2", "--draws", "20", "--seed", "1"]
    known = ["--same", str(tmp_path / "same.csv"), "--answer-error", "0.2"]
    known += ["--different", str(tmp_path / "different.csv")]
    told = runner.invoke(app, ["resolve", str(tmp_path / "people.csv"), *how, *known])
    assert told.exit_code == 0, told.stderr
    assert "given 3 known answers: 1 same, 2 different" in told.stderr
    settings = Settings.from_json(json.loads((out / "posterior/run.json").read_text())["settings"])
    assert settings.known == (
        (0, 2, "same", 0.2),
        (4, 5, "different", 0.2),
        (6, 7, "different", 0.1),
    )
    more = runner.invoke(app, ["resume", str(out), "--draws", "40"])
    assert more.exit_code == 0, more.stderr
    assert kp.Result.load(out).summary()["settings"]["answers"]["same"] == 1
    wrong = runner.invoke(
        app, ["resolve", str(tmp_path / "people.csv"), "--same", str(tmp_path / "gone.csv")]
    )
    assert wrong.exit_code == 2


@pytest.mark.parametrize("likelihood", ["compared", "categorical"])
def test_answers_hold_when_records_are_added(likelihood):
    """New rows, and some gone: the same records are tied and parted, wherever they stand now."""
    said = {"same": [("p0", "p2")], "different": [("p4", "p5"), ("p6", "p7")]}
    table = people()
    result = kp.resolve(table[:50], id="id", likelihood=likelihood, **said, **SHORT)
    copies = table[[0, 4, 6, 8]].with_columns(id=pl.Series([f"q{k}" for k in range(4)]))
    after = result.update(pl.concat([table[50:], copies]), delete=["p1"], progress=False)
    assert after.entities.height == 63
    assert together(after, "p0", "p2").all()
    assert not together(after, "p4", "p5").any()
    assert not together(after, "p6", "p7").any()
    assert after.summary()["settings"]["answers"]["different"] == 2
    assert together(after, "q0", "p0").any()


# --- answers of a review ----------------------------------------------------------------------


def say(out, *lines):
    AnswersFile(out / "answers.csv").append(
        [Answer(a, b, answer, who, read_clock(), "pairs") for a, b, answer, who in lines]
    )


@pytest.fixture
def run(tmp_path):
    out = tmp_path / "run"
    kp.resolve(people(), id="id", out=out, **SHORT)
    return out


def test_resume_conditions_the_run_on_answers_from_where_its_chains_are(run):
    before = kp.Result.load(run)
    assert together(before, "p4", "p5").mean() > 0.5
    pairs = [(f"p{k}", f"p{k + 1}") for k in range(4, 12, 2)]
    say(run, *((a, b, "different", who) for a, b in pairs for who in ("ann", "bob", "eve")))
    after = kp.resume(run, progress=False)
    shares = [(together(before, *pair).mean(), together(after, *pair).mean()) for pair in pairs]
    assert all(now < then for then, now in shares)
    assert np.mean(shares, axis=0)[1] < np.mean(shares, axis=0)[0] / 2
    told = after.summary()["settings"]["answers"]
    assert told["different"] == told["reviewed"] == 12
    # All agree, so they err less than the prior says.
    assert told["error_rate"] < 0.05
    assert after.posterior.n_draws == 60
    again = kp.Result.load(run)
    np.testing.assert_array_equal(again.posterior.labels, after.posterior.labels)


def test_what_is_finished_and_has_no_new_answers_stays(run):
    assert "is finished" in runner.invoke(app, ["resume", str(run)]).stderr
    say(run, ("p0", "p1", "different", "ann"))
    told = runner.invoke(app, ["resume", str(run)])
    assert told.exit_code == 0
    assert "1 answers of the review count: 0 same, 1 different" in told.stderr
    assert "is finished" in runner.invoke(app, ["resume", str(run)]).stderr
    say(run, ("p0", "p1", "unsure", "ann"))
    told = runner.invoke(app, ["resume", str(run)])
    assert "0 answers of the review count" in told.stderr
    assert "answers" not in kp.Result.load(run).summary()["settings"]


def test_a_conditioned_run_that_was_stopped_goes_on_to_the_bit(run, tmp_path, monkeypatch):
    import shutil

    from kolchin.resolution.running import session

    say(run, ("p4", "p5", "different", "ann"), ("p0", "p2", "same", "ann"))
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    whole = kp.resume(run, progress=False)

    def stopped(self, run):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(session.Session, "_sample", stopped)
        with pytest.raises(KeyboardInterrupt):
            kp.resume(copy, progress=False)
    parts = kp.resume(copy, progress=False)
    np.testing.assert_array_equal(whole.posterior.labels, parts.posterior.labels)


def test_the_page_lets_answers_count(run):
    served = kp.Result.load(run).review(reviewer="ann", block=False)
    try:
        desk = served.desk
        say(run, ("p4", "p5", "different", "ann"))
        assert desk.state()["counting"] == {"waiting": 1, "works": False, "fault": ""}
        desk.count()
        desk.counting.wait()
        state = desk.state()
        assert state["round"] == 1
        assert state["counting"] == {"waiting": 0, "works": False, "fault": ""}
    finally:
        served.close()
    assert kp.Result.load(run).summary()["settings"]["answers"]["reviewed"] == 1
