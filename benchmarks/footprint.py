"""Import time, first call, later processes, and memory at a million records.

python benchmarks/footprint.py [--records 1000000]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

FIRST_CALL = """
import time, numpy as np
start = time.perf_counter()
import kolchin as kp
codes = np.random.default_rng(1).integers(0, 4, (60, 3))
kp.sample(kp.Model(kp.Records.from_codes(codes)), draws=20, warmup=50, seed=1, progress=False)
print(time.perf_counter() - start)
"""

IMPORT = "import time; s = time.perf_counter(); import kolchin; print(time.perf_counter() - s)"

MILLION = """
import resource, sys, time
import numpy as np
import kolchin as kp

n_records = int(sys.argv[1])
rng = np.random.default_rng(1)
entity = np.arange(n_records)
entity[: n_records // 2] = np.repeat(np.arange(n_records // 4), 2)[: n_records // 2]
values = rng.integers(0, 50, (n_records, 9), dtype=np.int32)[entity]
wrong = rng.random(values.shape, dtype=np.float32) < 0.05
values[wrong] = rng.integers(0, 50, int(wrong.sum()))
del wrong
records = kp.Records.from_codes(values)
del values
model = kp.Model(records)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
start = time.perf_counter()
posterior = kp.sample(model, chains=2, draws=5, warmup=40, seed=1, progress=False)
seconds = time.perf_counter() - start
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(before, after, seconds, posterior.settings["moves"][0])
print(posterior.statistics["n_clusters"].mean())
"""


def run(code, *arguments, **environment):
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return [float(word) for word in done.stdout.split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    n_records = parser.parse_args().records
    print("| what | measured |\n|---|---:|")
    print(f"| import kolchin | {min(run(IMPORT)[0] for _ in range(3)):.2f} s |")
    with tempfile.TemporaryDirectory() as cache:
        first = run(FIRST_CALL, NUMBA_CACHE_DIR=cache)[0]
        later = min(run(FIRST_CALL, NUMBA_CACHE_DIR=cache)[0] for _ in range(3))
    print(f"| first model and sample, nothing compiled yet | {first:.1f} s |")
    print(f"| the same in later processes | {later:.2f} s |")
    start = time.perf_counter()
    before, after, seconds, moves, n_clusters = run(MILLION, str(n_records))
    print(f"| {n_records:,} records, 9 fields: peak memory before sampling | {before:,.0f} MB |")
    print(f"| ... peak memory while sampling, 2 chains on 2 cores | {after:,.0f} MB |")
    print(f"| ... 2 x (40 + 20) steps of {moves:,.0f} moves | {seconds:,.0f} s |")
    print(f"| ... clusters found (of {n_records - n_records // 4:,}) | {n_clusters:,.0f} |")
    print(f"| ... whole process | {time.perf_counter() - start:,.0f} s |")


if __name__ == "__main__":
    main()
