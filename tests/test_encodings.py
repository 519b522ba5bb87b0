"""Text is read and written as UTF-8 whatever the system's own encoding is, as on Windows."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "kolchin"
FUNCTIONS = ("open", "fdopen", "NamedTemporaryFile")
ASKING = ("read_text", "write_text", *FUNCTIONS)
PLAIN_ELSEWHERE = (
    "self",
    "cls",
    "directory",
    "Postgres",
    "Sqlite",
    "DuckDB",
    "archive",
    "opening",
    "os",
)
"""What has a method `open`, `write_text` of its own, which takes no encoding."""


def unsaid(text: str) -> list[int]:
    """Return the lines that open a file as text without saying in which encoding."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or any(key.arg == "encoding" for key in node.keywords):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        owner = ast.unparse(node.func).split(".")[0]
        words = [ast.literal_eval(word) for word in node.args if isinstance(word, ast.Constant)]
        binary = any(isinstance(word, str) and "b" in word for word in words[:2])
        is_method = isinstance(node.func, ast.Attribute)
        of_ours = owner in PLAIN_ELSEWHERE if is_method else name not in FUNCTIONS
        if name not in ASKING or binary or of_ours:
            continue
        found.append(node.lineno)
    return found


def test_every_text_file_has_an_encoding():
    files = sorted(SOURCE.rglob("*.py"))
    assert len(files) > 100
    wrong = {str(path.relative_to(SOURCE)): unsaid(path.read_text("utf-8")) for path in files}
    assert {name: lines for name, lines in wrong.items() if lines} == {}


def test_what_says_none_is_found():
    text = "a = path.read_text()\nopen(a)\npath.open('rb')\nPath(a).write_text(b, encoding='x')\n"
    assert unsaid(text) == [1, 2]
