"""Exact draws of sizes given N, with the size distribution mu integrated out (NBD, ESC-D).

With mu integrated out and a = alpha, the numbers L_m of clusters of each size are independent
given that their sizes add up to N:

    P(L) is proportional to  prod over m of  Gamma(alpha_m + L_m) / (Gamma(alpha_m) L_m!) q^L_m,

alpha_m = alpha mu0_m. So the weights w_N of all partitions of N have the generating function
prod_m (1 - q x^m)^(-alpha_m). Its logarithm is the sum of (alpha_m q^t / t) x^(m t): L_m is made of
batches of t clusters, Poisson in number, and the batch that holds a record chosen at
random is (m, t) with probability m alpha_m q^t w_(N - m t) / (N w_N); what remains is the same
problem for N - m t records.

Chains that alternate mu and the partition are no substitute: for a small q the posterior of mu
has a peak at every size near sqrt(N), and such chains stay at one.
"""

import numpy as np

from kolchin.parameters import FloatArray, IntArray


class FreeSizes:
    """Cluster sizes of up to N records under NBD(a=alpha, q, alpha) or ESC-D (q = 1).

    ``base`` holds the base measure's probabilities of 1, ..., N.
    """

    def __init__(self, q: float, alpha: float, base: FloatArray) -> None:
        n_records = base.size
        numbers = np.arange(1, n_records + 1)
        most = n_records // numbers
        sizes = np.repeat(numbers, most)
        times = np.arange(sizes.size) - np.repeat(np.cumsum(most) - most, most) + 1
        rates = sizes * alpha * base[sizes - 1] * q**times
        order = np.argsort(sizes * times, kind="stable")
        self._sizes, self._times, self._rates = sizes[order], times[order], rates[order]
        self._totals = self._sizes * self._times
        self._weights = self._all_weights(n_records)

    def _all_weights(self, n_records: int) -> FloatArray:
        """Return w_0, ..., w_N by N w_N = sum over batches of their rate times w_(N - m t)."""
        by_total = np.bincount(self._totals, self._rates, minlength=n_records + 1)
        weights = np.zeros(n_records + 1)
        weights[0] = 1.0
        for n in range(1, n_records + 1):
            weights[n] = by_total[1 : n + 1] @ weights[:n][::-1] / n
        return weights

    def draw(self, rng: np.random.Generator, n_records: int) -> IntArray:
        """Draw the sizes of the clusters of n records."""
        sizes: list[int] = []
        while n_records:
            fitting = np.searchsorted(self._totals, n_records, side="right")
            left = self._weights[n_records - self._totals[:fitting]]
            running = np.cumsum(self._rates[:fitting] * left)
            chosen = np.searchsorted(running, rng.random() * running[-1], side="right")
            sizes += [int(self._sizes[chosen])] * int(self._times[chosen])
            n_records -= int(self._totals[chosen])
        return np.array(sizes)
