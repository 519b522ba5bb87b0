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


class AnswerLists(NamedTuple):
    """What people say of pairs of records; without answers all is empty.

    Something is said of record n with ``others[starts[n] : starts[n + 1]]``, sorted; ``log_factor``
    is the log weight of together over apart. Records that are certainly the same have the same
    ``group`` (-1: none), and are not listed.
    """

    starts: Int64s = np.empty(0, dtype=np.int64)
    others: Int32s = np.empty(0, dtype=np.int32)
    log_factor: Floats = np.empty(0)
    group: Int32s = np.empty(0, dtype=np.int32)


class Data(NamedTuple):
    """Records: categorical fields, and pairs of records whose other fields were compared.

    ``codes`` has one row of global codes a record (-1: missing), ``gain`` is 1/frequency. Record
    i was compared with ``others[begins[i] : begins[i + 1]]``, sorted; ``pattern`` says what came
    out. ``shown`` has a bit for each compared field that a record shows, ``slips`` one for each
    whose value is probably a slip; ``weight`` says how likely a record is the exemplar of its
    cluster, ``near`` (by pattern) in which fields values are near. No cluster has two records of
    one ``source`` (-1: none); empty, there is no such constraint. ``answers`` are what people know
    of them.
    """

    codes: Int32s
    gain: Floats
    begins: Int64s = np.empty(0, dtype=np.int64)
    others: Int32s = np.empty(0, dtype=np.int32)
    pattern: Int32s = np.empty(0, dtype=np.int32)
    shown: Int32s = np.empty(0, dtype=np.int32)
    weight: Floats = np.empty(0)
    slips: Int32s = np.empty(0, dtype=np.int32)
    near: Int32s = np.empty(0, dtype=np.int32)
    source: Int32s = np.empty(0, dtype=np.int32)
    answers: AnswerLists = AnswerLists()


class Evidence(NamedTuple):
    """What the fields say, by the parameters as they are.

    ``delta`` of each categorical field; ``ratio``, the Bayes factor of each pattern of levels, and
    ``uncompared``, that of pairs which were not compared, by the fields that both show. Without
    compared fields both are empty.
    """

    delta: Floats
    ratio: Floats = np.empty(0)
    uncompared: Floats = np.empty(0)


class Opening(NamedTuple):
    """The weight of a cluster more beside K others: scale (slope K + intercept) / (alpha + K).

    Where ``alpha`` is 0, there is no such denominator.
    """

    log_scale: float
    slope: float
    intercept: float
    alpha: float


class Weights(NamedTuple):
    """A partition prior, as the kernels see it.

    ``log_size[m]`` is h(m) - h(1), and ``size`` its exponential for small m. A cluster opens with
    the weight that ``opening`` says, or with ``exp(log_open[K])`` where that table is given.

    Where the size distribution is integrated out, ``shape[m]`` is its Dirichlet weight of size m:
    a cluster of m records then weighs ``exp(log_size[m]) (shape[m] + other clusters of m)``.

    Up to ``largest_enumerated`` records, all divisions are weighed at once. Weights are multiplied
    where products of the evidence of pairs (``safe_pairs``), or of larger sets of records
    (``safe_products``), cannot leave the range of doubles; elsewhere logs are added up.
    """

    log_size: Floats
    size: Floats
    opening: Opening
    log_open: Floats
    shape: Floats
    largest_enumerated: int = LARGEST_ENUMERATED
    safe_pairs: bool = True
    safe_products: bool = True


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


class Partition(NamedTuple):
    """A partition, as the kernels change it.

    ``following[n]`` is the next record of the cluster of n, ``size_counts[m]`` the number of
    clusters of m records, and ``n_clusters[0]`` that of all. A pair that waits for longer tables
    of weights stands in ``pending`` (-1: none does).

    In a shard no weight depends on other clusters: there the counts are what has changed.
    """

    following: Int32s
    size_counts: Int64s
    n_clusters: Int64s
    pending: Int64s


class Scratch(NamedTuple):
    """Room for one move on S, the records of two clusters.

    ``members`` are the records of S, ``side`` says which cluster each is in. All divisions of a
    small S have a ``weight``, and all subsets of it an evidence, ``subsets``, made of terms
    ``below`` a fraction and of sums over exemplars, ``subset_sums``. For compared fields,
    ``between`` has what each two of S say, ``totals`` its sums by side, ``exemplar_weight`` how
    likely each is the exemplar, ``log_sides`` the log evidence of both sides; ``terms`` is for what
    is summed.
    ``pair_weight`` is what two records without company weigh, apart and joined (columns), as they
    are now (rows).
    """

    members: Int32s
    side: Sides
    weight: Floats
    subsets: Floats
    subset_sums: Floats
    below: Floats
    between: Floats
    totals: Floats
    exemplar_weight: Floats
    log_sides: Floats
    terms: Floats
    pair_weight: Floats


class LinkProposals(NamedTuple):
    """Whom records propose links with: lists of neighbours, and any other now and then.

    The neighbours of a record, sorted, stand from its start to the next one's. ``reach`` is the sum
    of a record's weights up to each neighbour. A share ``uniform`` of proposals is not of the list.
    """

    starts: Int64s
    neighbours: Int32s
    reach: Floats
    uniform: float


class AttachRequest(NamedTuple):
    """What is asked of the loose links of a shard.

    With chance ``joining`` a pair of the shard's lists is drawn in proportion to its odds, which
    add up to ``total``, and one of the two that is alone asks to join the other's cluster; else one
    of the records that have listed neighbours, ``leavers`` in the ranges of places ``leaving``,
    asks to leave its own. The neighbours of a record, sorted, stand from its start to the next
    one's, each with its ``odds``.
    """

    n_moves: int
    joining: float
    pairs: Pairs
    total: float
    leavers: Int32s
    leaving: Int64s
    starts: Int64s
    neighbours: Int32s
    odds: Floats


class Removal(NamedTuple):
    """How often a record is taken out of clusters whose records are all alike, and of others."""

    alike: float
    unlike: float


class Units(NamedTuple):
    """What is left when records were taken out of clusters: units, which links may join again.

    ``unit`` is the unit of each record (itself if it is alone, else the smallest of its cluster);
    ``taken`` are the records that were taken out, ``former`` the unit that each was with.
    """

    unit: Int32s
    taken: Int32s
    former: Int32s


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
