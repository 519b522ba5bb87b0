"""The mathematics that the code cites stands on a page of its own."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "model.md"
CITATION = re.compile(r"model(?: reference,)?\s+sections?\s+(\d+)", re.I)

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the pages are not here")


def sections() -> set[str]:
    return set(re.findall(r"^## (\d+)\. ", PAGE.read_text(), re.M))


def cited() -> dict[str, set[str]]:
    """Return the sections that each source file cites."""
    files = sorted((ROOT / "src").rglob("*.py"))
    found = {str(path.relative_to(ROOT)): set(CITATION.findall(path.read_text())) for path in files}
    return {name: numbers for name, numbers in found.items() if numbers}


def test_every_citation_has_its_section():
    wrong = {name: numbers - sections() for name, numbers in cited().items()}
    assert {name: numbers for name, numbers in wrong.items() if numbers} == {}


def test_citations_are_found_and_every_section_is_numbered_in_order():
    assert len(cited()) > 15
    assert CITATION.findall("(Model section 12)\n(model reference, section 3)") == ["12", "3"]
    numbers = re.findall(r"^## (\d+)\. ", PAGE.read_text(), re.M)
    assert numbers == [str(k) for k in range(1, len(numbers) + 1)]
    assert len(re.findall(r"^## ", PAGE.read_text(), re.M)) == len(numbers)
