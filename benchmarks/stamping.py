"""Which commit and date a number is of, beside it on its page, and whether the engine is newer.

A block of a page, from `<!-- measured: NAME -->` to `<!-- end of NAME -->`, begins with a line that
says when and at which commit; below it stands what the command printed, unless the command writes
the whole page.
"""

import datetime
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENGINE = [f"src/kolchin/{room}" for room in ("kernels", "sampling", "likelihoods", "priors")]
BLOCK = re.compile(
    r"<!-- measured: (?P<name>[\w-]+) -->\n(?P<body>.*?)<!-- end of (?P=name) -->", re.S
)
STAMP = re.compile(
    r"^Measured (?P<date>\d{4}-\d\d-\d\d) at commit (?P<commit>[0-9a-f]{7,12})", re.M
)
OLD = " **Older than the engine:** kernels, sampling, likelihoods or priors have changed since."


def git(*words: str) -> str:
    """Return what git says, or nothing."""
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def commit() -> str:
    """Name the state of the sources; the commit of this checkout, and whether it was changed."""
    name = git("log", "-1", "--format=%h", "--abbrev=7")
    changed = git("status", "--porcelain", "--", "src", "benchmarks")
    return f"{name} (and changes)" if changed else name


def today() -> str:
    """Return the date."""
    return datetime.datetime.now(tz=datetime.UTC).date().isoformat()


def stamp(at: str, seconds: float) -> str:
    """Write the line that says when something was measured."""
    return f"Measured {today()} at commit {at}, in {max(round(seconds / 60), 1)} min."


def blocks(text: str) -> dict[str, str]:
    """Return the blocks of a page by name."""
    return {match["name"]: match["body"] for match in BLOCK.finditer(text)}


def put(text: str, name: str, line: str, printed: str | None) -> str:
    """Return a page with a new block: the line, and what was printed, tables as they are.

    A page that was written anew by its command has no block: it gets one below its first fence.
    """
    shown = "" if printed is None else f"{as_markdown(printed)}\n\n"
    new = f"<!-- measured: {name} -->\n\n{line}\n\n{shown}<!-- end of {name} -->"
    if name in blocks(text):
        return BLOCK.sub(lambda match: new if match["name"] == name else match[0], text)
    head, fence, rest = text.partition("\n```\n")
    if not fence:
        raise SystemExit(f"there is no place for what '{name}' measured: no block and no fence")
    return f"{head}{fence}\n{new}\n{rest}"


def as_markdown(printed: str) -> str:
    """Leave tables as they are, and put other lines between them into fences."""
    pieces: list[str] = []
    for group in re.split(r"\n\s*\n", printed.strip()):
        rows = group.splitlines()
        is_table = all(row.startswith("|") for row in rows)
        pieces.append(group if is_table else "\n".join(["```text", *rows, "```"]))
    return "\n\n".join(pieces)


def is_old(at: str) -> bool:
    """Tell whether the engine has changed since a commit; unknown ones are of another history."""
    return bool(git("log", "-1", "--format=%h", f"{at}..HEAD", "--", *ENGINE))


def with_ages(text: str) -> str:
    """Return a page whose blocks say so where the engine is newer than they are."""

    def aged(match: re.Match[str]) -> str:
        whole = match[0].replace(OLD, "")
        found = STAMP.search(whole)
        if found is None or not is_old(found["commit"]):
            return whole
        end = whole.index("\n", found.start())
        return whole[:end] + OLD + whole[end:]

    return BLOCK.sub(aged, text)
