"""Direct draws from the models, shared with the calibration command."""

import importlib.util
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def load(name: str):
    """Load a module of the benchmarks folder, which is not a package."""
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def direct():
    """Forward simulation by rejection: independent of everything that is tested."""
    return load("direct_draws")


@pytest.fixture(scope="session")
def calibration(direct):
    """The calibration command, as a module."""
    return load("calibration")
