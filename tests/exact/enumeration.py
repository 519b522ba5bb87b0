"""All partitions of a few records and their probabilities, written from the formulas alone.

Nothing here uses the package's own priors or likelihood: probabilities come from products and
urns, not from log-Gamma tables, so that ``Model.log_joint`` itself can be checked against them.
Parameters may be arrays (a grid); results then have the grid's shape.
"""

from collections.abc import Callable, Sequence
from functools import cache
from math import factorial

import numpy as np
from scipy import stats
from scipy.special import betaln, logsumexp

from kolchin.partitions import list_partitions

# --- partitions ------------------------------------------------------------------------------


@cache
def partitions(n_records):
    """The labels of every partition, a row each."""
    return np.array(list(list_partitions(n_records)))


@cache
def sizes_of_all(n_records):
    """The sizes of the clusters of every partition, decreasing."""
    return [tuple(sorted(np.bincount(row).tolist(), reverse=True)) for row in partitions(n_records)]


@cache
def histograms(n_records):
    """The different sizes there are, and which of them each partition has."""
    sizes = sizes_of_all(n_records)
    kinds = sorted(set(sizes))
    return kinds, np.array([kinds.index(one) for one in sizes])


def keys(labels):
    """A number for each row of canonical labels."""
    labels = np.asarray(labels)
    return labels @ (labels.shape[-1] ** np.arange(labels.shape[-1]))


def index_of(labels):
    """The places of canonical labels in the list of all partitions."""
    known = keys(partitions(np.shape(labels)[-1]))
    order = np.argsort(known)
    return order[np.searchsorted(known[order], keys(labels))]


def index_of_rings(following):
    """The places of partitions held as rings: a record's cluster is known by its smallest."""
    following = np.asarray(following, dtype=np.int64)
    smallest = np.broadcast_to(np.arange(following.shape[-1]), following.shape).copy()
    here = following
    for _ in range(following.shape[-1]):
        smallest = np.minimum(smallest, here)
        here = np.take_along_axis(following, here, axis=-1)
    is_first = smallest == np.arange(following.shape[-1])
    rank = np.cumsum(is_first, axis=-1) - 1
    return index_of(np.take_along_axis(rank, smallest, axis=-1))


# --- priors (model section 1) ----------------------------------------------------------------


def negative_binomial(k, r, p):
    """NegBin(r, p) at k >= 1, cut to 1, 2, ...: Gamma(k+r) p^k (1-p)^r / (Gamma(r) k!)."""
    rising = 1.0
    for i in range(k):
        rising = rising * (r + i) / (i + 1)
    return rising * p**k * (1 - p) ** r / (1 - (1 - p) ** r)


def kolchin(sizes, kappa, mu):
    """P(C, N) = (K! kappa_K / N!) prod m! mu_m."""
    result = factorial(len(sizes)) * kappa(len(sizes)) / factorial(sum(sizes))
    for m in sizes:
        result = result * factorial(m) * mu(m)
    return result


def nbnb(sizes, a, q, r, p):
    """NBNB."""
    return kolchin(
        sizes, lambda k: negative_binomial(k, a, q), lambda m: negative_binomial(m, r, p)
    )


def escnb(sizes, r, p):
    """ESC-NB: no factor for K but K!."""
    return kolchin(sizes, lambda k: 1.0, lambda m: negative_binomial(m, r, p))


def mu_integrated(sizes, alpha, base):
    """E[prod mu_size] under Dirichlet(alpha base), as an urn: one size after another."""
    result = 1.0
    for j, m in enumerate(sizes):
        result = result * (alpha * base(m) + sizes[:j].count(m)) / (alpha + j)
    return result


def geometric(rho):
    """mu0_m = rho (1-rho)^(m-1)."""
    return lambda m: rho * (1 - rho) ** (m - 1)


def nbd(sizes, a, q, alpha, base):
    """NBD with mu integrated out; the base is geometric."""
    arranged = kolchin(sizes, lambda k: negative_binomial(k, a, q), lambda m: 1.0)
    return arranged * mu_integrated(sizes, alpha, geometric(base))


def escd(sizes, alpha, r, p):
    """ESC-D with mu integrated out."""
    arranged = kolchin(sizes, lambda k: 1.0, lambda m: 1.0)
    return arranged * mu_integrated(sizes, alpha, lambda m: negative_binomial(m, r, p))


def dirichlet_process(sizes, theta):
    """The Chinese restaurant, record by record."""
    return pitman_yor(sizes, theta, 0.0)


def pitman_yor(sizes, theta, discount):
    """The Pitman-Yor urn, record by record: cluster after cluster is filled."""
    result = 1.0
    seated = 0
    for number, m in enumerate(sizes):
        for inside in range(m):
            weight = inside - discount if inside else theta + number * discount
            if seated:
                result = result * weight / (theta + seated)
            seated += 1
    return result


# --- likelihood (model section 3) ------------------------------------------------------------


def log_evidence(codes, frequencies, labels, field, delta):
    """Log P(x_f | C) as an urn: (delta gamma_x + equal) / (delta + seen), value by value."""
    delta = np.asarray(delta, dtype=float)
    total = np.zeros(delta.shape)
    for c in np.unique(labels):
        values = [x for x in codes[labels == c, field] if x >= 0]
        for seen, x in enumerate(values):
            share = delta * frequencies[field][x] + values[:seen].count(x)
            total = total + np.log(share) - np.log(delta + seen)
    return total


def log_evidence_of_all(codes, frequencies, delta):
    """Log P(x_f | C): an array (partition, field, grid of delta)."""
    codes = np.asarray(codes)
    return np.array(
        [
            [log_evidence(codes, frequencies, row, f, delta) for f in range(codes.shape[1])]
            for row in partitions(len(codes))
        ]
    )


# --- grids -----------------------------------------------------------------------------------


class Grid:
    """A density on a line, tabulated at the middle of equal cells of a transformed scale."""

    def __init__(self, density: Callable, low: float, high: float, cells: int, scale: str):
        self.scale = scale
        self.edges = np.linspace(low, high, cells + 1)
        self.x = self.from_line((self.edges[1:] + self.edges[:-1]) / 2)
        jacobian = self.x if scale == "log" else self.x * (1 - self.x)
        self.prior = density(self.x) * jacobian * (self.edges[1] - self.edges[0])

    def from_line(self, y):
        """Back from the transformed scale."""
        return np.exp(y) if self.scale == "log" else 1 / (1 + np.exp(-y))

    def to_line(self, x):
        """To the transformed scale."""
        return np.log(x) if self.scale == "log" else np.log(x) - np.log1p(-x)

    def value(self, rng, cell):
        """A value in each of the given cells."""
        width = self.edges[1] - self.edges[0]
        return self.from_line(self.edges[cell] + width * rng.random(np.shape(cell)))

    def cell(self, x):
        """The cell of each value, and how far into the cell it lies."""
        width = self.edges[1] - self.edges[0]
        position = (self.to_line(np.asarray(x)) - self.edges[0]) / width
        cell = np.clip(np.floor(position).astype(int), 0, self.x.size - 1)
        return cell, np.clip(position - cell, 0, 1)


def gamma_grid(shape, rate, cells=600, low=-9.0, high=4.0):
    """A Gamma(shape, rate) density on the log scale."""
    density = stats.gamma(shape, scale=1 / rate).pdf
    return Grid(density, low - np.log(rate), high - np.log(rate), cells, "log")


def beta_grid(u, v, cells=600, low=-12.0, high=12.0):
    """A Beta(u, v) density on the logit scale."""
    return Grid(stats.beta(u, v).pdf, low, high, cells, "logit")


# --- a joint posterior, exactly --------------------------------------------------------------


class Block:
    """Some parameters that are independent of all others given which row a partition has.

    ``weight`` has a row for each kind of partition (by sizes, or each partition its own), then an
    axis for each grid; ``row`` tells the kind of every partition.
    """

    def __init__(self, names: Sequence[str], grids: Sequence[Grid], weight, row):
        for k, grid in enumerate(grids):
            shape = [1] * (len(grids) + 1)
            shape[k + 1] = -1
            weight = weight * grid.prior.reshape(shape)
        self.names, self.grids, self.row = list(names), list(grids), np.asarray(row)
        self.shape = weight.shape[1:]
        flat = weight.reshape(weight.shape[0], -1)
        self.evidence = flat.sum(axis=1)[self.row]
        if not self.names:
            return
        self.cumulative = np.cumsum(flat / flat.sum(axis=1, keepdims=True), axis=1)
        axes = range(1, len(grids) + 1)
        self.marginals = []
        for k in axes:
            one = weight.sum(axis=tuple(other for other in axes if other != k))
            self.marginals.append(np.cumsum(one / one.sum(axis=1, keepdims=True), axis=1))

    def draw(self, rng, partition):
        """Draw the parameters given each of many partitions."""
        if not self.names:
            return {}
        rows = self.row[partition]
        flat = np.empty(rows.size, dtype=int)
        for row in np.unique(rows):
            own = np.flatnonzero(rows == row)
            found = np.searchsorted(self.cumulative[row], rng.random(own.size))
            flat[own] = np.minimum(found, self.cumulative.shape[1] - 1)
        cells = np.unravel_index(flat, self.shape)
        return {
            name: grid.value(rng, cell)
            for name, grid, cell in zip(self.names, self.grids, cells, strict=True)
        }

    def uniform(self, name, partition, values):
        """The distribution function of one parameter given the partition: uniform if all is well.

        It sees the parameter's marginal and its dependence on the partition at once.
        """
        k = self.names.index(name)
        cell, inside = self.grids[k].cell(values)
        rows = self.row[partition]
        upper = self.marginals[k][rows, cell]
        lower = np.where(cell > 0, self.marginals[k][rows, np.maximum(cell - 1, 0)], 0.0)
        return lower + inside * (upper - lower)


def by_sizes(n_records, names, grids, probability):
    """A block of parameters of a prior: ``probability(sizes, *values)`` over the whole grid."""
    kinds, row = histograms(n_records)
    mesh = np.meshgrid(*[grid.x for grid in grids], indexing="ij", sparse=True)
    shape = tuple(grid.x.size for grid in grids)
    weight = np.array([np.broadcast_to(probability(kind, *mesh), shape) for kind in kinds])
    return Block(names, grids, weight, row)


def delta_block(codes, frequencies, grid, field=None):
    """A block for one delta: of one field, or tied over all of them."""
    log_weight = log_evidence_of_all(codes, frequencies, grid.x)
    log_weight = log_weight.sum(axis=1) if field is None else log_weight[:, field]
    weight = np.exp(log_weight - log_weight.max())
    name = "delta" if field is None else f"delta[{field}]"
    return Block([name], [grid], weight, np.arange(len(weight)))


# --- tests of fit ----------------------------------------------------------------------------


def chi_square(found, probability, smallest=8.0):
    """P-value of partitions found (by their places) against their probabilities.

    Cells are merged, rarest first, until every one expects ``smallest``.
    """
    observed = np.bincount(found, minlength=probability.size).astype(float)
    expected = probability / probability.sum() * found.size
    if np.any(observed[expected == 0] > 0):
        return 0.0
    groups = [[0.0, 0.0]]
    for cell in np.argsort(expected, kind="stable"):
        if groups[-1][1] >= smallest:
            groups.append([0.0, 0.0])
        groups[-1][0] += observed[cell]
        groups[-1][1] += expected[cell]
    seen, wanted = np.array(groups).T
    statistic = float(((seen - wanted) ** 2 / wanted).sum())
    return float(stats.chi2.sf(statistic, wanted.size - 1))


def partition_test(found, probability, n_records=6):
    """P-value of partitions found: each by itself, or by their sizes alone, whichever is worse.

    The few kinds of sizes are a coarser look that sees smaller faults of the weights.
    """
    row = histograms(n_records)[1]
    by_size = chi_square(row[found], np.bincount(row, probability))
    return min(1.0, 2 * min(by_size, chi_square(found, probability)))


def uniform_test(values):
    """P-value of numbers that should be uniform on (0, 1)."""
    return float(stats.kstest(values, "uniform").pvalue)


def log_dirichlet(rng, shape):
    """Draw the logs of a Dirichlet vector: log Gamma(s) = log Gamma(s + 1) + log(U) / s."""
    log_part = np.log(rng.standard_gamma(shape + 1)) + np.log(rng.random(shape.size)) / shape
    return log_part - logsumexp(log_part)


def beta_probability(log_x, log_rest, a, b):
    """The distribution function of Beta(a, b) at x, where x or 1 - x may be known by its log."""
    if log_x > log_rest:
        return 1 - beta_probability(log_rest, log_x, b, a)
    if log_x > -30:
        return float(stats.beta.cdf(np.exp(log_x), a, b))
    return float(np.exp(a * log_x - np.log(a) - betaln(a, b)))


def entropy(probability):
    """In nats: exp of it is how many partitions share the mass."""
    p = probability[probability > 0]
    return float(-(p * np.log(p)).sum())
