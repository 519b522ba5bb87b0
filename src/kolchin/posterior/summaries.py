"""Summaries of a posterior, portion by portion: records that never met have no say in each other.

Two records meet if a draw has them in one cluster, or if both meet a third. Draws restricted to
all records of some such groups are a posterior of their own, whose links, point estimate and
confidences are those of the whole.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.partitions import (
    NO_SOURCES,
    NOTHING_CERTAIN,
    Certain,
    Labels,
    Sources,
    make_canonical,
)
from kolchin.posterior.episodes import ClusterEpisodes
from kolchin.posterior.links import find_largest_listed, measure_confidence, tabulate_links
from kolchin.posterior.point_estimate import apply_paper_rule, find_point_estimate
from kolchin.store import Store
from kolchin.workplace import Workplace, work_here

if TYPE_CHECKING:
    from kolchin.posterior.draws import Posterior

RECORDS_A_PORTION = 1_000_000


class PosteriorPortion(NamedTuple):
    """Some records, in order, and what was drawn of them."""

    records: NDArray[np.int64]
    posterior: "Posterior"
    sources: Sources
    certain: Certain = NOTHING_CERTAIN


class PosteriorSummary(NamedTuple):
    """The entity of each record, how sure that is, and the links.

    ``linked`` is the entity of each record by the paper's rule; ``largest`` is the size of the
    largest clusters whose pairs are listed, None for all.
    """

    labels: Labels
    linked: Labels
    confidence: NDArray[np.float64]
    links: pl.DataFrame
    largest: int | None


class SummaryTask(NamedTuple):
    """A portion to sum up, by its name in a store."""

    store: Store
    name: str
    min_probability: float


def summarise(
    posterior: "Posterior",
    min_probability: float,
    sources: Sources = NO_SOURCES,
    work: Workplace | None = None,
    certain: Certain = NOTHING_CERTAIN,
) -> PosteriorSummary:
    """Sum up a posterior: its point estimate, the confidences, and links from a probability on."""
    work = work or work_here()
    n_portions = -(-posterior.n_records // RECORDS_A_PORTION)
    name = f"portion-{uuid4().hex}"
    tasks = []
    for k, portion in enumerate(cut_into_portions(posterior, sources, n_portions, certain)):
        tasks.append(SummaryTask(work.store, f"{name}-{k}", min_probability))
        work.store.put(tasks[-1].name, portion)
    parts = work.run(_sum_up, tasks)
    portions: list[PosteriorPortion] = [work.store.get(task.name) for task in tasks]
    work.store.delete(*(task.name for task in tasks))
    return _join_summaries(posterior.n_records, portions, parts)


def cut_into_portions(
    posterior: "Posterior",
    sources: Sources,
    n_portions: int,
    certain: Certain = NOTHING_CERTAIN,
) -> Iterator[PosteriorPortion]:
    """Divide a posterior into about equal portions whose records never meet those of others."""
    n_records = posterior.n_records
    if n_portions <= 1:
        yield PosteriorPortion(np.arange(n_records), posterior, sources, certain)
        return
    group = _group_by_meeting(posterior)
    ends = np.cumsum(np.bincount(group))
    part = ((ends - 1) * n_portions // n_records)[group]
    place = np.empty(n_records, dtype=np.int32)
    for k in np.unique(part):
        (records,) = np.nonzero(part == k)
        place[records] = np.arange(records.size, dtype=np.int32)
        chains = tuple(_select_episodes(chain, part == k, place) for chain in posterior.chains)
        some = replace(posterior, n_records=records.size, chains=chains, parameters={})
        own = Certain(*(place[pairs[(part[pairs] == k).all(axis=1)]] for pairs in certain))
        yield PosteriorPortion(records, some, sources[records] if sources.size else sources, own)


def _group_by_meeting(posterior: "Posterior") -> Labels:
    """Return the group of each record, of those that meet, in the order of first records."""
    from kolchin.posterior.summary_kernels.connected_sets import join_sets, number_roots

    parent = np.arange(posterior.n_records)
    for chain in posterior.chains:
        join_sets(chain.members, chain.sizes, parent)
    groups: Labels = number_roots(parent)
    return groups


def _select_episodes(
    chain: ClusterEpisodes, inside: NDArray[np.bool_], place: NDArray[np.int32]
) -> ClusterEpisodes:
    """Return the episodes of some records, which have these places."""
    firsts = chain.members[np.cumsum(chain.sizes) - chain.sizes]
    kept = inside[firsts]
    members = place[chain.members[np.repeat(kept, chain.sizes)]]
    return ClusterEpisodes(
        members, chain.sizes[kept], chain.born[kept], chain.died[kept], chain.n_draws
    )


def _sum_up(task: SummaryTask) -> PosteriorSummary:
    portion: PosteriorPortion = task.store.get(task.name)
    drawn = portion.posterior
    linked = apply_paper_rule(drawn)
    labels = find_point_estimate(
        drawn, sources=portion.sources, start=linked, certain=portion.certain
    )
    listed = tabulate_links(drawn, task.min_probability)
    return PosteriorSummary(
        labels, linked, measure_confidence(drawn, labels), listed, find_largest_listed(drawn)
    )


def _join_summaries(
    n_records: int, portions: list[PosteriorPortion], parts: list[PosteriorSummary]
) -> PosteriorSummary:
    """Put the summaries of portions together."""
    if len(parts) == 1:
        return parts[0]
    labels, linked = np.empty((2, n_records), dtype=np.int64)
    sure = np.empty(n_records)
    n_entities, n_linked, listed = 0, 0, []
    for portion, part in zip(portions, parts, strict=True):
        records = portion.records
        labels[records] = part.labels + n_entities
        linked[records] = part.linked + n_linked
        sure[records] = part.confidence
        n_entities += int(part.labels.max(initial=-1)) + 1
        n_linked += int(part.linked.max(initial=-1)) + 1
        ends = [pl.Series(name, records[part.links[name]]) for name in ("record_a", "record_b")]
        listed.append(part.links.with_columns(ends))
    largest = [part.largest for part in parts if part.largest is not None]
    every = pl.concat(listed).sort("record_a", "record_b")
    least = min(largest, default=None)
    return PosteriorSummary(make_canonical(labels), make_canonical(linked), sure, every, least)
