"""What the parameters of compared fields depend on: how often patterns and levels were shown."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.likelihoods.evidence_kernels.error_numbers import count_kept
from kolchin.parameters import FloatArray, IntArray


class PatternCounts(NamedTuple):
    """What the parameters depend on, of some clusters: how often each pattern was shown.

    ``against`` counts records against the exemplars of their clusters, ``inside`` all pairs of
    one cluster; pairs that were not compared come last, by what both show. ``log_evidence`` is that
    of all clusters over singletons, exemplars integrated out.
    """

    against: IntArray
    inside: IntArray
    log_evidence: float

    def add(self, other: "PatternCounts") -> "PatternCounts":
        """Add those of other clusters."""
        return PatternCounts(
            self.against + other.against,
            self.inside + other.inside,
            self.log_evidence + other.log_evidence,
        )


def draw_classes(
    rng: np.random.Generator, number: IntArray, weight: FloatArray
) -> NDArray[np.int64]:
    """Draw what was replaced in records of each pattern, by the weights of classes."""
    if weight.shape[1] == 1:
        return number[:, None]
    total = weight.sum(axis=1, keepdims=True)
    # Where all underflow, nothing was replaced.
    weight[:, 0] += total[:, 0] == 0
    result: NDArray[np.int64] = rng.multinomial(number, weight / np.maximum(total, 1e-300))
    return result


class KeptLevels(NamedTuple):
    """Levels of fields that were not replaced.

    ``of_level`` counts them. ``number[g]`` records show the fields ``seen[g]`` (by bits),
    ``wrong[g]`` of which are wrong; ``n_wrong[f]`` records have field f wrong.
    """

    of_level: IntArray
    seen: IntArray
    wrong: IntArray
    number: IntArray
    n_wrong: IntArray

    @classmethod
    def of(
        cls,
        place: NDArray[np.int32],
        by_class: NDArray[np.int64],
        kept: NDArray[np.bool_],
        offsets: IntArray,
    ) -> "KeptLevels":
        """Count them, of patterns and what was replaced."""
        n_fields = place.shape[1]
        of_level = np.zeros(int(offsets[-1]), dtype=np.int64)
        n_wrong = np.zeros(n_fields, dtype=np.int64)
        keys, number = count_kept(place, by_class, kept, offsets, of_level, n_wrong)
        groups, where = np.unique(keys, return_inverse=True)
        seen, wrong = np.divmod(groups, n_fields + 1)
        together = np.bincount(where, number, groups.size).astype(np.int64)
        return cls(of_level, seen, wrong, together, n_wrong)
