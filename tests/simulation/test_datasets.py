"""The paper's data sets: their facts agree with each other and with the published numbers."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from kolchin.errors import ModelError
from kolchin.partitions import size_counts
from kolchin.simulation import PAPER_DATASETS, paper_dataset, simulate_paper

SHARED = Path(__file__).parents[3] / "shared" / "data"

PUBLISHED = {
    "italy": (789, 587, 9, 385, 2),
    "nltcs5000": (5000, 3061, 6, 1658, 3),
    "syria2000": (2000, 1725, 5, 1459, 5),
    "syriasizes": (6700, 4075, 5, 2325, 10),
}


@pytest.mark.parametrize("name", PAPER_DATASETS)
def test_facts_agree_with_what_is_published(name: str) -> None:
    dataset = paper_dataset(name)
    n_records, n_entities, n_fields, singletons, largest = PUBLISHED[name]
    assert (dataset.n_records, dataset.n_entities) == (n_records, n_entities)
    assert len(dataset.fields) == n_fields
    assert sum(dataset.size_histogram.values()) == n_entities
    assert sum(size * count for size, count in dataset.size_histogram.items()) == n_records
    assert dataset.truth["singletons"] == singletons
    assert dataset.truth["largest"] == largest
    assert dataset.deltas == (0.02, 0.05, 0.1)


@pytest.mark.parametrize("name", PAPER_DATASETS)
def test_every_fact_has_a_provenance(name: str) -> None:
    dataset = paper_dataset(name)
    kinds = {"published", "computed", "reconstructed"}
    assert set(dataset.provenance) == {"n_records", "n_entities", "size_histogram", "fields"}
    assert {kind for kind, _ in dataset.provenance.values()} <= kinds
    for field in dataset.fields:
        assert field.provenance in kinds
        assert sum(field.frequencies.values()) == pytest.approx(1, abs=1e-4)
        assert min(field.frequencies.values()) > 0


@pytest.mark.parametrize("name", PAPER_DATASETS)
def test_synthetic_versions_have_the_facts(name: str) -> None:
    dataset = paper_dataset(name)
    table = simulate_paper(name, delta=0.1, seed=1)
    assert table.columns == ["rec_id", "ent_id", *(field.name for field in dataset.fields)]
    counts = size_counts(table["ent_id"])
    assert {m: c for m, c in enumerate(counts.tolist()) if c} == dict(dataset.size_histogram)
    for field in dataset.fields:
        assert set(table[field.name].unique()) <= set(field.frequencies)
    assert table.equals(simulate_paper(name.upper(), delta=0.1, seed=1))


def test_contradictions_of_the_paper_are_told() -> None:
    assert "65.6%" in paper_dataset("italy").contradictions[0]
    assert "54.2%" in paper_dataset("nltcs5000").contradictions[0]


def test_an_unknown_data_set_is_refused() -> None:
    with pytest.raises(ModelError, match=r"must be one of italy, .* Got 'rldata' instead"):
        paper_dataset("rldata")


def test_facts_equal_the_reference() -> None:
    if not SHARED.is_dir():
        pytest.skip("the development data are not here")
    reference = json.loads((SHARED / "paper_datasets.json").read_text(encoding="utf-8"))
    for name in PAPER_DATASETS:
        dataset = paper_dataset(name)
        facts = reference[dataset.title]
        histogram = [dataset.size_histogram[m] for m in sorted(dataset.size_histogram)]
        assert histogram == facts["size_histogram"]["value"]
        for field, known in zip(dataset.fields, facts["fields"], strict=True):
            assert field.name == known["name"]
            frequencies = dict(zip(known["labels"], known["probabilities"], strict=True))
            assert dict(field.frequencies) == frequencies


def test_truth_equals_the_dashed_lines() -> None:
    if not SHARED.is_dir():
        pytest.skip("the development data are not here")
    names = {"max_size": "largest"}
    with (SHARED / "paper_figure2_truth.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            truth = paper_dataset(row["dataset"]).truth
            statistic = names.get(row["statistic"], row["statistic"])
            assert truth[statistic] == pytest.approx(float(row["true_value"]), abs=0.1)


def test_disagreement_is_that_of_the_authors_own_draw() -> None:
    if not SHARED.is_dir():
        pytest.skip("the development data are not here")

    def disagreements(rows: list[dict[str, str]]) -> int:
        first: dict[str, dict[str, str]] = {}
        total = 0
        for row in rows:
            other = first.setdefault(row["ent_id"], row)
            total += sum(row[name] != other[name] for name in row if not name.endswith("_id"))
        return total

    with (SHARED / "italy_paper_synthetic.csv").open(encoding="utf-8") as file:
        theirs = disagreements(list(csv.DictReader(file)))
    ours = [
        disagreements(simulate_paper("italy", delta=0.02, seed=seed).to_dicts())
        for seed in range(20)
    ]
    assert abs(theirs - np.mean(ours)) < 4 * np.std(ours)
