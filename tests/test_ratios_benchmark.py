"""The guard of speed: a loss of what is judged is seen, and nothing else is called one."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "ratios.py"

pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="the benchmarks are not here")


@pytest.fixture
def bench(monkeypatch):
    spec = importlib.util.spec_from_file_location("ratios", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module.subprocess, "run", lambda *words, **options: None)
    return module


@pytest.mark.parametrize(("people", "code"), [(1.1, 0), (1.3, 1), (0.5, 0)])
def test_a_loss_of_a_fifth_fails(bench, monkeypatch, tmp_path, capsys, people, code):
    (tmp_path / "src" / "kolchin").mkdir(parents=True)

    def measured(checkout, table):
        new = checkout == bench.HERE
        return {"moves": 3.0, "people": people if new else 1.0, "sampling": 9.0 if new else 1.0}

    monkeypatch.setattr(bench, "measured", measured)
    monkeypatch.setattr(sys, "argv", ["ratios.py", "--beside", str(tmp_path)])
    assert bench.main() == code
    assert ("LOST: people 1.30 times\n" in capsys.readouterr().out) == bool(code)


def test_another_checkout_must_be_one(bench, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sys, "argv", ["ratios.py", "--beside", str(tmp_path)])
    with pytest.raises(SystemExit):
        bench.main()
    assert "must be another checkout" in capsys.readouterr().err
