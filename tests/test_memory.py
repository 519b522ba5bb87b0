"""Memory that is free goes back to the system."""

import subprocess
import sys

import pytest

from kolchin.memory import give_back_arrays

CODE = """
import numpy as np
from pathlib import Path
from kolchin.memory import give_back_arrays

def own():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))

{ask}
np.ones(1 << 21)  # of 16 MB: by default, the library takes those that follow from elsewhere
before = own()
kept = []
for _ in range(20):
    large, small = np.ones(1 << 20), np.ones(12_000)  # too large for the holes of imports
    kept.append((large, small))
del large
kept = [small for _, small in kept]
print(own() - before)
"""


def kilobytes_left(ask):
    command = [sys.executable, "-c", CODE.format(ask=ask)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="as the GNU C library does it")
def test_arrays_leave_no_holes():
    if not give_back_arrays():
        pytest.skip("another C library")
    assert kilobytes_left("give_back_arrays()") < 4_000  # 2 MB are kept, 160 MB were freed


def test_where_there_is_no_such_library_nothing_is_asked(monkeypatch):
    monkeypatch.setattr("ctypes.CDLL", lambda name: object())
    assert not give_back_arrays()
