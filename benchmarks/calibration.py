"""Simulation-based calibration of every prior (Talts et al. 2018): is the posterior right?

Draw parameters, partition and records from the model, sample the posterior of the records, and
see where the truth falls among the draws. If the sampler is right, its rank is uniform, and of
the pairs that are linked with probability p a share p are links.

    python benchmarks/calibration.py [--replicates 200] [--out docs]

writes calibration.md and figures/calibration.{png,svg} into the folder.
"""

import argparse
import sys
import time
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chisquare, kstest, norm

import kolchin as kp
from kolchin.partitions import cluster_sizes

sys.path.insert(0, str(Path(__file__).parent))

import direct_draws

Floats = NDArray[np.float64]

N_RECORDS = 60
N_VALUES = (3, 5, 8, 12, 20)
FREQUENCIES = [1 / np.arange(1, n + 1) ** 0.7 for n in N_VALUES]
FREQUENCIES = [weights / weights.sum() for weights in FREQUENCIES]
MISSING = 0.1
DELTA = kp.Gamma(1, 5)
PRIORS = {
    "NBNB": kp.NBNB(),
    "NBD": kp.NBD(alpha=kp.Gamma(2, 1), base=kp.Beta(2, 2)),
    "DirichletProcess": kp.DirichletProcess(),
    "PitmanYor": kp.PitmanYor(),
    "ESCNB": kp.ESCNB(),
    "ESCD": kp.ESCD(alpha=kp.Gamma(2, 1)),
}

DRAWS = 200
WARMUP = 100
MOVES = 200
KEPT = 20
"""Draws of each chain that a rank is taken among: every tenth, nearly independent."""

N_BINS = 10
EDGES = np.array([0, 0.001, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.000001])


class Replicate(NamedTuple):
    """One simulated table: ranks of the truth, and its pairs.

    ``pairs`` has a row a pair: linked in truth, probability in the first chain, in the second.
    """

    ranks: dict[str, float]
    pairs: Floats


class Links(NamedTuple):
    """Pairs with about the same probability of being linked."""

    n_pairs: int
    predicted: float
    share: float
    z: float


def replicate(rng: np.random.Generator, prior: Any, state: Any, sampler: Any) -> Replicate:
    """Simulate one table, sample its posterior, and look where the truth falls."""
    tied = bool(rng.random() < 0.5)
    n_fields = len(FREQUENCIES)
    delta = np.broadcast_to(direct_draws.draws_of(rng, DELTA, 1 if tied else n_fields), n_fields)
    observed = rng.random((N_RECORDS, n_fields)) >= MISSING
    codes = direct_draws.draw_codes(rng, state.labels, delta, FREQUENCIES, observed)
    records = kp.Records.from_codes(codes, FREQUENCIES)
    model = kp.Model(records, prior, DELTA, tied)
    posterior = sampler(model, seed=int(rng.integers(2**31)))
    truth = _truth(state, delta)
    drawn = _drawn(posterior)
    ranks = {name: _rank(rng, value, drawn[name]) for name, value in truth.items()}
    return Replicate(ranks, _pairs(state.labels, posterior))


def default_sampler(model: kp.Model, seed: int) -> kp.Posterior:
    """Run kp.sample as a user would, only shorter."""
    return kp.sample(
        model,
        chains=2,
        draws=DRAWS,
        warmup=WARMUP,
        moves=MOVES,
        thin=1,
        seed=seed,
        cores=1,
        progress=False,
    )


def _truth(state: Any, delta: Floats) -> dict[str, float]:
    sizes = cluster_sizes(state.labels)
    result = {"n_clusters": sizes.size, "singletons": np.sum(sizes == 1), "largest": sizes.max()}
    for name, value in state.parameters.items():
        result["mu_1" if name == "mu" else name] = value[0] if name == "mu" else value
    return result | {"delta": delta[0]}


def _drawn(posterior: kp.Posterior) -> dict[str, Floats]:
    result = {name: posterior.statistics[name] for name in ("n_clusters", "singletons", "largest")}
    for name, values in posterior.parameters.items():
        first = values if values.ndim == 2 else values[:, :, 0]
        result["mu_1" if name == "mu" else name] = first
    step = posterior.n_draws // KEPT
    return {name: values[:, step - 1 :: step].ravel() for name, values in result.items()}


def _rank(rng: np.random.Generator, truth: float, draws: Floats) -> float:
    """Return the rank of the truth, from 0 to 1, ties broken at random: uniform if all is right."""
    below, equal = np.sum(draws < truth), np.sum(draws == truth)
    return float((below + rng.integers(equal + 1) + rng.random()) / (draws.size + 1))


def _pairs(labels: NDArray[np.int64], posterior: kp.Posterior) -> Floats:
    i, j = np.triu_indices(labels.size, 1)
    drawn = posterior.labels
    together = np.zeros((2, i.size))
    for chain in range(2):
        for partition in drawn[chain]:
            together[chain] += partition[i] == partition[j]
    return np.column_stack([labels[i] == labels[j], *together / posterior.n_draws])


def calibrate(
    name: str, replicates: int, seed: int = 1, sampler: Any = default_sampler
) -> list[Replicate]:
    """Repeat for one prior."""
    rng = np.random.default_rng([seed, *name.encode()])
    states = direct_draws.draw_states(rng, PRIORS[name], N_RECORDS, replicates)
    return [replicate(rng, PRIORS[name], state, sampler) for state in states]


def ranks_of(results: list[Replicate]) -> dict[str, Floats]:
    """Collect the ranks by quantity."""
    names = results[0].ranks
    return {name: np.array([result.ranks[name] for result in results]) for name in names}


def p_values(ranks: Floats) -> tuple[float, float]:
    """Test ranks for uniformity: chi-square on ten bins, and Kolmogorov-Smirnov."""
    counts = np.histogram(ranks, bins=N_BINS, range=(0, 1))[0]
    return float(chisquare(counts).pvalue), float(kstest(ranks, "uniform").pvalue)


def links_of(results: list[Replicate]) -> list[Links]:
    """Compare the probabilities of pairs with how many of them are links.

    The first chain says which probability a pair has about, the second what it is exactly: no
    pair is chosen for its own error. Pairs of one table depend on each other, so the standard
    error comes from tables, not from pairs.
    """
    bins = []
    for low, high in pairwise(EDGES):
        chosen = [r.pairs[(r.pairs[:, 1] >= low) & (r.pairs[:, 1] < high)] for r in results]
        excess = np.array([np.sum(pairs[:, 0] - pairs[:, 2]) for pairs in chosen])
        together = np.vstack(chosen)
        error = np.sqrt(np.sum(excess**2))
        z = float(excess.sum() / error) if error > 0 else 0.0
        n_pairs = max(len(together), 1)
        predicted, share = together[:, 2].sum() / n_pairs, together[:, 0].sum() / n_pairs
        bins.append(Links(len(together), float(predicted), float(share), z))
    return bins


def markdown(results: dict[str, list[Replicate]], command: str, seconds: float) -> str:
    """Write all numbers as a page."""
    n_replicates = len(next(iter(results.values())))
    ranks = {name: ranks_of(own) for name, own in results.items()}
    tests = {(n, q): p_values(u) for n, own in ranks.items() for q, u in own.items()}
    smallest = min(min(pair) for pair in tests.values())
    lines = [
        *_introduction(n_replicates, command, seconds),
        "## Ranks",
        "",
        f"{2 * len(tests)} p-values; the smallest is {smallest:.4f}, and after Bonferroni's "
        f"correction {min(1, 2 * len(tests) * smallest):.2f}.",
        "",
        "| prior | quantity | mean rank | chi-square p | Kolmogorov-Smirnov p |",
        "|---|---|---|---|---|",
    ]
    for (name, quantity), (chi, ks) in tests.items():
        mean = ranks[name][quantity].mean()
        lines.append(f"| {name} | {quantity} | {mean:.3f} | {chi:.3f} | {ks:.3f} |")
    lines += ["", f"(A mean rank has standard error {1 / np.sqrt(12 * n_replicates):.3f}.)", ""]
    return "\n".join([*lines, *_link_lines(results), ""])


def _introduction(n_replicates: int, command: str, seconds: float) -> list[str]:
    return [
        "# Calibration",
        "",
        "Is the posterior right? For each prior, tables were simulated from the model itself:",
        f"parameters, a partition of {N_RECORDS} records and delta from their priors, records with",
        f"{len(N_VALUES)} fields ({', '.join(map(str, N_VALUES))} values, {MISSING:.0%} missing),",
        "delta tied in every other table on average. `kp.sample` then saw the records alone. If",
        "it is right, the truth's rank among the draws is uniform, and of the pairs that it links",
        "with probability p, a share p are links (simulation-based calibration; Talts, Betancourt,",
        "Simpson, Vehtari and Gelman 2018).",
        "",
        "```bash",
        command,
        "```",
        "",
        f"{n_replicates} tables a prior, {seconds / 60:.0f} CPU minutes. Partitions and",
        "parameters are drawn forwards, by rejection, with no code of the package.",
        "",
        "![Ranks and links](figures/calibration.png)",
        "",
        "Above: the share of ranks below u, minus u, for each quantity; 95% of such curves stay",
        "in the grey band if ranks are uniform. Below: pairs by the probability of a link.",
        "",
    ]


def _link_lines(results: dict[str, list[Replicate]]) -> Iterable[str]:
    yield "## Links"
    yield ""
    yield "Pairs of records by the probability that they are linked, all tables together. One chain"
    yield "says which row a pair belongs to, another what its probability is, so that no pair is"
    yield "chosen for its own error; z has its standard error from tables, not from pairs."
    yield ""
    yield "| prior | probability | pairs | mean probability | share of links | z |"
    yield "|---|---|---|---|---|---|"
    for name, own in results.items():
        for (low, high), row in zip(pairwise(EDGES), links_of(own), strict=True):
            bounds = f"{low:g} to {min(high, 1):g}"
            numbers = f"{row.n_pairs:,} | {row.predicted:.4f} | {row.share:.4f} | {row.z:+.1f}"
            yield f"| {name} | {bounds} | {numbers} |"
        yield f"| {name} | all pairs | {_all_pairs(own)} |"


def _all_pairs(results: list[Replicate]) -> str:
    """Compare all links of the tables with what both chains expect: many small gaps add up."""
    pairs = np.vstack([result.pairs for result in results])
    excess = np.array([np.sum(r.pairs[:, 0] - r.pairs[:, 1:].mean(axis=1)) for r in results])
    z = excess.sum() / max(np.sqrt(np.sum(excess**2)), 1e-300)
    return f"{len(pairs):,} | {pairs[:, 1:].mean():.5f} | {pairs[:, 0].mean():.5f} | {z:+.1f}"


def figure(results: dict[str, list[Replicate]], folder: Path) -> None:
    """Draw the ranks of all quantities, and predicted against observed links."""
    from kolchin.paper.plotting import new_figure, save_figure

    canvas = new_figure(2.4 * len(results), 5.2)
    axes = canvas.subplots(2, len(results), squeeze=False)
    for k, (name, own) in enumerate(results.items()):
        _draw_ranks(axes[0, k], name, ranks_of(own))
        _draw_links(axes[1, k], links_of(own))
    axes[0, 0].set_ylabel("share of ranks below u, minus u")
    axes[1, 0].set_ylabel("share of links")
    folder.mkdir(parents=True, exist_ok=True)
    save_figure(canvas, folder, "calibration")


def _draw_ranks(axis: Any, name: str, ranks: dict[str, Floats]) -> None:
    n_replicates = len(next(iter(ranks.values())))
    grid = np.linspace(0, 1, 201)
    # 1.36 / sqrt(n) bounds 95% of all empirical distribution functions of n uniform numbers.
    axis.axhspan(-1.36 / n_replicates**0.5, 1.36 / n_replicates**0.5, color="0.9")
    for quantity, own in ranks.items():
        below = np.searchsorted(np.sort(own), grid, side="right") / own.size
        axis.plot(grid, below - grid, lw=1, label=quantity)
    axis.set(title=name, xlabel="u", ylim=(-0.2, 0.2), xlim=(0, 1))
    axis.legend(fontsize=6, ncols=2, frameon=False)


def _draw_links(axis: Any, rows: list[Links]) -> None:
    axis.plot([0, 1], [0, 1], color="0.8", lw=1)
    shown = [row for row in rows if row.n_pairs >= 10]
    predicted = np.array([row.predicted for row in shown])
    share = np.array([row.share for row in shown])
    with np.errstate(divide="ignore", invalid="ignore"):
        error = norm.ppf(0.975) * np.abs((share - predicted) / [row.z for row in shown])
    axis.errorbar(predicted, share, np.nan_to_num(error, posinf=0), fmt="o", ms=3, lw=1)
    axis.set(xlabel="probability of a link", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))


def main(arguments: list[str] | None = None) -> None:
    """Run all priors and write the page."""
    parser = argparse.ArgumentParser(description="Simulation-based calibration of every prior.")
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--out", type=Path, default=Path("docs"))
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    began = time.process_time()
    results = {}
    for name in PRIORS:
        results[name] = calibrate(name, given.replicates, given.seed)
        smallest = min(min(p_values(ranks)) for ranks in ranks_of(results[name]).values())
        seconds = time.process_time() - began
        print(f"{name}: smallest p-value {smallest:.4f}, {seconds:.0f} s so far", flush=True)
    command = "python benchmarks/calibration.py"
    command += f" --replicates {given.replicates} --seed {given.seed}"
    given.out.mkdir(parents=True, exist_ok=True)
    figure(results, given.out / "figures")
    page = markdown(results, command, time.process_time() - began)
    (given.out / "calibration.md").write_text(page, encoding="utf-8")
    print(f"Written to {given.out / 'calibration.md'}")


if __name__ == "__main__":
    main()
