import sqlite3
from contextlib import closing

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kolchin as kp
from kolchin.cli import app
from kolchin.errors import DataError
from kolchin.records import DataWarning
from kolchin.resolution.tables.changed_rows import ChangeRequest, change_table
from kolchin.review.answers_file import FILE, Answer, AnswersFile, read_clock
from kolchin.sampling import updating
from kolchin.simulation.people import simulate_people

HOW = {"chains": 2, "draws": 60, "seed": 1, "progress": False}
N_OLD = 550


@pytest.fixture(scope="module")
def people():
    table = simulate_people(600, 3)
    order = np.random.default_rng(1).permutation(table.height)
    return table[order].drop("ent_id"), table[order]["ent_id"].to_numpy()


@pytest.fixture(scope="module")
def before(people, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "people"
    return kp.resolve(people[0][:N_OLD], id="rec_id", out=out, **HOW)


def test_new_records_join_and_ids_stay(people, before):
    table, truth = people
    after = before.update(table[N_OLD:])
    assert after.entities["record"].to_list() == table["rec_id"].to_list()
    assert after.ended == "updated"
    measures = after.evaluate(truth)
    assert measures["point_estimate"]["f1"] > 0.98
    old = dict(zip(before.entities["record"], before.entities["entity"], strict=True))
    stayed = [
        old[row["record"]] == row["entity"]
        for row in after.entities.iter_rows(named=True)
        if row["record"] in old
    ]
    assert np.mean(stayed) > 0.97
    fresh = after.entities[N_OLD:].filter(~pl.col("entity").is_in(list(old.values())))
    assert fresh["entity"].min() == before.first_free
    counts = dict(after.events["event"].value_counts().iter_rows())
    assert counts["grew"] + counts["created"] >= 45
    assert after.events["probability"].is_between(0, 1).all()


def test_a_directory_holds_it_and_resume_draws_parameters_too(people, before, tmp_path):
    table, _ = people
    after = before.update(table[N_OLD:], out=tmp_path / "new")
    back = kp.Result.load(tmp_path / "new")
    assert back.ended == "updated"
    assert back.entities.equals(after.entities)
    assert back.links.equals(after.links)
    assert back.events.equals(after.events)
    events = pl.read_csv(tmp_path / "new" / "events.csv")
    assert events.columns[:3] == ["event", "entity", "from_entities"]
    whole = kp.resume(tmp_path / "new", draws=60, progress=False)
    assert whole.ended == "draws"
    same = (whole.entities["entity"] == after.entities["entity"]).mean()
    assert same > 0.97
    assert kp.Result.load(tmp_path / "new").events is not None


def test_records_are_changed_and_taken_out(people, before):
    table, _ = people
    changed = table[:1].with_columns(
        *(table[5][name] for name in table.columns if name != "rec_id")
    )
    gone = table["rec_id"][7]
    after = before.update(changed, key="rec_id", delete=[gone])
    assert after.entities.height == N_OLD - 1
    assert gone not in after.entities["record"].to_list()
    entity = dict(zip(after.entities["record"], after.entities["entity"], strict=True))
    assert entity[table["rec_id"][0]] == entity[table["rec_id"][5]]
    assert set(after.events["event"]) & {"removed", "shrank"}


def test_records_only_go(people, before, tmp_path):
    gone = [str(name) for name in people[0]["rec_id"][:2]]
    after = before.update(delete=gone)
    assert after.entities["record"].to_list() == people[0]["rec_id"][2:N_OLD].to_list()
    (tmp_path / "gone.csv").write_text("\n".join(["record", *gone]))
    arguments = ["add", str(before.directory), "--out", str(tmp_path / "new"), "--quiet"]
    said = CliRunner().invoke(app, [*arguments, "--delete", str(tmp_path / "gone.csv")])
    assert said.exit_code == 0, said.output
    assert kp.Result.load(tmp_path / "new").entities.equals(after.entities)
    said = CliRunner().invoke(app, arguments)
    assert said.exit_code == 2
    assert "Name a file of new records" in said.output
    with pytest.raises(DataError, match="Got NoneType"):
        before.update()


def test_changed_rows_keep_what_the_file_has_no_column_for(people, before):
    table, _ = people
    rows = table[:2].select("city", "rec_id").with_columns(city=pl.lit("Newtown"))
    rows = pl.concat([rows, rows[:1].with_columns(rec_id=pl.lit(9000, pl.Int64))])
    found = change_table(before._given, ChangeRequest(rows, key="rec_id")).given
    texts = dict(zip(found.ids.to_list(), found.texts.frame().to_dicts(), strict=True))
    for old in table[:2].to_dicts():
        assert texts[old["rec_id"]]["city"] == "Newtown"
        assert texts[old["rec_id"]]["last_name"] == old["last_name"]
    assert texts[9000]["last_name"] is None
    assert "changed ones keep theirs" in " ".join(found.notes)


@pytest.mark.parametrize("by_column", [False, True])
def test_records_join_those_of_several_sources_whose_ids_recur(people, tmp_path, by_column):
    """They are named by their file, or by what a column says, and changed by that name."""
    table = people[0][:300].with_columns(rec_id=pl.int_range(300) % 100)
    parts = {name: table[k : k + 100] for name, k in (("a", 0), ("b", 100), ("c", 200))}
    paths = {name: tmp_path / f"{name}.csv" for name in parts}
    for name, part in parts.items():
        part.with_columns(shop=pl.lit(name)).write_csv(paths[name])
    fields = [name for name in table.columns if name != "rec_id"]
    how = {**HOW, "id": "rec_id", "source": "shop" if by_column else None, "fields": fields}
    with pytest.warns(DataWarning, match="named by both"):
        before = kp.resolve([paths["a"], paths["b"]], **how)
    after = before.update(paths["c"])
    names = [f"{name}:{k}" for name in parts for k in range(100)]
    assert after.entities["record"].to_list() == names
    changed = parts["b"][5:6].with_columns(rec_id=pl.lit(7), shop=pl.lit("a"))
    changed.write_csv(tmp_path / "a.csv")
    again = after.update(tmp_path / "a.csv", key="rec_id", delete=["c:3"])
    assert sorted(again.entities["record"]) == sorted(set(names) - {"c:3"})
    entity = dict(zip(again.entities["record"], again.entities["entity"], strict=True))
    assert entity["a:7"] == entity["b:5"]
    if by_column:
        with pytest.raises(DataError, match="has no column 'shop'"):
            after.update(changed.drop("shop"), key="rec_id")


def test_what_people_said_stays_with_the_id_of_a_changed_record(people, tmp_path):
    table, _ = people
    one, two, gone = table["rec_id"][:3].to_list()
    how = {**HOW, "id": "rec_id", "same": [(one, two)], "different": [(one, gone)]}
    before = kp.resolve(table[:300], **how)
    changed = table[:1].with_columns(city=pl.lit("Newtown"))
    after = before.update(changed, key="rec_id", delete=[gone])
    entity = dict(zip(after.entities["record"], after.entities["entity"], strict=True))
    assert entity[one] == entity[two]
    assert [one[2] for one in after._settings.known] == ["same"]


def test_answers_of_a_review_go_along_and_count_when_parameters_are_drawn_again(people, tmp_path):
    table, _ = people
    how = {**HOW, "draws": 20}
    kp.resolve(table[:200], id="rec_id", out=tmp_path / "run", **how)
    one, two = (str(name) for name in table["rec_id"][:2])
    line = Answer(one, two, "same", "ann", read_clock(), "pairs")
    AnswersFile(tmp_path / "run" / FILE).append([line])
    counted = kp.resume(tmp_path / "run", draws=20, progress=False)
    (said,) = counted._settings.reviewed
    after = counted.update(table[N_OLD:], delete=[table["rec_id"][5]], out=tmp_path / "new")
    assert AnswersFile(tmp_path / "new" / FILE).read() == [line]
    assert after._settings.reviewed == (said,)
    again = kp.resume(tmp_path / "new", draws=20, progress=False)
    assert again._settings.reviewed == (said,)


def test_nothing_new_changes_nothing(people, before):
    after = before.update(people[0][:0], delete=[])
    assert after.entities["entity"].equals(before.entities["entity"])
    assert set(after.events["event"]) == {"unchanged"}


def test_updates_follow_each_other(people, before, monkeypatch):
    table, truth = people
    one = before.update(table[N_OLD:575])
    two = one.update(table[575:])
    monkeypatch.setattr("kolchin.resolution.results.due.MUCH_NEW", 0.05)
    assert not [note for note in one.notes if "kolchin.resume(directory)" in note]
    assert [note for note in two.notes if note.startswith("8% of the records were added")]
    assert two.evaluate(truth)["point_estimate"]["f1"] > 0.98
    assert two.first_free >= one.first_free >= before.first_free
    kept = pl.Series(one.entities["entity"]).is_in(two.entities["entity"].implode())
    assert kept.mean() > 0.97


def chances(posterior):
    """The probability of each pair of records."""
    table = np.zeros((posterior.n_records,) * 2)
    links = posterior.links(0.0)
    table[links["record_a"], links["record_b"]] = links["probability"]
    return table


def test_links_are_those_of_all_drawn_anew_with_the_same_parameters(people, before, monkeypatch):
    """They differ from two such runs by no more than these from each other, for chance alone."""
    after = before.update(people[0][N_OLD:])
    monkeypatch.setattr(updating, "LEAST_LOG_ODDS", np.inf)
    blind = before.update(people[0][N_OLD:])  # in which no added record reaches a known one
    monkeypatch.setattr(updating, "FIRST_STEPS", 200)
    everywhere = np.full(600, -1), np.ones(600, dtype=bool)
    one, other = (
        chances(updating.update_draws(before.posterior, after._model, *everywhere, seed))
        for seed in (1, 2)
    )
    asked = (one + other) > 0
    noise = np.abs(one - other)[asked].mean()
    assert 0 < noise < 0.05
    middle = (one + other) / 2
    assert np.abs(chances(after.posterior) - middle)[asked].mean() < 1.3 * noise
    assert np.abs(chances(blind.posterior) - middle)[asked].mean() > 3 * noise


def test_when_parameters_are_due_is_said(people, before):
    new = people[0][N_OLD:]
    assert before.update(new).due == []
    (note,) = before.update(new.with_columns(city=pl.lit("Xanadu"))).due
    assert "100% of the added values of 'city' are new to the table, " in note
    assert "kolchin.resume(directory)" in note
    again = people[0][:50].with_columns(rec_id=pl.int_range(9000, 9050), phone=pl.lit("0"))
    (note,) = before.update(again).due
    assert "'phone' differs in" in note
    assert "'city'" not in note


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rows": slice(0, 3)}, "3 ids are in the table already"),
        ({"rows": slice(0, 3), "key": "email"}, "it is 'rec_id'"),
        ({"rows": slice(550, 560), "delete": ["nobody"]}, "'nobody'"),
        ({"rows": {"other": [1, 2]}}, "none of the columns"),
        ({"rows": {"rec_id": ["a", "a"], "city": ["x", "y"]}}, "several rows of one id: 'a'"),
    ],
)
def test_faults_say_what_to_do(people, before, change, words):
    rows = change.pop("rows")
    rows = people[0][rows] if isinstance(rows, slice) else rows
    with pytest.raises(DataError, match=words):
        before.update(rows, **change)


def test_categories_are_resolved_anew():
    table = {"a": ["x", "x", "y", "z"] * 4, "b": ["1", "1", "2", "3"] * 4}
    before = kp.resolve(table, likelihood="categorical", **HOW)
    after = before.update({"a": ["x", "w"], "b": ["1", "9"]})
    assert after.entities["record"].to_list() == list(range(18))
    assert after.events is not None
    assert after.posterior.n_records == 18


def test_the_command_replaces_the_run_when_all_is_written(people, tmp_path):
    table, _ = people
    table[:N_OLD].write_csv(tmp_path / "old.csv")
    table[N_OLD:].write_csv(tmp_path / "new.csv")
    (tmp_path / "gone.csv").write_text(f"record\n{table['rec_id'][3]}\n")
    run = str(tmp_path / "run")
    how = ["--out", run, "--id", "rec_id", "--chains", "2", "--draws", "40", "--seed", "1"]
    asked = CliRunner().invoke(app, ["resolve", str(tmp_path / "old.csv"), *how, "--quiet"])
    assert asked.exit_code == 0, asked.output
    (tmp_path / "run" / "mine.txt").write_text("a note")
    (tmp_path / "run" / "golden.toml").write_text("")
    arguments = ["add", run, str(tmp_path / "new.csv"), "--delete", str(tmp_path / "gone.csv")]
    added = CliRunner().invoke(app, arguments)
    assert added.exit_code == 0, added.output
    assert "grew" in added.output
    assert pl.read_csv(tmp_path / "run" / "entities.csv").height == 599
    assert (tmp_path / "run" / "mine.txt").read_text() == "a note"
    assert (tmp_path / "run" / "golden.toml").exists()
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]
    again = CliRunner().invoke(app, ["add", run, str(tmp_path / "new.csv")])
    assert again.exit_code == 2
    assert "already" in again.output
    assert pl.read_csv(tmp_path / "run" / "entities.csv").height == 599


def test_new_rows_may_come_from_a_database(before, people, tmp_path):
    table, _ = people
    new = table[N_OLD:].with_columns(pl.lit("x").alias("unknown")).drop("phone")
    with closing(sqlite3.connect(tmp_path / "crm.db")) as connection:
        marks = ", ".join("?" * new.width)
        names = ", ".join(f'"{name}" TEXT' for name in new.columns)
        connection.execute(f"CREATE TABLE fresh ({names})")
        texts = new.with_columns(pl.all().cast(pl.String))
        connection.executemany(f"INSERT INTO fresh VALUES ({marks})", texts.iter_rows())
        connection.commit()
    found = change_table(
        before._given, ChangeRequest(f"sqlite:///{tmp_path}/crm.db", table="fresh")
    )
    assert found.given.ids.to_list() == table["rec_id"].to_list()
    assert found.row_before.tolist() == [*range(N_OLD), *[-1] * 50]
    assert found.given.texts["phone"][N_OLD:].null_count() == 50
    notes = " ".join(found.given.notes)
    assert "crm.db: fresh has no column 'phone'" in notes
    assert "'unknown'" in notes
    known, fresh = before._given.records, found.given.records
    assert fresh.names == known.names
    assert fresh.decode()[:N_OLD].equals(known.decode())
