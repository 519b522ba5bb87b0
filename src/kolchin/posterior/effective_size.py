"""Effective sample sizes: how many independent draws some draws are worth.

Those of the ranks and of the tails (Vehtari, Gelman, Simpson, Carpenter, Bürkner 2021), from
autocorrelations over all chains that are added up as far as Geyer's initial monotone sequence goes.
They are those of ArviZ, which a test holds them to; importing it takes seconds. (Where a limit of
the tails is a draw itself, ArviZ rounds it, and counts that draw in or out as it happens.)
"""

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len

TAILS = (0.05, 0.95)

Draws = NDArray[np.float64]


def measure_tail_size(values: Draws) -> float:
    """Return the smaller effective size of being in either tail, (chain, draw)."""
    limits = np.quantile(values, TAILS)
    return min(measure_effective_size(split_chains(1.0 * (values <= limit))) for limit in limits)


def split_chains(values: Draws) -> Draws:
    """Return the halves of chains as chains; of an odd number of draws the middle one goes."""
    half = values.shape[1] // 2
    return np.concatenate((values[:, :half], values[:, -half:]))


def measure_effective_size(chains: Draws) -> float:
    """Return how many independent draws would give the mean as exactly, (chain, draw)."""
    n_chains, n_draws = chains.shape
    if np.ptp(chains) < np.finfo(float).resolution:
        return float(chains.size)
    covariance = _measure_autocovariance(chains)
    within = float(covariance[:, 0].mean()) * n_draws / (n_draws - 1)
    whole = within * (n_draws - 1) / n_draws
    if n_chains > 1:
        whole += float(chains.mean(axis=1).var(ddof=1))
    correlation = 1 - (within - covariance.mean(axis=0)) / whole
    correlation[0] = 1.0
    time = max(_add_correlations(correlation), 1 / np.log10(chains.size))
    return float(chains.size / time)


def _measure_autocovariance(chains: Draws) -> Draws:
    """Return the autocovariances of each chain at all lags, by Fourier transforms."""
    n_draws = chains.shape[1]
    n = next_fast_len(2 * n_draws)
    transformed = np.fft.rfft(chains - chains.mean(axis=1, keepdims=True), n=n, axis=1)
    covariance: Draws = np.fft.irfft(np.abs(transformed) ** 2, n=n, axis=1)[:, :n_draws] / n_draws
    return covariance


def _add_correlations(correlation: Draws) -> float:
    """Return the autocorrelation time: twice the sum over all lags, less one.

    Lags are taken two by two while their sum is positive, and no two for more than the two before;
    of those that end it the even one counts once, as far as it is positive.
    """
    n_pairs = max(0, (correlation.size - 3) // 2)
    sums = correlation[: 2 * n_pairs + 2].reshape(-1, 2).sum(axis=1)
    ended = np.flatnonzero(sums[:n_pairs] <= 0)
    end = int(ended[0]) if ended.size else n_pairs
    last = correlation[2 * end] if correlation[2 * end] > 0 or sums[end] >= 0 else 0.0
    return float(2 * np.minimum.accumulate(sums[:end]).sum() + last - 1)
