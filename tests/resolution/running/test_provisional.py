"""A time limit that strikes during warm-up leaves a result that says what it is."""

import pytest

import kolchin as kp
from kolchin.resolution.results.summary import write_headline

SETTINGS = {"id": "rec_id", "truth": "ent_id", "chains": 2, "draws": 6, "seed": 1}


@pytest.fixture
def cut_short(people, tmp_path):
    return tmp_path, kp.resolve(people, **SETTINGS, time_limit=1e-6, out=tmp_path / "run")


def test_there_is_a_result_marked_as_provisional(cut_short):
    folder, result = cut_short
    summary = result.summary()
    assert (result.ended, summary["draws"]) == ("warm-up", 1)
    assert not summary["diagnostics"]["converged"]
    (said,) = summary["cautions"]  # nothing else that is told could be relied on
    assert said.startswith("This is provisional")
    assert summary["doubts"] == []
    assert write_headline(summary)[0] == said
    assert "2 chains of 1 draw, R-hat" in write_headline(summary)[2]
    assert result.entities.height == 60
    for file in ("entities.csv", "links.csv", "summary.json", "report.html"):
        assert (folder / "run" / file).exists()
