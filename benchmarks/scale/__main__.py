"""Time, memory and accuracy of whole runs as tables grow, beside Splink where asked for.

    python benchmarks/scale [--sizes 10000,100000,1000000] [--splink] [--out docs] [--json FILE]

Simulated people, resolved with defaults in fresh processes. Numbers are kept in the JSON file
(build/scale.json) after each part, so that a killed run goes on with what is missing. With
`--out`, writes scale.md, figures/scale-time.* and figures/scale-memory.* into the folder.
"""

import argparse
import shlex
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from accuracy.peer import environment

from scale import parts
from scale.keeping import Kept, machine, versions
from scale.page import tables, write_page


def _arguments(given: list[str] | None) -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sizes = [10_000, 100_000, 1_000_000]
    parser.add_argument("--sizes", type=_sizes, default=sizes, help="numbers of records")
    parser.add_argument(
        "--splink", nargs="?", const="", metavar="PYTHON", help="run Splink 5 too, of this Python"
    )
    parser.add_argument("--time-limit", help="of sampling, as for kolchin resolve; its default")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="folder for scale.md and its figures")
    parser.add_argument("--json", type=Path, default=Path("build/scale.json"), help="all numbers")
    return parser.parse_args(given)


def _sizes(text: str) -> list[int]:
    return [int(size) for size in text.split(",")]


def measure(kept: Kept, sizes: list[int], python: str | None, seed: int, limit: str | None) -> None:
    """Do all parts that are missing, one after the other."""
    folder = kept.file.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    todo = dict(_parts(folder, sizes, python, seed, limit))
    if set(todo) <= set(kept.parts):
        return
    parts.warm_up(folder, seed)
    for name, (n_records, work) in todo.items():
        file = folder / f"people-{n_records}.csv"
        if name not in kept.parts and not name.startswith("simulate") and not file.exists():
            parts.simulate(file, n_records, seed)
        part = kept.part(name, work)
        words = part.get("error") or f"{part['seconds']:,.0f} s, {part['peak_mb']:,.0f} MB"
        print(f"{name}: {words}", file=sys.stderr, flush=True)


def _parts(folder, sizes, python, seed, limit):
    """List the parts: a name, the number of records, and what to do; small ones come first."""
    out = folder / "run"
    for n in sizes:
        file = folder / f"people-{n}.csv"
        yield f"simulate {n}", (n, partial(parts.simulate, file, n, seed))
        yield f"kolchin {n}", (n, partial(parts.resolve, file, out, seed, limit))
        for each, specification in parts.SPLINK.items() if python is not None else ():
            work = partial(parts.splink, file, python, specification, seed)
            yield f"splink {each} {n}", (n, work)
    n = sizes[:2][-1]
    for cores in (1, 2):
        file = folder / f"people-{n}.csv"
        yield f"cores {cores} {n}", (n, partial(parts.on_cores, file, out, seed, cores))


def _command(given: argparse.Namespace) -> str:
    """Return the command in the form in which anybody may run it."""
    words = ["--sizes", ",".join(map(str, given.sizes))]
    words += [] if given.splink is None else ["--splink"]
    words += [] if given.time_limit is None else ["--time-limit", given.time_limit]
    seeded = ["--seed", str(given.seed), "--out", given.out.name]
    return shlex.join(["python", "benchmarks/scale", *words, *seeded])


def main(arguments: list[str] | None = None) -> None:
    """Measure, and write the page."""
    given = _arguments(arguments)
    python = None if given.splink is None else environment(given.splink or None)
    asked = {"seed": given.seed, "time_limit": given.time_limit}
    kept = Kept(given.json, {**asked, "machine": machine(), "versions": versions()})
    measure(kept, given.sizes, python, given.seed, given.time_limit)
    print("\n".join(tables(kept.parts)))
    if given.out is not None:
        page = write_page(kept.parts, kept.common, _command(given), given.out)
        print(f"Written to {page}", file=sys.stderr)


if __name__ == "__main__":
    main()
