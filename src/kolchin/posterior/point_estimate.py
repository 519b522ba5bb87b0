"""The partition with the least posterior expected loss.

Both losses have one form. With f(x) = x log x (variation of information, times N) or
f(x) = x (x - 1) / 2 (Binder), the expected loss of a partition is

    sum over its clusters C of [ f(|C|) - 2 sum over drawn clusters D of w_D f(|C and D|) ] + const

where w_D is the share of draws that had D. So every cluster has its own share of the loss, a
record's move changes two of them, and of two partitions the better one can be chosen separately
in each block of their join. The expectation is exact over the draws.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kolchin.errors import DataError
from kolchin.partitions import NO_SOURCES, NOTHING_CERTAIN, Certain, Labels, Sources
from kolchin.posterior.links import check_labels, count_linked_pairs

if TYPE_CHECKING:
    from kolchin.posterior.distinct_clusters import DistinctClusters
    from kolchin.posterior.draws import Posterior

LOSSES = ("vi", "binder", "paper")

N_STARTS = 8
"""How many of the best draws the search starts from."""

DRAWS_BUDGET = 200_000_000
"""Work spent on the losses of draws: all draws are looked at unless that takes some seconds."""

SINGLETONS_BUDGET = 1_000_000_000
"""Work up to which the search also starts from singletons: the sum of squared cluster sizes."""


def find_point_estimate(
    posterior: "Posterior",
    loss: str = "vi",
    sources: Sources = NO_SOURCES,
    start: Labels | None = None,
    certain: Certain = NOTHING_CERTAIN,
) -> Labels:
    """Return canonical labels of the best partition found; "paper" is the paper's rule.

    Sources, if given, keep all draws and the best partition from having two records of one of
    them (-1: none) in a cluster, and so does what is ``certain`` of pairs. The search starts from
    what the paper's rule gives, ``start`` if that is known.
    """
    if loss not in LOSSES:
        raise DataError(f"The 'loss' parameter must be one of {LOSSES}. Got {loss!r} instead.")
    _check_draws(posterior)
    start = apply_paper_rule(posterior) if start is None else start
    return start if loss == "paper" else _Search(posterior, loss, sources, certain).run(start)


def apply_paper_rule(posterior: "Posterior") -> Labels:
    """Return the connected sets of the pairs linked in more than half of the draws."""
    from kolchin.posterior.summary_kernels.connected_sets import label_connected_sets

    pairs, _ = count_linked_pairs(posterior, len(posterior) // 2 + 1)
    labels: Labels = label_connected_sets(posterior.n_records, pairs)
    return labels


def compute_expected_loss(posterior: "Posterior", labels: ArrayLike, loss: str = "vi") -> float:
    """Return the mean over draws of VI (nats), or of the number of pairs in disagreement."""
    if loss not in LOSSES[:2]:
        raise DataError(f"The 'loss' parameter must be one of {LOSSES[:2]}. Got {loss!r} instead.")
    _check_draws(posterior)
    return _Search(posterior, loss).compute_expected(check_labels(posterior, labels))


def _check_draws(posterior: "Posterior") -> None:
    if not len(posterior):
        raise DataError("A point estimate needs at least one draw. Got none.")


def _tabulate_loss(loss: str, n_records: int) -> NDArray[np.float64]:
    """Return f(0), f(1), ..., f(N)."""
    x = np.arange(n_records + 1, dtype=np.float64)
    return x * np.log(np.maximum(x, 1)) if loss == "vi" else x * (x - 1) / 2


class _Search:
    """Descent over partitions by record moves and merges, and by choice between partitions."""

    def __init__(
        self,
        posterior: "Posterior",
        loss: str,
        sources: Sources = NO_SOURCES,
        certain: Certain = NOTHING_CERTAIN,
    ) -> None:
        self.posterior = posterior
        self.sources = sources
        self.certain = certain
        self.drawn: DistinctClusters = posterior.distinct
        self.weights = self.drawn.counts / len(posterior)
        self.value = _tabulate_loss(loss, posterior.n_records)
        self.slope = np.diff(self.value)
        self.scale = posterior.n_records if loss == "vi" else 1

    def run(self, start: Labels) -> Labels:
        """Return the best partition from all starts."""
        best = start
        for labels in self._best_draws():
            best = self.choose_better(best, labels)
        best = self._improve(best)
        if int(np.sum(self.drawn.sizes**2)) > SINGLETONS_BUDGET:
            return best
        other = self.choose_better(best, self.descend(np.arange(start.size)))
        return best if np.array_equal(best, other) else self._improve(other)

    def _improve(self, labels: Labels) -> Labels:
        """Descend; where that leads to what is forbidden, keep the clusters as they are."""
        lower = self.descend(labels)
        is_free = not self.sources.size and self.certain.is_empty
        return lower if is_free else self.choose_better(labels, lower)

    def compute_expected(self, labels: Labels) -> float:
        """Return the expected loss of a partition."""
        total = self._losses(labels, np.zeros_like(labels))[0]
        total += self.weights @ self.value[self.drawn.sizes]
        return max(float(total), 0.0) / self.scale

    def choose_better(self, one: Labels, two: Labels) -> Labels:
        """Return, in each block of the join of two partitions, the one with the lower loss."""
        from kolchin.posterior.summary_kernels.connected_sets import join_partitions
        from kolchin.posterior.summary_kernels.losses import choose_blocks

        blocks = join_partitions(one, two)
        losses, others = self._losses(one, blocks), self._losses(two, blocks)
        chosen: Labels = choose_blocks(one, two, blocks, losses, others)
        return chosen

    def descend(self, start: Labels) -> Labels:
        """Move records and merge clusters until nothing improves."""
        from kolchin.posterior.summary_kernels.estimate_search import (
            DrawnSets,
            Overlaps,
            merge_clusters,
            move_records,
            tabulate_cells,
        )

        drawn, labels = self.drawn, start.copy()
        sizes = np.bincount(labels, minlength=labels.size)
        sets = DrawnSets(drawn.sets, drawn.starts, self.weights)
        cells = Overlaps(drawn.offsets, *tabulate_cells(drawn.members, drawn.offsets, labels))
        changes = 1
        while changes:
            changes = move_records(labels, sizes, sets, cells, self.slope)
            if not changes:
                changes = merge_clusters(labels, sizes, sets, cells, self.value)
        return check_labels(self.posterior, labels)

    def _losses(self, labels: Labels, blocks: Labels) -> NDArray[np.float64]:
        from kolchin.posterior.summary_kernels.losses import sum_block_losses

        drawn = self.drawn
        losses: NDArray[np.float64] = sum_block_losses(
            labels, blocks, drawn.members, drawn.offsets, self.weights, self.value
        )
        losses[blocks[self._find_clashing(labels)]] = np.inf
        losses[blocks[self.certain.find_broken(labels)]] = np.inf
        return losses

    def _find_clashing(self, labels: Labels) -> NDArray[np.int64]:
        """Return records whose source occurs twice in their cluster, one of them for each."""
        known = np.flatnonzero(self.sources >= 0)
        cells = labels[known] * (int(self.sources.max(initial=0)) + 1) + self.sources[known]
        order = np.argsort(cells, kind="stable")
        again: NDArray[np.int64] = known[order[1:][np.diff(cells[order]) == 0]]
        return again

    def _best_draws(self) -> Iterator[Labels]:
        """Return the draws with the least expected loss, or of an even selection if dispersed."""
        posterior, drawn = self.posterior, self.drawn
        picks = np.arange(len(posterior))
        if int(np.sum(np.diff(drawn.starts) ** 2)) > DRAWS_BUDGET:
            n_picks = max(N_STARTS, DRAWS_BUDGET // drawn.members.size)
            picks = np.unique(np.linspace(0, len(posterior) - 1, n_picks).astype(np.int64))
        best = picks[np.argsort(self._draw_losses(picks), kind="stable")[:N_STARTS]]
        return (posterior.partition(*divmod(pick, posterior.n_draws)) for pick in best.tolist())

    def _draw_losses(self, picks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the expected losses, up to a constant, of some draws, in ascending order."""
        from kolchin.posterior.summary_kernels.losses import sum_set_losses

        drawn, posterior = self.drawn, self.posterior
        wanted = np.zeros(drawn.counts.size, dtype=np.bool_)
        for c, (chain, ids) in enumerate(zip(posterior.chains, drawn.ids, strict=True)):
            own = picks - c * posterior.n_draws
            wanted[ids[np.searchsorted(own, chain.born) < np.searchsorted(own, chain.died)]] = True
        losses = sum_set_losses(
            wanted, drawn.members, drawn.offsets, drawn.sets, drawn.starts, self.weights, self.value
        )
        return posterior.sums(losses).ravel()[picks]
