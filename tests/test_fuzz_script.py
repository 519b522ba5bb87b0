"""The fuzzing command counts what it tries, and sees a fault where there is one."""

import importlib.util
import sys
from pathlib import Path

import pytest
import typer

SCRIPT = Path(__file__).parents[1] / "scripts" / "fuzz.py"

pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="the scripts are not here")


@pytest.fixture
def fuzz(monkeypatch, tmp_path):
    spec = importlib.util.spec_from_file_location("fuzz", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module.warnings, "simplefilter", lambda action: None)
    monkeypatch.setattr(sys, "argv", ["fuzz.py", "6", "--keep", str(tmp_path / "faults")])
    monkeypatch.setattr(module, "try_frame", lambda rng: "frame resolved")
    return module


def commands(end):
    app = typer.Typer()

    @app.command()
    def resolve(words: list[str]) -> None:
        end()

    @app.command()
    def other() -> None: ...

    return app


def refuse() -> None:
    raise typer.Exit(2)


def crash() -> None:
    raise ValueError("not told in words")


def test_what_is_refused_is_no_fault(fuzz, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(fuzz, "app", commands(refuse))
    monkeypatch.setattr(fuzz, "SHORT", ["--", "x"])
    assert fuzz.main() == 0
    assert "5 file refused in words" in capsys.readouterr().out
    assert not (tmp_path / "faults").exists()


@pytest.mark.parametrize("end", [crash, lambda: sys.exit(3)])
def test_tracebacks_and_strange_codes_are_faults(fuzz, monkeypatch, capsys, tmp_path, end):
    monkeypatch.setattr(fuzz, "app", commands(end))
    monkeypatch.setattr(fuzz, "SHORT", ["--", "x"])
    assert fuzz.main() == 1
    assert "5 FAULT" in capsys.readouterr().out
    assert len(list((tmp_path / "faults").iterdir())) == 5


@pytest.mark.parametrize("kind", range(6))
def test_files_are_made_again_from_the_same_seed(fuzz, kind):
    first, second = (fuzz.FILES[kind](fuzz.np.random.default_rng([3, kind])) for _ in range(2))
    assert first == second


def test_it_goes_on_where_it_is_told(fuzz, monkeypatch):
    tried = []
    monkeypatch.setattr(fuzz, "settled", lambda seed, k, *where: tried.append(k) or "resolved")
    monkeypatch.setattr(sys, "argv", ["fuzz.py", "3", "--first", "7"])
    assert fuzz.main() == 0
    assert tried == [7, 8, 9]
