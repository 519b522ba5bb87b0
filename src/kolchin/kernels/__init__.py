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
    AnswerLists,
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
from kolchin.kernels.candidates import (
    compute_pair_scores,
    count_pairs_by_score,
    list_block_pairs,
    list_pairs_above,
)
from kolchin.kernels.categorical import collect_agreement_cells, log_density_of_delta
from kolchin.kernels.chaperones import make_chaperones_moves
from kolchin.kernels.exemplar import FROM_SLIP, LARGEST_FACTOR
from kolchin.kernels.forests import grow_forest, link_forest, sum_forest, weigh_links
from kolchin.kernels.grouping import form_bounded_groups, list_rival_pairs
from kolchin.kernels.link_proposals import weigh_proposals
from kolchin.kernels.pairs import build_alias_tables
from kolchin.kernels.patterns import count_patterns
from kolchin.kernels.prior import log_open_weight
from kolchin.kernels.regroup import regroup_records
from kolchin.kernels.removal import take_apart
from kolchin.kernels.rings import (
    count_linked,
    count_sizes,
    list_members,
    list_members_among,
    make_rings,
)
from kolchin.kernels.trees import pick_units

__all__ = [
    "FROM_SLIP",
    "LARGEST_ENUMERATED",
    "LARGEST_FACTOR",
    "AnswerLists",
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
    "attach_records",
    "build_alias_tables",
    "collect_agreement_cells",
    "compute_pair_scores",
    "count_linked",
    "count_pairs_by_score",
    "count_patterns",
    "count_sizes",
    "form_bounded_groups",
    "grow_forest",
    "link_forest",
    "list_block_pairs",
    "list_members",
    "list_members_among",
    "list_pairs_above",
    "list_rival_pairs",
    "log_density_of_delta",
    "log_open_weight",
    "make_chaperones_moves",
    "make_rings",
    "pick_units",
    "regroup_records",
    "sum_forest",
    "take_apart",
    "weigh_links",
    "weigh_proposals",
]
