"""Models of any mixture of fields; what cannot be used is refused in words."""

import numpy as np
import pytest

import kolchin as kp
from kolchin.comparison import compare
from kolchin.likelihoods import Exemplar

TABLE = {"name": ["ann", "anne", "bob", "bob"], "sex": ["f", "f", "m", "m"]}
PEOPLE = {
    "name": ["anna", "ana", "berta", "berta", None, "carl"] * 4,
    "born": [1970, 1907, 1981, 1981, 1955, None] * 4,
    "sex": ["f", "f", "f", "f", "m", "m"] * 4,
}
FIELDS = [kp.Text("name"), kp.Categorical("sex"), kp.Number("born")]


def test_fields_of_all_kinds_are_compared_together():
    records = kp.Records.from_table(PEOPLE, fields=FIELDS)
    model = kp.Model(records)
    assert model.likelihood.n_fields == 0
    assert model.compared is not None
    names = ("name", "sex", "born")
    assert model.compared.names == names
    both = model.comparisons.shows
    assert both.tolist() == [
        [value is not None for value in row]
        for row in zip(*(PEOPLE[name] for name in names), strict=True)
    ]
    missing = model.comparisons.levels == -1
    pairs = model.comparisons.pairs
    assert np.array_equal(missing, ~(both[pairs[:, 0]] & both[pairs[:, 1]]))
    assert model.comparisons.level_names[1] == ("exact", "different")


def test_the_likelihood_goes_by_the_fields_unless_one_is_asked_for():
    texts = kp.Records.from_table(PEOPLE, fields=FIELDS)
    categories = texts.as_categorical()
    assert kp.Model(categories).compared is None
    assert kp.Model(categories, likelihood="compared").compared.n_fields == 3
    asked = kp.Model(texts, likelihood="categorical")
    assert asked.compared is None
    assert asked.likelihood.n_fields == 3
    with pytest.raises(kp.ModelError, match="must be one of compared, categorical"):
        kp.Model(texts, likelihood="paper")


def test_it_is_the_product_of_both_likelihoods():
    """Of categories and of what was compared, where both are given."""
    records = kp.Records.from_table(PEOPLE, fields=FIELDS)
    comparisons = compare(records)
    compared = Exemplar.of(comparisons, comparisons.shows)
    model = kp.Model(records.select([1]), delta=0.1, compared=compared)
    model.prior = kp.DirichletProcess(theta=1.0)
    labels, values = np.arange(24) // 2, compared.start()
    together, alone = (model.log_joint(one, **values) for one in (labels, np.arange(24)))
    own = model.likelihood.log_likelihood(labels, {"delta": np.array([0.1])})
    own -= model.likelihood.log_likelihood(np.arange(24), {"delta": np.array([0.1])})
    evidence = own + compared.log_likelihood(labels, values)
    prior = model.prior.log_prob(labels) - model.prior.log_prob(np.arange(24))
    assert together - alone == pytest.approx(prior + evidence)


def test_without_categorical_fields_there_is_no_delta():
    records = kp.Records.from_table(PEOPLE, fields=[kp.Text("name"), kp.Number("born")])
    model = kp.Model(records, tied=False)
    posterior = kp.sample(model, chains=2, draws=5, warmup=20, seed=1, progress=False)
    assert "delta" not in posterior.parameters
    assert np.isfinite(posterior.log_joint).all()
    drawn = {name: v[0, -1] for name, v in posterior.parameters.items()}
    values = {name: value for name, value in drawn.items() if name != "mu"}
    slow = model.log_joint(posterior.labels[0, -1], **values)
    assert slow == pytest.approx(posterior.log_joint[0, -1])


def test_entries_of_m_are_named():
    records = kp.Records.from_table(PEOPLE, fields=FIELDS)
    model = kp.Model(records, tied=False)
    posterior = kp.sample(model, chains=1, draws=4, warmup=10, seed=1, progress=False)
    names = posterior.settings["coordinates"]
    assert names["m"][:2] == ["name: exact", "name: mistyped"]
    assert names["m"][-1] == "born: different"
    assert names["errors"] == ["0 of 3", "1 of 3", "2 of 3", "3 of 3"]
    assert posterior.parameters["m"].shape[-1] == len(names["m"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"keys": [("sex",)]}, "no field is: all are categorical"),
        ({"compared": True}, "for records without compared fields"),
        ({"many": True}, "at most 16 compared fields. Got 18"),
    ],
)
def test_what_does_not_go_together_is_refused(options, words):
    near = "compared" in options or "many" in options
    fields = [kp.Text("name") if near else kp.Categorical("name"), kp.Categorical("sex")]
    table = dict(TABLE)
    if "many" in options:
        more = [f"name {k}" for k in range(16)]
        table |= dict.fromkeys(more, TABLE["name"])
        fields += [kp.Text(name) for name in more]
    records = kp.Records.from_table(table, fields=fields)
    given = {name: value for name, value in options.items() if name == "keys"}
    if "compared" in options:
        given["compared"] = kp.Model(records).compared
    with pytest.raises(kp.ModelError, match=words):
        kp.Model(records, **given)


def test_keys_name_fields():
    records = kp.Records.from_table(PEOPLE, fields=FIELDS)
    with pytest.raises(kp.DataError, match=r"No field 'nam' for a key. Did you mean 'name'"):
        kp.Model(records, keys=[("nam", "sex")])


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


def test_a_model_tells_what_is_going_on():
    words = []
    table = {"name": ["anna", "ana", "berta", "otto"]}
    records = kp.Records.from_table(table, [kp.Text("name")])
    kp.Model(records, tell=words.append)
    expected = ["finding candidate pairs", "comparing 6 candidate pairs"]
    assert words == [*expected, "learning which fields move together"]
