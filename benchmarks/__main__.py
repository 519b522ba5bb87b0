"""Make the benchmark pages anew: all of them, or some.

    python benchmarks all [NAME ...] [--list] [--again] [--data ../data] [--splink PYTHON]
    python benchmarks age

`all` runs what `plan.py` lists, one after another, and writes what came out into the pages, with
commit, date and command. It takes hours; whatever is done at this commit is not done again, so the
same command goes on after a stop. `--list` says what there is to do and how long it takes. `age`
runs nothing: it marks on the pages which numbers are older than the engine.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from plan import PARTS, ROOT, Part
from stamping import commit, put, stamp, today, with_ages

KEPT = ROOT / "build" / "benchmarks"
USUAL_DATA = ROOT / ".." / "data"


class State:
    """What was done at which commit, in a file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.done = json.loads(file.read_text()) if file.exists() else {}

    def has(self, part: Part, at: str) -> bool:
        """Tell whether a part was measured at a commit."""
        return self.done.get(part.name, {}).get("commit") == at

    def add(self, part: Part, at: str, seconds: float) -> None:
        """Keep that a part was measured."""
        self.done[part.name] = {"commit": at, "date": today(), "seconds": round(seconds)}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(self.done, indent=1))


def missing(part: Part, asked: argparse.Namespace) -> str:
    """Return why a part cannot be run, or nothing."""
    if not (ROOT / "benchmarks" / part.words[0]).exists():
        return f"there is no benchmarks/{part.words[0]}"
    if "data" in part.needs and not asked.data.is_dir():
        return f"there is no folder {asked.data} (--data)"
    return ""


def arguments(part: Part, asked: argparse.Namespace, at: str) -> Iterator[str]:
    """Yield the words of a part's command."""
    yield from (str(ROOT / "benchmarks" / part.words[0]), *part.words[1:])
    if "data" in part.needs:
        yield from ("--data", str(asked.data))
    if "splink" in part.needs and (asked.splink or part.name == "scale"):
        yield "--splink"
        yield from [asked.splink] if asked.splink else []
    if part.keeps:
        yield from ("--json", str(KEPT / at.split()[0] / f"{part.name}.json"))
    if part.writes_page:
        yield from ("--out", "docs")


def run(part: Part, asked: argparse.Namespace, at: str) -> tuple[bool, float]:
    """Run a part, keep what it prints, and write its page."""
    output = KEPT / f"{part.name}.txt"
    (KEPT / at.split()[0]).mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    began = time.monotonic()
    with output.open("w") as file:
        words = [sys.executable, *arguments(part, asked, at)]
        done = subprocess.run(words, cwd=ROOT, env=environment, stdout=file)
    seconds = time.monotonic() - began
    if done.returncode == 0 and not part.by_hand:
        printed = None if part.writes_page else output.read_text()
        text = part.file.read_text()
        part.file.write_text(put(text, part.name, stamp(at, seconds), printed))
    return done.returncode == 0, seconds


def told(part: Part, asked: argparse.Namespace, state: State, at: str) -> str:
    """Describe a part in a line."""
    last = state.done.get(part.name)
    when = f"done {last['date']} at {last['commit']}" if last else "never done here"
    why = missing(part, asked)
    status = why or ("done" if state.has(part, at) else when)
    return f"{part.name:12} {part.minutes:4} min  {part.page:20} {status}\n    {part.command}"


def run_all(parts: list[Part], asked: argparse.Namespace) -> int:
    """Run what is not done yet; what fails is told, and the rest goes on."""
    at, state, failed = commit(), State(KEPT / "done.json"), []
    todo = [part for part in parts if asked.again or not state.has(part, at)]
    if asked.list:
        print("\n".join(told(part, asked, state, at) for part in parts))
        print(
            f"To do at {at}: {len(todo)}, about {sum(p.minutes for p in todo)} min on idle cores."
        )
        return 0
    if asked.again:
        shutil.rmtree(KEPT / at.split()[0], ignore_errors=True)
    for part in todo:
        why = missing(part, asked)
        if why:
            print(f"{part.name}: left out, {why}", flush=True)
            continue
        print(f"{part.name}: about {part.minutes} min. {part.command}", flush=True)
        well, seconds = run(part, asked, at)
        print(f"{part.name}: {'done' if well else 'FAILED'} in {seconds / 60:.0f} min", flush=True)
        if not well:
            failed.append(part.name)
            continue
        state.add(part, at, seconds)
        if part.by_hand:
            print(f"    Bring docs/{part.page} along: {KEPT / part.name}.txt", flush=True)
    write_ages()
    if failed:
        print(f"Failed: {', '.join(failed)}")
    return int(bool(failed))


def write_ages() -> None:
    """Mark what is older than the engine."""
    for file in sorted((ROOT / "docs").rglob("*.md")):
        text = file.read_text()
        new = with_ages(text)
        if new != text:
            file.write_text(new)
            print(f"Wrote {file.relative_to(ROOT)}")


def main(given: list[str] | None = None) -> int:
    """Do what is asked for."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["all", "age"])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(p.name for p in PARTS))
    parser.add_argument("--list", action="store_true", help="say what there is to do, run nothing")
    parser.add_argument("--again", action="store_true", help="also what was done at this commit")
    parser.add_argument("--data", type=Path, default=USUAL_DATA, help="development tables")
    parser.add_argument("--splink", metavar="PYTHON", help="a Python that has Splink 5")
    asked = parser.parse_args(given)
    strange = set(asked.names) - {part.name for part in PARTS}
    if strange:
        parser.error(f"there is no {', '.join(sorted(strange))}")
    if asked.what == "age":
        write_ages()
        return 0
    return run_all([part for part in PARTS if not asked.names or part.name in asked.names], asked)


if __name__ == "__main__":
    sys.exit(main())
