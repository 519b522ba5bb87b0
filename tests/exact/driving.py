"""Put the engine into a known state, let it work, and read off where it went."""

import numpy as np
from enumeration import index_of_rings, partitions, sizes_of_all

from kolchin import kernels
from kolchin.kernels.arrays import Scratch
from kolchin.sampling.chain import Chain
from kolchin.sampling.layout import Layout, PairTables
from kolchin.sampling.proposals.link_proposals import list_proposals
from kolchin.sampling.proposals.mixture import PairMixture


def unequal_pairs(n_records):
    """Few pairs with very unequal weights, and a share of uniform ones."""
    listed = np.array([[0, 1], [2, 4], [1, 3], [0, n_records - 1]], dtype=np.int32)
    weight = np.array([1.0, 0.02, 0.3, 4.0])
    return PairMixture(0.3, PairTables.of(Layout.single(n_records), listed, weight))


PAIRS = {"uniform": lambda n_records: None, "unequal": unequal_pairs}


def unequal_picks(n_records, listed):
    """List pairs with very unequal weights."""
    picks = list_proposals(n_records, listed)
    weight = np.random.default_rng(3).exponential(size=(n_records, n_records)) ** 2
    weight += weight.T
    lists = np.split(picks.neighbours, picks.starts[1:-1])
    reach = [np.cumsum(row[own]) for row, own in zip(weight, lists, strict=True)]
    return picks._replace(reach=np.concatenate(reach))


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
        log_sides=np.empty(2),
        terms=np.empty(n_subsets),
        pair_weight=np.empty((2, 2)),
    )


class Driver:
    """A chain that is set to one partition after another (building chains anew is slower)."""

    def __init__(self, model, pairs=None, seed=0):
        self.n_records = model.n_records
        rng = np.random.Generator(np.random.SFC64(seed))
        self.chain = Chain(model, rng, np.arange(model.n_records), pairs)
        self.rings = np.array([kernels.make_rings(row) for row in partitions(model.n_records)])
        self.counts = []
        for sizes in sizes_of_all(model.n_records):
            self.counts.append(np.bincount(sizes, minlength=self.chain.size_counts.size))

    def set_parameters(self, log_mu=None, **values):
        """Set parameters of the prior; ``log_mu`` ends with the tail beyond its other entries."""
        if log_mu is not None:
            values |= {"log_mu": log_mu[:-1], "log_tail": float(log_mu[-1])}
        self.chain.prior_values = {**self.chain.prior_values, **values}
        self.chain._tabulate()

    def set_delta(self, delta):
        """Set delta, one number or one a field."""
        n_fields = self.chain.model.likelihood.n_fields
        self.chain.own_values = {"delta": np.broadcast_to(delta, n_fields).astype(float).copy()}

    def set_partition(self, index, anew=False):
        """Set the partition; ``anew`` also makes the tables of weights as a new chain would."""
        self.chain.following[:] = self.rings[index]
        self.chain.cluster_count[0] = self.counts[index].sum()
        if anew:
            self.chain.size_counts = self.counts[index].copy()
            self.chain._tabulate()
        else:
            self.chain.size_counts[:] = self.counts[index]

    def moved(self, start, n_moves):
        """Where the kernel goes from each start, parameters fixed."""
        chain = self.chain
        result = np.empty((start.size, self.n_records), dtype=np.int32)
        for k, index in enumerate(start):
            self.set_partition(index)
            chain.move(n_moves)
            result[k] = chain.following
        found = index_of_rings(result)
        assert np.array_equal(chain.size_counts, self.counts[found[-1]])
        assert chain.n_clusters == self.counts[found[-1]].sum()
        return found
