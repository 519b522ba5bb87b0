"""Modules and functions that have other names in other checkouts."""

import importlib
from types import ModuleType
from typing import Any


def import_first(*names: str) -> ModuleType:
    """Import the first module of some that is there."""
    for name in names[:-1]:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    return importlib.import_module(names[-1])


def take_first(module: ModuleType, *names: str) -> Any:
    """Return the first function of some that a module has."""
    return next(getattr(module, name) for name in names if hasattr(module, name))
