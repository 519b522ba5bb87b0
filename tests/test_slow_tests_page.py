"""The page of slow tests: counts are pytest's, rows of other parts stay, failures are told."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "slow_tests.py"

pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="the scripts are not here")


@pytest.fixture
def slow(monkeypatch, tmp_path):
    spec = importlib.util.spec_from_file_location("slow_tests", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "PAGE", tmp_path / "page.md")
    return module


def test_every_test_that_is_named_exists(slow):
    for part in slow.PARTS.values():
        for word in part.words:
            path = word.removeprefix("--ignore=")
            assert not path.startswith(("tests", "scripts")) or (ROOT / path).exists(), word


def test_what_pytest_counts_is_read(slow, tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuites><testsuite tests="9" failures="1" errors="2" skipped="3"/></testsuites>'
    )
    assert slow.counted(report, 5.0) == slow.Outcome(3, 3, 3, 5.0)
    assert slow.counted(tmp_path / "none.xml", 5.0).failed == 1


@pytest.mark.parametrize("failed", [0, 1])
def test_rows_of_other_parts_stay_and_failures_are_told(slow, monkeypatch, failed):
    slow.PAGE.write_text(slow.page({"exact": slow.row("exact", None, "2001-01-01", "abc")}))
    monkeypatch.setattr(slow, "run", lambda name, part: slow.Outcome(4, failed, 0, 61.0))
    monkeypatch.setattr(sys, "argv", ["slow_tests.py", "spark"])
    assert slow.main() == failed
    text = slow.PAGE.read_text()
    assert "| 2001-01-01 |" in text
    assert f"| 4 | {failed} | 0 | 1 min 1 s |" in text
    assert "Never run: statistical" in text


def test_a_part_that_something_is_missing_for_is_not_run(slow, monkeypatch):
    monkeypatch.setattr(slow.shutil, "which", lambda name: None)
    assert slow.run("spark", slow.PARTS["spark"]) is None
