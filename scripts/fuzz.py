"""Put strange files and frames through the reader and a short run: no traceback, codes as promised.

python scripts/fuzz.py 10000 --seed 1
python scripts/fuzz.py 4000 --seed 1 --first 6000   # after a stop: the rest of them

Files go through 'kolchin resolve' to the report, frames through kp.resolve. A fault is an exception
that is not told in words, an exit code other than 0, 2 (or 1 where time was up and that is said),
or a message longer than a screen; each is kept in --keep with what made it. The exit code is 1 if
there is any.
"""

import argparse
import gzip
import io
import json
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from typer.testing import CliRunner

import kolchin as kp
from kolchin.cli import app

Rng = np.random.Generator
SHORT = ["--draws", "2", "--chains", "1", "--seed", "1", "--time-limit", "20s", "--overwrite"]
SCREEN = 60
TOLD_EVERY = 50
NAMES = ["id", "name", "dob", "city", "constructor", "__proto__", "ent_id", "source", " ", "é", "%"]
CELLS = [
    *("Ann", "anne", "ANN ", "Zoë", "O'Neill", "van der Berg", "", "NA", "null", "Nan", "-", "?"),
    *("1970-01-02", "02.01.1970", "19700102", "1/2/70", "1650-12-31", "0000-00-00", "2001-02-30"),
    *("0", "007", "-1", "1e400", "3.14", "NaN", "inf", "99999999999999999999", "1,5"),
    *("a@b.c", "@", "+41 44 123 45 67", "=HYPERLINK(1)", "<b>x</b>", "\u202eabc", "\x00", "😀" * 3),
    *(
        "Sony 5 Disc CD Player - CDPCE375",
        "the quick brown fox " * 20,
        '"',
        "a,b",
        "x\ny",
        "\ufeff",
    ),
]


def cell(rng: Rng) -> str:
    """Return a value that people, programs or attackers have written."""
    if rng.random() < 0.8:
        return CELLS[rng.integers(len(CELLS))]
    size = rng.integers(0, 12)
    return "".join(chr(code) for code in rng.integers(1, 0x3000, size))


def columns(rng: Rng) -> dict[str, list[str]]:
    """Return a small table; half of its columns repeat a few values."""
    n_rows, n_columns = int(rng.integers(0, 40)), int(rng.integers(1, 8))
    names = [NAMES[k] for k in rng.choice(len(NAMES), n_columns, replace=False)]
    table = {}
    for name in names:
        few = [cell(rng) for _ in range(rng.integers(1, 6))]
        repeats = rng.random() < 0.5
        table[name] = [few[rng.integers(len(few))] if repeats else cell(rng) for _ in range(n_rows)]
    return table


def text_file(rng: Rng) -> tuple[str, bytes]:
    """Return a delimited file, mostly well formed."""
    separator = ",;\t|"[rng.integers(4)]
    frame = pl.DataFrame(columns(rng))
    quote = "always" if rng.random() < 0.5 else "necessary"
    text = frame.write_csv(separator=separator, quote_style=quote)
    encoding = ("utf-8", "utf-16", "cp1252", "utf-8-sig")[rng.integers(4)]
    data = text.encode(encoding, errors="replace")
    return ".csv", data


def lines_file(rng: Rng) -> tuple[str, bytes]:
    """Return a JSON file, lines or an array, some with structures in it."""
    rows: list[Any] = [
        dict(zip(NAMES, (cell(rng) for _ in range(rng.integers(0, 5))), strict=False))
        for _ in range(rng.integers(0, 20))
    ]
    if rng.random() < 0.2:
        rows.append([1, {"a": None}])
    if rng.random() < 0.5:
        return ".json", json.dumps(rows).encode()
    return ".jsonl", "\n".join(map(json.dumps, rows)).encode()


def binary_file(rng: Rng) -> tuple[str, bytes]:
    """Return a Parquet, Arrow or packed file."""
    frame, written = pl.DataFrame(columns(rng)), io.BytesIO()
    kind = rng.integers(3)
    if kind == 0:
        frame.write_parquet(written)
        return ".parquet", written.getvalue()
    if kind == 1:
        frame.write_ipc(written)
        return ".arrow", written.getvalue()
    return ".csv.gz", gzip.compress(frame.write_csv().encode())


def noise_file(rng: Rng) -> tuple[str, bytes]:
    """Return bytes that mean nothing, under any name."""
    suffix = (".csv", ".tsv", ".json", ".parquet", ".csv.gz", ".xlsx")[rng.integers(6)]
    return suffix, rng.bytes(int(rng.integers(0, 300)))


def damaged_file(rng: Rng) -> tuple[str, bytes]:
    """Return a file with some bytes changed, left out or doubled."""
    suffix, data = (text_file, lines_file, binary_file)[rng.integers(3)](rng)
    array = bytearray(data)
    for _ in range(rng.integers(1, 6)):
        if array:
            place = int(rng.integers(len(array)))
            array[place : place + int(rng.integers(0, 3))] = rng.bytes(int(rng.integers(0, 4)))
    return suffix, bytes(array)


FILES: list[Callable[[Rng], tuple[str, bytes]]] = [
    text_file,
    text_file,
    lines_file,
    binary_file,
    noise_file,
    damaged_file,
]


def frame(rng: Rng) -> Any:
    """Return a frame, a dictionary or rows, with numbers and dates among the columns."""
    table: dict[str, Any] = dict(columns(rng))
    n_rows = len(next(iter(table.values())))
    table["number"] = rng.normal(size=n_rows) * 10.0 ** rng.integers(-5, 300)
    table["whole"] = rng.integers(-5, 5, n_rows)
    kind = rng.integers(4)
    if kind == 0:
        return pl.DataFrame(table)
    if kind == 1:
        return pl.DataFrame(table).to_dict(as_series=False)
    if kind == 2:
        return pl.DataFrame(table).to_dicts()
    return pl.DataFrame(table).with_columns(day=pl.lit("2001-01-01").str.to_date()).to_arrow()


def try_file(rng: Rng, folder: Path) -> str:
    """Resolve a strange file on the command line; return what became of it."""
    suffix, data = FILES[rng.integers(len(FILES))](rng)
    path = folder / f"table{suffix}"
    path.write_bytes(data)
    done = CliRunner().invoke(app, ["resolve", str(path), *SHORT, "--out", str(folder / "run")])
    path.unlink()
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    if done.exit_code not in (0, 2) and not (done.exit_code == 1 and "provisional" in done.stderr):
        raise AssertionError(f"exit code {done.exit_code}: {done.stderr}")
    if done.exit_code == 2 and done.stderr.count("\n") > SCREEN:
        raise AssertionError(f"more than a screen: {done.stderr}")
    if done.exit_code != 2 and not (folder / "run" / "report.html").exists():
        raise AssertionError(f"no report: {done.stderr}")
    return ("file resolved", "file cut short", "file refused in words")[done.exit_code]


def try_frame(rng: Rng) -> str:
    """Resolve a strange frame in Python; return what became of it."""
    try:
        result = kp.resolve(frame(rng), draws=2, chains=1, seed=1, progress=False)
    except kp.KolchinError:
        return "frame refused in words"
    result.page()
    return "frame resolved"


def settled(seed: int, k: int, scratch: Path, keep: Path) -> str:
    """Try the k-th file or frame of a seed; keep the traceback of a fault."""
    rng = np.random.default_rng([seed, k])
    try:
        return try_frame(rng) if k % 4 == 3 else try_file(rng, scratch)
    except Exception:
        keep.mkdir(exist_ok=True)
        (keep / f"{seed}-{k}.txt").write_text(traceback.format_exc())
        return "FAULT"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("n", type=int, nargs="?", default=10_000)
    parser.add_argument("--first", type=int, default=0, help="go on from here")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("fuzz_faults"))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    found: Counter[str] = Counter()
    began = time.monotonic()
    try:
        with tempfile.TemporaryDirectory() as scratch:
            for k in range(asked.first, asked.first + asked.n):
                found[settled(asked.seed, k, Path(scratch), asked.keep)] += 1
                if found.total() % TOLD_EVERY == 0:
                    print(f"{k + 1:,}: {dict(found)}", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("Stopped.")
    print("\n".join(f"{count:7,} {what}" for what, count in sorted(found.items())))
    print(f"{found.total():,} in {time.monotonic() - began:.0f} s, seed {asked.seed}")
    return int(found["FAULT"] > 0)


if __name__ == "__main__":
    sys.exit(main())
