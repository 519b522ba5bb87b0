"""Put the sampler into a known state, let it work, and read off where it went."""

import numpy as np
from enumeration import index_of_rings, partitions, sizes_of_all
from stepping import Stepper

from kolchin import kernels
from kolchin.kernels.arrays import Scratch
from kolchin.sampling.layout import Layout
from kolchin.sampling.proposals.link_proposals import list_link_proposals
from kolchin.sampling.proposals.mixture import PairMixture
from kolchin.sampling.proposals.pair_tables import PairTables
from kolchin.sampling.state import tabulate_weights


def unequal_pairs(n_records):
    """Few pairs with very unequal weights, and a share of uniform ones."""
    listed = np.array([[0, 1], [2, 4], [1, 3], [0, n_records - 1]], dtype=np.int32)
    weight = np.array([1.0, 0.02, 0.3, 4.0])
    return PairMixture(0.3, PairTables.of(Layout.single(n_records), listed, weight))


PAIRS = {"uniform": lambda n_records: None, "unequal": unequal_pairs}


def unequal_proposals(n_records, listed):
    """List pairs with very unequal weights."""
    proposals = list_link_proposals(n_records, listed)
    weight = np.random.default_rng(3).exponential(size=(n_records, n_records)) ** 2
    weight += weight.T
    lists = np.split(proposals.neighbours, proposals.starts[1:-1])
    reach = [np.cumsum(row[own]) for row, own in zip(weight, lists, strict=True)]
    return proposals._replace(reach=np.concatenate(reach))


def scratch_for(n_members, rows=None):
    """Room for moves on so many records, with tables of all pairs for fewer ``rows`` of them."""
    n_subsets = 1 << kernels.LARGEST_ENUMERATED
    return Scratch(
        members=np.arange(n_members, dtype=np.int32),
        side=np.zeros(n_members, dtype=np.int8),
        weight=np.empty(n_subsets),
        subsets=np.empty(n_subsets),
        subset_sums=np.empty(n_subsets),
        below=np.empty(kernels.LARGEST_ENUMERATED),
        between=np.empty((rows or n_members, n_members)),
        totals=np.empty((2, n_members)),
        exemplar_weight=np.empty(n_members),
        log_sides=np.empty(2),
        terms=np.empty(n_subsets),
        pair_weight=np.empty((2, 2)),
    )


class Driver(Stepper):
    """A state that is set to one partition after another (new problems are slower)."""

    def __init__(self, model, pairs=None, seed=0, layout=None):
        self.n_records = model.n_records
        rng = np.random.Generator(np.random.SFC64(seed))
        super().__init__(model, rng, np.arange(model.n_records), pairs, layout)
        self.rings = np.array([kernels.make_rings(row) for row in partitions(model.n_records)])
        self.counts = []
        length = self.state.partition.size_counts.size
        for sizes in sizes_of_all(model.n_records):
            self.counts.append(np.bincount(sizes, minlength=length))

    def set_parameters(self, log_mu=None, **values):
        """Set parameters of the prior; ``log_mu`` ends with the tail beyond its other entries."""
        if log_mu is not None:
            values |= {"log_mu": log_mu[:-1], "log_tail": float(log_mu[-1])}
        self.set_prior(values)

    def set_delta(self, delta):
        """Set delta, one number or one a field."""
        n_fields = self.problem.model.likelihood.n_fields
        self.set_fields({"delta": np.broadcast_to(delta, n_fields).astype(float).copy()})

    def set_partition(self, index, anew=False):
        """Set the partition; ``anew`` also makes the tables of weights as a new chain would."""
        partition = self.state.partition
        partition.following[:] = self.rings[index]
        partition.n_clusters[0] = self.counts[index].sum()
        if anew:
            partition = partition._replace(size_counts=self.counts[index].copy())
            state = self.state._replace(partition=partition, statistics=None)
            self.state = tabulate_weights(state.rng, self.problem, state)
        else:
            partition.size_counts[:] = self.counts[index]
            self.state = self.state._replace(statistics=None)

    def moved(self, start, n_moves):
        """Where the kernel goes from each start, parameters fixed."""
        result = np.empty((start.size, self.n_records), dtype=np.int32)
        for k, index in enumerate(start):
            self.set_partition(index)
            self.move(n_moves)
            result[k] = self.state.following
        found = index_of_rings(result)
        assert np.array_equal(self.state.partition.size_counts, self.counts[found[-1]])
        assert self.state.n_clusters == self.counts[found[-1]].sum()
        return found
