"""The figures are drawn, saved, and say what they show."""

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import ks_2samp

from kolchin.errors import MissingExtraError
from kolchin.paper import reproduce_figure1, reproduce_figure2, reproduce_table1
from kolchin.paper.figure1 import largest_shares
from kolchin.paper.figure2 import draw_dataset
from kolchin.paper.plotting import new_figure, save_figure
from kolchin.paper.run import ExperimentRun


def test_figure1_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kolchin.paper.figure1.N_RECORDS", (100, 178))
    monkeypatch.setattr("kolchin.paper.figure1.N_DRAWS", 5)
    told: list[str] = []
    result = reproduce_figure1(tmp_path, quick=True, progress=lambda *step: told.append(step[2]))
    assert [file.name for file in result.files] == [
        "figure1_quick.csv",
        "figure1_quick.png",
        "figure1_quick.svg",
    ]
    assert all(file.stat().st_size > 100 for file in result.files)
    assert pl.read_csv(result.files[0]).height == 4 * 2 * 5
    assert told[-1] == "done"
    assert "stops at 1000" in result.notes[-1]


def test_the_same_figure_is_the_same_file(tmp_path: Path) -> None:
    for name in ("one", "two"):
        figure = new_figure(2, 2)
        figure.add_subplot(1, 1, 1).plot([0, 1])
        save_figure(figure, tmp_path / name, "line")
    for kind in ("png", "svg"):
        one, two = tmp_path / f"one/line.{kind}", tmp_path / f"two/line.{kind}"
        assert one.read_bytes() == two.read_bytes()


def test_shares_vanish_for_kolchin_models_and_not_for_processes() -> None:
    shares = largest_shares((100, 1000), 10, seed=1)
    medians = {
        (model, n): values.median()
        for (model, n), values in zip(
            shares.select("model", "n_records").unique(maintain_order=True).rows(),
            shares.partition_by("model", "n_records", maintain_order=True),
            strict=True,
        )
        for values in [values["share"]]
    }
    for model in ("NBNB", "NBD"):
        assert medians[model, 1000] < 0.5 * medians[model, 100]
    for model in ("DP", "PYP"):
        assert medians[model, 1000] > 0.15


@pytest.mark.statistical
def test_nbnb_draws_agree_with_independent_cuts() -> None:
    # With r = 1 and a = 1 every gap between N records in a row is a cut with probability 1/3.
    rng = np.random.default_rng(2)
    n_records, expected = 100, []
    for _ in range(400):
        cuts = np.flatnonzero(rng.random(n_records - 1) < 1 / 3) + 1
        expected.append(np.diff(np.concatenate(([0], cuts, [n_records]))).max() / n_records)
    shares = largest_shares((n_records,), 100, seed=3).filter(model="NBNB")["share"]
    assert ks_2samp(shares, expected).pvalue > 1e-3


def test_figure2_is_written_from_the_runs(tmp_path: Path, pretended: list[ExperimentRun]) -> None:
    reproduce_table1(tmp_path, quick=True, cores=1)
    n_made = len(pretended)
    result = reproduce_figure2(tmp_path, quick=True, cores=1)
    assert len(pretended) == n_made
    assert {file.name for file in result.files} >= {
        "figure2_quick.csv",
        "figure2_italy_quick.png",
        "figure2_italy_quick.svg",
    }
    boxes = pl.read_csv(tmp_path / "figure2_quick.csv")
    assert boxes.height == 4 * n_made
    counts = {}
    for authors in (False, True):
        figure = draw_dataset(boxes.filter(dataset="italy"), "italy", authors)
        assert "Italy" in figure.get_suptitle()
        counts[authors] = [len(axes.patches) for axes in figure.axes]
    assert counts == {False: [12] * 4, True: [24] * 4}


def test_figures_say_how_to_install_matplotlib(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = builtins.__import__

    def without_matplotlib(name: str, *rest: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return whole(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    with pytest.raises(MissingExtraError, match=r"pip install 'kolchin\[plots\]'"):
        reproduce_figure1(tmp_path)
    with pytest.raises(MissingExtraError, match="matplotlib"):
        reproduce_figure2(tmp_path)
