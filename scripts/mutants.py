"""Break the code on purpose, one small fault at a time, and see whether the tests notice.

    python scripts/mutants.py FILE[:FUNCTION] ... --tests TESTS ... [--most 300] [--out FILE]

A mutant is a function in which one operator, comparison, number or sign is exchanged. The tests run
once as they are; then each mutant is tested in a fork of that process, which has everything loaded
and compiled, until the first failure. What survives is told with its line: either tests lack
something, or the fault changes nothing. Compiled functions (njit) and what stands outside of
functions are left as they are. --out keeps results, and a second call goes on from there.
"""

import argparse
import ast
import importlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from copy import deepcopy
from inspect import unwrap
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.MatMult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
TWINS = {"minimum": "maximum", "maximum": "minimum", "log1p": "log", "expm1": "exp"}


class Mutant(NamedTuple):
    """One fault: where it is, what stood there and what stands there now."""

    path: str
    function: str
    line: int
    before: str
    after: str
    number: int  # of all faults of the file

    @property
    def name(self) -> str:
        """Name it for people and for the file of results."""
        return (
            f"{self.path}:{self.line} {self.function}: {self.before} -> {self.after} #{self.number}"
        )


def exchange(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in place of a node, one fault each."""
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op) if type(op) in OPERATORS:
            yield changed(node, op=OPERATORS[type(op)]())
        case ast.Compare(ops=[op]) if type(op) in OPERATORS:
            yield changed(node, ops=[OPERATORS[type(op)]()])
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield operand
        case ast.IfExp(body=body, orelse=orelse):
            yield changed(node, body=orelse, orelse=body)
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(value=float(value)):
            yield ast.Constant(value * 1.5 + (value == 0))
        case ast.Attribute(attr=attr) if attr in TWINS:
            yield changed(node, attr=TWINS[attr])


def changed(node: ast.AST, **fields: object) -> ast.AST:
    """Return a node with other fields."""
    result = deepcopy(node)
    for name, value in fields.items():
        setattr(result, name, value)
    return result


def is_compiled(node: ast.AST) -> bool:
    """Tell whether a function is compiled by Numba."""
    words = [ast.unparse(decorator) for decorator in getattr(node, "decorator_list", [])]
    return any(word.partition("(")[0] in ("njit", "compiled", "lean", "hot") for word in words)


def places(
    node: ast.AST, above: str = "", inside: str = ""
) -> Iterator[tuple[ast.AST, str, int, str]]:
    """Yield (parent, field, index, function) of every expression that may be exchanged.

    What a function defines within itself is of that function; defaults are not exchanged.
    """
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params", "args") and not (
            name == "args" and isinstance(node, ast.Call)
        ):
            continue
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or isinstance(child, ast.Raise) or is_compiled(child):
                continue
            here, own = above, inside
            if isinstance(child, ast.ClassDef | ast.FunctionDef) and not inside:
                here = f"{above}.{child.name}".strip(".")
                own = here if isinstance(child, ast.FunctionDef) else ""
            if inside and isinstance(child, ast.expr | ast.AugAssign):
                yield node, name, index if isinstance(value, list) else -1, inside
            yield from places(child, here, own)


def mutants(path: Path, wanted: str | None) -> Iterator[tuple[Mutant, ast.Module]]:
    """Yield the faults of a file, or of a function or class of it, with the trees they make."""
    tree = ast.parse(path.read_text())
    name, number = str(path.relative_to(ROOT)), 0
    for parent, field, index, function in list(places(tree)):
        if wanted is not None and not f"{function}.".startswith(f"{wanted}."):
            continue
        whole = getattr(parent, field)
        child = whole[index] if index >= 0 else whole
        for new in exchange(child):
            ast.copy_location(new, child)
            put(parent, field, index, new)
            told = Mutant(name, function, child.lineno, short(child), short(new), number)
            yield told, ast.fix_missing_locations(deepcopy(tree))
            put(parent, field, index, child)
            number += 1


def put(parent: ast.AST, field: str, index: int, child: ast.AST) -> None:
    """Set a child of a node."""
    if index >= 0:
        getattr(parent, field)[index] = child
    else:
        setattr(parent, field, child)


def short(node: ast.AST) -> str:
    """Write a node on a line."""
    return " ".join(ast.unparse(node).split())[:70]


def verdict(mutant: Mutant, tree: ast.Module, tests: list[str], limit: int) -> str:
    """Run the tests with a mutant in a process of its own."""
    child = os.fork()
    if not child:
        os._exit(run_tests(mutant, tree, tests, limit))
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "killed: no end" if os.WTERMSIG(status) == signal.SIGPROF else "killed: crash"
    return {0: "survived", 1: "killed"}.get(os.WEXITSTATUS(status), "killed: no run")


def run_tests(mutant: Mutant, tree: ast.Module, tests: list[str], limit: int) -> int:
    """Put the mutant's code into the function that is there, and return pytest's exit code."""
    signal.setitimer(signal.ITIMER_PROF, limit)  # seconds of the processor
    path = ROOT / mutant.path
    module = importlib.import_module(".".join(path.relative_to(SOURCE).with_suffix("").parts))
    function_of(module, mutant.function).__code__ = code_of(tree, str(path), mutant.function)
    return silently(["-x", "-q", "-p", "no:cacheprovider", *tests])


def silently(words: list[str]) -> int:
    """Run pytest without a word."""
    import pytest

    with Path(os.devnull).open("w") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
        return int(pytest.main(words))


def function_of(module: object, name: str) -> FunctionType:
    """Return a function or method by its qualified name, out of what decorators made of it."""
    found = module
    for part in name.split("."):
        found = vars(found)[part]
    while not isinstance(found, FunctionType):
        found = next(
            getattr(found, inner)
            for inner in ("__wrapped__", "__func__", "fget", "func")
            if hasattr(found, inner)
        )
    return unwrap(found)


def code_of(tree: ast.Module, path: str, name: str) -> CodeType:
    """Return the code of a function of a module, by its qualified name."""
    todo = [compile(tree, path, "exec")]
    while todo:
        code = todo.pop()
        if code.co_qualname == name:
            return code
        todo += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    raise LookupError(name)


def chosen(names: list[str], most: int, seed: int) -> list[tuple[Mutant, ast.Module]]:
    """Return the mutants of files, or a random part of them."""
    found = []
    for name in names:
        file, _, function = name.partition(":")
        found += mutants((ROOT / file).resolve(), function or None)
    if len(found) > most:
        found = random.Random(seed).sample(found, most)
    return sorted(found, key=lambda pair: pair[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE[:FUNCTION]")
    parser.add_argument("--tests", nargs="+", required=True, help="what pytest is given")
    parser.add_argument("--most", type=int, default=300, help="mutants, a random part if more")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=300, help="processor seconds for a mutant")
    parser.add_argument("--out", type=Path, help="a JSON file of results, taken up if it is there")
    asked = parser.parse_args()
    known = json.loads(asked.out.read_text()) if asked.out and asked.out.exists() else {}
    sys.path.insert(0, str(SOURCE))
    os.chdir(ROOT)
    import pytest

    if pytest.main(["-q", "-p", "no:cacheprovider", *asked.tests]) != 0:
        raise SystemExit("The tests must pass before anything is broken.")
    results = {}
    for mutant, tree in chosen(asked.files, asked.most, asked.seed):
        began = time.monotonic()
        result = known.get(mutant.name) or verdict(mutant, tree, asked.tests, asked.limit)
        results[mutant.name] = result
        print(f"{result:10} {time.monotonic() - began:5.0f} s  {mutant.name}", flush=True)
        if asked.out:
            asked.out.write_text(json.dumps({**known, **results}, indent=1))
    survived = [name for name, result in results.items() if result == "survived"]
    print(f"{len(results)} mutants, {len(results) - len(survived)} noticed. These were not:")
    print("\n".join(survived) or "none")
    return 0


if __name__ == "__main__":
    sys.exit(main())
