"""Ids of entities over the life of a run: answers, more draws, new records, and all again."""

import numpy as np
import polars as pl
import pytest

import kolchin as kp
from kolchin.resolution.tables.input_table import IDS
from kolchin.review.answers_file import FILE, Answer, AnswersFile, read_clock
from kolchin.simulation.people import simulate_people

HOW = {"chains": 2, "draws": 40, "seed": 1, "progress": False}
N_OLD = 240


@pytest.fixture(scope="module")
def people():
    table = simulate_people(300, 3, twins=0.15)
    return table[np.random.default_rng(1).permutation(table.height)].drop("ent_id")


@pytest.fixture
def run(people, tmp_path):
    kp.resolve(people[:N_OLD], id="rec_id", out=tmp_path / "run", **HOW)
    return tmp_path / "run"


def entity_of(out):
    """The list that people see."""
    rows = pl.read_csv(out / "entities.csv").select("record", "entity").iter_rows()
    return {str(record): entity for record, entity in rows}


def records_of(entities):
    found = {}
    for record, entity in entities.items():
        found.setdefault(entity, set()).add(record)
    return found


def say(out, one, two, answer):
    """Ten people say the same, so that it counts."""
    AnswersFile(out / FILE).append(
        [Answer(one, two, answer, f"{who}", read_clock(), "pairs") for who in range(10)]
    )


def part_an_entity(out):
    """Say of the first entity of two records that it is two."""
    two = next(own for _, own in sorted(records_of(entity_of(out)).items()) if len(own) == 2)
    say(out, *sorted(two), "different")
    return two


def test_answers_leave_the_ids_of_all_others(run):
    before = entity_of(run)
    parted = part_an_entity(run)
    kp.resume(run, draws=40, progress=False)
    after = entity_of(run)
    one, two = (after[record] for record in parted)
    assert one != two
    assert {one, two} & set(before.values()) == {before[record] for record in parted}
    assert max(one, two) > max(before.values())
    same = [after[record] == before[record] for record in before]
    assert np.mean(same) > 0.97
    back = kp.Result.load(run)
    assert dict(zip(map(str, back.entities["record"]), back.entities["entity"], strict=True)) == (
        after
    )
    assert back.events is None


def test_more_draws_leave_them(run):
    before = entity_of(run)
    kp.resume(run, draws=60, progress=False)
    after = entity_of(run)
    assert np.mean([after[record] == before[record] for record in before]) > 0.97
    assert_kept(before, after, set(before.values()))


def assert_kept(before, after, ever):
    """An id is that of records which had it, or nobody has had it."""
    were, are = records_of(before), records_of(after)
    for entity, own in are.items():
        assert own & were[entity] if entity in were else entity not in ever


def test_a_run_begun_anew_numbers_anew(run, people):
    part_an_entity(run)
    kp.resume(run, draws=40, progress=False)
    kp.resolve(people[:N_OLD], id="rec_id", out=run, overwrite=True, **HOW)
    assert sorted(set(entity_of(run).values())) == list(range(len(records_of(entity_of(run)))))


def test_ids_that_are_damaged_are_said(run):
    (run / "posterior" / IDS).write_bytes(b"nothing")
    with pytest.raises(kp.DataError, match="damaged"):
        kp.Result.load(run)


def test_in_ten_updates_no_id_is_given_twice(run, people):
    """Records come, change and go, answers count, parameters are drawn again."""
    rng = np.random.default_rng(5)
    lists, ever = [entity_of(run)], set(entity_of(run).values())
    how = {"key": "rec_id", "progress": False}
    for step in range(10):
        known = people.filter(pl.col("rec_id").cast(pl.String).is_in(list(lists[-1])))
        if step in (3, 8):
            part_an_entity(run)
            kp.resume(run, draws=40, progress=False)
        else:
            first = N_OLD + 6 * step
            changed = known.sample(3, seed=step).with_columns(city=pl.lit("Newtown"))
            gone = rng.choice(known["rec_id"].to_numpy(), 6, replace=False)
            changed = changed.filter(~pl.col("rec_id").is_in(gone))
            delete = [str(one) for one in gone]
            kp.Result.load(run).update(
                pl.concat([people[first : first + 6], changed]),
                delete=delete,
                out=run.with_name(f"run{step}"),
                **how,
            )
            run = run.with_name(f"run{step}")
        lists.append(entity_of(run))
        assert_kept(lists[-2], lists[-1], ever)
        ever |= set(lists[-1].values())
    assert len(ever) > len(set(lists[0].values())) + 20
