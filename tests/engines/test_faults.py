"""Workers and drivers that are killed: nothing is lost, and nobody stays behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sharding import (
    Inline,
    Killing,
    children,
    drawn_at,
    end_oneself,
    gone,
    is_alive,
    one_over,
    own_number,
)

import kolchin as kp
from kolchin.engines import base, choose_engine, open_engine
from kolchin.engines.pool import start_pool
from kolchin.errors import SamplerError
from kolchin.simulation.people import simulate_people
from kolchin.workplace import Workplace

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="kills processes as POSIX does"),
    # Sockets to workers that were killed.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

ENGINES = ["pool", "dask"]
SETTINGS = {"chains": 2, "draws": 40, "seed": 3, "time_limit": None, "progress": False}
COLUMNS = {"id": "rec_id", "truth": "ent_id"}


@pytest.fixture
def engine(request):
    """An engine of two worker processes, by name; the pool's are gone when it is closed."""
    if request.param == "dask":
        yield choose_engine(request.getfixturevalue("dask_client"))
        return
    engine = start_pool(2)
    engine.run(abs, [1, 2])
    yield engine
    workers = list(engine._executor._processes)
    assert len(workers) == 2
    engine.close()
    assert gone(workers)


@pytest.fixture(scope="module")
def dask_client():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with (
        distributed.LocalCluster(**options, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
@pytest.mark.parametrize("moment", ["reading", "writing"])
def test_a_killed_worker_loses_nothing(model, sharded, engine, moment, tmp_path):
    store, marker = tmp_path / "store", tmp_path / "killed"
    store.mkdir()
    place = Workplace(engine, Killing(store, marker, moment, os.getpid()))
    assert drawn_at(model, place) == drawn_at(model, Workplace(Inline(), Killing(store)))
    assert not is_alive(int(marker.read_text()))


def test_a_task_that_always_kills_its_worker_ends_the_run():
    engine = start_pool(1)
    try:
        with pytest.raises(SamplerError, match="lost 6 times in a row"):
            engine.run(end_oneself, [0])
    finally:
        engine.close()
    assert base.MOST_LOSSES == 5


def test_workers_leave_an_interruption_to_the_driver():
    engine = start_pool(1)
    try:
        (worker,) = engine.run(own_number, [0])
        os.kill(worker, signal.SIGINT)
        time.sleep(0.2)
        assert engine.run(own_number, [0]) == [worker]
    finally:
        engine.close()


def test_a_fault_in_a_task_is_raised():
    engine = start_pool(1)
    try:
        with pytest.raises(ZeroDivisionError):
            engine.run(one_over, [1, 0])
        assert engine.run(one_over, [1, 2]) == [1.0, 0.5]
    finally:
        engine.close()


def test_a_cluster_by_its_address_is_left_as_it_was(dask_client):
    address = dask_client.scheduler.address.replace("tcp:", "dask:")
    with open_engine(address) as engine:
        assert engine.n_workers == 2
        assert engine.run(abs, [-1, 2, -3]) == [1, 2, 3]
    assert engine.client.status == "closed"
    assert dask_client.submit(abs, -4).result() == 4


SCRIPT = """
import sys
from kolchin.sampling import layout
from kolchin.resolution.running import directory
import kolchin as kp

layout.SMALLEST_SHARDED, layout.RECORDS_A_BLOCK, layout.MOST_CUT = 50, 60, 1.0
directory.SECONDS_BETWEEN = 0.0
if __name__ == "__main__":
    kp.resolve(sys.argv[1], out=sys.argv[2], engine=sys.argv[3], chains=2, draws=40, seed=3,
        time_limit=None, id="rec_id", truth="ent_id")
"""


@pytest.mark.parametrize("engine", ["dask"], indirect=True)
def test_a_killed_driver_is_resumed_on_another_engine(engine, sharded, tmp_path, monkeypatch):
    from kolchin.sampling import layout

    monkeypatch.setattr(layout, "RECORDS_A_BLOCK", 60)
    table = tmp_path / "people.csv"
    simulate_people(600, seed=4).write_csv(table)
    whole = kp.resolve(table, **COLUMNS, **SETTINGS, out=tmp_path / "whole")
    script, out = tmp_path / "driver.py", tmp_path / "killed"
    script.write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    driver = subprocess.Popen([sys.executable, script, table, out, "pool:2"], env=environment)
    left = killed_midway(driver, out / "posterior" / "state.npz")
    assert len(left) >= 2  # two workers at least
    assert gone(left)
    assert not (out / "summary.json").exists()
    result = kp.resume(out, engine=engine, time_limit=None, progress=False)
    assert result.posterior.chains[0].n_draws == 40
    for name in ("links.csv", "entities.csv"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    for one, two in zip(whole.posterior.chains, result.posterior.chains, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    assert not list((out / "posterior").glob("store-*"))


def killed_midway(driver: subprocess.Popen[bytes], state: Path) -> list[int]:
    """Kill a driver that has saved draws and is at work; return the processes it had started."""
    until = time.monotonic() + 300
    while not draws_in(state):
        assert driver.poll() is None, "the driver ended by itself"
        assert time.monotonic() < until
        time.sleep(0.02)
    left = children(driver.pid)
    driver.kill()
    assert driver.wait() == -signal.SIGKILL
    return left


def draws_in(state: Path) -> int:
    import json

    if not state.exists():
        return 0
    with np.load(state) as arrays:
        return int(json.loads(bytes(arrays["header"]))["kept"])
