"""A reminder: small files, short functions, few parameters. What is larger has a name here.

Whoever makes one of these smaller takes it off the list; whoever makes one larger thinks again.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import kolchin

ROOT = Path(kolchin.__file__).parent
LONGEST_FILE, LONGEST_FUNCTION, MOST_PARAMETERS = 500, 60, 10

LONG_FILES: set[str] = set()
LONG_FUNCTIONS = {
    "cli/runs.py:resolve",
    "kernels/chaperones.py:make_moves",
    "kernels/visits.py:visit_all",
    "resolution/resolving.py:resolve",
}
MANY_PARAMETERS = {
    "cli/updates.py:add",
    "cli/runs.py:resolve",
    "resolution/resolving.py:resolve",
    "resolution/results/result.py:update",
    "resolution/running/settings.py:check",
    "resolution/updating.py:add",
    "resolution/updating.py:update",
    "sampling/run/runner.py:sample",
}
"""Most are public, where each parameter is something that a user may want to say."""


def sources() -> Iterator[tuple[str, str]]:
    """Give each file of the package, by its path in it."""
    for path in sorted(ROOT.rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Give each function of the package, by file and name."""
    for file, text in sources():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{file}:{node.name}", node


def n_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the lines of a function; its docstring is none."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    if ast.get_docstring(function) is not None:
        lines -= (function.body[0].end_lineno or 0) - function.body[0].lineno + 1
    return lines


def n_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the parameters of a function."""
    given = function.args
    return len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)


def test_files_are_small() -> None:
    found = {file for file, text in sources() if len(text.splitlines()) > LONGEST_FILE}
    assert found == LONG_FILES


def test_functions_are_short() -> None:
    found = {name for name, function in functions() if n_lines(function) > LONGEST_FUNCTION}
    assert found == LONG_FUNCTIONS


def test_functions_take_few_parameters() -> None:
    found = {name for name, function in functions() if n_parameters(function) > MOST_PARAMETERS}
    assert found == MANY_PARAMETERS


def test_no_file_of_the_compiled_heart_is_long() -> None:
    lengths = {f: len(text.splitlines()) for f, text in sources() if f.startswith("kernels/")}
    assert max(lengths.values()) <= 400
    assert len(lengths) > 15
