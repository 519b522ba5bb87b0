"""Whether the chains have converged, and how much the draws are worth.

R-hat and effective sizes are as in ArviZ, rank-normalised (Vehtari, Gelman, Simpson, Carpenter,
Bürkner 2021). They are completed where those are undefined: a quantity that never changes has
R-hat 1 and as many effective draws as draws; chains that are stuck at different values have R-hat
infinity and are worth one draw each; below four draws a chain nothing can be said (NaN).
"""

import warnings
from collections.abc import Collection
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.posterior.effective_size import (
    measure_effective_size,
    measure_tail_size,
    split_chains,
)
from kolchin.posterior.traces import TraceSource

MONITORED = ("n_clusters", "singletons", "largest")
FEWEST_DRAWS = 4
RHAT_BOUND = 1.01
ESS_BOUND = 400

Draws = NDArray[np.float64]


def tabulate_diagnostics(
    posterior: TraceSource, names: Collection[str] | None = None
) -> pl.DataFrame:
    """Return quantity, mean, sd, q05, q50, q95, rhat, ess_bulk, ess_tail; of some or of all."""
    rows = [
        {"quantity": name, **_make_row(values)}
        for name, values in list_quantities(posterior).items()
        if names is None or name in names
    ]
    return pl.DataFrame(rows)


def has_converged(table: pl.DataFrame) -> bool:
    """Tell whether every quantity of a table of diagnostics has converged."""
    fine = (
        pl.col("rhat").is_finite()
        & (pl.col("rhat") < RHAT_BOUND)
        & (pl.col("ess_bulk") >= ESS_BOUND)
    )
    return bool(table.select(fine.all()).item())


def list_quantities(posterior: TraceSource) -> dict[str, Draws]:
    """Return the monitored scalars, (chain, draw) each; vectors are numbered from 1, as mu[1]."""
    out = {name: posterior.statistics[name] for name in MONITORED}
    out["log_joint"] = posterior.log_joint
    for name, array in posterior.parameters.items():
        names = name_entries(posterior, name)
        for index in np.ndindex(array.shape[2:]):
            entry = ",".join(str(axis[k]) for axis, k in zip(names, index, strict=True))
            out[f"{name}[{entry}]" if index else name] = array[(..., *index)]
    return out


def name_entries(posterior: TraceSource, name: str) -> list[list[Any]]:
    """Return the names of a parameter's entries, one list an axis."""
    shape = posterior.parameters[name].shape[2:]
    given = posterior.settings.get("coordinates", {}).get(name)
    if given is not None and shape == (len(given),):
        return [list(given)]
    return [list(range(1, size + 1)) for size in shape]


def make_arviz(posterior: TraceSource) -> Any:
    """Return InferenceData (ArviZ 0.x) or DataTree (1.x): posterior, and sample_stats with lp."""
    arviz = _import_arviz()
    dims: dict[str, list[str]] = {}
    coords: dict[str, list[Any]] = {}
    for name in posterior.parameters:
        axes = name_entries(posterior, name)
        dims[name] = [f"{name}_entry_{k}" if k else f"{name}_entry" for k in range(len(axes))]
        coords.update(zip(dims[name], axes, strict=True))
    groups = {
        "posterior": {**posterior.parameters, **posterior.statistics},
        "sample_stats": {"lp": posterior.log_joint},
    }
    dims = {name: axes for name, axes in dims.items() if axes}
    if arviz.__version__.startswith("0."):
        return arviz.from_dict(**groups, coords=coords, dims=dims)
    return arviz.from_dict(groups, coords=coords, dims=dims)


def _make_row(values: Draws) -> dict[str, float]:
    some = values.size > 0
    q05, q50, q95 = np.quantile(values, [0.05, 0.5, 0.95]) if some else [np.nan] * 3
    rhat, ess_bulk, ess_tail = measure_convergence(values)
    return {
        "mean": float(values.mean()) if some else np.nan,
        "sd": float(values.std(ddof=1)) if values.size > 1 else np.nan,
        "q05": float(q05),
        "q50": float(q50),
        "q95": float(q95),
        "rhat": rhat,
        "ess_bulk": ess_bulk,
        "ess_tail": ess_tail,
    }


def measure_convergence(values: Draws) -> tuple[float, float, float]:
    """Return R-hat, bulk and tail effective size of one quantity, (chain, draw)."""
    if values.shape[1] < FEWEST_DRAWS or not np.isfinite(values).all():
        return np.nan, np.nan, np.nan
    if np.ptp(values) == 0:
        return 1.0, float(values.size), float(values.size)
    halves = split_chains(values)
    if np.all(np.ptp(halves, axis=1) == 0):
        stuck = float(np.unique(values).size if len(values) == 1 else len(values))
        return np.inf, stuck, stuck
    with np.errstate(all="ignore"):
        bulk = measure_effective_size(_normalise_ranks(halves))
        return _measure_rhat(halves), bulk, measure_tail_size(values)


def _measure_rhat(halves: Draws) -> float:
    """Return the larger R-hat of the ranks and of the ranks of the distances from the median.

    It is ArviZ's for several chains; ArviZ refuses one, whose halves can be compared as well.
    """
    folded = np.abs(halves - np.median(halves))
    return max(_measure_spread_ratio(_normalise_ranks(values)) for values in (halves, folded))


def _measure_spread_ratio(chains: Draws) -> float:
    """Return the root of the variance of all draws over the mean variance of a chain."""
    n_draws = chains.shape[1]
    within = float(chains.var(axis=1, ddof=1).mean())
    between = float(chains.mean(axis=1).var(ddof=1))
    if within == 0:
        # Two values taken equally often lie equally far from their median: nothing to compare.
        return np.inf if between > 0 else 1.0
    return float(np.sqrt(between / within + (n_draws - 1) / n_draws))


def _normalise_ranks(values: Draws) -> Draws:
    from scipy import special, stats

    ranks = stats.rankdata(values, method="average").reshape(values.shape)
    scores: Draws = special.ndtri((ranks - 0.375) / (values.size + 0.25))
    return scores


def _import_arviz() -> Any:
    with warnings.catch_warnings():
        # ArviZ 0.23 announces its successor whenever it is imported.
        warnings.simplefilter("ignore", FutureWarning)
        import arviz
    return arviz
