"""Time and memory of simulating people, each in a process of its own, start and writing included.

python benchmarks/simulating.py [--records 100000 1000000]
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

MEASURED = Path(__file__).with_name("measured.py")


def measure(folder: Path, n_records: int, ending: str) -> dict[str, float]:
    """Simulate into a file by the command, and return what that took."""
    report = folder / "report.json"
    out = folder / f"people.{ending}"
    words = ["simulate", "people", "--n", str(n_records), "--seed", "1", "--out", str(out)]
    command = [sys.executable, "-m", "kolchin", *words]
    subprocess.run([sys.executable, str(MEASURED), str(report), "--", *command], check=True)
    measured = json.loads(report.read_text())
    if measured["returncode"] != 0:
        raise SystemExit(f"kolchin {' '.join(words)} failed")
    return measured


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, nargs="+", default=[100_000, 1_000_000])
    asked = parser.parse_args()
    print("| records | format | seconds | CPU seconds | peak memory |")
    print("|---:|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as scratch:
        for n_records in asked.records:
            for ending in ("csv", "parquet"):
                found = measure(Path(scratch), n_records, ending)
                print(
                    f"| {n_records:,} | {ending} | {found['seconds']:.1f} | "
                    f"{found['cpu_seconds']:.1f} | {found['peak_mb']:,.0f} MB |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
