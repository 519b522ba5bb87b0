"""Exact draws of cluster sizes given their sum (model section 7).

K has probability proportional to kappa_k times the k-fold convolution of mu at N; given K, the
sizes are split by halves. All sums are tilted (mu_m -> mu_m exp(t m)) so that N is a typical
value, which keeps every number that matters near 1.
"""

import numpy as np
from scipy.special import logsumexp

from kolchin.errors import ModelError
from kolchin.parameters import FloatArray, IntArray

DIRECT_UP_TO = 512
"""Up to this many records, convolutions are added up term by term."""

NEGLIGIBLE = 60.0
"""Terms this far (in nats) below the largest are not computed."""


def draw_sizes(rng: np.random.Generator, log_kappa: FloatArray, log_mu: FloatArray) -> IntArray:
    """Draw the sizes of the clusters, given log kappa and log mu on 1, ..., N."""
    log_p = log_prob_n_clusters(log_kappa, log_mu)
    weights = np.exp(log_p - log_p.max())
    n_clusters = 1 + int(rng.choice(log_p.size, p=weights / weights.sum()))
    return _split(rng, n_clusters, log_mu)


def log_prob_n_clusters(log_kappa: FloatArray, log_mu: FloatArray) -> FloatArray:
    """Log P(K = k | N) for k = 1, ..., N (minus infinity where it is negligible)."""
    n = log_mu.size
    if n <= DIRECT_UP_TO:
        result = log_kappa + _log_powers_directly(log_mu)
    else:
        result = _log_weights_by_blocks(log_kappa, log_mu)
    total = logsumexp(result)
    if not np.isfinite(total):
        raise ModelError(f"No sizes of positive probability add up to {n} records.")
    normalised: FloatArray = result - total
    return normalised


def _log_powers_directly(log_mu: FloatArray) -> FloatArray:
    """Log of the k-fold convolution of mu at N for every k, by adding positive numbers only."""
    n = log_mu.size
    result = np.full(n, -np.inf)
    single = np.append(0.0, np.exp(log_mu - log_mu.max()))
    power, log_scale = single, log_mu.max()
    for k in range(1, n + 1):
        if k > 1:
            power = np.convolve(power, single)[: n + 1]
            log_scale += log_mu.max()
        top = power.max()
        if top == 0:
            break
        if power[n] > 0:
            result[k - 1] = np.log(power[n]) + log_scale
        power = power / top
        log_scale += np.log(top)
    return result


def _log_weights_by_blocks(log_kappa: FloatArray, log_mu: FloatArray) -> FloatArray:
    """Log of kappa_k times the k-fold convolution of mu at N, in blocks of k that matter."""
    n = log_mu.size
    support = np.flatnonzero(np.isfinite(log_mu)) + 1
    edges = _edges(n, -(-n // support[-1]), n // support[0])
    smooth = np.array([_saddlepoint(int(k), log_mu) for k in edges])
    result = np.full(n, -np.inf)
    best = np.max(smooth + log_kappa[edges - 1], initial=-np.inf)
    for k in range(edges.size):
        block = np.arange(edges[k], edges[k + 1] if k + 1 < edges.size else edges[k] + 1)
        bound = smooth[k : k + 2].max() + log_kappa[block - 1].max()
        if bound > best - NEGLIGIBLE:
            result[block - 1] = log_kappa[block - 1] + _log_powers(block, log_mu)
    return result


def _edges(n: int, fewest: int, most: int) -> IntArray:
    """Cut fewest, ..., most into blocks about as wide as K's spread: narrow at both ends."""
    steps = np.arange(int(np.sqrt(n)) + 2) ** 2 // 2
    edges = np.unique(np.concatenate([fewest + steps, most - steps]))
    return edges[(edges >= fewest) & (edges <= most)]


def _tilt(n_clusters: int, log_mu: FloatArray) -> tuple[float, FloatArray]:
    """Find t so that mu_m exp(t m) has mean N / k; return t and the log tilted weights."""
    from scipy.optimize import brentq  # slow to import, and sampling never needs it

    n = log_mu.size
    sizes = np.arange(1, n + 1)
    mean = n / n_clusters
    support = sizes[np.isfinite(log_mu)]

    def excess(t: float) -> float:
        tilted = log_mu + t * sizes
        weights = np.exp(tilted - tilted.max())
        return float(weights @ sizes / weights.sum()) - mean

    if support[0] == mean or support[-1] == mean:
        return 0.0, np.where(sizes == mean, log_mu, -np.inf)
    width = 1.0
    while excess(-width) > 0 or excess(width) < 0:
        width *= 2
    t = float(brentq(excess, -width, width, xtol=1e-9, rtol=1e-9))
    return t, log_mu + t * sizes


def _saddlepoint(n_clusters: int, log_mu: FloatArray) -> float:
    """Approximate the log of the k-fold convolution of mu at N, to see where it matters."""
    n = log_mu.size
    support = np.flatnonzero(np.isfinite(log_mu)) + 1
    if not support.size or not support[0] <= n / n_clusters <= support[-1]:
        return -np.inf
    t, tilted = _tilt(n_clusters, log_mu)
    log_total = float(logsumexp(tilted))
    weights = np.exp(tilted - log_total)
    sizes = np.arange(1, n + 1)
    mean = float(weights @ sizes)
    spread = 1 + n_clusters * float(weights @ (sizes - mean) ** 2)
    return n_clusters * log_total - t * n - 0.5 * float(np.log(2 * np.pi * spread))


def _log_powers(block: IntArray, log_mu: FloatArray) -> FloatArray:
    """Log of the k-fold convolution of mu at N, for consecutive k, by Cauchy's integral.

    On a circle of radius a little below 1, so that sums beyond the transform's length fade
    to 1e-13 before they fold back.
    """
    n = log_mu.size
    t, tilted = _tilt(int(block[block.size // 2]), log_mu)
    log_total = float(logsumexp(tilted))
    length = 4 * n
    log_radius = np.log(1e-13) / length
    sizes = np.arange(1, n + 1)
    terms = np.append(0.0, np.exp(tilted - log_total + log_radius * sizes))
    transform = np.fft.rfft(terms, length)
    top = transform[0].real
    transform /= top
    keep = np.abs(transform) ** int(block[0]) > 1e-19
    frequency = np.flatnonzero(keep)
    fold = np.where((frequency == 0) | (frequency == length // 2), 1.0, 2.0)
    phase = np.exp(2j * np.pi * ((frequency * n) % length) / length) * fold
    kept = transform[keep]
    current = phase * kept ** int(block[0])
    values = np.empty(block.size)
    noise = np.empty(block.size)
    for k in range(block.size):
        values[k] = current.sum().real / length
        noise[k] = 1e-13 * np.abs(current).sum() / length
        current = current * kept
    with np.errstate(divide="ignore", invalid="ignore"):
        log_value = np.where(values > noise, np.log(values), -np.inf)
    scale = block * (log_total + np.log(top)) - (t + log_radius) * n
    result: FloatArray = log_value + scale
    return result


def _split(rng: np.random.Generator, n_clusters: int, log_mu: FloatArray) -> IntArray:
    """Draw k sizes given that they add up to N: how much falls to the first half, and so on."""
    n = log_mu.size
    _, tilted = _tilt(n_clusters, log_mu)
    single = np.append(0.0, np.exp(tilted - logsumexp(tilted)))
    powers = {1: single}

    def power(k: int) -> FloatArray:
        if k not in powers:
            powers[k] = _convolve(power(k // 2), power(k - k // 2))
        return powers[k]

    sizes = np.empty(n_clusters, dtype=np.int64)
    open_nodes = [(0, n_clusters, n)]
    while open_nodes:
        start, k, total = open_nodes.pop()
        if k == 1:
            sizes[start] = total
            continue
        half = k // 2
        left = power(half)[half : total - (k - half) + 1]
        right = power(k - half)[k - half : total - half + 1][::-1]
        running = np.cumsum(left * right)
        share = half + int(np.searchsorted(running, rng.random() * running[-1], side="right"))
        open_nodes.append((start, half, share))
        open_nodes.append((start + half, k - half, total - share))
    return sizes


def _convolve(left: FloatArray, right: FloatArray) -> FloatArray:
    """Convolve two sequences, cut to their length."""
    n = left.size
    if n <= DIRECT_UP_TO:
        return np.convolve(left, right)[:n]
    length = 1 << (2 * n - 1).bit_length()
    product = np.fft.irfft(np.fft.rfft(left, length) * np.fft.rfft(right, length), length)
    result: FloatArray = np.maximum(product[:n], 0.0)
    return result
