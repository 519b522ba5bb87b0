"""Engines by name; what is not there is told before any work begins."""

import builtins
import gc
import socket

import pytest

import kolchin as kp
from kolchin import threads
from kolchin.engines import choose_engine, open_engine
from kolchin.errors import MissingExtraError, ModelError


@pytest.mark.parametrize(("name", "n_workers"), [("pool:3", 3), ("pool", threads.count_cores())])
def test_pools(name, n_workers):
    assert choose_engine(name).n_workers == n_workers


@pytest.mark.parametrize("name", ["", "pools", "pool:0", "pool:x", "dask", "dask:1", 7])
def test_what_is_no_engine(name):
    with pytest.raises(ModelError, match="'pool' or 'pool:4'"):
        choose_engine(name)


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [("dask://host:1", "distributed", "dask"), ("spark", "pyspark", "spark")],
)
def test_a_missing_package_is_named(name, package, extra, monkeypatch):
    real = builtins.__import__

    def without(module, *others):
        if module.split(".")[0] == package:
            raise ImportError(module)
        return real(module, *others)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=rf"pip install 'kolchin\[{extra}\]'"):
        choose_engine(name)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_cluster_that_does_not_answer(monkeypatch):
    pytest.importorskip("distributed")
    from kolchin.engines import dask

    monkeypatch.setattr(dask, "SECONDS_TO_CONNECT", 0.5)
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    with pytest.raises(ModelError, match="No Dask cluster answers"):
        choose_engine(f"dask://127.0.0.1:{port}")
    gc.collect()  # of sockets that Dask leaves open, which another test would be blamed for


def test_the_engine_is_looked_at_first(tmp_path):
    with pytest.raises(ModelError, match="'engine'"):
        kp.resolve(tmp_path / "no such table.csv", engine="cluster")


def test_an_engine_of_ones_own_stays_open(inline):
    closed = []
    inline.close = lambda: closed.append(True)
    with open_engine(inline) as engine:
        assert engine is inline
    assert not closed
    with open_engine(None) as none:
        assert none is None


def test_small_tables_do_without_workers(model, inline):
    """They are one block, which moves as ever."""
    inline.run = None
    assert kp.sample(model, chains=1, draws=2, seed=1, engine=inline, progress=False).n_draws == 2
