"""`python benchmarks all`: what is run, what is written, and how it goes on after a stop."""

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks"

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the benchmarks are not here")


@pytest.fixture
def command(monkeypatch):
    """The command's modules, found as Python finds them when the folder is run."""
    for name in ("plan", "stamping", "benchmarks_command"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location("benchmarks_command", FOLDER / "__main__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    for name in ("plan", "stamping"):
        sys.modules.pop(name, None)


@pytest.fixture
def tried(command, monkeypatch, tmp_path):
    """A folder of its own with two measurements, the second of which fails at first."""
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "docs").mkdir()
    one, two = tmp_path / "benchmarks" / "one.py", tmp_path / "benchmarks" / "two.py"
    one.write_text("print('| a |\\n|---|\\n| 1 |\\n\\nplain words')")
    two.write_text("raise SystemExit(1)")
    page = tmp_path / "docs" / "page.md"
    text = "# Page\n\n<!-- measured: one -->\nold\n<!-- end of one -->\n\n```sh\ntwo\n```\n\nEnd.\n"
    page.write_text(text)
    part = command.Part
    monkeypatch.setattr(part, "file", property(lambda _: page))
    parts = (part("one", "page.md", 1, ("one.py",)), part("two", "page.md", 1, ("two.py",)))
    monkeypatch.setattr(command, "PARTS", parts)
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "KEPT", tmp_path / "build")
    monkeypatch.setattr(command, "commit", lambda: "abc1234")
    return command, page, two


def test_every_measurement_has_a_script_and_a_page(command):
    for part in command.PARTS:
        assert (FOLDER / part.words[0]).exists(), part.name
        assert part.file.exists(), part.name
        assert f"benchmarks/{part.words[0]}" in part.file.read_text(), part.name
    assert len({part.name for part in command.PARTS}) == len(command.PARTS) > 10


def test_every_page_says_when_it_was_measured(command):
    """Date and commit, or that it was not measured; and no block that nothing makes."""
    known = {part.name for part in command.PARTS}
    for part in command.PARTS:
        if part.by_hand:
            continue
        body = sys.modules["stamping"].blocks(part.file.read_text()).get(part.name)
        assert body is not None, part.name
        dated = sys.modules["stamping"].STAMP.search(body)
        assert dated or body.strip().startswith("Not measured"), part.name
    for page in (ROOT / "docs").rglob("*.md"):
        assert set(re.findall(r"<!-- measured: ([\w-]+) -->", page.read_text())) <= known


def test_what_is_measured_is_written_and_not_measured_twice(tried, capsys):
    command, page, two = tried
    assert command.main(["all"]) == 1
    text = page.read_text()
    assert re.search(r"Measured 20\d\d-\d\d-\d\d at commit abc1234, in 1 min\.", text)
    assert "\n| a |\n|---|\n| 1 |\n" in text
    assert "```text\nplain words\n```" in text
    assert "old" not in text
    assert "Failed: two" in capsys.readouterr().out
    two.write_text("print('better')")
    assert command.main(["all"]) == 0
    out = capsys.readouterr().out
    assert "one:" not in out
    assert "two: done" in out
    assert json.loads((command.KEPT / "done.json").read_text())["two"]["commit"] == "abc1234"
    # A page that has no block yet gets one below its first fence.
    assert page.read_text().index("<!-- measured: two -->") < page.read_text().index("End.")
    assert command.main(["all", "--list"]) == 0
    assert "To do at abc1234: 0" in capsys.readouterr().out


def test_what_is_older_than_the_engine_is_marked_and_unmarked(command, monkeypatch):
    stamping = sys.modules["stamping"]
    line = "Measured 2026-01-02 at commit 1234567, in 2 min."
    text = f"<!-- measured: one -->\n\n{line}\n\n<!-- end of one -->\n"
    monkeypatch.setattr(stamping, "is_old", lambda at: at == "1234567")
    marked = stamping.with_ages(text)
    assert f"{line}{stamping.OLD}\n" in marked
    assert stamping.with_ages(marked) == marked
    monkeypatch.setattr(stamping, "is_old", lambda at: False)
    assert stamping.with_ages(marked) == text


def test_an_unknown_name_is_refused(command, capsys):
    with pytest.raises(SystemExit):
        command.main(["all", "speed"])
    assert "there is no speed" in capsys.readouterr().err
