"""On the authors' own Italy data the four models must give the printed values."""

from pathlib import Path

import polars as pl
import pytest

import kolchin as kp

DATA = Path(__file__).parents[3] / "shared" / "data" / "italy_paper_synthetic.csv"


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(
    ("prior", "k_mean", "fnr", "fdr"),
    [
        (kp.DirichletProcess(), 594.0, 0.07, 0.03),
        (kp.PitmanYor(), 593.9, 0.07, 0.03),
        (kp.NBNB(), 591.0, 0.04, 0.03),
        (kp.NBD(), 590.5, 0.03, 0.00),
    ],
    ids=["DP", "PYP", "NBNB", "NBD"],
)
def test_printed_values_of_italy(prior: kp.NBD, k_mean: float, fnr: float, fdr: float) -> None:
    if not DATA.exists():
        pytest.skip("the development data are not here")
    table = pl.read_csv(DATA)
    fields = [kp.Categorical(name) for name in table.columns if not name.endswith("_id")]
    model = kp.Model(kp.Records.from_table(table, fields=fields), prior=prior, tied=True)
    posterior = kp.sample(model, chains=4, draws=1000, seed=1, progress=False)
    assert abs(posterior.statistics["n_clusters"].mean() - k_mean) < 2
    estimate = kp.evaluate(posterior.point_estimate("paper"), table["ent_id"].to_numpy())
    assert estimate.fnr == pytest.approx(fnr, abs=0.02)
    assert estimate.fdr == pytest.approx(fdr, abs=0.02)
