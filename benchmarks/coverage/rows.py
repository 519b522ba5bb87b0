"""Rows kept in a JSON file after each table, so that a killed run goes on with what is missing."""

import json
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Key = tuple[str, int, str]


class Rows:
    """Rows of tables, in a file where there is one; those that are there are not made again.

    A table that failed has a row with an `error`: take it out of the file to try again.
    """

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.rows: list[Row] = []
        if file is not None and file.exists():
            self.rows = json.loads(file.read_text(encoding="utf-8"))

    def has(self, name: str, seed: int, checkout: str) -> bool:
        """Tell whether a table is there."""
        return (name, seed, checkout) in {_key(row) for row in self.rows}

    def add(self, row: Row) -> None:
        """Keep a row, and write the file anew."""
        self.rows.append(row)
        if self.file is None:
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        new = self.file.with_suffix(".part")
        new.write_text(json.dumps(self.rows, indent=1), encoding="utf-8")
        new.replace(self.file)


def _key(row: Row) -> Key:
    return row["name"], row["seed"], row["checkout"]
