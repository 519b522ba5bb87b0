"""Pairs of values compared a second by kind, and candidates and comparisons of people by size.

python benchmarks/comparing.py [--pairs 1000000] [--records 10000 100000]
"""

import argparse
import resource
import time

import numpy as np
import polars as pl

import kolchin as kp
from kolchin.comparison import compare
from kolchin.comparison.kinds.preparing import prepare
from kolchin.comparison.levels.pair_levels import compare_codes

SYLLABLES = np.array([a + b for a in "bcdfghklmnprstvw" for b in "aeiou"], dtype=object)


def words(rng, n, low=2, high=4):
    lengths = rng.integers(low, high + 1, n)
    parts = SYLLABLES[rng.integers(0, SYLLABLES.size, (n, high))]
    return np.array(["".join(row[:k]) for row, k in zip(parts, lengths, strict=True)], object)


def vocabularies(rng, n):
    days = (np.datetime64("1930-01-01") + rng.integers(0, 25_000, n)).astype(str)
    digits = rng.integers(10**8, 10**9, n).astype(str)
    first, last = words(rng, n), words(rng, n)
    return {
        kp.Text: last,
        kp.Name: first + " " + last,
        kp.Date: days,
        kp.Number: rng.integers(1, 10**6, n).astype(str),
        kp.Email: first + "." + last + "@example.org",
        kp.Phone: digits,
        kp.Code: np.array([text[:5] for text in digits]),
    }


def speeds(n_pairs):
    rng = np.random.default_rng(1)
    print("kind      pairs/s, drawn at random    pairs/s, each four times")
    for kind, values in vocabularies(rng, 20_000).items():
        prepared = prepare(kind("x"), np.arange(values.size, dtype=np.int32), values.tolist())
        left, right = rng.integers(0, prepared.forms.len(), (2, n_pairs), dtype=np.int32)
        compare_codes(prepared.comparing, left[:1000], right[:1000])
        start = time.perf_counter()
        compare_codes(prepared.comparing, left, right)
        middle = time.perf_counter()
        compare_codes(prepared.comparing, np.tile(left, 4), np.tile(right, 4))
        end = time.perf_counter()
        once, again = n_pairs / (middle - start), 4 * n_pairs / (end - middle)
        print(f"{kind.__name__:8}  {once:24,.0f}  {again:26,.0f}")


def mistyped(rng, values, share):
    result = values.copy()
    for k in np.flatnonzero(rng.random(values.size) < share):
        place = rng.integers(len(result[k]))
        letter = chr(97 + rng.integers(26))
        result[k] = result[k][:place] + letter + result[k][place + 1 :]
    return result


def people(n_records):
    rng = np.random.default_rng(1)
    n = int(0.8 * n_records)
    entity = rng.integers(0, n, n_records)

    def drawn(n_values):
        weights = 1 / np.arange(1, n_values + 1) ** 0.9
        return words(rng, n_values)[rng.choice(n_values, n, p=weights / weights.sum())]

    born = (np.datetime64("1930-01-01") + rng.integers(0, 25_000, n)).astype(str).astype(object)
    columns = {"first": drawn(3_000), "last": drawn(30_000), "city": drawn(2_000)}
    table = {name: mistyped(rng, column[entity], 0.1) for name, column in columns.items()}
    written = born[entity]
    for k in np.flatnonzero(rng.random(n_records) < 0.1):
        place = rng.choice([3, 6, 9])
        written[k] = written[k][:place] + str(rng.integers(10)) + written[k][place + 1 :]
    return entity, pl.DataFrame({**table, "born": written})


def whole(n_records):
    entity, table = people(n_records)
    fields = [kp.Text("first"), kp.Text("last"), kp.Text("city"), kp.Date("born")]
    records = kp.Records.from_table(table, fields)
    start = time.perf_counter()
    compared = compare(records)
    seconds = time.perf_counter() - start
    sizes = np.bincount(entity)
    found = np.count_nonzero(entity[compared.pairs[:, 0]] == entity[compared.pairs[:, 1]])
    recall = found / (sizes * (sizes - 1) // 2).sum()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{n_records:9,} records: {seconds:6.1f} s, {compared.report.pairs_a_record:5.1f} pairs a "
        f"record, recall {recall:.4f} (estimate {1 - compared.report.missed:.4f}), "
        f"peak {memory:.1f} GB"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--records", type=int, nargs="*", default=[10_000, 100_000])
    given = parser.parse_args()
    speeds(given.pairs)
    for n_records in given.records:
        whole(n_records)


if __name__ == "__main__":
    main()
