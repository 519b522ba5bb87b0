"""Results as tables of a database: all of them in one transaction, or none.

Beside the results stands a table of the runs that were written, ``PREFIXruns``. It says which
tables are our own, with their columns; no other table is ever touched. Every row of a result has
the number of its run, so that runs can be kept side by side.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import polars as pl

from kolchin.databases.base import Database, Writable, quote_name
from kolchin.databases.opening import open_database
from kolchin.errors import DataError
from kolchin.options import option
from kolchin.records.faults_and_notes import list_some

RUN = "run"
RUNS = "runs"
RUN_COLUMNS = ("run", "written", "version", "input", "n_records", "n_entities", "tables")
LONGEST_PREFIX = 40

Columns = dict[str, str]
"""The columns of a table with their types, as SQL writes them."""


class OwnTable(NamedTuple):
    """A table to write: its name without the prefix, its rows, what is unique, what is looked up.

    ``key`` and ``lookups`` are places of columns, since names may be changed to fit the database.
    """

    name: str
    rows: pl.DataFrame
    key: tuple[int, ...]
    lookups: tuple[int, ...] = ()


class WriteReceipt(NamedTuple):
    """What was written: the number of the run, and how many rows each table has of it."""

    run: int
    n_rows: dict[str, int]


class _Ledger(NamedTuple):
    """What the table of runs says: the next run, and the columns of each table that is ours."""

    is_there: bool
    next_run: int
    own: dict[str, Columns]


def write_tables(
    target: Any,
    tables: Sequence[OwnTable],
    about: Mapping[str, Any],
    prefix: str = "kolchin_",
    append: bool = False,
) -> WriteReceipt:
    """Write tables, in place of those of earlier runs or beside them; all of it or nothing.

    ``about`` has the input's name, the numbers of records and entities, and the version.
    """
    if len(prefix.encode()) > LONGEST_PREFIX or "\0" in prefix:
        raise DataError(f"The prefix must be a text of at most {LONGEST_PREFIX} letters.")
    with open_database(target, write=True) as database:
        if not isinstance(database, Writable):
            raise DataError(
                "Results are written to SQLite, DuckDB and Postgres: give an address such as "
                "postgresql://host/db, or a connection of sqlite3, duckdb or ADBC."
            )
        try:
            database.begin()
            written = _write_all(database, tables, about, prefix, append)
            database.commit()
        except BaseException:
            _take_back(database)
            raise
    return written


def _take_back(database: Writable) -> None:
    try:
        database.rollback()
    except database.faults:
        return  # nothing was begun, or the server has gone and taken it back by itself


def _write_all(
    database: Writable,
    tables: Sequence[OwnTable],
    about: Mapping[str, Any],
    prefix: str,
    append: bool,
) -> WriteReceipt:
    ledger = _read_ledger(database, prefix)
    named = {prefix + table.name: _fit_table(table, ledger.next_run, database) for table in tables}
    columns = {name: _describe_columns(table.rows, database) for name, table in named.items()}
    _check_ours(database, ledger, list(named))
    if append:
        _check_same(ledger, columns)
    else:
        _clear(database, ledger, columns, prefix)
    for name, table in named.items():
        if name not in ledger.own or columns[name] != ledger.own[name]:
            _create(database, name, table, columns[name])
        database.insert(name, table.rows)
    kept = {**(ledger.own if append else {}), **columns}
    _note_run(database, ledger, prefix, about, kept)
    return WriteReceipt(ledger.next_run, {name: table.rows.height for name, table in named.items()})


def _read_ledger(database: Database, prefix: str) -> _Ledger:
    """Read the table of runs, if there is one."""
    name = prefix + RUNS
    known = {found.lower(): written for found, written in database.tables().items()}
    if name.lower() not in known:
        return _Ledger(False, 1, {})
    rows = database.select_all(known[name.lower()])
    if tuple(rows.columns) != RUN_COLUMNS:
        raise DataError(_describe_foreign(database, [name]))
    if not rows.height:
        return _Ledger(True, 1, {})
    last = rows.sort(RUN).row(-1, named=True)
    return _Ledger(True, int(last[RUN]) + 1, json.loads(last["tables"]))


def _check_ours(database: Database, ledger: _Ledger, names: Sequence[str]) -> None:
    known = {name.lower() for name in database.tables()}
    foreign = [name for name in names if name.lower() in known and name not in ledger.own]
    if foreign:
        raise DataError(_describe_foreign(database, foreign))


def _describe_foreign(database: Database, names: Sequence[str]) -> str:
    return (
        f"{database.where} has tables of these names that kolchin did not write, and leaves alone: "
        f"{list_some(names)}. Choose another prefix ({option('prefix')})."
    )


def _check_same(ledger: _Ledger, columns: Mapping[str, Columns]) -> None:
    """Refuse to add rows to tables that have other columns."""
    other = [name for name, own in columns.items() if ledger.own.get(name, own) != own]
    if other:
        raise DataError(
            f"These tables have other columns than this run, so that it cannot be appended: "
            f"{list_some(other)}. Replace them (without {option('append')}), or "
            "choose another prefix "
            f"({option('prefix')})."
        )


def _clear(
    database: Writable, ledger: _Ledger, columns: Mapping[str, Columns], prefix: str
) -> None:
    """Empty our tables; those that are of no use or have other columns go.

    What has the same columns is kept, with the views and grants that others made on it.
    """
    known = {name.lower() for name in database.tables()}
    for name, own in ledger.own.items():
        if name.lower() in known:
            same = columns.get(name) == own
            database.execute(f"{'DELETE FROM' if same else 'DROP TABLE'} {quote_name(name)}")
    if ledger.is_there:
        database.execute(f"DELETE FROM {quote_name(prefix + RUNS)}")


def _create(database: Writable, name: str, table: OwnTable, columns: Columns) -> None:
    listed = list(columns)
    parts = [f"{quote_name(column)} {kind}" for column, kind in columns.items()]
    for place in (0, *(1 + k for k in table.key)):
        parts[place] += " NOT NULL"
    key = ", ".join(quote_name(listed[place]) for place in (0, *(1 + k for k in table.key)))
    made = ", ".join([*parts, f"PRIMARY KEY ({key})"])
    database.execute(f"CREATE TABLE {quote_name(name)} ({made})")
    for place in table.lookups:
        column = listed[1 + place]
        index = quote_name(f"{name}_by_{column}"[: database.longest_name])
        database.execute(f"CREATE INDEX {index} ON {quote_name(name)} ({quote_name(column)})")


def _note_run(
    database: Writable,
    ledger: _Ledger,
    prefix: str,
    about: Mapping[str, Any],
    kept: Mapping[str, Columns],
) -> None:
    rows = pl.DataFrame(
        {
            "run": [ledger.next_run],
            "written": [datetime.now(UTC).replace(tzinfo=None)],
            **{name: [about[name]] for name in RUN_COLUMNS[2:6]},
            "tables": [json.dumps(kept)],
        },
        schema_overrides={"written": pl.Datetime("us")},
    )
    name = prefix + RUNS
    if not ledger.is_there:
        columns = _describe_columns(rows, database)
        _create(database, name, OwnTable(RUNS, rows, ()), columns)
    database.insert(name, rows)


def _fit_table(table: OwnTable, run: int, database: Writable) -> OwnTable:
    """Return a table with the number of the run, and with names that the database can hold."""
    numbers = pl.repeat(run, table.rows.height, dtype=pl.Int64, eager=True)
    names = fit_names([RUN, *table.rows.columns], database.longest_name)
    columns = [numbers, *map(_convert_usual, table.rows.iter_columns())]
    rows = pl.DataFrame([one.alias(name) for one, name in zip(columns, names, strict=True)])
    return table._replace(rows=rows)


def fit_names(names: Sequence[str], longest: int) -> list[str]:
    """Return names that differ in more than case, none of them too long.

    >>> fit_names(["run", "Run", "name", "a very long name"], 8)
    ['run', 'Run_2', 'name', 'a very l']
    """
    taken: set[str] = set()
    made = []
    for name in names:
        fitted, count = _shorten(name, longest), 1
        while fitted.lower() in taken or not fitted:
            count += 1
            fitted = _shorten(name, longest - len(f"_{count}")) + f"_{count}"
        taken.add(fitted.lower())
        made.append(fitted)
    return made


def _shorten(name: str, longest: int) -> str:
    """Return a name of at most so many bytes, without the letter that no database takes."""
    return name.replace("\0", "").encode()[:longest].decode("utf-8", "ignore")


def _convert_usual(column: pl.Series) -> pl.Series:
    """Return a column in one of the few types that tables are made of."""
    kind = column.dtype
    if kind.is_integer():
        return column.cast(pl.Int64)
    if kind.is_float():
        return column.cast(pl.Float64)
    if isinstance(kind, pl.Datetime):
        return column.cast(pl.Datetime("us"))
    return column if kind in (pl.Boolean, pl.Date) else column.cast(pl.String)


def _describe_columns(rows: pl.DataFrame, database: Writable) -> Columns:
    return {column.name: _choose_type(column.dtype, database) for column in rows.iter_columns()}


def _choose_type(kind: pl.DataType, database: Writable) -> str:
    if kind == pl.Boolean:
        return "BOOLEAN"
    if kind.is_integer():
        return "BIGINT"
    if kind.is_float():
        return database.float_type
    if kind == pl.Date:
        return "DATE"
    return "TIMESTAMP" if isinstance(kind, pl.Datetime) else "TEXT"
