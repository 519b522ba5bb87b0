"""What cannot be used is refused in words, before anything is done."""

import pytest

import kolchin as kp

TABLE = {"name": ["ann", "anne", "bob", "bob"], "sex": ["f", "f", "m", "m"]}


def test_fields_to_be_compared_are_refused():
    records = kp.Records.from_table(TABLE, fields=[kp.Text("name"), kp.Categorical("sex")])
    with pytest.raises(kp.ModelError, match=r"Text\('name'\).*kp\.Categorical"):
        kp.Model(records)


def test_resolve_refuses_them_before_it_writes(tmp_path):
    fields = [kp.Text("name"), kp.Categorical("sex")]
    with pytest.raises(kp.ModelError, match=r"Text\('name'\)"):
        kp.resolve(TABLE, fields=fields, out=tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


def test_merged_needs_a_directory():
    with pytest.raises(kp.ModelError, match="'merged' parameter needs 'out'"):
        kp.resolve(TABLE, merged=True, progress=False)
