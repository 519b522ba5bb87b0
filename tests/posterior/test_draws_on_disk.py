"""Draws on disk."""

import json
import zipfile

import numpy as np
import pytest

from kolchin.errors import DataError
from kolchin.posterior import Posterior


def assert_same(one, two):
    assert one.n_records == two.n_records
    assert one.settings == two.settings
    assert one.log_joint.tobytes() == two.log_joint.tobytes()
    assert list(one.parameters) == list(two.parameters)
    for name, values in one.parameters.items():
        assert values.shape == two.parameters[name].shape
        assert values.tobytes() == two.parameters[name].tobytes()
    for chain, other in zip(one.chains, two.chains, strict=True):
        assert chain.n_draws == other.n_draws
        for array, same in zip(chain[:4], other[:4], strict=True):
            assert array.dtype == same.dtype
            assert array.tobytes() == same.tobytes()


def test_round_trip_to_the_bit(posterior, tmp_path):
    posterior.log_joint[0, :2] = [np.nan, -np.inf]
    posterior.save(tmp_path / "draws.npz")
    assert_same(Posterior.load(tmp_path / "draws.npz"), posterior)
    assert [path.name for path in tmp_path.iterdir()] == ["draws.npz"]


def test_the_file_gets_the_very_name_that_was_given(posterior, tmp_path):
    posterior.save(str(tmp_path / "draws"))
    assert_same(Posterior.load(str(tmp_path / "draws")), posterior)


def test_without_draws(tmp_path):
    empty = Posterior.from_draws(3, [[], []], {"a": [1, None]})
    empty.save(tmp_path / "empty.npz")
    assert_same(Posterior.load(tmp_path / "empty.npz"), empty)


def test_a_failed_save_leaves_the_old_file(posterior, tmp_path, monkeypatch):
    path = tmp_path / "draws.npz"
    posterior.save(path)

    def fail(file, array, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(np.lib.format, "write_array", fail)
        with pytest.raises(KeyboardInterrupt):
            posterior.thin(2).save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["draws.npz"]
    assert_same(Posterior.load(path), posterior)
    posterior.thin(2).save(path)
    assert_same(Posterior.load(path), posterior.thin(2))


def test_a_folder_holds_parts_in_order(posterior, tmp_path):
    first, second, third = posterior, posterior.thin(2), posterior.thin(5)
    for part in (first, second, third):
        part.append(tmp_path / "posterior")
    names = sorted(path.name for path in (tmp_path / "posterior").iterdir())
    assert names == ["draws-00000.npz", "draws-00001.npz", "draws-00002.npz"]
    whole = first.join(second).join(third)
    assert_same(Posterior.load(tmp_path / "posterior"), whole)
    (tmp_path / "posterior" / "draws-00001.npz").unlink()
    with pytest.raises(DataError, match=r"must begin at draw 6. Got 9 instead"):
        Posterior.load(tmp_path / "posterior")
    added = first.append(tmp_path / "posterior")
    assert added.name == "draws-00003.npz"


def test_an_empty_folder_is_told(tmp_path):
    with pytest.raises(DataError, match="must hold files of draws"):
        Posterior.load(tmp_path)


def test_unreadable_files_are_told(posterior, tmp_path):
    with pytest.raises(DataError, match="no file of draws"):
        Posterior.load(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("record,entity\n")
    with pytest.raises(DataError, match="must be a file of draws"):
        Posterior.load(tmp_path / "text.npz")
    posterior.save(tmp_path / "draws.npz")
    whole = (tmp_path / "draws.npz").read_bytes()
    (tmp_path / "half.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="must be a file of draws"):
        Posterior.load(tmp_path / "half.npz")
    with zipfile.ZipFile(tmp_path / "draws.npz") as archive:
        place = archive.getinfo("log_joint.npy").header_offset + 80
    damaged = whole[:place] + b"damaged" + whole[place + 7 :]
    (tmp_path / "damaged.npz").write_bytes(damaged)
    with pytest.raises(DataError, match="damaged"):
        Posterior.load(tmp_path / "damaged.npz")


@pytest.mark.parametrize("header", [{"format": 1}, {"format": 99}, None])
def test_other_formats_are_refused(tmp_path, header):
    arrays = {} if header is None else {"header": np.frombuffer(json.dumps(header).encode(), "u1")}
    np.savez(tmp_path / "other.npz", log_joint=np.zeros(3), **arrays)
    with pytest.raises(DataError, match=r"format 2. Got format"):
        Posterior.load(tmp_path / "other.npz")
