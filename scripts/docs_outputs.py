"""Run what README, tutorial, how-to pages and the gallery show, and write what it prints.

A comment on the line before a fence says what becomes of it:

    <!-- run -->             it is run: sh in bash, python as in a notebook
    <!-- run: long -->       the same; --fast leaves it out, and all that follows in its folder
    <!-- run: varies -->     what it prints depends on the machine: written, but not compared
    <!-- run: needs FILE --> only where --data has that file, which is copied into the folder
    <!-- file: NAME -->      it is saved as a file for the commands that follow
    <!-- shown: REASON -->   it is not run
    <!-- output -->          it has what the fence that was run last printed; cut by
                             'first N', 'last N', 'from TEXT' and 'without TEXT', parted by '; '

Elsewhere, <!-- in: NAME --> says in which temporary folder the commands of a page run (pages may
share one, and then run in the order of PAGES), and <!-- holds: EXPRESSION --> what the sentences
around it rely on: a Python expression about `output`, what was printed last, and `summary(DIR)`.
Times are left out of what is written, since they are never the same twice.
"""

import argparse
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    *(ROOT / "README.md", ROOT / "docs" / "tutorial.md"),
    *sorted(ROOT.glob("docs/how-to/*.md")),
    *sorted(ROOT.glob("docs/gallery/*.md")),
]
MARK = re.compile(
    r"^<!-- (?P<kind>run|file|shown|output|in|holds)(?:: (?P<rest>.*?))? -->\n"
    r"(?:```(?P<language>\w*)\n(?P<body>.*?)^```$)?",
    re.M | re.S,
)
FENCED = ("run", "file", "shown", "output")
TIME = re.compile(r"(?<=, )(?:\d+ h )?(?:\d+ min )?\d+(?:\.\d+)? (?:s|min)\b(?=[.,])")
INSTALLING = re.compile(r"\bpip install\b|-m venv\b|\bactivate$")


@dataclass
class Step:
    """One mark of a page, and the fence below it."""

    kind: str
    rest: str
    language: str
    body: str
    start: int
    line: int

    def has(self, word: str) -> bool:
        """Tell whether a word is among what the mark says."""
        return any(part.split(" ")[0] == word for part in self.rest.split(", "))


@dataclass
class Folder:
    """Where commands that belong together run, and what became of them so far."""

    path: Path
    cut: str = ""  # why the rest is left out
    output: str = ""
    session: Any = None


def steps_of(text: str) -> list[Step]:
    """Return the marks of a page in order."""
    found = []
    for match in MARK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        body = match["body"]
        if (body is not None) != (match["kind"] in FENCED):
            raise SystemExit(f"line {line}: '{match[0].splitlines()[0]}' is not where it belongs")
        start = match.start("body") if body is not None else match.end()
        rest = match["rest"] or ""
        found.append(Step(match["kind"], rest, match["language"] or "", body or "", start, line))
    return found


def unmarked(text: str) -> list[str]:
    """Return the commands and the Python of a page that no mark speaks of."""
    marked = {step.start for step in steps_of(text)}
    fences = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    code = [match for match in fences if match[1] in ("sh", "bash", "console", "python")]
    return [match[2] for match in code if match.start(2) not in marked]


def folder_name(page: Path, text: str) -> str:
    """Return the name of the folder in which a page's commands run."""
    named = [step.rest for step in steps_of(text) if step.kind == "in"]
    return named[0] if named else page.stem


def without_installing(command: str) -> str:
    """Leave out what installs: it is this checkout that runs."""
    lines = []
    for line in command.replace("\\\n", " ").splitlines():
        parts = [part for part in line.split(" && ") if not INSTALLING.search(part)]
        lines.append(" && ".join(parts).replace(".venv/bin/", ""))
    return "\n".join(lines)


def environment(commands: Path) -> dict[str, str]:
    """Return an environment in which `kolchin` is that of this checkout, at 80 columns."""
    commands.mkdir(exist_ok=True)
    for name, words in {"kolchin": "-m kolchin", "python": ""}.items():
        (commands / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        (commands / name).chmod(0o755)
    path = os.pathsep.join([str(commands), os.environ["PATH"]])
    here = {"PATH": path, "PYTHONPATH": str(ROOT / "src"), "PYTHONWARNINGS": "ignore"}
    return {**os.environ, **here, "COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"}


class Run:
    """All folders of one run, the environment of its commands, and what went wrong."""

    def __init__(self, scratch: Path, fast: bool, data: Path | None) -> None:
        self.scratch, self.fast, self.data = scratch, fast, data
        self.environment = environment(scratch / "commands")
        self.folders: dict[str, Folder] = {}
        self.left_out: list[str] = []
        self.broken: list[str] = []

    def folder(self, name: str) -> Folder:
        """Return a folder, made when it is first asked for."""
        if name not in self.folders:
            path = self.scratch / name
            path.mkdir()
            self.folders[name] = Folder(path)
        return self.folders[name]

    def page(self, page: Path) -> str:
        """Run a page's commands, and return the page with what they printed."""
        text = page.read_text()
        folder = self.folder(folder_name(page, text))
        self.close(folder)
        pieces, end = [], 0
        for step in steps_of(text):
            where = f"{page.relative_to(ROOT)}:{step.line}"
            new = self.step(step, folder, where)
            if new is not None:
                pieces += [text[end : step.start], new]
                end = step.start + len(step.body)
        return "".join(pieces) + text[end:]

    def step(self, step: Step, folder: Folder, where: str) -> str | None:
        """Do what a mark says; return what its fence should have, if that changes."""
        if step.kind == "run" and not folder.cut:
            folder.cut = self.why_not(step, folder)
            if folder.cut:
                self.left_out.append(
                    f"{where} and what follows in {folder.path.name}: {folder.cut}"
                )
        if folder.cut or step.kind in ("in", "shown"):
            return None
        if step.kind == "file":
            (folder.path / step.rest).write_text(step.body)
        elif step.kind == "run":
            folder.output = self.execute(step, folder, where)
        elif step.kind == "output":
            return cut(folder.output, step.rest, where)
        elif not holds(step.rest, folder):
            self.broken.append(f"{where}: this no longer holds: {step.rest}")
        return None

    def why_not(self, step: Step, folder: Folder) -> str:
        """Return why a command is not run now, or nothing."""
        if self.fast and step.has("long"):
            return "it takes long"
        for name in re.findall(r"needs (\S+?)(?:,|$)", step.rest):
            if self.data is None or not (self.data / name).exists():
                return f"--data has no {name}"
            shutil.copy(self.data / name, folder.path)
        return ""

    def execute(self, step: Step, folder: Folder, where: str) -> str:
        """Run a fence and return what it printed, without times and paths."""
        began = time.monotonic()
        if step.language == "python":
            output, well = self.ask(folder, step.body)
        else:
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", without_installing(step.body)],
                cwd=folder.path,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            output, well = done.stdout, done.returncode == 0
        if not well:
            raise SystemExit(f"{where} failed:\n{step.body}\n{output}")
        print(f"{where} {time.monotonic() - began:.0f} s", file=sys.stderr)
        return TIME.sub("… s", output.replace(f"{folder.path}/", ""))

    def ask(self, folder: Folder, code: str) -> tuple[str, bool]:
        """Run Python in the page's own session."""
        if folder.session is None:
            folder.session = subprocess.Popen(
                [sys.executable, str(ROOT / "scripts" / "docs_session.py")],
                cwd=folder.path,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        folder.session.stdin.write(json.dumps(code) + "\n")
        folder.session.stdin.flush()
        answer = json.loads(folder.session.stdout.readline())
        return answer["output"], answer["well"]

    def close(self, folder: Folder) -> None:
        """End a page's Python."""
        if folder.session is not None:
            folder.session.communicate()
            folder.session = None


def cut(printed: str, how: str, where: str) -> str:
    """Return the lines that a page shows, with '...' where some are left out."""
    lines: list[str | None] = [line.rstrip() for line in printed.splitlines()]
    for word, _, rest in (part.partition(" ") for part in how.split("; ") if part):
        if word == "without":
            lines = [None if line is not None and rest in line else line for line in lines]
            continue
        if word == "first":
            kept = range(int(rest))
        elif word == "last":
            kept = range(len(lines) - int(rest), len(lines))
        elif word == "from" and any(line and rest in line for line in lines):
            first = next(k for k, line in enumerate(lines) if line and rest in line)
            kept = range(first, len(lines))
        else:
            raise SystemExit(f"{where}: '{word} {rest}' finds nothing in\n{printed}")
        lines = [line if k in kept else None for k, line in enumerate(lines)]
    return "".join(f"{line}\n" for line in told(lines))


def told(lines: list[str | None]) -> Iterator[str]:
    """Write '...' once for lines beside each other that are left out."""
    for k, line in enumerate(lines):
        if line is not None:
            yield line
        elif k == 0 or lines[k - 1] is not None:
            yield "..."


def holds(expression: str, folder: Folder) -> bool:
    """Tell whether what a page's sentences rely on is so."""

    def summary(run: str) -> Any:
        return json.loads((folder.path / run / "summary.json").read_text())

    return bool(eval(expression, {"output": folder.output, "summary": summary}))


def needed(pages: list[Path]) -> list[Path]:
    """Return pages with those that run before them in the same folder, in order."""
    names = {page: folder_name(page, page.read_text()) for page in PAGES}
    last = {names[page]: PAGES.index(page) for page in sorted(pages, key=PAGES.index)}
    return [page for page in PAGES if PAGES.index(page) <= last.get(names[page], -1)]


def comparable(text: str) -> str:
    """Return a page without outputs that depend on the machine."""
    pieces, end, varies = [], 0, False
    for step in steps_of(text):
        if step.kind == "run":
            varies = step.has("varies")
        elif step.kind == "output" and varies:
            pieces.append(text[end : step.start])
            end = step.start + len(step.body)
    return "".join(pieces) + text[end:]


def refresh(chosen: list[Path], run: Run, check: bool) -> int:
    """Run pages and write them, or say how they differ; return how many do."""
    stale = 0
    for page in needed(chosen):
        old, new = page.read_text(), run.page(page)
        same = comparable(old) == comparable(new) if check else old == new
        if page not in chosen or same:
            continue
        stale += 1
        if check:
            lines = comparable(old).splitlines(), comparable(new).splitlines()
            names = str(page.relative_to(ROOT)), "what the commands print now"
            print("\n".join(difflib.unified_diff(*lines, *names, lineterm="")))
        else:
            page.write_text(new)
            print(f"Wrote {page.relative_to(ROOT)}")
    for folder in run.folders.values():
        run.close(folder)
    return stale


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pages", nargs="*", type=Path, help="all of them by default")
    parser.add_argument("--check", action="store_true", help="write nothing; fail on differences")
    parser.add_argument("--fast", action="store_true", help="leave out what takes long")
    parser.add_argument("--data", type=Path, help="a folder with public tables (abt_buy.csv)")
    asked = parser.parse_args()
    chosen = [page.resolve() for page in asked.pages] or PAGES
    strange = [str(page) for page in chosen if page not in PAGES]
    if strange:
        raise SystemExit(f"These pages have no commands to run: {', '.join(strange)}")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        run = Run(Path(scratch), asked.fast, asked.data)
        stale = refresh(chosen, run, asked.check)
    for line in run.left_out:
        print(f"Left out: {line}", file=sys.stderr)
    for line in run.broken:
        print(f"BROKEN: {line}: rewrite the sentences around it", file=sys.stderr)
    print(f"{stale} pages differ; {time.monotonic() - began:.0f} s.", file=sys.stderr)
    return int((asked.check and stale > 0) or bool(run.broken))


if __name__ == "__main__":
    sys.exit(main())
