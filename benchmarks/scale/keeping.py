"""Numbers of each part, kept in a JSON file, so that a killed run goes on with what is missing."""

import datetime
import json
import os
import platform
import subprocess
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LIBRARIES = ("numpy", "numba", "polars")


class Kept:
    """Parts by name, and what they have in common; a part that is there is not done again.

    A part that failed has an `error` and is there as well: take it out of the file to try again.
    """

    def __init__(self, file: Path, common: dict[str, Any]) -> None:
        self.file = file
        self.parts: dict[str, dict[str, Any]] = {}
        if file.exists():
            known = json.loads(file.read_text(encoding="utf-8"))
            if known["common"] != common:
                raise SystemExit(
                    f"{file} is of a run with {known['common']}, and this one has {common}. "
                    "Name another file with --json, or remove it."
                )
            self.parts = known["parts"]
        self.common = common

    def part(self, name: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return a part; do it and keep it where it is missing."""
        if name not in self.parts:
            self.parts[name] = {**work(), "date": today(), "commit": commit()}
            self._write()
        return self.parts[name]

    def _write(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        new = self.file.with_suffix(".part")
        whole = {"common": self.common, "parts": self.parts}
        new.write_text(json.dumps(whole, indent=1), encoding="utf-8")
        new.replace(self.file)


def today() -> str:
    """Return the date."""
    return datetime.datetime.now(tz=datetime.UTC).date().isoformat()


def commit() -> str | None:
    """Name the state of the sources, where they are under version control."""
    try:
        name = _git("log", "-1", "--format=%h")
        changed = _git("status", "--porcelain", "--", "src", "benchmarks")
    except (OSError, subprocess.CalledProcessError):
        return None
    return f"{name}, changed" if changed else name


def _git(*words: str) -> str:
    asked = ["git", "-C", str(ROOT), *words]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def machine() -> dict[str, Any]:
    """Return how many cores and how much memory there are."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"cores": os.cpu_count(), "memory_gb": round(memory)}


def versions() -> dict[str, str]:
    """Return the versions of Python and of what most of the work is done by."""
    return {"Python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}
