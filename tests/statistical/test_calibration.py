"""A short run of the calibration command: ranks of the truth are uniform, links calibrated."""

import numpy as np
import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["NBNB", "NBD", "DirichletProcess", "PitmanYor", "ESCNB", "ESCD"])
def test_posterior_is_calibrated(calibration, name):
    results = calibration.calibrate(name, 40, seed=2)
    for quantity, ranks in calibration.ranks_of(results).items():
        assert min(calibration.p_values(ranks)) > 1e-4, quantity
    for row in calibration.links_of(results):
        assert abs(row.z) < 4


def test_wrong_prior_is_found_out(calibration):
    """Sampling with a delta that is believed smaller than it is: ranks pile up at one end."""
    import kolchin as kp

    def wrong(model, seed):
        delta = kp.Gamma(1, 100)
        worse = kp.Model(model.records, model.prior, delta, model.likelihood.tied)
        return calibration.default_sampler(worse, seed)

    results = calibration.calibrate("NBNB", 40, seed=2, sampler=wrong)
    assert min(calibration.p_values(calibration.ranks_of(results)["delta"])) < 1e-4


def test_page_and_figure_are_written(calibration, tmp_path, monkeypatch):
    monkeypatch.setattr(calibration, "PRIORS", {"NBNB": calibration.PRIORS["NBNB"]})
    calibration.main(["--replicates", "3", "--out", str(tmp_path)])
    page = (tmp_path / "calibration.md").read_text(encoding="utf-8")
    assert "benchmarks/calibration.py --replicates 3 --seed 1" in page
    assert "| NBNB | n_clusters |" in page
    assert (tmp_path / "figures" / "calibration.svg").exists()
    assert np.fromfile(tmp_path / "figures" / "calibration.png", dtype="u1", count=4)[1] == ord("P")
