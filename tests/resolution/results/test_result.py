"""What a run found, in memory and on disk."""

import gc
import json
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import kolchin as kp
from kolchin.comparison.compared_pairs import PairParts
from kolchin.posterior.summaries import summarise
from kolchin.records import DataWarning
from kolchin.resolution.results.comparison_summary import count_compared_links
from kolchin.resolution.results.evaluation_text import write_evaluation
from kolchin.resolution.running.directory import RunDirectory
from kolchin.sampling.run.chain import Chain

FIELDS = [f"field_{k}" for k in range(4)]
SHORT = {"chains": 2, "draws": 30, "seed": 3}


def test_entities_have_one_row_a_record(finished, people):
    result, _ = finished
    table = result.entities
    assert table.columns == ["record", "entity", "entity_size", "confidence"]
    assert table["record"].to_list() == people["rec_id"].cast(pl.String).to_list()
    assert table["entity"].to_list() == result.posterior.point_estimate().tolist()
    sizes = dict(table["entity"].value_counts().iter_rows())
    assert all(
        sizes[entity] == size for entity, size in table.select("entity", "entity_size").rows()
    )


def test_confidence_is_the_share_of_draws_with_exactly_this_cluster(finished):
    result, _ = finished
    shown = result.labels
    for n in (0, 11, 37, 59):
        mine = set(np.flatnonzero(shown == shown[n]))
        hits = [mine == set(np.flatnonzero(draw == draw[n])) for draw in result.posterior]
        assert result.entities["confidence"][n] == pytest.approx(np.mean(hits))


def test_links_carry_probability_and_evidence(finished, people):
    result, _ = finished
    links = result.links
    assert links.columns == ["record_a", "record_b", "probability", "same_entity", *FIELDS]
    assert links["probability"].min() >= 0.01
    row = {record: n for n, record in enumerate(result.entities["record"])}
    labels = result.posterior.labels.reshape(-1, 60)
    for a, b, probability, same, *bits in links.iter_rows():
        i, j = row[a], row[b]
        assert probability == pytest.approx(np.mean(labels[:, i] == labels[:, j]))
        assert same == (result.labels[i] == result.labels[j])
        for name, value in zip(FIELDS, bits, strict=True):
            one, two = people[name][i], people[name][j]
            if one is None or two is None:
                assert value == 0
            else:
                assert (value > 0) == (one == two)


def test_evidence_is_the_posterior_mean_of_log_bayes_factors(finished):
    """A field's factor is what the two records add to the likelihood by being one."""
    result, _ = finished
    model = result._model
    pair = result.links.row(0)
    rows = [result._given.row_of(pair[0]), result._given.row_of(pair[1])]
    apart = np.arange(60)
    together = apart.copy()
    together[rows[1]] = rows[0]
    drawn = {
        name: array.reshape(-1, *array.shape[2:])
        for name, array in result.posterior.parameters.items()
    }
    bits = []
    for k in range(len(drawn["m"])):
        values = model.likelihood.complete_values({name: array[k] for name, array in drawn.items()})
        bits.append(
            model.likelihood.log_likelihood(together, values)
            - model.likelihood.log_likelihood(apart, values)
        )
    assert sum(pair[4:]) == pytest.approx(np.mean(bits) / np.log(2))


def test_summary_has_what_users_rely_on(finished):
    result, out = finished
    summary = result.summary()
    assert json.loads((out / "summary.json").read_text()) == summary
    spread = {"mean", "sd", "q05", "q50", "q95"}
    assert summary["n_records"] == 60
    assert set(summary["n_entities"]) == spread
    assert set(summary["sizes"]) == {"singletons", "largest", "mean", "q90"}
    assert all(set(values) == spread for values in summary["sizes"].values())
    assert {"errors[0 of 4]", "mu[1]", "mu[2]"} <= set(summary["parameters"])
    assert all(set(values) == spread for values in summary["parameters"].values())
    assert {"rhat", "ess", "converged"} <= set(summary["diagnostics"])
    assert summary["diagnostics"]["rhat"] == max(
        row["rhat"] for row in summary["diagnostics"]["quantities"].values()
    )
    for part in ("point_estimate", "posterior"):
        assert {"precision", "recall", "f1", "fnr", "fdr"} <= set(summary["evaluation"][part])
    phases = ["reading", "comparing", "dependence", "starting", "sampling", "results", "report"]
    assert list(summary["seconds"]) == phases
    assert len(summary["moves"]) == summary["settings"]["chains"]
    assert (summary["seed"], summary["ended"], summary["draws"]) == (3, "draws", 30)
    assert summary["settings"]["prior"] == repr(kp.NBD(base=kp.Beta(1, 1)))
    assert summary["version"] == kp.__version__


def test_sizes_that_never_occur_are_no_parameters(finished):
    result, _ = finished
    largest = int(result.posterior.statistics["largest"].max())
    sizes = [name for name in result.summary()["parameters"] if name.startswith("mu[")]
    assert sizes == [f"mu[{m}]" for m in range(1, largest + 1)]


def test_files_have_their_formats(finished, people):
    _, out = finished
    entities = (out / "entities.csv").read_text().splitlines()
    assert entities[0] == "record,entity,entity_size,confidence"
    assert entities[1].startswith("1,0,")
    assert len(entities) == 61
    links = (out / "links.csv").read_text().splitlines()
    assert links[0] == "record_a,record_b,probability,same_entity," + ",".join(FIELDS)
    assert {line.split(",")[3] for line in links[1:]} <= {"true", "false"}
    merged = pl.read_csv(out / "merged.csv", infer_schema=False)
    assert merged.columns == [*people.columns, "entity", "confidence"]
    assert merged["entity"].to_list() == [line.split(",")[1] for line in entities[1:]]
    names = {path.name for path in out.iterdir()} - {"report.html"}
    assert names == {"entities.csv", "links.csv", "summary.json", "merged.csv", "posterior"}


def test_merged_says_which_file_a_record_comes_from(people, tmp_path):
    table = people.drop("ent_id").with_columns(rec_id=pl.int_range(60) % 30)
    table[:30].write_csv(tmp_path / "old.csv")
    table[30:].write_csv(tmp_path / "new.csv")
    files = [tmp_path / "old.csv", tmp_path / "new.csv"]
    with pytest.warns(match="recur in several sources"):
        merged = kp.resolve(files, id="rec_id", **SHORT).merged()
    assert merged.columns == [*table.columns, "source", "entity", "confidence"]
    assert merged["source"].to_list() == ["old"] * 30 + ["new"] * 30


def test_merged_keeps_columns_that_are_there(people):
    table = people.rename({"field_0": "entity"}).with_columns(wave=pl.int_range(60) % 2)
    given = {"id": "rec_id", "truth": "ent_id", "source": "wave"}
    merged = kp.resolve(table, fields=FIELDS[1:], **given, **SHORT).merged()
    assert merged.columns == [*table.columns, "kolchin_entity", "confidence"]


def test_merged_keeps_the_types_of_the_input(people, tmp_path):
    when = pl.date_range(pl.date(1970, 1, 1), pl.date(1970, 3, 1), eager=True)
    table = people.with_columns(born=when, tall=pl.int_range(60) % 2 == 0, share=pl.lit(0.5))
    result = kp.resolve(table, id="rec_id", truth="ent_id", fields=FIELDS, **SHORT, out=tmp_path)
    for merged in (result.merged(), kp.Result.load(tmp_path).merged()):
        assert merged.select(table.columns).schema == table.schema
        assert merged.select(table.columns).equals(table)
        assert merged["confidence"].equals(result.entities["confidence"].round(6))


def test_everything_can_be_made_again_from_the_posterior(finished):
    result, out = finished
    again = kp.Result.load(out)
    assert again.entities.equals(result.entities)
    assert again.links.equals(result.links)
    assert again.ended == "draws"
    ours, theirs = result.summary(), again.summary()
    assert ours.pop("seconds")["sampling"] == theirs.pop("seconds")["sampling"]
    assert ours == theirs


def test_without_a_directory_nothing_is_written(people, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = kp.resolve(people.drop("ent_id"), id="rec_id", chains=2, draws=10, seed=3)
    assert list(tmp_path.iterdir()) == []
    assert "evaluation" not in result.summary()
    assert result.entities["record"].dtype == people["rec_id"].dtype


def test_the_same_seed_gives_the_same_result(people, finished, columns):
    result, _ = finished
    again = kp.resolve(people, **columns, chains=2, draws=30, seed=3, cores=1)
    assert again.links["probability"].equals(result.links["probability"])
    other = kp.resolve(people, **columns, chains=2, draws=30, seed=4)
    assert not again.links["probability"].equals(other.links["probability"])


def test_truth_does_not_inform_the_model(people, finished):
    result, _ = finished
    shuffled = people.with_columns(pl.col("ent_id").shuffle(seed=1))
    other = kp.resolve(shuffled, id="rec_id", truth="ent_id", chains=2, draws=30, seed=3)
    assert np.array_equal(other.posterior.labels, result.posterior.labels)
    assert other.evaluate()["point_estimate"]["f1"] < result.evaluate()["point_estimate"]["f1"]


def test_a_field_may_be_named_like_a_column_of_links(people):
    renamed = people.rename({"field_0": "probability"}).drop("ent_id", "rec_id")
    result = kp.resolve(renamed, chains=2, draws=5, seed=3)
    assert result.links.columns[4:] == ["probability_bits", *FIELDS[1:]]


def test_a_merged_table_keeps_its_own_entity_column(people):
    table = people.rename({"field_0": "entity"}).drop("ent_id", "rec_id")
    merged = kp.resolve(table, fields=table.columns, chains=2, draws=5, seed=3).merged()
    assert merged.columns == [*table.columns, "kolchin_entity", "confidence"]
    assert merged["entity"].equals(table["entity"])


class TestExplain:
    def test_fields_values_and_bits(self, finished, people):
        result, _ = finished
        a, b, probability, same, *bits = result.links.row(0)
        told = result.explain(a, b)
        assert told.fields["field"].to_list() == FIELDS
        assert told.fields["bits"].to_list() == pytest.approx(bits)
        assert told.evidence == pytest.approx(sum(bits))
        assert (told.probability, told.same_entity) == (pytest.approx(probability), same)
        row = result._given.row_of(a)
        assert told.fields["value_a"].to_list() == [
            None if people[name][row] is None else str(people[name][row]) for name in FIELDS
        ]
        text = str(told)
        assert f"{told.evidence:+.2f}" in text
        assert f"{probability:.4f}" in text

    def test_a_pair_that_never_met(self, finished):
        result, _ = finished
        met = {frozenset(row[:2]) for row in result.posterior.links(0).rows()}
        pair = next((i, j) for i in range(60) for j in range(i) if frozenset((i, j)) not in met)
        ids = result.entities["record"]
        told = result.explain(ids[pair[0]], ids[pair[1]])
        assert told.probability == 0
        assert not told.same_entity

    def test_the_prior_is_that_of_the_model(self, people):
        """With fixed parameters it is the open and join weights' difference."""
        prior = kp.NBNB(a=1, q=0.9, r=1, p=0.5)
        fields = people.drop("ent_id", "rec_id")
        result = kp.resolve(fields, prior=prior, chains=1, draws=8, seed=3)
        join, opened = prior.weights(60)
        expected = [
            join[1] - opened[int(k) - 1] for k in result.posterior.statistics["n_clusters"][0]
        ]
        told = result.explain(0, 1)
        assert told.prior == pytest.approx(np.mean(expected) / np.log(2))

    def test_unknown_records_are_told(self, finished):
        result, _ = finished
        with pytest.raises(kp.DataError, match=r"no record '1x' in people.csv. Did you mean '1'"):
            result.explain("1x", 2)


class TestEvaluate:
    def test_against_a_file_by_ids_in_another_order(self, finished, people, tmp_path):
        result, _ = finished
        truth = people.select("rec_id", "ent_id").sample(fraction=1, shuffle=True, seed=1)
        truth.write_csv(tmp_path / "truth.csv")
        assert result.evaluate(tmp_path / "truth.csv") == result.evaluate()
        assert result.evaluate(f"{tmp_path / 'truth.csv'}:ent_id") == result.evaluate()

    def test_truth_may_be_missing_for_some(self, finished, people, tmp_path):
        result, _ = finished
        people.select("rec_id", "ent_id").head(50).write_csv(tmp_path / "truth.csv")
        measures = result.evaluate(tmp_path / "truth.csv")["point_estimate"]
        assert (measures["n_records"], measures["n_unknown"]) == (50, 10)
        direct = [*people["ent_id"].head(50), *[None] * 10]
        assert result.evaluate(direct)["point_estimate"] == measures

    def test_rows_in_order_will_do(self, finished, people, tmp_path):
        result, _ = finished
        people.select("ent_id").write_csv(tmp_path / "truth.csv")
        with pytest.warns(DataWarning, match="row by row"):
            assert result.evaluate(tmp_path / "truth.csv") == result.evaluate()
        assert "row by row" in result.describe_matching(tmp_path / "truth.csv")

    def test_ids_are_found_under_another_name(self, finished, people, tmp_path):
        result, _ = finished
        truth = people.select(pl.col("rec_id").alias("Number"), "ent_id")
        truth = truth.sample(fraction=1, shuffle=True, seed=1)
        truth.write_csv(tmp_path / "truth.csv")
        for named in (tmp_path / "truth.csv", f"{tmp_path / 'truth.csv'}:ent_id"):
            assert result.evaluate(named) == result.evaluate()
            assert "by the ids in 'Number'" in result.describe_matching(named)

    def test_tables_and_mappings_are_matched_by_ids(self, finished, people):
        result, _ = finished
        truth = people.select("rec_id", "ent_id").sample(fraction=1, shuffle=True, seed=1)
        indexed = truth.to_pandas().set_index("rec_id")["ent_id"]
        mapping = dict(truth.iter_rows())
        for given in (truth, truth.to_pandas(), truth.to_dict(), mapping, indexed):
            assert result.evaluate(given) == result.evaluate()
            assert "by the ids" in result.describe_matching(given)
        rest = truth.select("ent_id")
        with pytest.warns(DataWarning, match="row by row: the truth has as many rows"):
            assert result.evaluate(rest) != result.evaluate()  # the order is another one

    def test_a_series_in_another_order_is_told(self, finished, people):
        result, _ = finished
        shuffled = people.to_pandas()["ent_id"].rename(lambda row: f"row {row}")
        with pytest.warns(DataWarning, match="its index is not that of the ids"):
            assert result.evaluate(shuffled) == result.evaluate()
        assert result.evaluate(people.to_pandas()["ent_id"]) == result.evaluate()

    def test_true_pairs_that_were_compared_are_counted(self, finished, people):
        result, _ = finished
        measures = result.evaluate()  # of few records all pairs are compared
        n_true = measures["point_estimate"]["true_pairs"]
        assert measures["candidates"]["true_pairs"] == n_true
        text = write_evaluation({**measures, "candidates": {"true_pairs": n_true - 1}})
        assert f"Of {n_true} pairs of one true entity {n_true - 1} were compared" in text

    def test_unknown_entities_are_no_true_pairs(self):
        pairs = np.array([[0, 1], [0, 2], [1, 2], [3, 4]], dtype=np.int32)
        comparisons = SimpleNamespace(parts=PairParts.of(pairs, np.zeros(4, dtype=np.int32)))
        assert count_compared_links(comparisons, np.array([0, 1, 0, -1, -1])) == 1

    def test_calibration_counts_links(self, finished):
        result, _ = finished
        rows = result.evaluate()["calibration"]
        assert sum(row["n_pairs"] for row in rows) == result.links.height
        assert list(rows[0]) == ["bin", "n_pairs", "mean_probability", "share_true", "low", "high"]

    @pytest.mark.parametrize(
        ("content", "column", "message"),
        [
            ("rec_id,a,b\n1,2,3\n", "", "several columns"),
            ("rec_id,a\n1,2\n", ":b", "no column 'b'"),
            ("a\n1\n", "", "1 rows and no column of ids"),
            ("rec_id,a\n1,2\n1,3\n", "", "ids more than once: '1'"),
        ],
    )
    def test_faults_are_told(self, finished, tmp_path, content, column, message):
        result, _ = finished
        (tmp_path / "truth.csv").write_text(content)
        with pytest.raises(kp.DataError, match=message):
            result.evaluate(f"{tmp_path / 'truth.csv'}{column}")

    def test_no_truth_is_told(self, people):
        result = kp.resolve(people.drop("ent_id", "rec_id"), chains=1, draws=4, seed=3)
        with pytest.raises(kp.DataError, match="no truth to compare with"):
            result.evaluate()


def test_a_directory_without_draws_is_told(tmp_path):
    with pytest.raises(kp.DataError, match="There is no run in"):
        kp.Result.load(tmp_path)
    assert not RunDirectory(tmp_path).has_run


def test_fewer_draws_than_there_are_do_not_end_a_run(people, columns, tmp_path):
    def stop(state):
        if state.draws >= 100:
            raise KeyboardInterrupt

    out = tmp_path / "run"
    asked = {"chains": 2, "seed": 3, "out": out}
    result = kp.resolve(people, **columns, **asked, progress=stop)
    assert result.ended == "interrupted"
    before = (out / "posterior" / "run.json").read_text()
    with pytest.raises(kp.ModelError, match="draws of each chain already"):
        kp.resume(out, draws=result.posterior.n_draws - 1)
    assert (out / "posterior" / "run.json").read_text() == before


def test_a_number_of_draws_ends_one_call_not_the_run(people, columns, tmp_path, monkeypatch):
    """After 'resume --draws 5' of a run that goes on until it is enough, it still does."""
    from kolchin.resolution.running import session

    def stop(state):
        if state.n_clusters.shape[1] >= 2:  # draws of every chain: one may be far ahead
            raise KeyboardInterrupt

    out = tmp_path / "run"
    kp.resolve(people, **columns, chains=2, seed=3, out=out, progress=stop)
    few = kp.resume(out, draws=40)
    assert (few.ended, few.posterior.n_draws) == ("draws", 40)
    monkeypatch.setattr(session, "is_enough", lambda traces: True)
    assert not session.is_finished(out)
    more = kp.resume(out)
    assert more.ended == "enough"
    assert more.posterior.n_draws > 40
    assert session.is_finished(out)


def test_chains_are_gone_when_results_are_made(people, columns, tmp_path, monkeypatch):
    """They have some numbers a record each, which results do not need."""
    there = []

    def watched(*given):
        gc.collect()
        there.append(sum(type(thing) is Chain for thing in gc.get_objects()))
        return summarise(*given)

    gc.collect()
    before = sum(type(thing) is Chain for thing in gc.get_objects())
    monkeypatch.setattr("kolchin.resolution.results.result.summarise", watched)
    kp.resolve(people, **columns, chains=2, draws=10, seed=1, out=tmp_path / "out")
    assert there == [before]
