"""The same draws on Spark, with a worker killed on the way."""

import os
import shutil
import sys

import pytest
from sharding import Inline, Killing, double, drawn_at, is_alive

from kolchin.engines import choose_engine
from kolchin.workplace import Workplace

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.skipif(shutil.which("java") is None, reason="needs Java 17"),
]

MASTER = "local[2,4]"


@pytest.fixture(scope="module")
def spark():
    """A session of two workers in which a task may fail four times."""
    sql = pytest.importorskip("pyspark.sql")
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)  # for its workers
    session = (
        sql.SparkSession.builder.master(MASTER)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    yield choose_engine(session)
    session.stop()


def test_results_come_in_order(spark):
    assert spark.n_workers == 2
    assert spark.run(double, [3, 1, 2]) == [6, 2, 4]


@pytest.mark.parametrize("moment", ["", "reading", "writing"])
def test_the_draws_are_the_same(model, sharded, spark, moment, tmp_path):
    store, marker = tmp_path / "store", tmp_path / "killed"
    store.mkdir()
    place = Workplace(spark, Killing(store, marker, moment, os.getpid()))
    assert drawn_at(model, place) == drawn_at(model, Workplace(Inline(), Killing(store)))
    if moment:
        assert not is_alive(int(marker.read_text()))
