"""Arguments and options that several commands take."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class SimulatedSet(StrEnum):
    """The tables that can be simulated."""

    ITALY = "italy"
    NLTCS5000 = "nltcs5000"
    SYRIA2000 = "syria2000"
    SYRIASIZES = "syriasizes"
    PEOPLE = "people"


class PaperResult(StrEnum):
    """The parts of the paper that can be reproduced."""

    TABLE1 = "table1"
    FIGURE1 = "figure1"
    FIGURE2 = "figure2"


class PriorName(StrEnum):
    """The priors over partitions, with their default parameters."""

    NBD = "nbd"
    NBNB = "nbnb"
    DP = "dp"
    PYP = "pyp"
    ESCNB = "escnb"
    ESCD = "escd"


class LikelihoodName(StrEnum):
    """How records of one entity resemble each other."""

    COMPARED = "compared"
    CATEGORICAL = "categorical"


Tables = Annotated[
    list[str],
    typer.Argument(
        help="The table: one file, folder or database (sqlite:///FILE, duckdb:///FILE, "
        "postgresql://HOST/DB), or several files to link.",
        metavar="TABLE",
    ),
]
TableName = Annotated[str | None, typer.Option("--table", help="The table of a database.")]
Query = Annotated[str | None, typer.Option(help="A SELECT that a database answers.")]
TimeLimit = Annotated[
    str,
    typer.Option(
        help="Time for sampling, such as 90s, 10m or 2h, or none; by default 10 minutes, or 10 for "
        "each million records.",
        metavar="TIME",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing unless something is wrong.")]
Cores = Annotated[int | None, typer.Option(min=1, help="Cores to use; all by default.")]
EngineName = Annotated[
    str | None,
    typer.Option(
        help="Where to sample: pool, pool:4, dask://host:port, spark, spark://host:port or "
        "sc://host:port; threads by default."
    ),
]
StorePath = Annotated[
    Path | None,
    typer.Option(help="A directory that all workers of an engine see; in the run by default."),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        help="A value, whatever its case, that stands for none, in place of NA, null and the like; "
        "as often as needed.",
        metavar="VALUE",
    ),
]
Renamed = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        help="Another name for a column of a file, or a .toml file of them; as often as needed.",
        metavar="FILE:COLUMN=NAME",
    ),
]
Directory = Annotated[Path, typer.Argument(help="The directory of a run.", metavar="DIR")]
