"""What a few answers mend: people with twins, whom no field can tell apart, before and after.

    python benchmarks/answers.py [--records 800] [--answers 30] [--tables 5] [--limit 12]

Each table is resolved, the review's own first questions are answered as the truth has it (now and
then wrongly), and the run is conditioned on them from where its chains are.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import kolchin as kp
from kolchin.resolution.reviewing import make_content
from kolchin.review.desk import ReviewDesk
from kolchin.review.queues import GROUPS, PAIRS, make_group_questions, make_pair_questions
from kolchin.simulation.people import simulate_people

TWINS = {"twins": 0.15, "households": 0.3}
"""Shares of persons who are twins, and who live in families."""

ERROR = 0.02
"""How often an answer is wrong."""


class Measures(NamedTuple):
    """How good a list is, and how honest its probabilities are."""

    f1: float
    n_entities: float
    low: float
    high: float
    truth: int
    expected: float
    true_links: int
    open_pairs: int
    seconds: float

    @property
    def covers(self) -> bool:
        """Whether the 90% interval holds the true number of entities."""
        return self.low <= self.truth <= self.high


def main() -> None:
    """Resolve, answer, condition; print a line for each table, and the means."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--records", type=int, default=800)
    parser.add_argument("--answers", type=int, default=30)
    parser.add_argument("--tables", type=int, default=5)
    parser.add_argument("--limit", type=float, default=12.0)
    asked = parser.parse_args()
    found = [trial(seed, asked) for seed in range(1, asked.tables + 1)]
    for name, moment in (("before", 0), ("after", 1)):
        own = [one[moment] for one in found]
        print(
            f"{name}: F1 {np.mean([one.f1 for one in own]):.3f}, interval covers "
            f"{sum(one.covers for one in own)} of {len(own)}, K off by "
            f"{np.mean([abs(one.n_entities - one.truth) for one in own]):.1f} on average, "
            f"links of open pairs: {sum(one.expected for one in own):.0f} believed, "
            f"{sum(one.true_links for one in own)} true, of {sum(one.open_pairs for one in own)}"
        )


def trial(seed: int, asked: argparse.Namespace) -> tuple[Measures, Measures]:
    """Return the measures of one table before and after its answers."""
    table = simulate_people(asked.records, seed=seed, **TWINS)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        began = time.monotonic()
        result = kp.resolve(
            table,
            id="rec_id",
            truth="ent_id",
            seed=seed,
            time_limit=asked.limit,
            out=out,
            progress=False,
        )
        before = measured(result, table, time.monotonic() - began)
        answer(result, table, asked.answers, seed)
        began = time.monotonic()
        after = measured(
            kp.resume(out, time_limit=asked.limit, progress=False), table, time.monotonic() - began
        )
    for name, one in (("before", before), ("after", after)):
        print(
            f"table {seed}, {name}: F1 {one.f1:.3f}, K {one.n_entities:.1f} ({one.low:.0f} to "
            f"{one.high:.0f}) of {one.truth}, {one.open_pairs} open pairs, {one.expected:.1f} "
            f"links believed, {one.true_links} true, {one.seconds:.1f} s",
            flush=True,
        )
    return before, after


def measured(result: kp.Result, table: pl.DataFrame, seconds: float) -> Measures:
    """Measure a result against the truth."""
    measures: dict[str, Any] = result.evaluate()
    found = result.summary()["n_entities"]
    links = result.links.filter(pl.col("probability").is_between(0.01, 0.99))
    entity = dict(zip(table["rec_id"].to_list(), table["ent_id"].to_list(), strict=True))
    true = [entity[a] == entity[b] for a, b in links.select("record_a", "record_b").iter_rows()]
    return Measures(
        measures["point_estimate"]["f1"],
        found["mean"],
        found["q05"],
        found["q95"],
        table["ent_id"].n_unique(),
        float(links["probability"].sum()),
        sum(true),
        links.height,
        seconds,
    )


def answer(result: kp.Result, table: pl.DataFrame, number: int, seed: int) -> None:
    """Answer the first questions of a review, those first that change most."""
    content = make_content(result)
    queues = {PAIRS: make_pair_questions(content), GROUPS: make_group_questions(content)}
    desk = ReviewDesk(content, queues, "truth")
    rng = np.random.default_rng(seed)
    truth = table["ent_id"].to_numpy()
    order = [(queue, k, one) for queue, asked in queues.items() for k, one in enumerate(asked)]
    # Those on which many others hang come first on the page, then what changes most.
    order.sort(key=lambda item: (not item[2].why, -item[2].records))
    for queue, k, question in order[:number]:
        entities = truth[list(question.rows)]
        usual = np.bincount(entities).argmax()
        out = [row for row, own in zip(question.rows, entities, strict=True) if own != usual]
        same = (not out) != (rng.random() < ERROR)
        marked = out or list(question.rows[-1:])
        desk.answer(queue, k, "same" if same else "different", [] if same else marked)


if __name__ == "__main__":
    main()
