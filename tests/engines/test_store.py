"""A store gives back what was put into it, and never half of it."""

import numpy as np
import pytest

from kolchin.store import ALIGNMENT, DirectoryStore


@pytest.fixture
def store(tmp_path):
    return DirectoryStore(tmp_path)


def test_objects_come_back(store):
    value = {"a": np.arange(5), "b": (np.eye(3, order="F"), "text"), "c": np.empty((0, 2))}
    store.put("one", value)
    back = store.get("one")
    assert np.array_equal(back["a"], value["a"])
    assert np.array_equal(back["b"][0], np.eye(3))
    assert back["b"][1] == "text"
    assert back["c"].shape == (0, 2)


def test_arrays_are_mapped_aligned_and_as_writable_as_they_were(store):
    kept = np.arange(7)
    kept.setflags(write=False)
    store.put("one", [np.arange(3, dtype=np.int8), np.arange(1000.0), kept])
    _, numbers, fixed = store.get("one")
    assert not numbers.flags.owndata
    assert numbers.ctypes.data % ALIGNMENT == 0
    assert numbers.flags.writeable
    assert not fixed.flags.writeable
    numbers[0] = 9
    assert store.get("one")[1][0] == 0


def test_a_failed_write_leaves_nothing(store, tmp_path):
    store.put("one", 1)
    with pytest.raises(TypeError, match="pickle"):
        store.put("one", (np.arange(3), (n for n in range(3))))
    assert store.get("one") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


def test_deleting(store):
    store.put("one", np.arange(4))
    held = store.get("one")
    store.delete("one", "never there")
    assert held.sum() == 6
    with pytest.raises(FileNotFoundError):
        store.get("one")


def test_a_mapped_file_that_the_system_keeps_is_no_fault(store, monkeypatch, tmp_path):
    """As on Windows: it goes with the store."""
    store.put("one", np.arange(4))
    store.put("two", np.arange(4))
    unlink = type(tmp_path).unlink

    def keeps_one(path, missing_ok=False):
        if path.name == "one":
            raise PermissionError(13, "in use")
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(type(tmp_path), "unlink", keeps_one)
    store.delete("one", "two")
    assert [path.name for path in tmp_path.iterdir()] == ["one"]
