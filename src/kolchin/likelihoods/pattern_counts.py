"""What the parameters of compared fields depend on: how often patterns and levels were shown."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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

    def plus(self, other: "PatternCounts") -> "PatternCounts":
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
        rows, classes = np.nonzero(by_class)
        number, at = by_class[rows, classes], place[rows]
        seen = kept[classes] & (at < offsets[-1])
        wrong = seen & (at != offsets[:-1])
        of_level = np.bincount(
            at[seen], np.repeat(number, seen.sum(axis=1)), int(offsets[-1])
        ).astype(np.int64)
        sets = seen @ (1 << np.arange(seen.shape[1]))
        groups, where = np.unique(
            np.column_stack([sets, wrong.sum(axis=1)]), axis=0, return_inverse=True
        )
        together = np.bincount(where.ravel(), number, len(groups)).astype(np.int64)
        return cls(of_level, groups[:, 0], groups[:, 1], together, number @ wrong)
