"""The gallery: five worked examples, each a page that is run and a notebook that says the same."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "gallery.py"
GALLERY = ROOT / "docs" / "gallery"
EXAMPLES = {"living-table", "paper", "people", "products", "two-files"}

pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="the scripts are not here")


@pytest.fixture(scope="module")
def gallery():
    spec = importlib.util.spec_from_file_location("gallery", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_example_is_a_page_of_the_site_and_a_notebook():
    """That the pages run, and print what they show, is a slow test of test_docs_outputs.py."""
    assert {page.stem for page in GALLERY.glob("*.md")} == EXAMPLES
    assert {file.stem for file in GALLERY.glob("*.ipynb")} == EXAMPLES
    site = (ROOT / "mkdocs.yml").read_text()
    assert [name for name in EXAMPLES if f"gallery/{name}.md" not in site] == []


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_notebooks_are_their_pages(gallery, name):
    text = (GALLERY / f"{name}.md").read_text(encoding="utf-8")
    file = GALLERY / f"{name}.ipynb"
    assert file.read_text(encoding="utf-8") == gallery.notebook(text), "run scripts/gallery.py"
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) == len(re.findall(r"<!-- run", text)) >= 4
    assert not any("<!--" in cell["source"] for cell in cells)
    for cell in code:
        if not cell["source"].startswith("%%bash"):
            compile(cell["source"], name, "exec")


def test_every_cell_shows_what_it_printed():
    """A page that was never run has empty outputs."""
    for name in EXAMPLES:
        text = (GALLERY / f"{name}.md").read_text(encoding="utf-8")
        assert "<!-- output -->\n```\n```" not in text, name


def test_words_code_and_outputs_become_cells(gallery):
    page = (
        "# A\n\n<!-- in: a -->\nWords.\n\n<!-- run: long -->\n```python\n1 + 1\n```\n\n"
        "<!-- output -->\n```\n2\n```\n\n<!-- run -->\n```sh\nls\n```\n\nEnd.\n"
    )
    words, first, second, last = json.loads(gallery.notebook(page))["cells"]
    assert words["source"] == "# A\n\nWords."
    assert (first["source"], first["outputs"][0]["text"]) == ("1 + 1", "2\n")
    assert (second["source"], second["outputs"]) == ("%%bash\nls", [])
    assert last["source"] == "End."
