"""Seconds and peak memory of a command, run by a small process of its own.

    python benchmarks/measured.py REPORT.json [--cores N] -- COMMAND ...

The report has `seconds`, `cpu_seconds`, `peak_mb` (resident) and `returncode`. The system counts
the memory of whoever starts a process as the process's own until it begins, so that a large program
would measure itself: this one imports little. With `--cores`, the command has no more of them.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

MOST_ERROR = 300


def main():
    report, *rest = sys.argv[1:]
    options, command = rest[: rest.index("--")], rest[rest.index("--") + 1 :]
    if options and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(options[1])])
    import resource

    began = time.monotonic()
    code = subprocess.run(command, check=False).returncode
    seconds = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    measured = {
        "seconds": seconds,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "peak_mb": used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10),
        "returncode": code,
    }
    with open(report, "w", encoding="utf-8") as file:  # noqa: PTH123 - pathlib is not small
        json.dump(measured, file)


def measured(command, cores=None):
    """Run a command and return what it took, what it printed, and its error if it failed."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")  # noqa: PTH118
        bound = [] if cores is None else ["--cores", str(cores)]
        own = [sys.executable, __file__, report, *bound, "--", *map(str, command)]
        done = subprocess.run(own, capture_output=True, text=True, check=False)
        if not os.path.exists(report):  # noqa: PTH110
            return {"error": _shortened(done.stderr) or f"ended with {done.returncode}"}
        with open(report, encoding="utf-8") as file:  # noqa: PTH123
            result = json.load(file)
    code = result.pop("returncode")
    if code:
        result["error"] = _shortened(done.stderr) or f"ended with {code}"
    return {**result, "printed": done.stdout}


def _shortened(text):
    return " ".join(text.split())[-MOST_ERROR:]


if __name__ == "__main__":
    main()
