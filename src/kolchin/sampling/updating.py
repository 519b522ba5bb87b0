"""Draws for records that were added or changed, given the parameters of earlier draws.

Given the parameters, clusters that no added record could join are independent of it: they stay as
they were drawn. The others, all of them together a small table within the large one, are drawn
anew, draw by draw, with the parameters of that draw held and the sizes of all other clusters
counted in. A draw of the partition is then one from its posterior given the parameters (model
section 9).
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from kolchin import threads
from kolchin.likelihoods import FIELD_PARAMETERS, Exemplar
from kolchin.model import Model
from kolchin.parameters import IntArray, Values
from kolchin.partitions import size_counts
from kolchin.posterior import Posterior
from kolchin.posterior.episodes import ClusterEpisodes, arrange_episodes
from kolchin.sampling.problem import pose_problem
from kolchin.sampling.proposals.candidates import find_candidate_pairs
from kolchin.sampling.proposals.observed_pairs import ObservedPairs
from kolchin.sampling.schedule import Schedule, choose_schedule, learn_tuning
from kolchin.sampling.shards.executors import ThreadExecutor
from kolchin.sampling.state import State, add_counts, start_state, tabulate_weights

MOST_DRAWS = 250
"""So many draws of each chain are kept at most, evenly spaced."""

FIRST_STEPS, STEPS = 60, 4
"""Steps before the first draw, and between two: parameters hardly change from one to the next."""

LEAST_LOG_ODDS = -8.0
"""An added record reaches a known one from such log odds on (e^-8 is 3 in 10,000)."""


class Region(NamedTuple):
    """The records that are drawn anew: their rows now, ascending, and before (-1: added)."""

    rows: IntArray
    before: IntArray


def find_region(
    posterior: Posterior, model: Model, row_before: IntArray, is_added: NDArray[np.bool_]
) -> Region:
    """Return the added records and all that the draws tie to those which they could join.

    Those of which something is said together with an added one are among them.

    ``row_before`` is where each record was (-1: it was not there). Records whose cluster lost one
    in some draw belong to them, too.
    """
    known = row_before >= 0
    touched = np.ones(posterior.n_records, dtype=bool)  # that are gone
    touched[row_before[known]] = False
    said = model.answers.pairs
    near = np.concatenate([_list_hopeful_pairs(model, is_added), said[is_added[said].any(axis=1)]])
    others = row_before[near[~is_added[near]]]
    touched[others[others >= 0]] = True
    group = _group_ever_together(posterior)
    in_group = np.zeros(int(group.max(initial=-1)) + 1, dtype=bool)
    in_group[group[touched]] = True
    inside = is_added.copy()
    inside[known] |= in_group[group[row_before[known]]]
    rows = np.flatnonzero(inside)
    return Region(rows, np.where(is_added[rows], -1, row_before[rows]))


def _list_hopeful_pairs(model: Model, is_added: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the compared pairs with an added record that may be links."""
    likelihood = model.likelihood
    assert isinstance(likelihood, Exemplar)
    log_odds = likelihood.log_ratios() - np.log(model.n_records)
    found = [np.empty((0, 2), dtype=np.int32)]
    for pairs, which in likelihood.parts:
        found.append(pairs[is_added[pairs].any(axis=1) & (log_odds[which] > LEAST_LOG_ODDS)])
    return np.concatenate(found)


def _group_ever_together(posterior: Posterior) -> IntArray:
    """Return a number for each set of records that draws tie together, be it through others."""
    n_records = posterior.n_records
    begins, ends = [], []
    for chain in posterior.chains:
        first = np.repeat(np.cumsum(chain.sizes) - chain.sizes, chain.sizes)
        begins.append(chain.members[first])
        ends.append(chain.members)
    one, other = np.concatenate(begins), np.concatenate(ends)
    graph = coo_array((np.ones(one.size, bool), (one, other)), shape=(n_records, n_records))
    group: IntArray = connected_components(graph, directed=False)[1].astype(np.int64)
    return group


def update_draws(
    posterior: Posterior,
    model: Model,
    row_before: IntArray,
    is_added: NDArray[np.bool_],
    seed: int | np.random.SeedSequence,
) -> Posterior:
    """Return draws of all records there are now, given the parameters of earlier draws.

    ``model`` has all records, with chances as they were learnt; what was drawn before is of those
    that ``row_before`` tells.
    """
    posterior = posterior.thin(-(-posterior.n_draws // MOST_DRAWS))
    region = find_region(posterior, model, row_before, is_added)
    if not isinstance(seed, np.random.SeedSequence):
        seed = np.random.SeedSequence(seed)
    now = np.full(posterior.n_records, -1, dtype=np.int64)
    now[row_before[row_before >= 0]] = np.flatnonzero(row_before >= 0)
    now[region.before[region.before >= 0]] = -1  # drawn anew

    draw = _choose_redraw(posterior, model, region, now)
    children = seed.spawn(posterior.n_chains)
    with ThreadPoolExecutor(threads.count_cores()) as pool:
        chains = tuple(pool.map(draw, range(posterior.n_chains), children))
    parameters, log_joint = posterior.parameters, posterior.log_joint
    settings = {**posterior.settings, "draws": posterior.n_draws, "updated": True}
    return Posterior(model.n_records, chains, parameters, log_joint, settings)


def _choose_redraw(
    posterior: Posterior, model: Model, region: Region, now: IntArray
) -> Callable[[int, np.random.SeedSequence], ClusterEpisodes]:
    """Return what draws the region for one chain; one record alone has nobody to join."""
    if region.rows.size < 2:
        return lambda number, _: _keep_staying(posterior.chains[number], now)
    part = _take_part(model, region.rows)
    pairs, _ = find_candidate_pairs(part)

    def draw(number: int, child: np.random.SeedSequence) -> ClusterEpisodes:
        rng = np.random.Generator(np.random.SFC64(child))
        return _RegionRedraw(posterior, number, region, now, part, pairs).run(rng)

    return draw


def _take_part(model: Model, rows: IntArray) -> Model:
    """Return the model of some records, whose prior knows how many there are in all."""
    part = model.take_records(rows)
    part.n_in_table = model.n_in_table
    return part


class _RegionRedraw:
    """One chain's draws of the region, beside what stays."""

    def __init__(
        self,
        posterior: Posterior,
        number: int,
        region: Region,
        now: IntArray,
        part: Model,
        pairs: NDArray[np.int32],
    ) -> None:
        self.posterior = posterior
        self.number = number
        self.region = region
        self.problem = pose_problem(part)
        self.tied = part.answers.tied
        self.pairs = pairs
        self.stays = _keep_staying(posterior.chains[number], now)
        self.n_outside = int((now >= 0).sum())
        self.n_records = self.n_outside + region.rows.size

    def run(self, rng: np.random.Generator) -> ClusterEpisodes:
        """Draw the region once for every earlier draw."""
        state = start_state(rng, self.problem, self._find_labels_before())
        drawn = []
        for t in range(self.posterior.n_draws):
            state = self._take_parameters(state, t)
            if t == 0:
                state, schedule = self._settle(state)
            for _ in range(STEPS):
                state = self._step(schedule, state)
            drawn.append(_list_clusters(state.following))
        return self._join_episodes(drawn)

    def _settle(self, state: State) -> tuple[State, Schedule]:
        """Find the typical set, and learn which pairs are undecided."""
        observed = ObservedPairs(self.problem.layout.to_places(self.pairs))
        schedule = self._learn(state, observed)
        for step in range(1, FIRST_STEPS + 1):
            state = self._step(schedule, state)
            observed.observe(state.following, state.evidence.delta)
            if step in (FIRST_STEPS // 4, FIRST_STEPS):
                schedule = self._learn(state, observed)
                observed.forget()
        return state, schedule

    def _learn(self, state: State, observed: ObservedPairs) -> Schedule:
        """Choose moves by what was observed, as warm-up does."""
        executor = ThreadExecutor(self.problem)
        tuning = learn_tuning(self.problem, state, observed, executor)
        return choose_schedule(self.problem, tuning, executor)

    def _step(self, schedule: Schedule, state: State) -> State:
        """Make moves with all parameters held."""
        for move in (schedule.on_pairs, *schedule.on_links):
            state = move.step(state.rng, self.problem, state)
        return state

    def _find_labels_before(self) -> IntArray:
        """Return the clusters of the first draw, added records alone or where they are tied."""
        before = self.region.before
        labels = self.posterior.partition(self.number, 0).astype(np.int64)
        alone = labels.size + np.arange(before.size)
        found = np.where(before >= 0, labels[np.maximum(before, 0)], alone)
        own = np.unique(found, return_inverse=True)[1]
        one, other = own[self.tied].T
        graph = coo_array((np.ones(one.size, bool), (one, other)), shape=(own.size, own.size))
        result: IntArray = connected_components(graph, directed=False)[1][own].astype(np.int64)
        return np.unique(result, return_inverse=True)[1].astype(np.int64)

    def _take_parameters(self, state: State, t: int) -> State:
        """Hold the parameters of a draw, and count the clusters that are not drawn anew."""
        model = self.problem.model
        drawn = {name: one[self.number, t] for name, one in self.posterior.parameters.items()}
        own = {name: value for name, value in drawn.items() if name in FIELD_PARAMETERS}
        field_values = model.likelihood.complete_values(own)
        inside = size_counts(_number_clusters(state.following))
        counts = add_counts([inside, self._count_outside(t)])
        counts[0] = 0
        state.partition.n_clusters[0] = counts.sum()
        state = state._replace(
            field_values=field_values,
            evidence=model.likelihood.compute_evidence(field_values),
            prior_values=self._select_prior_values(drawn),
            partition=state.partition._replace(size_counts=counts),
            statistics=None,
        )
        return tabulate_weights(state.rng, self.problem, state)

    def _select_prior_values(self, drawn: Mapping[str, Any]) -> Values:
        """Return the prior's parameters, but for what is integrated out."""
        prior = self.problem.model.prior
        names = set(prior.list_parameters(self.n_records)) - {"mu"}
        given = {name: float(drawn[name]) for name in names if name in drawn}
        return prior.drop_integrated(prior.complete_values(self.n_records, given))

    def _count_outside(self, t: int) -> IntArray:
        """Count by size the clusters that stay as they are in a draw; those of one record, too."""
        alive = (self.stays.born <= t) & (t < self.stays.died)
        counts = np.bincount(self.stays.sizes[alive], minlength=2).astype(np.int64)
        counts[1] = self.n_outside - np.arange(2, counts.size) @ counts[2:]
        return counts

    def _join_episodes(
        self, drawn: list[tuple[NDArray[np.int32], NDArray[np.int32]]]
    ) -> ClusterEpisodes:
        """Put what stays and what was drawn anew together."""
        number = [sizes.size for _, sizes in drawn]
        born = np.repeat(np.arange(len(drawn), dtype=np.int32), number)
        rows = self.region.rows.astype(np.int32)
        return arrange_episodes(
            np.concatenate([self.stays.members, *(rows[own] for own, _ in drawn)]),
            np.concatenate([self.stays.sizes, *(own for _, own in drawn)]),
            np.concatenate([self.stays.born, born]),
            np.concatenate([self.stays.died, born + 1]),
            len(drawn),
        )


def _keep_staying(chain: ClusterEpisodes, now: IntArray) -> ClusterEpisodes:
    """Return the clusters none of whose records is drawn anew or gone, by their rows now."""
    rows = now[chain.members]
    ends = np.cumsum(chain.sizes)
    gone = np.append(0, np.cumsum(rows < 0))
    stays = gone[ends] == gone[ends - chain.sizes]
    return ClusterEpisodes(
        rows[np.repeat(stays, chain.sizes)].astype(np.int32),
        chain.sizes[stays],
        chain.born[stays],
        chain.died[stays],
        chain.n_draws,
    )


def _number_clusters(following: NDArray[np.int32]) -> IntArray:
    """Return a number for each ring of records."""
    n = following.size
    graph = coo_array((np.ones(n, bool), (np.arange(n), following)), shape=(n, n))
    labels: IntArray = connected_components(graph, directed=False)[1].astype(np.int64)
    return labels


def _list_clusters(following: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the members, one cluster after another, and sizes of those of two or more."""
    labels = _number_clusters(following)
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable")
    several = sizes >= 2
    return order[several[labels[order]]].astype(np.int32), sizes[several].astype(np.int32)
