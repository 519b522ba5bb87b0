"""Golden records: the value, its probability, the record, and the rules of a user."""

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kolchin as kp
from kolchin import resolution
from kolchin.cli import app
from kolchin.errors import DataError
from kolchin.resolution.golden.exemplar_records import (
    find_field_blocks,
    mark_compared_members,
    number_meanings,
)
from kolchin.resolution.golden.golden_files import write_golden
from kolchin.resolution.golden.golden_records import make_golden
from kolchin.resolution.golden.golden_rules import GoldenRules

FIRST = [
    *("Ada", "Bruno", "Clara", "Dario", "Elena", "Fabio", "Greta", "Hugo", "Irene", "Jonas"),
    *("Karla", "Luca", "Maria", "Nadia", "Oscar"),
]
LAST = [
    *("Rossi", "Bianchi", "Moretti", "Ferraro", "Colombo", "Ricci", "Marino", "Greco", "Conti"),
    "Galli",
]
STREETS = ["Via Roma", "Corso Italia", "Via Dante", "Piazza Verdi", "Via Garibaldi", "Viale Monza"]


def people() -> pl.DataFrame:
    """150 persons of three records; the first name of one is mistyped, an address is replaced."""
    rng = np.random.default_rng(5)
    rows = []
    for person in range(150):
        first, last = FIRST[rng.integers(15)], LAST[rng.integers(10)]
        born = f"{rng.integers(1940, 2005)}-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}"
        street, number = STREETS[rng.integers(6)], str(rng.integers(1, 90))
        for copy in range(3):
            name = first[:-1] + "x" if copy == 2 and person % 3 == 0 else first
            moved = copy == 0 and person % 4 == 0
            rows.append(
                {
                    "id": f"r{len(rows)}",
                    "person": person,
                    "system": ("crm", "web", "old")[copy],
                    "updated": f"{10 + copy}/03/2024",
                    "first": name,
                    "last": last,
                    "born": born,
                    "street": "Strada Nuova" if moved else street,
                    "number": "99" if moved else number,
                    "remark": "x" * (copy + 1) if person else None,
                }
            )
    return pl.DataFrame(rows)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("golden")
    people().write_csv(folder / "people.csv")
    out = folder / "run"
    # Few names, and so many who moved that the address decides: near names would be in doubt.
    names = [kp.Categorical("first"), kp.Categorical("last")]
    fields = [*names, "born", "street", "number"]
    columns = {"id": "id", "source": "system", "truth": "person", "fields": fields}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kolchin.sampling.run.run_settings.FEWEST_WARMUP_STEPS", 60)
        patch.setattr("kolchin.report.render", lambda content: "")
        result = kp.resolve(
            folder / "people.csv", **columns, chains=2, draws=40, seed=1, out=out, progress=False
        )
    assert result.evaluate()["point_estimate"]["f1"] > 0.98
    return result, out


def persons(result, table):
    """The person of each entity, where it has all three records of one."""
    joined = result.entities.join(
        people().select(pl.col("id").alias("record"), "person"), on="record"
    )
    whole = joined.group_by("entity").agg(pl.col("person").unique(), pl.len())
    return {
        entity: owner[0]
        for entity, owner, size in whole.iter_rows()
        if len(owner) == 1 and size == 3
    }


def test_columns_are_as_promised(made):
    result, _ = made
    table = result.golden()
    fields = [
        name + end
        for name in ("first", "last", "born", "street", "number")
        for end in ("", "_probability", "_record")
    ]
    assert table.columns == ["entity", "n_records", *fields]
    assert table["entity"].to_list() == list(range(table.height))
    assert table["n_records"].sum() == 450


def test_the_value_is_that_of_the_record(made):
    result, _ = made
    table = result.golden()
    by_id = {row["id"]: row for row in people().iter_rows(named=True)}
    for row in table.iter_rows(named=True):
        for name in ("first", "last", "born", "street"):
            assert row[name] == by_id[row[f"{name}_record"]][name]


def test_a_slip_loses_to_what_others_write(made):
    result, _ = made
    table = result.golden()
    whole = persons(result, table)
    assert len(whole) > 140
    chosen = [table["first"][entity] for entity in whole]
    assert not any(value.endswith("x") for value in chosen)
    mistyped = [entity for entity, person in whole.items() if person % 3 == 0]
    chances = table["first_probability"].gather(mistyped)
    assert chances.min() > 0.9
    assert chances.max() < 1


def test_all_values_are_told_where_there_are_several(made):
    result, _ = made
    values = result.golden_values()
    whole = persons(result, result.golden())
    entity = next(entity for entity, person in whole.items() if person % 3 == 0)
    own = values.filter((pl.col("entity") == entity) & (pl.col("field") == "first"))
    assert own["chosen"].to_list() == [True, False]
    assert own["n_records"].to_list() == [2, 1]
    assert own["probability"].sum() == pytest.approx(1)
    assert values.group_by("entity", "field").len()["len"].min() >= 2


def test_fields_that_move_together_come_from_one_record(made):
    result, _ = made
    found = result.summary()["dependence"]
    assert ("street", "number") in find_field_blocks(
        ["first", "last", "born", "street", "number"], found
    )
    table = result.golden()
    assert table["street_record"].to_list() == table["number_record"].to_list()


def test_blocks_are_disjoint_and_the_most_frequent_come_first():
    found = {
        "replaced": [
            {"fields": ["a", "b"], "share": 0.01},
            {"fields": ["b", "c"], "share": 0.05},
            {"fields": ["d", "e"], "share": 0.0001},
        ],
        "shared": [{"fields": ["a", "d"], "pairs": 10}, {"fields": ["a", "d", "e"], "pairs": 99}],
    }
    assert find_field_blocks("abcde", found) == [("a", "d"), ("b", "c"), ("e",)]


@pytest.mark.parametrize(
    ("rule", "copy"),
    [
        ({"keep": "source", "order": ["old", "crm", "web"]}, 2),
        ({"keep": "recent", "by": "updated"}, 2),
        ({"keep": "source", "order": ["web"]}, 1),
    ],
)
def test_a_rule_chooses_the_record(made, rule, copy):
    result, _ = made
    table = result.golden({"fields": {"first": rule}})
    by_id = {row["id"]: row for row in people().iter_rows(named=True)}
    for entity in persons(result, table):
        assert int(table["first_record"][entity][1:]) % 3 == copy
    first = table["first_record"][0]
    assert table["first"][0] == by_id[first]["first"]
    assert table["first_probability"].null_count() == 0


def test_the_longest_and_the_most_complete(made):
    result, _ = made
    table = result.golden({"fields": {"remark": {"keep": "longest"}}})
    whole = persons(result, table)
    assert {table["remark"][entity] for entity, person in whole.items() if person} == {"xxx"}
    assert table["remark_probability"].null_count() == table.height
    complete = result.golden({"fields": {"*": {"keep": "complete"}}})
    assert complete["first"].null_count() == 0


def test_overrides_hold_for_the_entity_of_a_record(made):
    result, _ = made
    one = {"record": "r7", "field": "last", "value": "Verdi"}
    table = result.golden({"overrides": [one]})
    entity = result.entities.filter(pl.col("record") == "r7")["entity"][0]
    assert table.row(entity, named=True)["last"] == "Verdi"
    assert table.row(entity, named=True)["last_probability"] == 1
    assert table.row(entity, named=True)["last_record"] is None
    assert (table["last"] == "Verdi").sum() == 1


def test_every_fault_of_rules_is_told_together(made, tmp_path):
    result, _ = made
    rules = tmp_path / "rules.toml"
    rules.write_text(
        '[fields.frist]\nkeep = "longest"\n[fields.last]\nkeep = "newest"\n'
        '[fields.first]\nkeep = "recent"\n[fields.born]\nkeep = "source"\norder = ["moon"]\n'
        '[[overrides]]\nrecord = "r9999"\nfield = "last"\nvalue = "V"\n[other]\n'
    )
    with pytest.raises(kp.DataError) as caught:
        result.golden(rules)
    for words in ("Did you mean 'first'", "'newest'", "needs by", "'moon'", "'r9999'", "'other'"):
        assert words in str(caught.value)
    with pytest.raises(kp.DataError, match="does not exist"):
        result.golden(tmp_path / "no.toml")
    rules.write_text("[fields")
    with pytest.raises(kp.DataError, match="is not TOML"):
        result.golden(rules)


def test_the_command_writes_and_keeps_the_rules(made, tmp_path):
    _, out = made
    rules = tmp_path / "rules.toml"
    rules.write_text('[[overrides]]\nrecord = "r7"\nfield = "last"\nvalue = "Verdi"\n')
    told = CliRunner().invoke(app, ["golden", str(out), "--rules", str(rules)])
    assert told.exit_code == 0, told.stderr
    assert "golden.csv" in told.stderr
    assert "Verdi" in (out / "golden.csv").read_text()
    (out / "golden.csv").unlink()
    assert "By the rules" in write_golden(out)[-1]
    assert "Verdi" in (out / "golden.csv").read_text()
    assert pl.read_csv(out / "golden_values.csv").columns[:3] == ["entity", "field", "value"]
    (out / "golden.toml").unlink()
    missing = CliRunner().invoke(app, ["golden", str(out), "--rules", str(tmp_path / "no.toml")])
    assert missing.exit_code == 2


def test_of_a_large_entity_some_records_are_compared():
    assert mark_compared_members(3).tolist() == [0, 1, 2]
    assert mark_compared_members(1_000).size == 100


def test_a_giant_group_has_a_golden_record(made):
    result, _ = made
    labels = np.zeros(450, dtype=np.int64)
    what = result._model, result.posterior, result._given, labels, {}, GoldenRules({})
    golden = make_golden(*what).records
    assert golden["n_records"].to_list() == [450]
    assert golden.null_count().sum_horizontal().item() == 0


def test_categories_have_golden_records():
    table = {"a": list("xxyyzz") * 2, "b": list("112233") * 2}
    result = kp.resolve(table, chains=1, draws=10, seed=1, progress=False, likelihood="categorical")
    golden = result.golden()
    assert golden["n_records"].sum() == 12
    assert golden["a"].null_count() == 0


def test_values_that_are_the_same_in_another_form_add_up():
    phones = [f"310-{k:03d}-{k * 7:04d}" for k in range(40)]
    rows = [
        {"phone": phone.replace("-", "/", copy), "name": f"{chr(97 + k % 26)}{chr(97 + k % 7)}na"}
        for k, phone in enumerate(phones)
        for copy in (0, 1)
    ]
    records = kp.Records.from_table(rows, [kp.Phone("phone"), kp.Text("name")])
    model = kp.Model(records, likelihood=kp.compare(records))
    codes = number_meanings(model, 0)
    assert (codes[::2] == codes[1::2]).all()
    assert np.unique(codes).size == 40


def test_rules_that_are_kept_outlive_the_records_that_they_name(tmp_path):
    table = {"id": list("abcdefghijkl"), "name": ["ann", "ann", "bob", "eve"] * 3}
    table["year"] = [1, 1, 2, 3] * 3
    how = {"id": "id", "chains": 2, "draws": 20, "seed": 1, "progress": False}
    kp.resolve(table, out=tmp_path / "run", **how)
    one = '[[overrides]]\nrecord = "{0}"\nfield = "name"\nvalue = "set {0}"\n'
    rules = tmp_path / "rules.toml"
    rules.write_text(one.format("a") + one.format("b"))
    write_golden(tmp_path / "run", rules)
    new = {"id": ["z"], "name": ["zoe"], "year": [9]}
    resolution.add(tmp_path / "run", new, delete=["b"], progress=False)
    assert "gone were left out: 'b'" in write_golden(tmp_path / "run")[-1]
    values = pl.read_csv(tmp_path / "run" / "golden.csv")["name"].to_list()
    assert "set a" in values
    assert "set b" not in values
    kp.Result.load(tmp_path / "run").write(f"sqlite:///{tmp_path}/out.db")
    with pytest.raises(DataError, match="record 'b', which is not there"):
        write_golden(tmp_path / "run", rules)
