"""All compiled code of sampling, one algorithm a file: arrays in, arrays out, nothing else.

A partition is held as one array, ``following``: the records of a cluster form a ring, and
``following[n]`` is the next record of n's ring (n itself for a singleton). Sizes and the number
of clusters are held beside it (``Partition``). Nothing else changes while a chain runs.

Evidence is always relative to singletons: log P(x_c) - sum over n in c of log P(x_n), so that a
singleton has evidence 0 and the sampler never looks at fields that say nothing.

What Python calls is named here; what else there is, functions of this package call.
"""

from kolchin.kernels.arrays import (
    LARGEST_ENUMERATED,
    Answers,
    AttachRequest,
    Data,
    Evidence,
    Forest,
    LinkProposals,
    Opening,
    Pairs,
    Partition,
    Removal,
    Units,
    Weights,
)
from kolchin.kernels.attach import attach_records
from kolchin.kernels.candidates import block_pairs, pair_scores, pairs_above, score_histogram
from kolchin.kernels.categorical import agreement_cells, log_density_of_delta
from kolchin.kernels.chaperones import make_chaperones_moves
from kolchin.kernels.exemplar import LARGEST_FACTOR, MORE_SHOWN
from kolchin.kernels.forests import grow_forest, link_forest, sum_forest, weigh_links
from kolchin.kernels.grouping import bounded_groups, rival_pairs
from kolchin.kernels.link_proposals import weigh_proposals
from kolchin.kernels.pairs import alias_tables
from kolchin.kernels.patterns import count_patterns
from kolchin.kernels.prior import log_open_weight
from kolchin.kernels.regroup import regroup_records
from kolchin.kernels.removal import take_apart
from kolchin.kernels.rings import count_linked, count_sizes, grouped, grouped_among, make_rings
from kolchin.kernels.trees import pick_units

__all__ = [
    "LARGEST_ENUMERATED",
    "LARGEST_FACTOR",
    "MORE_SHOWN",
    "Answers",
    "AttachRequest",
    "Data",
    "Evidence",
    "Forest",
    "LinkProposals",
    "Opening",
    "Pairs",
    "Partition",
    "Removal",
    "Units",
    "Weights",
    "agreement_cells",
    "alias_tables",
    "attach_records",
    "block_pairs",
    "bounded_groups",
    "count_linked",
    "count_patterns",
    "count_sizes",
    "grouped",
    "grouped_among",
    "grow_forest",
    "link_forest",
    "log_density_of_delta",
    "log_open_weight",
    "make_chaperones_moves",
    "make_rings",
    "pair_scores",
    "pairs_above",
    "pick_units",
    "regroup_records",
    "rival_pairs",
    "score_histogram",
    "sum_forest",
    "take_apart",
    "weigh_links",
    "weigh_proposals",
]
