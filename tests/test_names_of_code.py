"""A reminder: functions are verbs, and classes nouns. A bare participle says neither."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import kolchin

ROOT = Path(kolchin.__file__).parent
PARTICIPLE = re.compile(r"_?[A-Za-z][a-z]*(ed|ing|wn|ept|eld|ught|iven|earnt|een)")
PUBLIC = {"Compared", "converged", "expecting", "merged"}
"""What users write, in whose code these read well."""

OTHERS = {"Ending", "Field", "Opening", "Tuning", "accept"}
"""Nouns and verbs that end as participles do."""


def is_value(node: ast.FunctionDef) -> bool:
    """Tell whether a function is used as a value is."""
    names = {ast.unparse(one).rpartition(".")[2] for one in node.decorator_list}
    return bool(names & {"property", "cached_property", "setter"})


def names(text: str) -> Iterator[str]:
    """Give the functions and classes of a file."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef) or (
            isinstance(node, ast.FunctionDef) and not is_value(node)
        ):
            yield node.name


def participles(text: str) -> set[str]:
    """Return the bare participles among the names of a file."""
    found = {name for name in names(text) if PARTICIPLE.fullmatch(name)}
    return {name for name in found if name.strip("_") not in OTHERS | PUBLIC}


def test_no_function_is_a_bare_participle() -> None:
    files = {p.relative_to(ROOT).as_posix(): p.read_text("utf-8") for p in ROOT.rglob("*.py")}
    found = {file: participles(text) for file, text in files.items()}
    assert {file: wrong for file, wrong in found.items() if wrong} == {}
    assert len(files) > 300


def test_participles_are_noticed() -> None:
    text = "class Learnt: ...\ndef _drawn(): ...\n@property\ndef tied(self): ...\ndef grown(): ..."
    assert participles(text) == {"Learnt", "_drawn", "grown"}
    assert participles("def draw(): ...\nclass Field: ...\ndef accept(): ...\n") == set()
