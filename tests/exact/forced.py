"""Let the drivers of joint posteriors take ways that small tables would not go."""

from itertools import combinations

import invariance
import numpy as np
from driving import Driver, unequal_proposals

from kolchin.priors.base import SizeCounts
from kolchin.sampling.moves.forest.move import ForestMove
from kolchin.sampling.moves.forest.parameters_given_forest import TypicalState
from kolchin.sampling.moves.parameters import UpdateFieldParameters, UpdateParameters
from kolchin.sampling.moves.regroup import RegroupMove
from kolchin.sampling.schedule import GIVEN_LINKS

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
        proposals = unequal_proposals(model.n_records, listed)._replace(uniform=uniform)
        state = None
        if typical:
            counts = SizeCounts.of(np.array([0, 2, 2]))
            delta = np.full(model.likelihood.n_fields, 0.2)
            state = TypicalState(delta, driver.state.prior_values, counts)
        driver.on_links = (ForestMove(proposals, state),) * 2
        driver.on_parameters = UpdateParameters(GIVEN_LINKS)
        return driver

    monkeypatch.setattr(invariance, "Driver", make)


def let_equals_regroup(monkeypatch, change=lambda proposals: proposals):
    """Let drivers regroup equal records, of which there are some, and draw delta given links."""
    monkeypatch.setattr(invariance, "codes", lambda missing, n_records: TWINS)

    def make(model, pairs, seed):
        driver = Driver(model, pairs, seed)
        n_records = model.n_records
        listed = np.array(list(combinations(range(n_records), 2))[1:], dtype=np.int32)
        regroup = RegroupMove(change(unequal_proposals(n_records, listed)))
        driver.on_links = (regroup, UpdateFieldParameters()) * 3
        driver.on_parameters = UpdateParameters(GIVEN_LINKS)
        return driver

    monkeypatch.setattr(invariance, "Driver", make)
