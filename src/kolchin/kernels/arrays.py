"""Arrays that travel together, as named tuples: records, what they say, the prior, pairs."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LARGEST_ENUMERATED = 8
"""Up to this many records in two clusters, all ways to divide them are weighed at once."""

BITS = np.array([bin(k).count("1") for k in range(1 << LARGEST_ENUMERATED)])
"""Number of bits set in a small number: the size of a subset."""

Floats = NDArray[np.float64]

Int32s = NDArray[np.int32]

Int64s = NDArray[np.int64]

Sides = NDArray[np.int8]


class Data(NamedTuple):
    """Records: categorical fields, and pairs of records whose other fields were compared.

    ``codes`` has one row of global codes a record (-1: missing), ``gain`` is 1/frequency. Record
    i was compared with ``others[begins[i] : begins[i + 1]]``, sorted; ``pattern`` says what came
    out. ``shown`` has a bit for each compared field that a record shows. No cluster has two records
    of one ``source`` (-1: none); empty, there is no such constraint.
    """

    codes: Int32s
    gain: Floats
    begins: Int64s = np.empty(0, dtype=np.int64)
    others: Int32s = np.empty(0, dtype=np.int32)
    pattern: Int32s = np.empty(0, dtype=np.int32)
    shown: Int32s = np.empty(0, dtype=np.int32)
    source: Int32s = np.empty(0, dtype=np.int32)


class Evidence(NamedTuple):
    """What the fields say, by the parameters as they are.

    ``delta`` of each categorical field; ``ratio``, the Bayes factor of each pattern of levels, and
    ``apart``, that of pairs which were not compared, by the fields that both show. Without
    compared fields both are empty.
    """

    delta: Floats
    ratio: Floats = np.empty(0)
    apart: Floats = np.empty(0)


class Weights(NamedTuple):
    """A partition prior, as the kernel sees it.

    ``log_size[m]`` is h(m) - h(1), ``size`` its exponential for those small m up to which all
    divisions are weighed at once (at most ``LARGEST_ENUMERATED``), and NaN where products of
    evidence could leave the range of doubles: all comparisons then fail, and logs are used.
    A cluster opens when K others exist with weight scale (slope K + intercept) / (alpha + K),
    ``opening`` being (log scale, slope, intercept, alpha; 0 for no such factor), or
    ``exp(log_open[K])`` where that table is given.

    Where the size distribution is integrated out, ``shape[m]`` is its Dirichlet weight of size m:
    a cluster of m records then weighs ``exp(log_size[m]) (shape[m] + other clusters of m)``.
    """

    log_size: Floats
    size: Floats
    opening: Floats
    log_open: Floats
    shape: Floats


class Pairs(NamedTuple):
    """A fixed distribution over the pairs of a shard: a uniform share, and weighted lists.

    A shard is two ranges of records, ``within`` = (from, to, from, to). Row s of ``slices`` says
    which rows of ``table`` are a list of its pairs, taken with chance ``reach[s] - reach[s - 1]``.
    Each list is an alias table: a row is (i, j, i', j', chance), and the pair (i, j) is taken if a
    uniform 31-bit number is below ``chance``, else (i', j').
    """

    uniform_share: float
    table: Int32s
    slices: Int64s
    reach: Floats
    within: Int64s


class Forest(NamedTuple):
    """Trees of units, parents before their children: what links each to its parent.

    ``parent`` is a place, -1 at roots. A link makes a cluster of ``size`` records. It has the
    factor (delta + ``shared``) / (delta + ``seen``) in each field, for those that both show
    (``seen`` > 0), over ``chance``: that its edge is here if it is not linked, over that if it is.
    """

    unit: Int32s
    parent: Int64s
    shared: Floats
    seen: Floats
    size: Int64s
    chance: Floats
