"""Settings shared by all tests."""

import sys
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples on every run: a failure in CI can be repeated at a desk.
settings.register_profile("kolchin", deadline=None, derandomize=True)
settings.load_profile("kolchin")

TESTS = Path(__file__).parent
KINDS = ("exact", "statistical")

sys.path.append(str(TESTS))  # for `inline`


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Give the tests in tests/exact and tests/statistical the marker of their folder."""
    for item in items:
        for kind in KINDS:
            if item.path.is_relative_to(TESTS / kind):
                item.add_marker(kind)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Note a test's kinds on its report, which also travels between worker processes."""
    report = yield
    if report.when == "call":
        kinds = [kind for kind in KINDS if item.get_closest_marker(kind)]
        report.user_properties.append(("kinds", kinds))
    return report


def pytest_terminal_summary(terminalreporter):
    """Say how many exact and statistical tests ran, for one that nobody sees run is no test."""
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    for kind in KINDS:
        count = sum(kind in dict(report.user_properties).get("kinds", ()) for report in reports)
        terminalreporter.write_line(f"{kind} tests run: {count}")
