"""The technical note: tests that it names exist, and its numbers stand on the pages beside them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "technical-note.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the pages are not here")


def missing(text: str) -> list[str]:
    """Return the tests that a text names and that are not there."""
    found = []
    for path, name in NAMED.findall(text):
        file = ROOT / path
        if not file.exists() or not re.search(rf"^ *def {name}\(", file.read_text(), re.M):
            found.append(f"{path}::{name}")
    return found


def stray_numbers(text: str) -> list[str]:
    """Return the numbers in bold of rows that stand on none of the pages linked in their row."""
    found = []
    for line in text.splitlines():
        pages = [PAGE.parent / path for path in re.findall(r"\]\(([\w/-]+\.md)", line)]
        shown = "".join(page.read_text() for page in pages)
        numbers = re.findall(r"\*\*(\d[^*]*)\*\*", line) if line.startswith("|") else []
        found += [number for number in numbers if number not in shown]
    return found


def test_every_test_that_is_named_exists():
    text = PAGE.read_text()
    assert missing(text) == []
    assert len(NAMED.findall(text)) > 40
    assert missing("`tests/exact/test_known.py::test_nothing_of_the_kind`") != []


def test_every_claim_has_a_proof_or_a_test():
    """Each claim, proposition, lemma and theorem: a proof beside it, or a test before the next."""
    parts = re.split(r"\*\*(?=(?:Claim|Proposition|Lemma|Theorem) \d)", PAGE.read_text())[1:]
    assert len(parts) > 10
    bare = [part[:15] for part in parts if "*Proof.*" not in part and not NAMED.search(part)]
    assert bare == []


def test_numbers_stand_on_the_pages_beside_them():
    text = PAGE.read_text()
    assert stray_numbers(text) == []
    assert stray_numbers("| **123,456** | [accuracy](accuracy.md) |") == ["123,456"]
    assert len(re.findall(r"\*\*\d", text)) > 10
