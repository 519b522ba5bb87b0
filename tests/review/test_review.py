"""Questions, answers, undo, the server's borders, and labels of other tools."""

import dataclasses
import json
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import httpx
import numpy as np
import polars as pl
import pytest
from runs import content_in, desk_in, write_many

from kolchin.errors import DataError
from kolchin.records.columns.column_texts import Texts
from kolchin.review.answers_file import Answer, AnswersFile, find_latest, make_pair, read_clock
from kolchin.review.desk import ReviewDesk
from kolchin.review.other_labels import read_labels
from kolchin.review.queues import FIRST_OF_A_KIND, make_again_questions, make_pair_questions
from kolchin.review.rates import estimate_rate
from kolchin.review.review_content import QuestionKind
from kolchin.review.server import ReviewServer


def lines(folder):
    return AnswersFile(folder / "answers.csv").read()


def test_worth_is_what_an_answer_is_expected_to_change(desk):
    (group,) = desk.queues["groups"]
    assert len(desk.queues["pairs"]) == 4
    for question in desk.queues["pairs"]:
        assert question.records == pytest.approx(0.4 * 2)
        assert question.links == pytest.approx(0.4)
    assert (group.probability, group.records, group.links) == pytest.approx((0.8, 0.2, 0.4))


def test_questions_on_which_many_pairs_hang_come_first(tmp_path):
    """A few pairs of each, with what hangs on it; then all others, those that change most first."""
    content = content_in(tmp_path, 12)
    assert content.pairs["probability"].to_list()[3:12] == pytest.approx([0.4] * 9)
    hanging = QuestionKind(
        "are two that differ in the name one? 9 pairs hang on it", np.arange(3, 12)
    )
    usual = [one.rows for one in make_pair_questions(content)]
    asked = make_pair_questions(dataclasses.replace(content, kinds=(hanging,)))
    rows = [tuple(pair) for pair in content.pairs.select("record_a", "record_b").rows()]
    assert [one.rows for one in asked[:FIRST_OF_A_KIND]] == rows[3 : 3 + FIRST_OF_A_KIND]
    assert {one.why for one in asked[:FIRST_OF_A_KIND]} == {hanging.sentence}
    assert {one.why for one in asked[FIRST_OF_A_KIND:]} == {""}
    assert usual[:FIRST_OF_A_KIND] == rows[:FIRST_OF_A_KIND]
    assert sorted(usual) == sorted(one.rows for one in asked)


def test_of_one_entity_one_pair_is_asked_of_many_that_hang_on_a_question(tmp_path):
    """As of twins with many records each, of whom every two differ in the first name."""
    content = content_in(tmp_path, 12)
    labels = content.labels.copy()
    labels[2:8:2], labels[3:8:2] = 2, 3  # three pairs of the same two entities
    content = dataclasses.replace(content, labels=labels)
    hanging = QuestionKind("are two that differ in the name one?", np.arange(12))
    (*asked,) = make_pair_questions(dataclasses.replace(content, kinds=(hanging,)))
    rows = [one.rows for one in asked]
    assert len(rows) == 10
    assert len({*rows} & {(2, 3), (4, 5), (6, 7)}) == 1
    assert len({one.why for one in asked[:FIRST_OF_A_KIND]}) == 1


def test_probabilities_are_hidden_until_answered(desk):
    (shown,) = desk.questions("pairs", 0, 1)["questions"]
    assert shown["probability"] is None
    answered = desk.answer("pairs", 0, "same")
    assert answered["question"]["probability"] == pytest.approx(0.4)
    assert answered["next"] == 1


def test_undo_is_appended_and_brings_back_what_stood(desk, tmp_path):
    desk.answer("pairs", 0, "same")
    desk.answer("pairs", 0, "different")
    desk.undo("pairs", 0)
    assert [one.answer for one in find_latest(lines(tmp_path)).values()] == ["same"]
    desk.undo()
    assert find_latest(lines(tmp_path)) == {}
    assert len(lines(tmp_path)) == 4
    assert desk.state()["queues"][0]["answered"] == 0
    assert desk.undo()["question"] is None


def test_undo_in_one_queue_leaves_what_was_said_in_another(desk, tmp_path):
    desk.answer("pairs", 0, "same")
    asked = desk.queues["pairs"][0]
    audit = ReviewDesk(desk.content, {"audit": [asked._replace(queue="audit")]}, "ann")
    audit.answer("audit", 0, "different")
    audit.undo("audit", 0)
    (standing,) = find_latest(lines(tmp_path)).values()
    assert (standing.answer, standing.queue) == ("same", "pairs")
    assert find_latest([one for one in lines(tmp_path) if one.of_queue == "audit"]) == {}
    assert audit.state()["queues"][0]["answered"] == 0


def test_who_does_not_belong_is_different_from_all_others(desk, tmp_path):
    with pytest.raises(DataError, match="Mark the records"):
        desk.answer("groups", 0, "different")
    desk.answer("groups", 0, "different", [10])
    said = {(one.pair, one.answer) for one in lines(tmp_path)}
    assert said == {(("r10", "r8"), "different"), (("r10", "r9"), "different")}
    assert desk.questions("groups", 0, 1)["questions"][0]["marked"] == (10,)
    desk.answer("groups", 0, "same")
    standing = {one.pair: one.answer for one in find_latest(lines(tmp_path)).values()}
    assert standing[("r8", "r9")] == standing[("r10", "r9")] == "same"
    assert standing[("r10", "r8")] == "unsure"


def test_another_reviewer_sees_what_is_done_and_keeps_an_answer_of_their_own(desk, tmp_path):
    other = desk_in(tmp_path, "bob")
    assert other.state()["queues"][0]["answered"] == 0
    desk.answer("pairs", 0, "same")
    assert other.state()["queues"][0]["next"] == 1
    other.answer("pairs", 0, "different")
    assert len(find_latest(lines(tmp_path))) == 2


def test_pairs_that_were_answered_once_are_asked_again(tmp_path):
    content = content_in(tmp_path, 12)
    desk = ReviewDesk(content, {"pairs": make_pair_questions(content)}, "ann")
    for number in range(9):
        desk.answer("pairs", number, "same")
    assert make_again_questions(content, lines(tmp_path)) == []  # of so few none
    desk.answer("pairs", 9, "different")
    desk.answer("pairs", 10, "unsure")
    again = make_again_questions(content, lines(tmp_path))
    assert len(again) == 10
    second = ReviewDesk(content, {"pairs": desk.queues["pairs"], "again": again}, "ann")
    state = second.state()["queues"]
    assert [one["answered"] for one in state] == [11, 0]
    assert "how often people err" in state[1]["words"]
    (shown,) = second.questions("again", 0, 1)["questions"]
    assert (shown["answer"], shown["probability"], shown["reviewers"]) == (None, None, [])
    assert estimate_rate(lines(tmp_path)).n_pairs == 0
    said = {one.pair: one.answer for one in lines(tmp_path)}
    first = make_pair(*(one["name"] for one in shown["records"]))
    other = {"same": "different", "different": "same"}[said[first]]
    second.answer("again", 0, other)
    rate = estimate_rate(lines(tmp_path))
    assert (rate.n_pairs, rate.n_disagreeing) == (1, 1)
    assert len(make_again_questions(content, lines(tmp_path))) == 9
    second.undo()
    assert estimate_rate(lines(tmp_path)).n_pairs == 0


def test_two_writers_lose_nothing(tmp_path):
    path = tmp_path / "answers.csv"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=write_many, args=(path, who)) for who in "xy"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(find_latest(AnswersFile(path).read())) == 100
    assert path.read_text().startswith("record_a,record_b,answer,reviewer,time,queue\n")


SERVES = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from runs import desk_in
from kolchin.review.server import ReviewServer
served = ReviewServer(desk_in(Path(sys.argv[2])))
print(served.address, flush=True)
served.wait()
"""


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL on this system")
def test_a_server_that_is_killed_loses_nothing(tmp_path):
    """What the page has been told is on the disk, and a new server goes on behind it."""
    words = [sys.executable, "-c", SERVES, str(Path(__file__).parent), str(tmp_path)]
    for number in range(2):
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            address = process.stdout.readline().strip()
            (pairs, _) = httpx.get(f"{address}api/state").json()["queues"]
            assert (pairs["answered"], pairs["next"]) == (number, number)
            said = {"queue": "pairs", "number": number, "answer": "same"}
            assert httpx.post(f"{address}api/answer", json=said).json()["next"] == number + 1
            process.kill()
        assert process.returncode != 0
        assert len(lines(tmp_path)) == number + 1


def test_half_a_line_costs_only_itself(tmp_path):
    path = tmp_path / "answers.csv"
    AnswersFile(path).append([Answer("1", "2", "same", "x", read_clock(), "pairs")])
    with path.open("a") as file:
        file.write('3,"4')
    AnswersFile(path).append([Answer("5", "6", "same", "x", read_clock(), "pairs")])
    assert [one.pair for one in AnswersFile(path).read()] == [("1", "2"), ("5", "6")]


def test_only_who_knows_the_address_on_this_machine_is_answered(desk, tmp_path):
    said = {"queue": "pairs", "number": 0, "answer": "same"}
    evil = {"Host": "evil.example"}
    with ReviewServer(desk) as served, httpx.Client() as client:
        here, root = served.address, f"http://127.0.0.1:{served.port}/"
        assert client.get(here).status_code == 200
        assert client.get(f"{root}other/").status_code == 404
        assert client.get(f"{here}secrets").status_code == 404
        policy = client.get(f"{here}review.js").headers["content-security-policy"]
        assert "connect-src 'self'" in policy
        assert client.post(f"{root}other/api/answer", json=said).status_code == 404
        assert client.post(f"{here}api/answer", content=json.dumps(said)).status_code == 400
        assert client.get(here, headers=evil).status_code == 400
        assert client.post(f"{here}api/answer", json=said, headers=evil).status_code == 400
        assert lines(tmp_path) == []
        assert client.post(f"{here}api/answer", json=said).json()["next"] == 1
        beyond = {**said, "number": 99}
        assert client.post(f"{here}api/answer", json=beyond).status_code == 400
        assert client.get(f"{here}api/state").json()["queues"][0]["answered"] == 1
    assert len(lines(tmp_path)) == 1


def test_it_serves_on_this_machine_and_ends(desk):
    with ReviewServer(desk) as served:
        assert served.address.startswith(f"http://127.0.0.1:{served.port}/")
        assert httpx.get(served.address).status_code == 200
    with pytest.raises(httpx.ConnectError):
        httpx.get(served.address)


IDS = pl.Series(["1", "2", "3"])
TEXTS = Texts.of(pl.DataFrame({"name": ["Ann", "Anne", "Bob"], "city": ["Rome", None, "Rome"]}))


def test_labels_of_splink(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("unique_id_l,unique_id_r,clerical_match_score\n1,2,0.9\n1,3,0\n2,3,0.5\n")
    found = read_labels(path, IDS, TEXTS, "x").answers
    assert [one.answer for one in found] == ["same", "different", "unsure"]
    path.write_text("unique_id_l,unique_id_r,clerical_match_score\n1,9,0.9\n1,1,2\n")
    with pytest.raises(DataError) as fault:
        read_labels(path, IDS, TEXTS, "x")
    for words in ("9", "themselves", "from 0 to 1"):
        assert words in str(fault.value)


def test_labels_of_splink_whose_ids_recur_in_several_sources(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(
        "unique_id_l,source_dataset_l,unique_id_r,source_dataset_r,clerical_match_score\n"
        "1,a.csv,1,b.csv,1.0\n2,a.csv,1,b.csv,0.0\n"
    )
    found = read_labels(path, pl.Series(["a.csv:1", "a.csv:2", "b.csv:1"]), TEXTS, "x").answers
    assert [one[:3] for one in found] == [
        ("a.csv:1", "b.csv:1", "same"),
        ("a.csv:2", "b.csv:1", "different"),
    ]
    with pytest.raises(DataError, match="themselves: '1'"):
        read_labels(path, pl.Series(["1", "2"]), TEXTS, "x")


def test_labels_in_words(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("record_a,record_b,answer\n1,2,y\n1,3,No\n2,3,unsure\n")
    found = read_labels(path, IDS, TEXTS, "x").answers
    assert [one.answer for one in found] == ["same", "different", "unsure"]
    path.write_text("record_a,record_b,answer\n1,2,perhaps\n")
    with pytest.raises(DataError, match=r"one of same, y, yes, different, n, no.*'perhaps'"):
        read_labels(path, IDS, TEXTS, "x")


def test_labels_of_dedupe(tmp_path):
    ann, anne = {"name": "ann", "city": "rome"}, {"name": "anne", "city": None}
    bob, eve = {"name": "bob", "city": "rome"}, {"name": "eve", "city": "rome"}
    tuple_of = {"__class__": "tuple", "__value__": [ann, anne]}
    path = tmp_path / "training.json"
    path.write_text(json.dumps({"match": [tuple_of], "distinct": [[ann, bob], [ann, eve]]}))
    found = read_labels(path, IDS, TEXTS, "x")
    assert [one[:3] for one in found.answers] == [("1", "2", "same"), ("1", "3", "different")]
    assert found.notes == ["1 of 3 pairs have a record that is not in the table."]
    path.write_text("{}")
    with pytest.raises(DataError, match="no training file"):
        read_labels(path, IDS, TEXTS, "x")
