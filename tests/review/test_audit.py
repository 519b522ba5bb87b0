"""Intervals of an audit hold by design, though the model is wrong."""

import numpy as np
import pytest
from runs import content_in

from kolchin.review.answers_file import Answer, read_clock
from kolchin.review.audit import (
    describe_audit,
    draw_sample,
    estimate_audit,
    make_audit_questions,
    read_audit,
)
from kolchin.review.desk import ReviewDesk
from kolchin.review.strata import Stratum, estimate_precision, estimate_recall

STRATA = [(900, 0.93), (200, 0.7), (80, 0.4)], [(60, 0.5), (150, 0.3), (300, 0.1)]
ASKED = [60, 30, 15], [15, 20, 30]


def audit(rng, truth, asked):
    found = []
    for own, n in zip(truth, asked, strict=True):
        same = int(rng.choice(own, n, replace=False).sum())
        found.append(Stratum(own.size, n, same))
    return found


@pytest.mark.statistical
def test_intervals_cover_what_they_say():
    rng = np.random.default_rng(1)
    listed, apart = ([rng.random(n) < p for n, p in side] for side in STRATA)
    true = [sum(own.sum() for own in side) for side in (listed, apart)]
    truth = true[0] / sum(own.size for own in listed), true[0] / sum(true)
    times, covered = 1000, np.zeros(2)
    for _ in range(times):
        one, two = audit(rng, listed, ASKED[0]), audit(rng, apart, ASKED[1])
        for k, found in enumerate((estimate_precision(one), estimate_recall(one, two))):
            covered[k] += found.low <= truth[k] <= found.high
    assert (covered / times >= 0.85).all(), covered
    assert (covered / times <= 0.95).all(), covered


def test_a_census_leaves_no_doubt():
    found = estimate_recall([Stratum(10, 10, 9)], [Stratum(5, 5, 3)])
    assert found == pytest.approx((9 / 12,) * 3)
    assert estimate_precision([Stratum(10, 10, 9)]) == pytest.approx((0.9,) * 3)


def test_the_sample_is_kept_and_tells(tmp_path):
    content = content_in(tmp_path, 40)
    questions = make_audit_questions(content, 40, seed=1)
    assert len(questions) == 40
    assert make_audit_questions(content, 40, seed=2) == questions
    assert read_audit(tmp_path) is None
    desk = ReviewDesk(content, {"audit": questions}, "ann")
    for k in range(len(questions)):
        desk.answer("audit", k, "different")
    found = read_audit(tmp_path)
    assert (found["answered"], found["precision"]["estimate"]) == (40, 0)
    assert found["precision"]["disagrees"]
    assert any("the two disagree" in line for line in describe_audit(found))


def test_answers_of_other_queues_are_no_part_of_it(tmp_path):
    kept = draw_sample(content_in(tmp_path), 20, seed=1)
    pair = kept["strata"][0]["pairs"][0]
    line = Answer(*pair, "same", "ann", read_clock(), "pairs")
    assert estimate_audit(kept, [line]) is None
    assert estimate_audit(kept, [line, line._replace(queue="audit")])["answered"] == 1
