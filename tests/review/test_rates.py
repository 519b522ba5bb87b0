"""How often reviewers err, and which answers count."""

import numpy as np
import pytest
from scipy import stats

from kolchin.review.answers_file import Answer
from kolchin.review.rates import choose_answers, estimate_rate


def said(*lines):
    return [
        Answer(a, b, answer, reviewer, f"2026-01-01T00:00:{k:02}Z", queue)
        for k, (a, b, answer, reviewer, queue) in enumerate(lines)
    ]


def test_without_a_pair_asked_twice_the_rate_is_that_of_its_prior():
    rate = estimate_rate(said(("a", "b", "same", "ann", "pairs")))
    assert rate.n_pairs == 0
    assert rate.mean == pytest.approx(0.05, abs=1e-3)
    low, high = stats.beta(1, 19).ppf([0.05, 0.95])
    assert (rate.low, rate.high) == pytest.approx((low, high), abs=1e-3)


def test_disagreement_raises_it_and_agreement_lowers_it():
    agree = [("a", f"{k}", "same", who, "pairs") for k in range(20) for who in ("ann", "bob")]
    half = [
        (a, b, "different" if who == "bob" and int(b) % 2 else w, who, q)
        for a, b, w, who, q in agree
    ]
    low, high = estimate_rate(said(*agree)), estimate_rate(said(*half))
    assert low.mean < 0.03 < 0.1 < high.mean
    assert (low.n_pairs, low.n_disagreeing) == (20, 0)
    assert (high.n_pairs, high.n_disagreeing) == (20, 10)


def test_the_rate_is_found_again():
    """Of two reviewers who err with one rate the posterior holds it as often as it says."""
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(200):
        rate = rng.beta(1, 19)
        lines = []
        for k in range(60):
            truth = rng.random() < 0.5
            for who in ("ann", "bob"):
                right = rng.random() >= rate
                lines.append(("a", f"{k}", "same" if truth == right else "different", who, "pairs"))
        found = estimate_rate(said(*lines))
        inside += found.low <= rate <= found.high
    assert 168 <= inside <= 192


def test_a_correction_is_no_second_answer_but_another_queue_is():
    lines = ("a", "b", "same", "ann", "pairs"), ("b", "a", "different", "ann", "pairs")
    assert estimate_rate(said(*lines)).n_pairs == 0
    again = (*lines, ("a", "b", "same", "ann", "audit"))
    assert estimate_rate(said(*again))[3:] == (1, 1)


def test_the_last_answer_of_each_reviewer_counts_and_unsure_does_not():
    lines = (
        ("a", "b", "same", "ann", "pairs"),
        ("b", "a", "different", "ann", "pairs"),
        ("a", "b", "same", "bob", "pairs"),
        ("a", "c", "same", "ann", "pairs"),
        ("a", "c", "unsure", "ann", "pairs"),
        ("b", "gone", "same", "ann", "pairs"),
    )
    rows = {"a": 0, "b": 1, "c": 2}
    known = choose_answers(said(*lines), rows, 0.05)
    assert known == ((0, 1, "different", 0.05), (0, 1, "same", 0.05))
