"""Pairs worth proposing among those that were compared, part by part."""

from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

import numpy as np

from kolchin import kernels
from kolchin.comparison.compared_pairs import PairPlace
from kolchin.likelihoods.categorical_candidates import IntPairs, find_lowest_evidence
from kolchin.parameters import FloatArray
from kolchin.partitions import find_clashing
from kolchin.workplace import Workplace, fetch_held

if TYPE_CHECKING:
    from kolchin.likelihoods.exemplar import Exemplar


class CandidateTask(NamedTuple):
    """A part of the compared pairs, and the name of the threshold in the store."""

    place: PairPlace
    threshold: str


class CandidateThreshold(NamedTuple):
    """When a compared pair is a candidate: its evidence is at least ``lowest``.

    That is the log ratio of its outcome, and what categorical fields say of it given ``delta``.
    """

    log_ratio: FloatArray
    data: kernels.Data
    delta: FloatArray
    lowest: float


def find_among_compared(
    exemplar: "Exemplar", data: kernels.Data, delta: FloatArray, work: Workplace | None
) -> tuple[IntPairs, FloatArray]:
    """List the candidates among the pairs that were compared, and the log evidence of each.

    ``data`` has categorical fields, whose evidence counts given ``delta``, and sources.
    """
    at = exemplar.parts.find_workplace(work)
    lowest = find_lowest_evidence(exemplar.shown.size)
    name = f"threshold-{uuid4().hex}"
    at.store.put(name, CandidateThreshold(exemplar.log_ratios(), data, delta, lowest))
    tasks = [CandidateTask(place, name) for place in exemplar.parts.places]
    found = at.run(find_candidates, tasks)
    at.store.delete(name)
    return np.concatenate([one for one, _ in found]), np.concatenate([one for _, one in found])


def find_candidates(task: CandidateTask) -> tuple[IntPairs, FloatArray]:
    """Return the candidates of a part of the compared pairs, and their log evidence."""
    threshold: CandidateThreshold = fetch_held(task.place.store, task.threshold)
    pairs, which = task.place.get()
    scores = threshold.log_ratio[which]
    scores += kernels.compute_pair_scores(threshold.data, kernels.Evidence(threshold.delta), pairs)
    chosen = scores >= threshold.lowest
    if threshold.data.source.size:
        chosen &= ~find_clashing(threshold.data.source, pairs)
    return pairs[chosen], scores[chosen]
