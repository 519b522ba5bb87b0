"""Fields that are compared, from the table to the files and back."""

import dataclasses
import json
import math
from datetime import date

import numpy as np
import polars as pl
import pytest

import kolchin as kp
from kolchin.comparison.compared_pairs import PairParts
from kolchin.report import ReportContent
from kolchin.resolution.running.session import is_finished
from kolchin.resolution.tables.input_table import InputTable

NAMES = ("anna", "berta", "carla", "dora", "emma", "frieda", "gerda", "hanna", "ida", "jana")
SHORT = {"chains": 2, "draws": 20, "seed": 3}


def people(n: int = 60) -> pl.DataFrame:
    """Records of people, each third one a copy of the one before with a slip in it."""
    rng = np.random.default_rng(1)
    rows = []
    for k in range(n):
        if k % 3 == 2:
            again = dict(rows[-1])
            again["name"] = again["name"][:3] + "x" + again["name"][4:]
            rows.append(again | {"rec": k})
            continue
        name = f"{rng.choice(NAMES)}{rng.choice(NAMES)}"
        day = date(1950, 1, 1).toordinal() + int(rng.integers(15_000))
        rows.append(
            {
                "rec": k,
                "sex": str(rng.choice(["f", "m"])),
                "name": name,
                "born": date.fromordinal(day),
                "height": float(rng.integers(300, 400)) / 2 if k % 5 else None,
                "zip": f"{rng.integers(3000, 3030)}",
            }
        )
    return pl.DataFrame(rows)


FIELDS = ("sex", "name", "born", "height", "zip")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    people().write_csv(path)
    return path


@pytest.fixture(scope="module")
def result():
    from kolchin.sampling.run import run_settings

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_settings, "FEWEST_WARMUP_STEPS", 60)
        fields = ["sex", "name", "born", kp.Number("height"), "zip"]
        return kp.resolve(people(), id="rec", fields=fields, progress=False, **SHORT)


def test_kinds_are_inferred(result):
    kinds = dict(result._given.fields.select("column", "kind").iter_rows())
    assert kinds == {
        "rec": "id",
        "sex": "categorical",
        "name": "text",
        "born": "date",
        "height": "number",
        "zip": "postcode",
    }
    assert result.links.columns[4:] == list(FIELDS)


def test_bits_are_those_of_one_likelihood_of_all_fields(result):
    rows = result._pairs.select("record_a", "record_b").to_numpy()
    model = result._model
    assert model.likelihood.n_fields == len(FIELDS)
    drawn = {
        name: array.reshape(-1, array.shape[-1])
        for name, array in result.posterior.parameters.items()
        if name in ("m", "rho", "errors", "shared")
    }
    assert result.links.select(FIELDS).to_numpy() == pytest.approx(
        model.likelihood.weigh_pairs(rows, drawn) / math.log(2)
    )
    assert result.links.filter(pl.col("probability") > 0.9)["name"].min() > 0


def test_explanations_say_how_values_compare(result):
    told = result.explain(1, 2)
    assert told.fields.columns == ["field", "value_a", "value_b", "compared", "bits"]
    compared = dict(told.fields.select("field", "compared").iter_rows())
    assert compared["name"] == "mistyped"
    assert compared["sex"] == compared["born"] == compared["zip"] == "exact"
    assert result.explain(0, 1).fields["compared"][3] == "missing"
    assert result.explain(2, 1).fields["compared"].to_list() == list(compared.values())
    assert "mistyped" in str(told)


def test_parameters_are_named_by_field_and_level(result):
    names = [n for n in result.summary()["parameters"] if n.startswith("m[")]
    assert names[:3] == ["m[sex: exact]", "m[sex: different]", "m[name: exact]"]
    errors = [n for n in result.summary()["parameters"] if n.startswith("errors[")]
    assert errors == [f"errors[{k} of 5]" for k in range(6)]


def test_learning_what_moves_together_has_a_time_of_its_own(result):
    seconds = result.summary()["seconds"]
    assert list(seconds)[:4] == ["reading", "comparing", "dependence", "starting"]


def test_comparing_is_done_once(monkeypatch):
    from kolchin.likelihoods import comparing

    count = []
    compare = comparing.compare_fields
    monkeypatch.setattr(
        comparing, "compare_fields", lambda *a, **b: count.append(1) or compare(*a, **b)
    )
    run = kp.resolve(people(), id="rec", chains=1, draws=2, seed=1, progress=False)
    run.summary()
    run.explain(0, 1)
    assert len(count) == 1


def test_a_run_is_resumed_to_the_bit(table, tmp_path):
    keys = [("name", "born"), ("zip",)]
    whole = kp.resolve(table, id="rec", keys=keys, out=tmp_path / "a", progress=False, **SHORT)
    less = {**SHORT, "draws": 7}
    kp.resolve(table, id="rec", keys=keys, out=tmp_path / "b", progress=False, **less)
    again = kp.resume(tmp_path / "b", draws=20, progress=False)
    assert np.array_equal(again.posterior.parameters["m"], whole.posterior.parameters["m"])
    assert np.array_equal(again.posterior.labels, whole.posterior.labels)
    for name in ("entities.csv", "links.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert is_finished(tmp_path / "b")
    assert again._settings.keys == (("name", "born"), ("zip",))
    assert kp.Result.load(tmp_path / "a").explain(1, 2).fields.equals(whole.explain(1, 2).fields)


def test_inputs_keep_kinds_cuts_and_values(tmp_path):
    fields = [
        kp.Categorical("sex"),
        kp.Text("name", cuts=(0.9,)),
        kp.Date("born"),
        kp.Number("height", cuts=(0.1, 0.2)),
        kp.Code("zip"),
    ]
    result = kp.resolve(people(), fields=fields, chains=1, draws=2, seed=1, progress=False)
    given = result._given
    given.save(tmp_path)
    again = InputTable.load(tmp_path).records
    assert again.vocabularies == given.records.vocabularies
    assert [type(v[0]) for v in again.vocabularies] == [str, str, date, float, str]
    assert again.fields == given.records.fields
    assert np.array_equal(again.codes, given.records.codes)


def test_inputs_keep_frequencies_where_values_are_categories(tmp_path):
    fields = [kp.Categorical("sex", frequencies={"f": 0.6, "m": 0.4}), kp.Categorical("zip")]
    how = {"likelihood": "categorical", "chains": 1, "draws": 2, "seed": 1, "progress": False}
    result = kp.resolve(people(), fields=fields, **how)
    assert "delta" in result.summary()["parameters"]
    result._given.save(tmp_path)
    again = InputTable.load(tmp_path).records
    assert again.fields[0] == kp.Categorical("sex")
    assert again.frequencies[0].tolist() == [0.6, 0.4]
    with pytest.raises(kp.ModelError, match="'sex' can only be given with likelihood"):
        kp.resolve(people(), fields=fields, chains=1, draws=2, seed=1, progress=False)


def test_the_likelihood_is_asked_for():
    how = {"id": "rec", "chains": 1, "draws": 2, "seed": 1, "progress": False}
    surveyed = people().select("rec", "sex", "zip")
    assert "delta" in kp.resolve(surveyed, likelihood="categorical", **how).summary()["parameters"]
    asked = kp.resolve(surveyed, **how).summary()
    assert "m[sex: exact]" in asked["parameters"]
    assert asked["settings"]["likelihood"] == "compared"
    with pytest.raises(kp.ModelError, match=r"must be one of compared, categorical\. Got 'exact'"):
        kp.resolve(surveyed, likelihood="exact", **how)
    with pytest.raises(kp.ModelError, match="leave one of the two out"):
        kp.resolve(surveyed, likelihood="categorical", keys=[("zip",)], **how)


def test_a_comparator_is_refused_where_it_would_be_lost(table, tmp_path):
    same = kp.Text("name", comparator=lambda a, b: float(a[0] == b[0]), cuts=(1.0,))
    fields = iter([same, kp.Categorical("sex")])
    with pytest.raises(kp.DataError, match=r"comparator, which is Python: Text\('name'\)"):
        kp.resolve(table, fields=fields, out=tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()
    result = kp.resolve(table, fields=[same, "sex"], chains=1, draws=2, seed=1, progress=False)
    assert result.explain(0, 1).fields["compared"][0] in ("similarity 1", "different", "exact")


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ([("name", 3)], "must be tuples of column names"),
        ([()], "must be tuples of column names"),
        ([("nam",)], "Did you mean 'name'"),
    ],
)
def test_keys_are_checked(keys, words):
    with pytest.raises(kp.KolchinError, match=words):
        kp.resolve(people(), id="rec", keys=keys, chains=1, draws=2, progress=False)


def test_the_report_knows_the_candidates(result, monkeypatch):
    seen: list[ReportContent] = []
    monkeypatch.setattr("kolchin.report.render", lambda content: seen.append(content) or "")
    result.page()
    summary = json.loads(json.dumps(seen[0].summary))
    assert summary["candidates"]["n_pairs"] == 60 * 59 // 2
    assert summary["candidates"]["keys"][0]["key"] == "all pairs"
    assert summary["candidates"]["missed"] == 0.0


def test_a_pair_that_was_not_compared_is_told(result, monkeypatch):
    comparisons = result._model.comparisons
    pairs, which = comparisons.pairs, comparisons.parts.which
    without = ~np.all(pairs == [1, 2], axis=1)
    fewer = dataclasses.replace(comparisons, parts=PairParts.of(pairs[without], which[without]))
    monkeypatch.setattr(result._model.likelihood, "comparisons", fewer)
    told = result.explain(1, 2)
    assert "not compared" in told.fields["compared"].to_list()
    assert "No key brought the two together" in str(told)
    assert "not compared" not in result.explain(1, 3).fields["compared"].to_list()


def test_a_record_is_not_explained_by_itself(result):
    with pytest.raises(kp.DataError, match="two different records"):
        result.explain(1, 1)
