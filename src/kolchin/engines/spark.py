"""A Spark session, by its DataFrame API alone, so that Spark Connect works too.

A job has a row and a partition for each item. Spark does a task again that failed or was lost.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from kolchin.engines.base import describe_missing
from kolchin.errors import MissingExtraError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

Item = TypeVar("Item")
Result = TypeVar("Result")


class Spark:
    """The workers of a session; a session of one's ``own`` is stopped with the engine."""

    def __init__(self, session: "SparkSession", n_workers: int, own: bool = False) -> None:
        self.session = session
        self.own = own
        self._n_workers = n_workers

    @property
    def n_workers(self) -> int:
        """How many items are worked on at the same time."""
        return self._n_workers

    def run(self, task: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Return the result for each item, in order."""
        n_items = len(items)
        called = _NumberedCalls([pickle.dumps((task, item)) for item in items])
        frame = self.session.range(0, n_items, 1, n_items)
        rows = frame.mapInArrow(called, "id long, result binary").collect()
        return [pickle.loads(row.result) for row in sorted(rows, key=lambda row: row.id)]

    def close(self) -> None:
        """Stop the session, if it is the engine's own."""
        if self.own:
            self.session.stop()


class _NumberedCalls:
    """Calls that rows ask for by number."""

    def __init__(self, calls: list[bytes]) -> None:
        self.calls = calls

    def __call__(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        import pyarrow

        for batch in batches:
            numbers = batch.column(0).to_pylist()
            results = []
            for number in numbers:
                task, item = pickle.loads(self.calls[number])
                results.append(pickle.dumps(task(item)))
            arrays = pyarrow.array(numbers, "int64"), pyarrow.array(results, "binary")
            yield pyarrow.RecordBatch.from_arrays(list(arrays), ["id", "result"])


def wrap_spark(session: Any, own: bool = False) -> Spark:
    """Return an engine of a session, with as many workers as it runs tasks at once."""
    text = session.conf.get("spark.default.parallelism", "") or ""
    if text.isdigit():
        return Spark(session, int(text), own)
    # As many partitions as Spark itself makes of a range are as many tasks as it has room for.
    partitions = session.range(1_000_000).selectExpr("spark_partition_id() as part").distinct()
    return Spark(session, partitions.count(), own)


def start_session(master: str) -> Spark:
    """Start a session, or connect to one: ``sc://host:port`` is Spark Connect."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingExtraError(describe_missing("spark", "PySpark")) from error
    builder = SparkSession.builder.appName("kolchin")
    chosen = builder.remote(master) if master.startswith("sc://") else builder.master(master)
    return wrap_spark(chosen.getOrCreate(), own=True)
