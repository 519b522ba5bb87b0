"""What a round of the sharded sampler sends to shards and gets back, and how long it takes.

    python benchmarks/rounds.py [--n 100000] [--blocks 8] [--rounds 20] [--warmup 20] [--seed 1]
                                [--engine pool:2] [--engine dask://host:port] [--tasks 4]

Bytes of arrays: to each shard the parameters alone (delta, m, rho, those of the prior with mu, and
t), not what follows from them; back from it, changes of sizes, statistics and leaving records.
With `--engine`, rounds are also made by tasks, `--tasks` a round, of threads and of an engine. What
a round costs beyond its tasks is what it takes less the seconds of these, shared by the workers
(cloudpickle is needed, which comes with Dask and PySpark).
"""

import argparse
import copy
import functools
import threading
import time

import numpy as np

from kolchin import Model, compare
from kolchin.engines import open_engine
from kolchin.records.loading import load
from kolchin.sampling.layout import RECORDS_A_BLOCK, lay_out
from kolchin.sampling.problem import pose_problem
from kolchin.sampling.proposals.candidates import find_candidate_pairs
from kolchin.sampling.proposals.observed_pairs import ObservedPairs
from kolchin.sampling.run.starts import make_start_labels
from kolchin.sampling.schedule import choose_schedule, learn_tuning
from kolchin.sampling.shards import executors
from kolchin.sampling.shards.executors import EngineExecutor, ThreadExecutor
from kolchin.sampling.shards.shared_problem import share_problem
from kolchin.sampling.state import start_state
from kolchin.simulation.people import simulate_people
from kolchin.workplace import open_workplace, work_here

FEWEST_BLOCKS = 4
NUMBER = 8
"""Bytes of a number by itself."""


def n_bytes(thing):
    """Count the bytes of all arrays and numbers in tuples, lists and dictionaries."""
    if thing is None:
        return 0
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    if isinstance(thing, dict):
        return sum(n_bytes(value) for value in thing.values())
    if isinstance(thing, tuple | list):
        return sum(n_bytes(value) for value in thing)
    return NUMBER


class Counts:
    """Bytes to and from each shard, by what they are."""

    def __init__(self):
        self.rows = []
        self._lock = threading.Lock()

    def watching(self, advance):
        """Return the same function, but count what goes in and out."""

        def wrapped(shard, given, problem, **others):
            back = advance(shard, given=given, problem=problem, **others)
            row = sent_bytes(given, problem.model) | back_bytes(back)
            with self._lock:
                self.rows.append(row)
            return back

        return wrapped

    def means(self):
        """Return the mean over shards and rounds of each kind."""
        return {name: np.mean([row[name] for row in self.rows]) for name in self.rows[0]}


def chances(model):
    """m and rho, or arrays of their size."""
    return tuple(model.likelihood.start().values())


def sent_bytes(given, model):
    prior = dict(given.auxiliaries.values)
    return {
        "to: delta, m, rho": n_bytes((given.evidence.delta, *chances(model))),
        "to: mu": sum(n_bytes(prior.pop(name, None)) for name in ("log_mu", "log_tail")),
        "to: other parameters of the prior, and t": n_bytes(prior) + NUMBER,
        "to: names of chain and round, two blocks": 4 * NUMBER,
        "not sent: ratios": n_bytes(tuple(given.evidence[1:])),
    }


def back_bytes(back):
    return {
        "back: changes of sizes": n_bytes(back.size_changes),
        "back: statistics of categorical fields": n_bytes(tuple(back.statistics.cells)),
        "back: statistics of compared fields": n_bytes(back.statistics.levels),
        "back: leaving records": n_bytes(back.leaving),
    }


class Rounds:
    """A chain that makes rounds when it is told to."""

    def __init__(self, n_records, n_blocks, seed):
        table = simulate_people(n_records, seed)
        records = load(table, id="rec_id", truth="ent_id").records
        model = Model(records, likelihood=compare(records))
        pairs, scores = find_candidate_pairs(model)
        even = float(np.log(n_records))
        layout = lay_out(n_records, pairs, scores, even, n_blocks)
        if layout.n_blocks == 1:
            raise SystemExit("Too many likely links lie between blocks: try fewer (--blocks).")
        pairs = layout.to_places(pairs)
        self.problem = pose_problem(model, layout)
        rng = np.random.Generator(np.random.SFC64(seed))
        source = self.problem.data.source
        labels = make_start_labels(rng, "blocks", n_records, pairs[scores > even], source)
        self.state = start_state(rng, self.problem, labels)
        self.observed = ObservedPairs(pairs)
        self.executor = ThreadExecutor(self.problem)

    def learn(self):
        """Learn which pairs to propose."""
        tuning = learn_tuning(self.problem, self.state, self.observed, self.executor)
        self.schedule = choose_schedule(self.problem, tuning, self.executor)

    def step(self, move):
        """Make a move."""
        self.state = move.step(self.state.rng, self.problem, self.state)

    def round(self, cores=1, dissolves=False):
        """Let all shards advance."""
        changes = {"executor": self.executor, "cores": cores, "dissolves": dissolves}
        self.step(self.schedule.on_pairs._replace(**changes))

    def warm_up(self, n_rounds):
        """Go where the chain is at home, and learn."""
        self.learn()
        for number in range(n_rounds):
            self.round(dissolves=4 * number < n_rounds)
            self.step(self.schedule.on_parameters)
            self.observed.observe(self.state.following, self.state.field_values["delta"])
        self.learn()


def timed(chain, n_rounds, cores):
    """Return the seconds of each round and the rings at the end; the chain stays where it was."""
    state = copy.deepcopy(chain.state)
    seconds = []
    for _ in range(n_rounds):
        began = time.perf_counter()
        chain.round(cores)
        moved = time.perf_counter()
        chain.step(chain.schedule.on_parameters)
        seconds.append((moved - began, time.perf_counter() - moved))
    rings = chain.state.following.copy()
    chain.state = state
    chain.executor.note_changes()
    return np.median(seconds, axis=0), rings


def shown(chain, n_rounds, name, cores, beyond=()):
    """Time rounds somewhere, print that, and return where they lead."""
    (moving, updating), rings = timed(chain, n_rounds, cores)
    more = f"{np.median(beyond):.4f}" if beyond else ""
    print(f"| {name} | {moving:.4f} | {updating:.4f} | {more} |", flush=True)
    return rings


def timed_call(task, item):
    """Return what a task returns, and how long it took where it was."""
    began = time.perf_counter()
    result = task(item)
    return result, time.perf_counter() - began


class Timed:
    """A task that is timed; it travels by value, as workers know nothing of this file."""

    def __init__(self, task):
        self.call = functools.partial(timed_call, task)

    def __call__(self, item):
        return self.call(item)

    def __reduce__(self):
        import cloudpickle

        return cloudpickle.loads, (cloudpickle.dumps(self.call),)


class Watched:
    """An engine whose calls are timed: how long all of it takes, beyond what its tasks do."""

    def __init__(self, engine):
        self.engine = engine
        self.beyond = []

    def run(self, task, items):
        began = time.perf_counter()
        found = self.engine.run(Timed(task), items)
        whole = time.perf_counter() - began
        at_once = min(self.engine.n_workers, len(items))
        self.beyond.append(whole - sum(seconds for _, seconds in found) / at_once)
        return [result for result, _ in found]


def in_tasks(chain, n_rounds, name, n_tasks, work):
    """Time rounds that are made by tasks, and return where they lead."""
    layout = chain.problem.layout
    share_problem(chain.problem.model, layout, work)
    threads, watched = chain.executor, Watched(work.engine)
    chain.executor = EngineExecutor(watched, work.store, layout, "chain")
    timed(chain, 2, n_tasks)  # workers start, and load their kernels
    watched.beyond.clear()
    rings = shown(chain, n_rounds, f"{name}, {n_tasks} tasks", n_tasks, watched.beyond)
    chain.executor = threads
    return rings


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=100_000, help="records")
    parser.add_argument("--blocks", type=int, help="as many as usual, and at least 4, by default")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=20, help="rounds before any is measured")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", action="append", default=[], help="as for kolchin resolve")
    parser.add_argument("--tasks", type=int, default=4, help="tasks a round on an engine")
    given = parser.parse_args()
    n_blocks = given.blocks or max(FEWEST_BLOCKS, round(given.n / RECORDS_A_BLOCK))
    chain = Rounds(given.n, n_blocks, given.seed)
    chain.warm_up(given.warmup)
    advance, counts = executors.advance_shard, Counts()
    executors.advance_shard = counts.watching(advance)
    timed(chain, given.rounds, 1)
    executors.advance_shard = advance
    print(
        f"{given.n:,} records in {chain.problem.layout.n_blocks} blocks, "
        f"{chain.state.n_clusters:,} clusters, "
        f"{chain.schedule.on_pairs.n_moves:,} moves a round\n"
    )
    print("| a shard of a round | bytes |\n|---|---:|")
    for name, mean in counts.means().items():
        print(f"| {name} | {mean:,.0f} |")
    print("\n| where | seconds moving | updating parameters | moving, beyond the tasks |")
    print("|---|---:|---:|---:|")
    rings = [shown(chain, given.rounds, f"threads: {cores}", cores) for cores in (1, 2)]
    if given.engine:
        rings.append(in_tasks(chain, given.rounds, "threads", given.tasks, work_here()))
    for name in given.engine:
        with open_engine(name) as engine, open_workplace(engine) as work:
            rings.append(in_tasks(chain, given.rounds, name, given.tasks, work))
    same = all(np.array_equal(rings[0], other) for other in rings)
    print(f"\nThe chains are {'the same' if same else 'NOT the same: that is a fault'}.")


if __name__ == "__main__":
    main()
