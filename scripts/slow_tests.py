"""Run all tests that take long, and write docs/slow-tests.md: what ran when, and what came out.

python scripts/slow_tests.py [PART ...]

Parts that are not named keep their rows. The exit code is 1 if anything failed.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "slow-tests.md"
ALL = ["-m", "slow or not slow"]
SLOW = ["-m", "slow"]


class Part(NamedTuple):
    """Tests that run together: what they are for, what pytest is told, and what they need."""

    what: str
    words: list[str]
    needs: str = ""


PARTS = {
    "exact": Part("against the enumeration of all partitions", [*SLOW, "tests/exact"]),
    "statistical": Part(
        "Geweke's joint test, simulation-based calibration, extremes", [*ALL, "tests/statistical"]
    ),
    "paper": Part("the paper's experiments, the authors' own draw", [*SLOW, "tests/paper"]),
    "browser": Part(
        "report and review in Chromium", [*ALL, "tests/report/test_browser.py", "tests/review"]
    ),
    "spark": Part("Spark and Spark Connect", [*ALL, "tests/engines/test_spark.py"], "java"),
    "databases": Part("SQLite, PostgreSQL", [*ALL, "tests/databases"]),
    "other": Part(
        "killed runs, tables of every shape, wheel and sdist, pages against their commands",
        [
            *SLOW,
            "tests",
            *("--ignore=tests/exact", "--ignore=tests/statistical", "--ignore=tests/paper"),
            *("--ignore=tests/engines/test_spark.py", "--ignore=tests/databases"),
        ],
    ),
    "fuzz": Part("strange files and frames, through to the report", ["scripts/fuzz.py", "1000"]),
}
HEAD = """# Slow tests

Tests that take too long for every change: `bash scripts/test-slow` runs them all and writes this
page, `bash scripts/test-slow exact spark` some of them. A part that something is missing for (Java
for Spark) says so.
"""
COLUMNS = "| part | what | passed | failed | skipped | time | date | commit |"
RULE = "|---|---|---:|---:|---:|---:|---|---|"


class Outcome(NamedTuple):
    """How many tests passed, failed and were skipped; None where nothing was run."""

    passed: int
    failed: int
    skipped: int
    seconds: float


def run(name: str, part: Part) -> Outcome | None:
    """Run a part, if what it needs is there."""
    if part.needs and shutil.which(part.needs) is None:
        print(f"{name}: not run, since there is no {part.needs}")
        return None
    print(f"{name}: {part.what}", flush=True)
    began = time.monotonic()
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    if part.words[0].endswith(".py"):
        done = subprocess.run([sys.executable, *part.words], cwd=ROOT, env=environment)
        failed = int(done.returncode != 0)
        return Outcome(1 - failed, failed, 0, time.monotonic() - began)
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        words = ["-m", "pytest", "-q", f"--junitxml={report}", *part.words]
        subprocess.run([sys.executable, *words], cwd=ROOT, env=environment)
        return counted(report, time.monotonic() - began)


def counted(report: Path, seconds: float) -> Outcome:
    """Read what pytest wrote; a run that wrote nothing has failed."""
    if not report.exists():
        return Outcome(0, 1, 0, seconds)
    suite = next(ElementTree.parse(report).iter("testsuite"))
    number = {key: int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped")}
    failed = number["failures"] + number["errors"]
    return Outcome(number["tests"] - failed - number["skipped"], failed, number["skipped"], seconds)


def commit() -> str:
    """Return the commit, and a plus where files have changed since."""
    words = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() or "no git"


def row(name: str, outcome: Outcome | None, when: str, version: str) -> str:
    """Write a line of the table."""
    if outcome is None:
        return f"| {name} | {PARTS[name].what} | not run: no {PARTS[name].needs} | | | | {when} | |"
    minutes, seconds = divmod(round(outcome.seconds), 60)
    numbers = f"{outcome.passed} | {outcome.failed} | {outcome.skipped}"
    lasted = f"{minutes} min {seconds} s"
    return f"| {name} | {PARTS[name].what} | {numbers} | {lasted} | {when} | {version} |"


def page(rows: dict[str, str]) -> str:
    """Return the page with the rows that are known, in the order of the parts."""
    lines = [rows[name] for name in PARTS if name in rows]
    missing = [name for name in PARTS if name not in rows]
    about = f"Last on Python {platform.python_version()}, {os.cpu_count()} cores."
    never = f" Never run: {', '.join(missing)}." if missing else ""
    return "\n".join([HEAD, COLUMNS, RULE, *lines, "", about + never, ""])


def known_rows() -> dict[str, str]:
    """Return the rows that the page has."""
    text = PAGE.read_text() if PAGE.exists() else ""
    found = {line.split("|")[1].strip(): line for line in re.findall(r"^\| .+ \|$", text, re.M)}
    return {name: line for name, line in found.items() if name in PARTS}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    asked = parser.parse_args()
    strange = [name for name in asked.parts if name not in PARTS]
    if strange:
        parser.error(f"there is no part {', '.join(strange)}; there are {', '.join(PARTS)}")
    version, when = commit(), f"{datetime.now(UTC):%Y-%m-%d}"
    began, failed = time.monotonic(), []
    for name in asked.parts or PARTS:
        outcome = run(name, PARTS[name])
        PAGE.write_text(page({**known_rows(), name: row(name, outcome, when, version)}))
        if outcome is not None and outcome.failed:
            failed.append(name)
    print(f"All in {(time.monotonic() - began) / 60:.0f} min; {PAGE.relative_to(ROOT)} is written.")
    if failed:
        print(f"Failed: {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
