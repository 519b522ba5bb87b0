"""One run: simulate the data, sample the posterior, measure it."""

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kolchin.evaluation import evaluate
from kolchin.paper.printed import STATISTICS
from kolchin.paper.run import Box, Effort, ExperimentRun, RunResult, current_version
from kolchin.posterior.convergence import measure_convergence
from kolchin.posterior.scores import score_pairs_by_draw
from kolchin.simulation import paper_dataset, simulate_paper

if TYPE_CHECKING:
    from kolchin.model import Model
    from kolchin.posterior import Posterior
    from kolchin.posterior.traces import Traces

FloatArray = NDArray[np.float64]


def execute(run: ExperimentRun) -> RunResult:
    """Simulate the data set of a run, sample the posterior and measure it."""
    start = time.perf_counter()
    model, truth = _problem(run)
    result = measure(run, _sample(model, run), truth)
    return replace(result, seconds=round(time.perf_counter() - start, 2))


def rehearse(run: ExperimentRun) -> None:
    """Do what a run does last, on a chain that makes no moves, so that its code is compiled.

    It takes as long to compile as what comes first, which another process may do meanwhile.
    """
    from kolchin.posterior.recorder import Recorder, collect_posterior
    from kolchin.sampling.moves.forest.move import ForestMove
    from kolchin.sampling.moves.parameters import UpdateParameters
    from kolchin.sampling.moves.regroup import RegroupMove
    from kolchin.sampling.problem import pose_problem
    from kolchin.sampling.proposals.link_proposals import list_link_proposals
    from kolchin.sampling.state import ensure_statistics, start_state, take_snapshot

    model, truth = _problem(run)
    n_records = model.n_records
    pairs = np.arange(n_records - n_records % 2, dtype=np.int32).reshape(-1, 2)
    proposals = list_link_proposals(n_records, pairs)
    rng = np.random.Generator(np.random.SFC64(0))
    problem = pose_problem(model)
    state = start_state(rng, problem, np.arange(n_records) // 2)
    draws = Recorder(n_records, np.arange(n_records))
    for _ in range(4):
        for move in (RegroupMove(proposals), ForestMove(proposals), UpdateParameters()):
            state = move.step(rng, problem, state)
        state = ensure_statistics(rng, problem, state)
        draws.add(*take_snapshot(problem, state))
    measure(run, collect_posterior([draws, draws], {}), truth)


def _problem(run: ExperimentRun) -> "tuple[Model, NDArray[np.int64]]":
    """Return the model of a run, with its simulated records, and whom these are of."""
    from kolchin.model import Model
    from kolchin.parameters import Gamma
    from kolchin.priors import NBD, NBNB, DirichletProcess, PitmanYor
    from kolchin.records import Categorical, Records

    table = simulate_paper(run.dataset, delta=run.delta, seed=run.data_seed)
    names = [field.name for field in paper_dataset(run.dataset).fields]
    records = Records.from_table(table, fields=[Categorical(name) for name in names])
    priors = {"DP": DirichletProcess, "PYP": PitmanYor, "NBNB": NBNB, "NBD": NBD}
    model = Model(records, prior=priors[run.model](), delta=Gamma(1, 1), tied=True)
    return model, table["ent_id"].to_numpy()


def _sample(model: "Model", run: ExperimentRun) -> "Posterior":
    """Draw until K and delta have converged, or as often as the run may.

    With the same seed and warm-up a longer run begins with the draws of a shorter one, so the
    result does not depend on how often the length was changed on the way.
    """
    from kolchin.sampling import sample

    effort = run.effort
    posterior = sample(
        model,
        chains=effort.chains,
        draws=effort.draws,
        warmup=effort.warmup,
        thin=1,
        seed=run.sampler_seed,
        enough=lambda so_far: _has_converged(so_far, effort),
        most_draws=effort.max_draws,
        cores=1,
        progress=False,
    )
    if posterior.settings["interrupted"]:
        raise KeyboardInterrupt
    return posterior


def _has_converged(posterior: "Posterior | Traces", effort: Effort) -> bool:
    """Tell whether R-hat and effective sample size of K and delta are good enough."""
    return all(
        rhat < effort.max_rhat and ess >= effort.min_ess
        for rhat, ess, _ in map(measure_convergence, _select_monitored(posterior))
    )


def _select_monitored(posterior: "Posterior | Traces") -> tuple[FloatArray, FloatArray]:
    """Return K and the tied delta, (chain, draw) each."""
    n_clusters = posterior.statistics["n_clusters"]
    return n_clusters, posterior.parameters["delta"].reshape(n_clusters.shape)


def measure(run: ExperimentRun, posterior: "Posterior", truth: ArrayLike) -> RunResult:
    """Summarise a posterior as table 1 and figure 2 do."""
    n_clusters, delta = _select_monitored(posterior)
    (rhat_k, ess_k, _), (rhat_delta, ess_delta, _) = map(measure_convergence, (n_clusters, delta))
    estimate = evaluate(posterior.point_estimate("paper"), truth)
    rates = score_pairs_by_draw(posterior, truth)
    return RunResult(
        run=run,
        version=current_version(),
        k_mean=float(n_clusters.mean()),
        k_sd=float(n_clusters.std(ddof=1)),
        fnr=estimate.fnr,
        fdr=estimate.fdr,
        fnr_posterior=float(rates["fnr"].mean()),
        fdr_posterior=float(rates["fdr"].mean()),
        delta_mean=float(delta.mean()),
        delta_sd=float(delta.std(ddof=1)),
        rhat_k=rhat_k,
        rhat_delta=rhat_delta,
        ess_k=ess_k,
        ess_delta=ess_delta,
        draws=posterior.n_draws,
        converged=_has_converged(posterior, run.effort),
        seconds=0.0,
        boxes={name: box(posterior.statistics[name]) for name in STATISTICS},
    )


def box(values: ArrayLike) -> Box:
    """Summarise draws as the box plots of the paper do.

    >>> box([1, 2, 3, 4, 100])
    Box(low=1.0, q1=2.0, median=3.0, q3=4.0, high=4.0)
    """
    draws = np.asarray(values, dtype=np.float64).ravel()
    q1, median, q3 = np.quantile(draws, [0.25, 0.5, 0.75])
    reach = 1.5 * (q3 - q1)
    inside = draws[(draws >= q1 - reach) & (draws <= q3 + reach)]
    return Box(float(inside.min()), float(q1), float(median), float(q3), float(inside.max()))
