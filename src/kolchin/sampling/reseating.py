"""The plain reseating sampler: every cluster is a candidate for each record in turn.

Slow, and simple enough to be believed: it knows nothing but ``Model.log_joint`` and serves to
test the fast kernel against (model section 4).
"""

from typing import Any

import numpy as np

from kolchin.model import Model
from kolchin.parameters import IntArray
from kolchin.partitions import make_canonical


def reseat(rng: np.random.Generator, model: Model, labels: IntArray, **parameters: Any) -> IntArray:
    """Visit each record once and draw its cluster from its full conditional."""
    labels = make_canonical(labels)
    for n in range(labels.size):
        others = np.delete(labels, n)
        choices = [*np.unique(others), others.max(initial=-1) + 1]
        log_weight = np.empty(len(choices))
        for k, choice in enumerate(choices):
            labels[n] = choice
            log_weight[k] = model.log_joint(labels, **parameters)
        weight = np.exp(log_weight - log_weight.max())
        labels[n] = choices[int(rng.choice(len(choices), p=weight / weight.sum()))]
    return make_canonical(labels)
