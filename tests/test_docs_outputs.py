"""What pages show is what commands print: the fast part of it, and that stale pages are seen."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "docs_outputs.py"

pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="the scripts are not here")


@pytest.fixture(scope="module")
def outputs():
    """Return the script as a module."""
    spec = importlib.util.spec_from_file_location("docs_outputs", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["docs_outputs"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["docs_outputs"]


def check(*arguments: str) -> subprocess.CompletedProcess:
    words = [sys.executable, str(SCRIPT), "--check", *arguments]
    return subprocess.run(words, capture_output=True, text=True)


def test_the_fast_part_of_the_pages_is_what_commands_print():
    done = check("--fast")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "docs/tutorial.md" in done.stderr


@pytest.mark.slow
def test_all_pages_show_what_commands_print():
    done = check()
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_command_is_without_a_mark(outputs):
    assert [outputs.unmarked(page.read_text()) for page in outputs.PAGES] == [[]] * len(
        outputs.PAGES
    )
    assert outputs.unmarked("```sh\nls\n```\n") == ["ls\n"]
    assert outputs.unmarked("```python\nprint()\n```\n") == ["print()\n"]


@pytest.fixture
def page(outputs, tmp_path, monkeypatch):
    """Return a function that runs a page and returns it as it should be."""
    monkeypatch.setattr(outputs, "ROOT", tmp_path)

    def run(text: str, fast: bool = False, data: Path | None = None) -> str:
        path = tmp_path / "page.md"
        path.write_text(text)
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        return outputs.Run(scratch, fast, data).page(path)

    return run


def test_outputs_are_written_and_cut(page):
    text = """<!-- run -->
```sh
printf 'a, 12 s.\\nb\\nc\\nd\\n'
```

<!-- output: from a; without b; first 3 -->
```
stale
```
"""
    assert page(text).endswith("```\na, … s.\n...\nc\n...\n```\n")


def test_long_commands_are_left_out_with_all_that_follows(page):
    text = "<!-- run: long -->\n```sh\nfalse\n```\n<!-- run -->\n```sh\necho a\n```\n"
    text += "<!-- output -->\n```\nold\n```\n"
    assert page(text, fast=True) == text


def test_files_are_saved_and_tables_fetched(page, tmp_path):
    (tmp_path / "table.csv").write_text("x\n")
    text = "<!-- file: a.txt -->\n```toml\none = 1\n```\n"
    text += "<!-- run: needs table.csv -->\n```sh\ncat a.txt table.csv\n```\n"
    text += "<!-- output -->\n```\n```\n"
    assert "```\none = 1\nx\n```" in page(text, data=tmp_path)


def test_a_command_that_fails_ends_the_run(page):
    with pytest.raises(SystemExit, match=r"page\.md:1 failed"):
        page("<!-- run -->\n```sh\nfalse\n```\n")


def test_a_sentence_that_no_longer_holds_is_told(outputs, tmp_path, monkeypatch):
    monkeypatch.setattr(outputs, "ROOT", tmp_path)
    path = tmp_path / "page.md"
    text = "<!-- run -->\n```sh\necho 3\n```\n<!-- holds: int(output) == {} -->\nThere are some.\n"
    for number, broken in [(3, 0), (4, 1)]:
        path.write_text(text.format(number))
        (tmp_path / str(number)).mkdir()
        run = outputs.Run(tmp_path / str(number), False, None)
        assert run.page(path) == text.format(number)
        assert len(run.broken) == broken


def test_installing_is_left_out(outputs):
    line = "python3 -m venv .venv && .venv/bin/pip install '.[a]' && .venv/bin/kolchin fields a"
    assert outputs.without_installing(line) == "kolchin fields a"


def test_what_varies_is_not_compared(outputs):
    pages = [
        f"<!-- run: varies -->\n```sh\ndate\n```\n<!-- output -->\n```\n{day}\n```\n{end}"
        for day, end in [("Monday", "x"), ("Tuesday", "x"), ("Monday", "y")]
    ]
    first, second, third = map(outputs.comparable, pages)
    assert first == second
    assert first != third
