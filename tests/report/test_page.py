"""What the page says, and that it stays small, safe and the same."""

import dataclasses
import json
import re
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import polars as pl
import pytest
from contents import HOSTILE, hostile, large, sampled, texts, tiny
from pages import Page

from kolchin.records.columns.column_texts import Texts
from kolchin.records.files.parquet import ParquetParts
from kolchin.report import charts, render, rendering
from kolchin.report.sections import (
    candidates,
    changes,
    diagnostics,
    fields,
    groups,
    pairs,
    parameters,
)
from kolchin.report.wording import NOT_CONVERGED

CONTENTS = {"sampled": sampled, "large": large, "tiny": tiny, "hostile": hostile}


@pytest.fixture(params=CONTENTS)
def html(request):
    return render(CONTENTS[request.param]())


def test_page_is_well_formed_small_and_the_same_again(html, request):
    page = Page(html)
    assert page.elements[0] == ("html", {"lang": "en"})
    assert len(html.encode()) < 2_000_000
    assert render(CONTENTS[request.node.callspec.params["html"]]()) == html


def test_page_loads_nothing(html):
    """No element names a resource, no rule of the style does, and the policy forbids the rest."""
    page = Page(html)
    for tag, attributes in page.elements:
        for name in ("src", "href", "action", "data", "poster", "srcset", "background"):
            address = attributes.get(name)
            assert address is None or address.startswith("#") or address == "data:,", (tag, address)
    style = html[html.index("<style>") : html.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert "default-src 'none'" in html
    assert "http" not in json.dumps(page.charts)
    code = "".join(code for _, code in page.scripts)
    addresses = set(re.findall(r"https?://[\w.-]+", code))
    # Names of XML vocabularies, and links of a menu that Vega-Embed is told not to show.
    assert addresses <= {"http://www.w3.org", "https://github.com", "https://vega.github.io"}
    assert "actions: false" in code


def test_same_page_in_another_process():
    """Nothing depends on the order of sets or on addresses in memory."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from contents import hostile;"
        "from kolchin.report import render; import hashlib;"
        "print(hashlib.sha256(render(hostile()).encode()).hexdigest())"
    )
    folder = __file__.rpartition("/")[0]
    found = {
        subprocess.run(
            [sys.executable, "-c", code, folder],
            check=True,
            capture_output=True,
            text=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_headline_says_how_many():
    content = sampled()
    text = Page(render(content)).text
    found = content.summary["n_entities"]
    assert f"describe about {found['mean']:.0f} entities" in text
    assert f"between {found['q05']:.0f} and {found['q95']:.0f}" in text
    assert f"{789 - found['q95']:.0f} and {789 - found['q05']:.0f}" in text


def test_list_outside_the_interval_is_explained():
    content = sampled()
    listed = content.entities["entity"].n_unique()
    found = content.summary["n_entities"]
    text = Page(render(content)).text
    assert f"has {listed} entities" in text
    assert ("where apart is a little more probable" in text) == (listed > round(found["q95"]))


def test_undecided_pairs_nearest_to_one_half_come_first():
    content = large()
    chances = content.links["probability"].to_numpy()
    shown = pairs.make_undecided_pairs(content)
    nearest = content.links[np.argsort(np.abs(chances - 0.5))[: pairs.MOST_PAIRS]]
    assert [(p.record_a, p.record_b) for p in shown] == [
        (str(a), str(b)) for a, b in nearest.select("record_a", "record_b").rows()
    ]
    page = Page(render(content))
    assert len(page.with_class("pair")) == pairs.MOST_PAIRS
    open_pairs = np.count_nonzero((chances >= 0.1) & (chances <= 0.9))
    assert f"{open_pairs:,} pairs have a probability between 10% and 90%" in page.text


def test_waterfall_leads_from_the_odds_before_the_fields_to_the_odds_of_the_pair():
    content = sampled()
    pair = pairs.make_undecided_pairs(content)[0]
    link = content.links.filter(
        pl.col("record_a") == int(pair.record_a), pl.col("record_b") == int(pair.record_b)
    ).row(0, named=True)
    odds = np.log2(link["probability"] / (1 - link["probability"]))
    bits = [link[row.name] for row in pair.rows]
    assert [row.bits for row in pair.rows] == [pairs.write_signed(b) for b in bits]
    assert pair.start.bits == pairs.write_signed(odds - sum(bits))
    assert pair.total.bits == pairs.write_signed(odds)
    # Every bar begins where the one before it ends.
    reached = pair.zero
    for row, value in zip([pair.start, *pair.rows], [odds - sum(bits), *bits], strict=True):
        left, right = row.bar.left, row.bar.left + row.bar.width
        begin, end = (left, right) if value >= 0 else (right, left)
        assert begin == pytest.approx(reached, abs=0.03)
        assert row.bar.direction == ("up" if value >= 0 else "down")
        assert left >= -0.01
        assert right <= 100.01
        reached = end


def test_prior_odds_and_other_records_are_told_apart_where_the_prior_is_known():
    content = large()
    pair = pairs.make_undecided_pairs(content)[0]
    assert (pair.start.name, pair.start.bits) == ("Before looking", "−17.3")
    link = content.links.filter(pl.col("record_a") == int(pair.record_a)).row(0, named=True)
    odds = np.log2(link["probability"] / (1 - link["probability"]))
    others = odds + 17.3 - sum(link[name] for name in content.compared)
    assert [(row.name, row.bits) for row in pair.more] == [
        ("What other records say", pairs.write_signed(others))
    ]


def test_field_named_like_a_column_of_the_links():
    links = {"record_a": ["a"], "record_b": ["b"], "probability": [0.5], "same_entity": [False]}
    content = tiny(
        links=pl.DataFrame(links | {"probability_bits": [2.0]}),
        values=texts({"probability": ["high", "low", None]}),
    )
    (row,) = pairs.make_undecided_pairs(content)[0].rows
    assert (row.name, row.state, row.bits) == ("probability", "differs", "+2.0")


def test_differences_are_marked():
    left, right = pairs.mark_differences("Maria Gonzalez", "Maria Gonzales")
    assert [piece.text for piece in left if piece.differs] == ["z"]
    assert [piece.text for piece in right if piece.differs] == ["s"]
    assert "".join(piece.text for piece in left) == "Maria Gonzalez"
    assert pairs.mark_differences("York", "Leeds") == ([("York", True)], [("Leeds", True)])
    assert pairs.compare_values("name", "a", None).state == "missing"
    assert pairs.compare_values("name", "a", "a").state == "same"


def test_differences_beyond_what_is_shown_count():
    row = pairs.compare_values("notes", "x" * 500 + "1", "x" * 500 + "2")
    assert row.state == "differs"
    assert any(piece.differs for piece in row.a + row.b)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rhat": 1.002, "ess": 900.0, "converged": True}, ["The result is stable", "runs agree"]),
        ({"rhat": 1.0104, "ess": 234.0, "converged": False}, ["nearly agree (R-hat 1.010"]),
        ({"rhat": 1.3, "ess": 900.0, "converged": False}, ["do not agree", "kolchin.resume"]),
        ({"rhat": 1.002, "ess": 90.0, "converged": False}, ["worth 90", "more draws are all"]),
        ({"rhat": None, "ess": None, "converged": False}, ["too few draws to tell"]),
        ({"quantities": {"delta": {"rhat": 1.234, "ess": None}}}, ["delta 1.234 –"]),
        ({}, ["Not stable yet", "too few draws to tell"]),
    ],
)
def test_diagnostics_in_words(given, words):
    content = tiny(summary=dict(tiny().summary) | {"diagnostics": given})
    text = Page(render(content)).text
    for word in words:
        assert word in text
    assert ("take the numbers as a draft" in text) != bool(given.get("converged"))


def test_runs_stuck_apart_are_not_called_too_few():
    """JSON has no infinity, so an R-hat without bound comes as none."""
    given = {"diagnostics": {"rhat": None, "ess": 2.0, "converged": False}}
    stuck = {"n_entities": np.repeat([[2.0], [3.0]], 50, axis=1)}
    text = Page(render(tiny(summary=given, traces=stuck))).text
    assert "do not agree yet (R-hat without bound" in text


def test_traces_are_thinned():
    content = large()
    trace = diagnostics.make_traces(content)[0]
    n_points = sum(len(row) - 1 for row in trace.data)
    assert 500 <= n_points <= diagnostics.MOST_POINTS
    draws = content.traces["n_entities"]
    for row in trace.data:
        assert row["run 1"] == pytest.approx(draws[0, row["draw"] - 1], rel=1e-4)


def test_truth_is_compared_only_when_given():
    content = sampled()
    page = Page(render(content))
    point = content.summary["evaluation"]["point_estimate"]
    assert f"{point['precision']:.3f}" in page.text
    assert "in truth there are 587" in page.text
    points = page.rows("calibration")
    assert [p["true"] for p in points] == content.calibration["share_true"].round(4).to_list()
    without = Page(render(tiny()))
    assert "calibration" not in without.charts
    assert "Against the truth" not in without.text


def test_charts_and_places_agree(html):
    page = Page(html)
    places = [attributes["data-chart"] for attributes in page.with_class("chart")]
    assert sorted(places) == sorted(page.charts)
    for attributes in page.with_class("chart"):
        assert attributes["role"] == "img"
        assert len(attributes["aria-label"]) > 10


def test_shares_of_confidence_add_up():
    values = Page(render(large())).rows("confidence")
    assert sum(row["share"] for row in values) == pytest.approx(1, abs=1e-4)
    sure = [row for row in values if row["label"] == "over 99%"]
    whole = (large().entities["confidence"] >= 0.99).mean()
    assert sum(row["share"] for row in sure) == pytest.approx(whole, abs=1e-4)


def test_page_does_not_grow_with_the_table():
    """Twice as many records, the same page but for the digits."""
    one, two = (len(render(large(n)).encode()) for n in (50_000, 100_000))
    assert abs(two - one) < 10_000


def test_hostile_values_stay_text():
    page = Page(render(hostile()))
    assert len(page.scripts) == 3
    assert not [tag for tag, _ in page.elements if tag == "img"]
    assert not [a for _, attributes in page.elements for a in attributes if a.startswith("on")]
    assert page.text.count("</script><script>window.hacked=1") >= 10
    assert "{{7*7}}" in page.text
    assert "\x00" not in page.text
    labels = [row["label"] for row in page.rows("fields")]
    assert HOSTILE[:50] in "".join(labels)


def test_user_text_is_data_in_charts_and_nothing_else():
    """Names of columns and expressions of charts are the page's own."""

    def strip(node):
        if isinstance(node, dict):
            return {k: strip(v) for k, v in node.items() if k not in ("values", "datasets")}
        return [strip(v) for v in node] if isinstance(node, list) else node

    assert "hacked" not in json.dumps(strip(Page(render(hostile())).charts))


def test_wide_tables_and_long_values_stay_bounded():
    n = 3_000
    names = [f"column {k}" for k in range(n)]
    content = tiny(
        links=pl.DataFrame(
            {"record_a": ["a"], "record_b": ["b"], "probability": [0.5], "same_entity": [False]}
            | {name: [float(k % 7) - 3] for k, name in enumerate(names)}
        ),
        values=texts({name: ["x" * 100_000, "y", None] for name in names[:20]}),
        fields=pl.DataFrame(
            {
                "column": names,
                "kind": "Text",
                "used": True,
                "why": "",
                "distinct": 2,
                "missing": 0.3,
                "bits": 1.0,
            }
        ),
    )
    html = render(content)
    assert len(html.encode()) < 1_200_000
    text = Page(html).text
    assert f"{n - pairs.MOST_FIELDS} more fields" in text
    assert "more columns are not shown" in text


def test_missing_parts_are_left_out():
    """A summary from an unfinished run may hold next to nothing."""
    page = Page(render(tiny(summary={})))
    assert "describe about 3 entities" in page.text


def test_texts_that_are_not_in_memory(tmp_path):
    path = tmp_path / "texts.parquet"
    hostile().values.write_parquet(path)
    values = Texts.over(ParquetParts.of(path))
    assert render(dataclasses.replace(hostile(), values=values)) == render(hostile())


def test_empty_table():
    content = tiny(
        summary={},
        entities=tiny().entities.clear(),
        values=texts(tiny().values.frame().clear()),
        sizes=tiny().sizes.clear(),
        traces={},
    )
    assert "The table has no records" in Page(render(content)).text


def test_importing_the_report_is_free():
    code = (
        "import sys, kolchin, kolchin.report;"
        "print([m for m in ('altair', 'vl_convert', 'jinja2') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout.strip() == "[]"


KEYS = [
    {"key": "surname + born", "pairs": 900, "capped_blocks": 0, "capped_records": 0},
    {"key": "sound of surname", "pairs": 1200, "capped_blocks": 2, "capped_records": 80},
]
COMPARED = {
    "candidates": {
        "n_pairs": 2,
        "pairs_a_record": 0.7,
        "n_likely": 90,
        "missed": 0.1,
        "keys": KEYS,
    },
    "parameters": {
        f"m[{name}]": {"mean": mean, "sd": 0.01, "q05": mean, "q95": mean}
        for name, mean in {
            "surname: exact": 0.93,
            "surname: mistyped": 0.05,
            "surname: different": 0.02,
            "a: b: exact": 1.0,
        }.items()
    },
}


def test_candidates_are_told():
    html = render(tiny(summary={**tiny().summary, **COMPARED}))
    words = " ".join(re.sub(r"<[^>]*>", " ", html).split())
    assert "2 pairs of records were compared (0.7 a record): those that agree on one of 2" in words
    assert "90 pairs of them look like links." in words
    assert "the keys miss at least about 10 such links (10%)" in words
    assert "sound of surname 1,200 80" in words
    assert "exact 93% mistyped 5% different 2%" in words
    assert "m[surname" not in html[html.index('id="parameters"') :]


def test_fields_that_move_together_are_told():
    dependence = {
        "shared": [
            {"fields": ["street", "city", "zip"], "pairs": 12},
            {"fields": ["city", "zip"], "pairs": 14300},
        ],
        "replaced": [{"fields": ["city", "zip"], "share": 0.171}],
    }
    html = render(tiny(summary={**tiny().summary, **COMPARED, "dependence": dependence}))
    words = " ".join(re.sub(r"<[^>]*>", " ", html).split())
    assert (
        "city and zip are shared by 14,300 unrelated pairs. street, city and zip are shared by 12"
        in words
    )
    assert "city and zip are replaced together in 17% of the pairs of records of one" in words
    assert "move together" not in render(tiny(summary={**tiny().summary, **COMPARED}))


def test_levels_keep_the_name_of_their_field():
    rows = candidates.make_level_rows(tiny(summary={**tiny().summary, **COMPARED}))
    assert [(row.name, row.levels[0].name) for row in rows] == [
        ("surname", "exact"),
        ("a: b", "exact"),
    ]


def test_all_pairs_miss_nothing():
    every = {**COMPARED["candidates"], "n_pairs": 3, "keys": KEYS[:1]}
    found = candidates.make_candidates(tiny(summary={**tiny().summary, "candidates": every}))
    assert found.sentences == ["All 3 pairs of records were compared."]
    assert 'id="candidates"' not in render(tiny())


def test_groups_are_shown_with_their_differences_marked():
    table = {"name": ["Jon", "John", "John", "Eve"], "city": ["Rome", None, "Rome", "Pisa"]}
    entities = pl.DataFrame(
        {
            "record": ["a", "b", "c", "d"],
            "entity": [0, 0, 0, 1],
            "entity_size": [3, 3, 3, 1],
            "confidence": [0.7, 0.7, 0.7, 1.0],
        }
    )
    content = dataclasses.replace(tiny(), entities=entities, values=texts(table))
    (doubtful,) = groups.make_shelves(content)
    assert doubtful.title == "Least sure"
    (group,) = doubtful.groups
    assert (group.size, group.confidence, group.differing) == ("3", "70%", "name")
    first, second, _ = group.records
    assert "".join(piece.text for piece in first.cells[0].pieces) == "Jon"
    assert not any(piece.differs for piece in second.cells[0].pieces)
    assert second.cells[1].pieces == []
    page = Page(render(content))
    assert len(page.with_class("group")) == 1
    assert "Entity 0: 3 records" in page.text


def test_no_group_is_called_the_largest_where_all_have_as_many_records():
    entities = pl.DataFrame(
        {"record": list("abcdefg"), "entity": [0, 0, 1, 1, 2, 2, 2], "confidence": [1.0] * 7}
    )
    table = texts({"name": ["Jon"] * 7})
    for kept, shelves in ((7, ["Sure", "Largest"]), (4, ["Sure"])):
        some = entities.head(kept).with_columns(entity_size=pl.len().over("entity"))
        rows = texts({"name": table.rows(range(kept))["name"]})
        content = dataclasses.replace(tiny(), entities=some, values=rows)
        assert [shelf.title for shelf in groups.make_shelves(content)] == shelves


def test_notes_begin_with_a_capital():
    assert "Records are named" in render(
        dataclasses.replace(tiny(), notes=["records are named by 'id'."])
    )


def test_of_a_large_group_some_records_are_shown():
    group = groups.make_shelves(large())[-1].groups[0]
    assert len(group.records) <= groups.MOST_RECORDS
    assert len(group.records) + group.n_more == int(group.size)
    assert len(group.columns) <= groups.MOST_COLUMNS


def test_words_that_are_true_only_where_they_hold():
    calm = {"rhat": 1.0, "ess": 900.0, "converged": True}
    sure = tiny(summary=dict(tiny().summary) | {"diagnostics": calm})
    page = Page(render(sure)).text
    assert "everything is decided" in page
    assert "The result is stable" in page
    warned = tiny(summary=dict(sure.summary) | {"cautions": ["No two records were linked."]})
    page = Page(render(warned)).text
    assert "everything is decided" not in page
    assert "The result is stable" not in page
    assert page.index("Please read this first. No two records were linked.") < page.index("records")
    assert "everything is decided" not in Page(render(tiny())).text


def test_bits_if_values_agree_count_no_gaps_in():
    name = next(row for row in fields.make_field_rows(tiny()) if row.name == "name")
    assert name.possible_bits == "2.2"  # 1 bit with a third missing: 1 / (2/3)^2


def test_errors_and_shared_fields_are_told_in_words():
    values = {"errors[1 of 4]": 0.25, "errors[4 of 4]": 1e-5, "shared[street + city]": 3274.3}
    content = tiny()
    given = {"parameters": {name: {"mean": mean} for name, mean in values.items()}}
    content = dataclasses.replace(content, summary={**content.summary, **given})
    rows = {row.name: row.meaning for row in parameters.make_parameter_rows(content)}
    assert rows == {
        "errors[1 of 4]": "In 25% of the records 1 of 4 fields is wrong, or changed.",
        "shared[street + city]": "About 3,274 pairs of unrelated records share street + city for a "
        "reason.",
    }


@pytest.mark.parametrize(("first", "last"), [(200, 200), (199, 201), (66_000, 66_700)])
def test_numbers_of_entities_are_whole_on_their_axis(first, last):
    rows = [
        {"start": k - 0.5, "end": k + 0.5, "share": 0.1, "inside": True}
        for k in range(first, last + 1)
    ]
    places = json.dumps(charts.draw_entities(rows))
    (shown,) = re.findall(r'"values": (\[[\d, ]+\])', places)
    assert len(json.loads(shown)) == len(set(json.loads(shown))) <= 7
    assert set(json.loads(shown)) <= set(range(first, last + 1))


def test_that_chains_do_not_agree_is_said_once():
    content = tiny()
    said = {"cautions": [NOT_CONVERGED, "Equal records are kept apart."]}
    page = render(dataclasses.replace(content, summary={**content.summary, **said}))
    assert NOT_CONVERGED not in page
    assert "Equal records are kept apart." in page


def test_entities_are_called_as_they_are_typed():
    shelves = groups.make_shelves(large(20_000))
    named = [group.entity for shelf in shelves for group in shelf.groups]
    assert any(len(name) > 3 for name in named)
    assert all(name.isdigit() for name in named)


def test_what_changed_is_told_where_records_were_added():
    rows = [
        ("unchanged", 1, [1], 2, 0, 0.9),
        ("grew", 2, [2], 3, 1, 0.75),
        ("merged", 3, [3, 4], 2, 0, 0.55),
        ("created", 5, [], 1, 1, 1.0),
    ]
    schema = {"event": pl.String, "entity": pl.Int64, "from_entities": pl.List(pl.Int64)}
    schema |= {"n_records": pl.Int64, "n_new": pl.Int64, "probability": pl.Float64}
    events = pl.DataFrame(rows, schema=schema, orient="row")
    content = tiny(events=events)
    told = changes.make_changes(content)
    assert [row.event for row in told.rows] == ["unchanged", "created", "grew", "merged"]
    assert [row.entity for row in told.doubtful] == ["3", "2"]
    assert told.doubtful[0].earlier == "3, 4"
    assert "What changed" in render(content)
    assert "As many entities as before: 1 created, 1 fewer by mergers." in render(content)
    assert "What changed" not in render(tiny())


def test_an_audit_is_told_where_there_was_one():
    page = render(tiny(audit=["Precision: 0.9 (0.8 to 1.0); the two disagree."]))
    assert 'id="audit"' in page
    assert "the two disagree." in page
    assert 'href="#audit"' not in render(tiny())


def test_charts_are_what_their_schema_wants_though_no_page_waits_for_that(monkeypatch):
    content = sampled()
    page = render(content)
    monkeypatch.setattr(charts, "VALIDATED", True)
    monkeypatch.setattr(rendering, "debug_mode", nullcontext)
    assert render(content) == page
