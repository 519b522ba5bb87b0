"""Models of any mixture of fields; what cannot be used is refused in words."""

import numpy as np
import pytest

import kolchin as kp
from kolchin.comparison import compare
from kolchin.likelihoods import Exemplar, compare_records

TABLE = {"name": ["ann", "anne", "bob", "bob"], "sex": ["f", "f", "m", "m"]}
PEOPLE = {
    "name": ["anna", "ana", "berta", "berta", None, "carl"] * 4,
    "born": [1970, 1907, 1981, 1981, 1955, None] * 4,
    "sex": ["f", "f", "f", "f", "m", "m"] * 4,
}
FIELDS = [kp.Text("name"), kp.Categorical("sex"), kp.Number("born")]


def test_fields_of_all_kinds_are_compared_together():
    records = kp.Records.from_table(PEOPLE, fields=FIELDS)
    model = kp.Model(records, likelihood=kp.compare(records))
    names = ("name", "sex", "born")
    assert model.likelihood.names == names
    both = model.comparisons.shows
    assert both.tolist() == [
        [value is not None for value in row]
        for row in zip(*(PEOPLE[name] for name in names), strict=True)
    ]
    missing = model.comparisons.levels == -1
    pairs = model.comparisons.pairs
    assert np.array_equal(missing, ~(both[pairs[:, 0]] & both[pairs[:, 1]]))
    assert model.comparisons.level_names[1] == ("exact", "different")
    assert repr(model).startswith("Model(24 records, 3 fields, prior=NBD(")


def test_fields_that_may_be_near_are_compared_before():
    texts = kp.Records.from_table(PEOPLE, fields=FIELDS)
    with pytest.raises(kp.ModelError, match=r"of 'name', 'born' .*kp\.compare\(records\)"):
        kp.Model(texts)
    assert kp.Model(texts.as_categorical()).likelihood.n_fields == 3


def test_categories_may_be_compared_or_not():
    categories = kp.Records.from_table(PEOPLE, fields=FIELDS).as_categorical()
    assert kp.Model(categories).comparisons is None
    compared = kp.Model(categories, likelihood=kp.compare(categories))
    assert compared.comparisons is not None
    assert compared.likelihood.n_fields == 3


def test_it_is_of_the_records_that_were_compared():
    records = kp.Records.from_table(PEOPLE, fields=FIELDS)
    likelihood = kp.compare(records)
    with pytest.raises(kp.ModelError, match="about 24 records, and there are 12"):
        kp.Model(records.take(np.arange(12)), likelihood=likelihood)


def test_it_is_the_product_of_both_likelihoods():
    """Of categories and of what was compared, where both are given."""
    records = kp.Records.from_table(PEOPLE, fields=FIELDS)
    compared = Exemplar.fit(compare(records))
    category = kp.Records.from_table({"kind": PEOPLE["sex"]}, fields=[kp.Categorical("kind")])
    model = kp.Model(category, kp.DirichletProcess(theta=1.0), 0.1, likelihood=compared)
    labels, values = np.arange(24) // 2, compared.start()
    together, alone = (model.log_joint(one, **values) for one in (labels, np.arange(24)))
    own = kp.Model(category, delta=0.1).likelihood
    evidence = own.log_likelihood(labels, {"delta": np.array([0.1])})
    evidence -= own.log_likelihood(np.arange(24), {"delta": np.array([0.1])})
    evidence += compared.log_likelihood(labels, values)
    prior = model.prior.log_prob(labels) - model.prior.log_prob(np.arange(24))
    assert together - alone == pytest.approx(prior + evidence)


def test_without_categorical_fields_there_is_no_delta():
    records = kp.Records.from_table(PEOPLE, fields=[kp.Text("name"), kp.Number("born")])
    model = kp.Model(records, likelihood=kp.compare(records))
    posterior = kp.sample(model, chains=2, draws=5, warmup=20, seed=1, progress=False)
    assert "delta" not in posterior.parameters
    assert np.isfinite(posterior.log_joint).all()
    drawn = {name: v[0, -1] for name, v in posterior.parameters.items()}
    values = {name: value for name, value in drawn.items() if name != "mu"}
    slow = model.log_joint(posterior.labels[0, -1], **values)
    assert slow == pytest.approx(posterior.log_joint[0, -1])


def test_entries_of_m_are_named():
    records = kp.Records.from_table(PEOPLE, fields=FIELDS)
    model = kp.Model(records, likelihood=kp.compare(records))
    posterior = kp.sample(model, chains=1, draws=4, warmup=10, seed=1, progress=False)
    names = posterior.settings["coordinates"]
    assert names["m"][:2] == ["name: exact", "name: mistyped"]
    assert names["m"][-1] == "born: different"
    assert names["errors"] == ["0 of 3", "1 of 3", "2 of 3", "3 of 3"]
    assert posterior.parameters["m"].shape[-1] == len(names["m"])


def test_too_many_fields_are_refused():
    table = {f"name {k}": TABLE["name"] for k in range(18)}
    records = kp.Records.from_table(table, fields=[kp.Text(name) for name in table])
    with pytest.raises(kp.ModelError, match=r"at most 16 compared fields\. Got 18"):
        kp.compare(records)


def test_frequencies_are_for_categories_that_are_not_compared():
    sex = kp.Categorical("sex", frequencies={"f": 0.5, "m": 0.5})
    records = kp.Records.from_table(TABLE, fields=[kp.Text("name"), sex])
    with pytest.raises(kp.ModelError, match="The frequencies of 'sex' can only be given"):
        kp.compare(records)


def test_keys_name_fields():
    records = kp.Records.from_table(PEOPLE, fields=FIELDS)
    with pytest.raises(kp.DataError, match=r"No field 'nam' for a key. Did you mean 'name'"):
        kp.compare(records, keys=[("nam", "sex")])


def test_merged_needs_a_directory():
    with pytest.raises(kp.ModelError, match="'merged' parameter needs 'out'"):
        kp.resolve(TABLE, merged=True, progress=False)


@pytest.mark.parametrize("sources", [[0, 1], [0, 1, 0, -2], [0.5, 1, 0, 1], ["a", "b", "a", "b"]])
def test_sources_that_are_no_numbers_of_records_are_refused(sources):
    with pytest.raises(kp.ModelError, match="'sources' parameter must have a whole number"):
        kp.Model(kp.Records.from_table(TABLE).as_categorical(), sources=sources)


def test_any_numbers_name_sources():
    model = kp.Model(kp.Records.from_table(TABLE).as_categorical(), sources=[10**12, -1, 7, 10**12])
    assert model.sources.tolist() == [1, -1, 0, 1]


def test_comparing_tells_what_is_going_on():
    words = []
    table = {"name": ["anna", "ana", "berta", "otto"]}
    compare_records(kp.Records.from_table(table, [kp.Text("name")]), tell=words.append)
    assert words == ["finding candidate pairs", "comparing 6 candidate pairs"]
