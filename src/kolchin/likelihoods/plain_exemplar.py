"""What was learnt of a table as plain arrays, and the likelihood made of them again."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison import Comparisons
from kolchin.comparison.plain_arrays import Arrays, flatten, rebuild
from kolchin.likelihoods.compared_patterns import UnmergedPatterns
from kolchin.likelihoods.dependence import Dependence
from kolchin.likelihoods.exemplar import Exemplar
from kolchin.likelihoods.outcomes import Outcomes

WHOLE = ("place", "constant", "bands", "_pattern", "_number")


def flatten_exemplar(compared: Exemplar) -> Arrays:
    """Return a likelihood that was learnt as arrays, without what the comparisons know."""
    assert compared.dependence is not None
    assert compared._unmerged is not None
    arrays = {name.strip("_"): getattr(compared, name) for name in WHOLE}
    arrays |= flatten("unmerged", compared._unmerged)
    arrays |= flatten("dependence", compared.dependence)
    return arrays


def rebuild_exemplar(arrays: Mapping[str, NDArray[Any]], comparisons: Comparisons) -> Exemplar:
    """Make a likelihood again from what `flatten_exemplar` returned, and the comparisons."""
    n_levels = tuple(len(names) for names in comparisons.level_names)
    names = [field.column for field in comparisons.fields]
    nothing = np.empty((0, len(names)))
    bare = Outcomes(
        np.empty((0, 2), dtype=np.int32),
        nothing.astype(np.int8),
        nothing,
        n_levels,
        np.ones(len(names)),
        comparisons.shows,
        np.empty(0, dtype=np.int32),
        slips=comparisons.slips,
    )
    made = Exemplar(bare, names)
    made.parts, made.comparisons = comparisons.parts, comparisons
    for name in WHOLE:
        setattr(made, name, arrays[name.strip("_")])
    made.n_patterns = made._number.size
    made._unmerged = rebuild(UnmergedPatterns, "unmerged", arrays)
    made._take_dependence(rebuild(Dependence, "dependence", arrays))
    return made
