"""Do the intervals of an audit hold what is true? Many audits of simulated tables of people.

    python benchmarks/audits.py [--records 600] [--tables 4] [--audits 25] [--number 100]

Each table is resolved, and its list is audited again and again: another random sample each time,
answered as the truth has it. Counted is how often the 90% intervals of precision and recall hold
the list's own.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kolchin as kp
from kolchin.resolution.reviewing import make_content
from kolchin.review.answers_file import DIFFERENT, SAME, Answer
from kolchin.review.audit import draw_sample, estimate_audit
from kolchin.review.queues import AUDIT
from kolchin.simulation.people import simulate_people

MEASURES = ("precision", "recall")


def main() -> None:
    """Audit each table many times; print how often the intervals hold the truth."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--records", type=int, default=600)
    parser.add_argument("--tables", type=int, default=4)
    parser.add_argument("--audits", type=int, default=25)
    parser.add_argument("--number", type=int, default=100)
    asked = parser.parse_args()
    held = dict.fromkeys(MEASURES, 0)
    for seed in range(1, asked.tables + 1):
        for found, true in audits(seed, asked):
            for name in MEASURES:
                held[name] += found[name]["low"] <= true[name] <= found[name]["high"]
        print(f"after table {seed}: {held} of {seed * asked.audits}", flush=True)


def audits(seed: int, asked: argparse.Namespace) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield what each audit of a table found, and what is true."""
    table = simulate_people(asked.records, seed=seed, twins=0.15, typos=0.08)
    with tempfile.TemporaryDirectory() as folder:
        result = kp.resolve(
            table,
            id="rec_id",
            truth="ent_id",
            chains=2,
            draws=60,
            seed=seed,
            out=Path(folder) / "run",
            progress=False,
        )
        content = make_content(result)
        true = result.evaluate()["point_estimate"]
        names = [str(one) for one in table["rec_id"].to_list()]
        entity = dict(zip(names, table["ent_id"].to_list(), strict=True))
        for number in range(asked.audits):
            kept = draw_sample(content, asked.number, 1000 * seed + number)
            found = estimate_audit(kept, list(answered(kept, entity)))
            assert found is not None
            yield found, true


def answered(kept: dict[str, Any], entity: dict[str, int]) -> Iterator[Answer]:
    """Answer all pairs of a sample as the truth has it."""
    for stratum in kept["strata"]:
        for a, b in stratum["pairs"]:
            said = SAME if entity[a] == entity[b] else DIFFERENT
            yield Answer(a, b, said, "truth", "", AUDIT)


if __name__ == "__main__":
    main()
