"""The documentation: links lead somewhere, commands and names exist, nothing is left out."""

import ast
import re
import shlex
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

import kolchin
from kolchin.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
REFERENCE = ROOT / "docs" / "reference.md"
LINK = re.compile(r"\[[^\]\[]*\]\(([^()\s]+)\)")
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)\n(?P<body>.*?)^(?P=indent)```$", re.M | re.S
)
SHELL = ("sh", "bash", "console")
NAMED_FILE = re.compile(
    r"`((?:src|tests|benchmarks|scripts)/[\w/.-]+)`|`?python (benchmarks/[\w/.-]+)"
)
IDS = [str(page.relative_to(ROOT)) for page in PAGES]

pytestmark = pytest.mark.skipif(not REFERENCE.exists(), reason="the pages are not here")


def fences(page: Path, *languages: str) -> list[str]:
    found = FENCE.finditer(page.read_text())
    return [match["body"] for match in found if match["language"] in languages]


def prose(page: Path) -> str:
    """Return a page without its code."""
    return re.sub(r"`[^`\n]+`", "code", FENCE.sub("", page.read_text()))


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors that headings have both in the built pages and where Markdown is shown."""
    headings = re.findall(r"^#+ +(.+?) *$", FENCE.sub("", page.read_text()), re.M)
    plain = [re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading) for heading in headings]
    return {slug(text) for text in plain} & {text_slug(text) for text in plain}


def slug(heading: str) -> str:
    """Write a heading's anchor as MkDocs does."""
    text = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", text).strip().lower())


def text_slug(heading: str) -> str:
    """Write a heading's anchor as pages that show Markdown do."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def broken_links(page: Path) -> Iterator[str]:
    for target in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists():
            yield f"{target}: there is no such file"
        elif path and page.parent != ROOT and ROOT / "docs" not in there.parents:
            yield f"{target}: it is not in docs, so the built pages do not have it"
        elif anchor and (there.suffix != ".md" or anchor not in anchors(there)):
            yield f"{target}: there is no such heading"


def commands(page: Path) -> list[str]:
    """Return the command lines of kolchin in a page's fences, without what shells add."""
    found = []
    for body in fences(page, *SHELL):
        lines = body.replace("\\\n", " ").splitlines()
        for part in (part for line in lines for part in re.split(r"&&|\||;| > ", line)):
            words = shlex.split(part.strip().removeprefix("$ "), comments=True)
            if words and words[0].rpartition("/")[2] == "kolchin":
                found.append(shlex.join(words[1:]))
    return found


def parse(line: str) -> Any:
    """Let the command line's own parser read a command, and run nothing."""
    group: Any = typer.main.get_command(app)
    name, *arguments = shlex.split(line)
    if name in {"--help", *(text for option in group.params for text in option.opts)}:
        return None
    with group.make_context("kolchin", [name], resilient_parsing=True) as context:
        command = group.get_command(context, name)
        assert command is not None, f"there is no command {name!r}"
        return command.make_context(name, arguments, parent=context)


def options() -> dict[str, set[str]]:
    """Return the options of every command."""
    group: Any = typer.main.get_command(app)
    return {
        name: {
            text
            for parameter in command.params
            for text in (*parameter.opts, *parameter.secondary_opts)
            if text.startswith("--")
        }
        - {"--help"}
        for name, command in group.commands.items()
    }


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_lead_somewhere(page: Path) -> None:
    assert list(broken_links(page)) == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_commands_can_be_parsed(page: Path) -> None:
    faults = []
    for line in commands(page):
        try:
            parse(line)
        except Exception as error:
            faults.append(f"kolchin {line}: {error}")
    assert faults == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_python_is_python_and_names_exist(page: Path) -> None:
    for body in fences(page, "python"):
        tree = ast.parse(body)
        names = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "kp"
        }
        assert names <= set(kolchin.__all__)


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_files_of_the_project_that_are_named_exist(page: Path) -> None:
    named = {first or second for first, second in NAMED_FILE.findall(page.read_text())}
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_every_page_is_in_the_list_of_pages() -> None:
    """The start page names all of them, as the site's menu does."""
    docs = ROOT / "docs"
    shown = {
        (docs / path.partition("#")[0]) for path in LINK.findall((docs / "index.md").read_text())
    }
    pages = {page for page in PAGES if page.is_relative_to(docs)} - {docs / "index.md"}
    assert sorted(str(page.relative_to(docs)) for page in pages - shown) == []


def test_commands_are_found_and_faults_are_seen(tmp_path: Path) -> None:
    """The checks above find something: a page that is wrong in every way."""
    page = tmp_path / "page.md"
    page.write_text(
        "# One\n[a](no.md) [b](#two) [c](#one)\n"
        "```sh\n.venv/bin/kolchin simulate italy --oout x.csv && kolchin resolve a.csv \\\n"
        "    --seed 1  # a comment\n```\n"
    )
    assert [fault.split(":")[0] for fault in broken_links(page)] == ["no.md", "#two"]
    first, second = commands(page)
    with pytest.raises(Exception, match="--oout"):
        parse(first)
    assert parse(second).params["seed"] == 1
    assert sum(len(commands(page)) for page in PAGES) > 10
    assert sum(len(NAMED_FILE.findall(page.read_text())) for page in PAGES) > 40


def test_reference_names_everything() -> None:
    """Every public name, command and option stands in the reference, and no option that is not."""
    text = REFERENCE.read_text()
    for name in set(kolchin.__all__) - {"__version__"}:
        assert re.search(rf"`(kp\.)?{name}\b", text), name
    section = text.partition("\n## Command line\n")[2].partition("\n## ")[0]
    for name, known in options().items():
        part = section.partition(f"\n### kolchin {name}\n")[2].partition("\n### ")[0]
        assert part, f"there is no section on {name}"
        assert set(re.findall(r"--[a-z][a-z-]*", part)) == known, name


def test_numbers_that_readme_boasts_of_stand_on_the_page_beside_them() -> None:
    """A benchmark that is run again changes its page; README must not keep the old number."""
    text = (ROOT / "README.md").read_text()
    section = text.partition("\n## What it is good at\n")[2].partition("\n## ")[0]
    checked = 0
    for line in section.splitlines():
        pages = [ROOT / path for path in re.findall(r"\]\((docs/[\w/-]+\.md)", line)]
        shown = "".join(page.read_text() for page in pages)
        for number in re.findall(r"\*\*(\d[^*]*)\*\*", line):
            assert number in shown, number
            checked += 1
    assert checked >= 6
