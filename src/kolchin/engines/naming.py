"""Engines by name, as users give them, and of clients that they have already."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kolchin import threads
from kolchin.engines.base import Engine, is_of
from kolchin.errors import ModelError

FORMS = (
    "'pool' or 'pool:4' (processes of this machine), 'dask://host:port', "
    "'spark' (a local session), 'spark://host:port', 'sc://host:port' (Spark Connect), "
    "a Dask client or a Spark session"
)


@contextmanager
def open_engine(given: Any) -> Iterator[Engine | None]:
    """Give the engine that a user asks for; what is started for it ends with it."""
    engine = None if given is None else choose_engine(given)
    try:
        yield engine
    finally:
        if engine is not None and engine is not given:
            engine.close()


def choose_engine(given: Any) -> Engine:
    """Return the engine that a user asks for."""
    if isinstance(given, str):
        return _make_engine(given)
    if is_of(given, "distributed", "Client"):
        from kolchin.engines.dask import Dask

        return Dask(given)
    if is_of(given, "pyspark", "SparkSession"):
        from kolchin.engines.spark import wrap_spark

        return wrap_spark(given)
    if all(hasattr(given, name) for name in ("run", "n_workers", "close")):
        engine: Engine = given
        return engine
    raise _describe_unknown(given)


def _make_engine(text: str) -> Engine:
    kind, _, rest = text.partition(":")
    if kind == "pool":
        from kolchin.engines.pool import start_pool

        if rest and not (rest.isdigit() and int(rest)):
            raise _describe_unknown(text)
        return start_pool(int(rest) if rest else threads.count_cores())
    if kind == "dask" and rest.startswith("//"):
        from kolchin.engines.dask import connect

        return connect(f"tcp:{rest}")
    if text == "spark" or kind in ("spark", "sc", "local", "yarn") or text.startswith("local["):
        from kolchin.engines.spark import start_session

        return start_session(f"local[{threads.count_cores()}]" if text == "spark" else text)
    raise _describe_unknown(text)


def _describe_unknown(given: Any) -> ModelError:
    return ModelError(f"The 'engine' parameter must be {FORMS}. Got {given!r} instead.")
