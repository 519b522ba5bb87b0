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


@pytest.mark.parametrize("sources", [[0, 1], [0, 1, 0, -2], [0.5, 1, 0, 1], ["a", "b", "a", "b"]])
def test_sources_that_are_no_numbers_of_records_are_refused(sources):
    with pytest.raises(kp.ModelError, match="'sources' parameter must have a whole number"):
        kp.Model(kp.Records.from_table(TABLE), sources=sources)


def test_any_numbers_name_sources():
    model = kp.Model(kp.Records.from_table(TABLE), sources=[10**12, -1, 7, 10**12])
    assert model.sources.tolist() == [1, -1, 0, 1]
