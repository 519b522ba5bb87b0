"""Let the drivers of joint posteriors take ways that small tables would not go."""

from itertools import combinations

import invariance
import numpy as np
from driving import Driver, unequal_picks

from kolchin.priors.base import SizeCounts
from kolchin.sampling.layout import Layout
from kolchin.sampling.proposals.attach_lists import list_loose_pairs
from kolchin.sampling.moves.forest.parameters_given_forest import TypicalState
from kolchin.sampling.proposals.mixture import LOOSE_ODDS

TWINS = np.array(
    [[0, 0, 1], [0, 0, 1], [0, 1, 1], [0, -1, 1], [0, 1, 2], [0, -1, 1]], dtype=np.int32
)


def let_forests_be_grown(monkeypatch, uniform=0.3, typical=True):
    """Let drivers draw all at once; half of all pairs are listed, with very unequal weights.

    Modes are looked for from a state that is anything but typical.
    """

    def make(model, pairs, seed):
        driver = Driver(model, pairs, seed)
        listed = np.array(list(combinations(range(model.n_records), 2))[::2], dtype=np.int32)
        unequal = np.random.default_rng(3).exponential(scale=2.0, size=len(listed))
        log_odds = np.log(LOOSE_ODDS) - 0.01 - unequal
        loose = list_loose_pairs(Layout.single(model.n_records), listed, log_odds)
        chain = driver.chain
        chain.loose, chain.n_rounds = loose, 3
        chain.picks = unequal_picks(model.n_records, listed)._replace(uniform=uniform)
        if typical:
            counts = SizeCounts.of(np.array([0, 2, 2]))
            delta = np.full(model.likelihood.n_fields, 0.2)
            chain.typical = TypicalState(delta, chain.prior_values, counts)
        monkeypatch.setattr(chain, "_regroup", lambda picks: None)
        return driver

    monkeypatch.setattr(invariance, "Driver", make)


def let_equals_regroup(monkeypatch, change=lambda picks: picks):
    """Let drivers regroup equal records, of which there are some, and draw delta given links."""
    monkeypatch.setattr(invariance, "codes", lambda missing, n_records: TWINS)

    def make(model, pairs, seed):
        driver = Driver(model, pairs, seed)
        chain, n_records = driver.chain, model.n_records
        listed = np.array(list(combinations(range(n_records), 2))[1:], dtype=np.int32)
        chain.loose = list_loose_pairs(Layout.single(n_records), listed, np.full(len(listed), -3.0))
        chain.picks, chain.n_rounds = change(unequal_picks(n_records, listed)), 4
        monkeypatch.setattr(chain, "_redraw", lambda picks: chain._refresh_fields())
        return driver

    monkeypatch.setattr(invariance, "Driver", make)
