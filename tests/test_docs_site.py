"""The site: formulas become MathML, and nothing is loaded from the network."""

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[1]
HOOKS = ROOT / "scripts" / "docs_hooks.py"
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", re.S)

pytestmark = pytest.mark.skipif(not HOOKS.exists(), reason="the scripts are not here")


@pytest.fixture
def hooks():
    pytest.importorskip("latex2mathml", reason="the extra docs is not installed")
    spec = importlib.util.spec_from_file_location("docs_hooks", HOOKS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_formulas_become_mathml(hooks):
    page = r'<p><span class="arithmatex">\(a &lt; b_1\)</span> <div class="arithmatex">\[x\]</div>'
    shown = hooks.on_page_content(page)
    assert shown.count("<math") == 2
    assert "arithmatex" not in shown
    assert 'display="block"' in shown


@pytest.mark.parametrize("page", ["model.md", "technical-note.md"])
def test_every_formula_can_be_shown(hooks, page):
    """A command that the converter does not know would stand on the page as it is written."""
    from latex2mathml.converter import convert

    found = FORMULA.findall((ROOT / "docs" / page).read_text())
    assert len(found) > 50
    shown = [convert(block or inline) for block, inline in found]
    assert [text for text in shown if "\\" in text] == []
    assert "\\" in convert(r"\nosuchcommand")


def wide(text):
    """Return the formulas within sentences that are too wide for a phone, where none is broken."""
    lines = [line for line in text.splitlines() if not line.startswith("|")]  # tables scroll
    inline = [formula for _, formula in FORMULA.findall("\n".join(lines)) if formula]
    return [formula for formula in inline if len(formula) > 100]


@pytest.mark.parametrize("page", ["model.md", "technical-note.md", "engine.md", "compared.md"])
def test_wide_formulas_have_a_line_of_their_own(page):
    assert wide((ROOT / "docs" / page).read_text()) == []


def test_wide_formulas_are_seen():
    assert len(wide(f"So ${'x + ' * 40}x$ and $x$, and $${'y + ' * 40}y$$")) == 1


def test_no_script_of_the_network(hooks):
    page = '<script src="https://unpkg.com/iframe-worker/shim"></script>'
    near = hooks.on_post_page(page, page=SimpleNamespace(url="how-to/arviz.html"))
    assert near == '<script src="../search_from_disk.js"></script>'
    assert "https" not in hooks.on_post_template(page)


@pytest.mark.parametrize("name", ["report.png", "waterfall.png", "review.png"])
def test_pictures_are_there_and_small(name):
    assert 5_000 < (ROOT / "docs" / "figures" / name).stat().st_size < 200_000
