"""How often reviewers err, learnt from pairs about which something was said more than once.

Each answer errs with the same rate e, independently. A pair that was called the same s times and
different t times is as probable as the mean of (1 - e)^s e^t and e^s (1 - e)^t, so that two answers
which disagree, whoever is right, speak for a larger e. The prior of e is Beta(1, 19): one answer of
twenty. What the model believes has no say in it, so that it cannot argue with people.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kolchin.answers import SMALLEST_ERROR, KnownAnswer
from kolchin.review.answers_file import DIFFERENT, SAME, Answer, Pair, find_latest

PRIOR = (1.0, 19.0)
"""The Beta prior of the rate."""

CELLS = 5000


class ErrorRate(NamedTuple):
    """The posterior of the rate: its mean and a 90% interval; and what it was learnt from."""

    mean: float
    low: float
    high: float
    n_pairs: int = 0
    n_disagreeing: int = 0


def estimate_rate(answers: Sequence[Answer], prior: tuple[float, float] = PRIOR) -> ErrorRate:
    """Learn the rate from pairs that were asked twice: of two people, or in two queues.

    What a reviewer says in place of an answer in the same queue is a correction, not a second one.
    """
    said = _count_said_twice(answers)
    rate = (np.arange(CELLS) + 0.5) / (2 * CELLS)
    right, wrong = np.log1p(-rate), np.log(rate)
    log_density = (prior[0] - 1) * wrong + (prior[1] - 1) * right
    for same, different in said:
        one, other = same * right + different * wrong, same * wrong + different * right
        log_density = log_density + np.logaddexp(one, other)
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    low, high = np.interp([0.05, 0.95], np.cumsum(density), rate)
    disagreeing = sum(bool(same and different) for same, different in said)
    return ErrorRate(float(density @ rate), float(low), float(high), len(said), disagreeing)


def _count_said_twice(answers: Sequence[Answer]) -> list[tuple[int, int]]:
    """Return how often pairs were called the same and different, of those asked several times."""
    counts: dict[Pair, list[int]] = {}
    for queue in dict.fromkeys(one.of_queue for one in answers):
        own = [one for one in answers if one.of_queue == queue]
        for (pair, _), one in find_latest(own).items():
            if one.answer in (SAME, DIFFERENT):
                counts.setdefault(pair, [0, 0])[one.answer == DIFFERENT] += 1
    return [(same, different) for same, different in counts.values() if same + different > 1]


def choose_answers(
    answers: Sequence[Answer], rows: Mapping[str, int], rate: float
) -> tuple[KnownAnswer, ...]:
    """Return what stands of all that was said, by the rows of the records: factors of a model.

    The last answer of each reviewer about a pair counts, ``unsure`` does not.
    """
    error = float(np.clip(rate, SMALLEST_ERROR, 0.499))
    known = [
        KnownAnswer(rows[one.pair[0]], rows[one.pair[1]], one.answer, error)
        for one in find_latest(answers).values()
        if one.answer in (SAME, DIFFERENT) and all(name in rows for name in one.pair)
    ]
    return tuple(sorted(known))
