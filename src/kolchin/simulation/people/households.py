"""Who lives with whom: families, twins in them, and people on their own."""

from typing import NamedTuple

import numpy as np

from kolchin.simulation.people.coded import Ints

ALONE, ANCHOR, SPOUSE, CHILD, TWIN = range(5)

_FAMILY_SIZES = np.array([2, 3, 4, 5, 6])
_FAMILY_WEIGHTS = np.array([0.46, 0.22, 0.19, 0.09, 0.04])
_COUPLES = 0.75


class Homes(NamedTuple):
    """The household of each person, from 0, and what the person is there.

    Families come first: person by person, the anchor first. Then come pairs of twins, one after
    the other, and then people on their own. Household k of a family has its anchor at
    ``anchors[k]``.
    """

    household: Ints
    role: Ints
    anchors: Ints

    @property
    def n_households(self) -> int:
        """Return the number of households."""
        return int(self.household.max()) + 1


def draw_homes(rng: np.random.Generator, n_persons: int, households: float, twins: float) -> Homes:
    """Divide persons into families, pairs of twins and people on their own, by their shares.

    Each pair of twins belongs to a family of its own; those beyond the number of families live
    with each other alone.
    """
    sizes = _draw_family_sizes(rng, round(households * n_persons))
    n_family = int(sizes.sum())
    n_pairs = min(round(twins * n_persons / 2), (n_persons - n_family) // 2)
    n_alone = n_persons - n_family - 2 * n_pairs
    homes = rng.permutation(max(sizes.size, n_pairs))[:n_pairs]
    n_homes = max(sizes.size, n_pairs)
    household = np.concatenate(
        [
            np.repeat(np.arange(sizes.size), sizes),
            np.repeat(homes, 2),
            n_homes + np.arange(n_alone),
        ]
    )
    anchors = np.cumsum(sizes) - sizes
    role = np.repeat([CHILD, TWIN, ALONE], [n_family, 2 * n_pairs, n_alone])
    role[anchors] = ANCHOR
    role[anchors[rng.random(sizes.size) < _COUPLES] + 1] = SPOUSE
    return Homes(household, role, anchors)


def _draw_family_sizes(rng: np.random.Generator, n_family: int) -> Ints:
    """Draw sizes of families, 2 or more each, that add up to a number of persons."""
    if n_family < 2:
        return np.empty(0, dtype=np.int64)
    sizes = rng.choice(_FAMILY_SIZES, n_family // 2 + 1, p=_FAMILY_WEIGHTS)
    ends = np.cumsum(sizes)
    last = int(np.searchsorted(ends, n_family))
    sizes = sizes[: last + 1]
    sizes[last] -= ends[last] - n_family
    if sizes[last] == 1:
        sizes = sizes[:last]
        sizes[-1] += 1
    return sizes
