"""Records that are added to a table that was compared: their pairs, in the terms of that table.

Which values are frequent, which columns may be swapped and which fields go with a text is as it
was; so a pair of added records says what the same values said before.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.comparison.added_pairs import all_with_added, find_added_candidates
from kolchin.comparison.blocking.blocked_pairs import find_candidates
from kolchin.comparison.blocking.missed_links import find_likely_links
from kolchin.comparison.blocking.pair_budget import merge_pairs
from kolchin.comparison.compared_pairs import PairParts
from kolchin.comparison.comparing import prepare_tools
from kolchin.comparison.comparisons import Comparisons
from kolchin.comparison.kinds.base import Levels
from kolchin.comparison.kinds.preparing import PreparedField, prepare_all
from kolchin.comparison.levels.companions import add_companion_bands, find_companions
from kolchin.comparison.levels.level_chances import Bands, make_bands
from kolchin.comparison.levels.possible_pairs import Possible
from kolchin.comparison.levels.repeated_words import mark_repeated_words
from kolchin.comparison.levels.slips import find_slips
from kolchin.comparison.levels.swapped_values import make_couple
from kolchin.records import Records
from kolchin.workplace import work_here

MOST_WITH_ADDED = 5_000_000
"""So many pairs with an added record are all compared, where all pairs were before."""


class AddedPairs(NamedTuple):
    """Pairs i < j with an added record, sorted, their levels and bands by field; who shows what.

    ``slips`` are values that are probably slips, as far as these pairs show it.
    """

    pairs: NDArray[np.int32]
    levels: Levels
    bands: Levels
    shows: NDArray[np.bool_]
    slips: NDArray[np.bool_]


def compare_added(
    before: Records,
    known: Comparisons,
    records: Records,
    is_added: NDArray[np.bool_],
    keys: Sequence[Sequence[str]] = (),
) -> AddedPairs:
    """Find and compare the candidate pairs that have an added record.

    ``known`` are the comparisons of the records ``before``; ``records`` are all there are now.
    """
    prepared = mark_repeated_words(prepare_all(records, None))
    used = [one for one in prepared if one.comparing is not None]
    earlier = [
        one for one in mark_repeated_words(prepare_all(before, None)) if one.comparing is not None
    ]
    companions = find_companions(earlier)
    bands = [_keep_earlier_bands(old, new) for old, new in zip(earlier, used, strict=True)]
    couples = tuple(make_couple(used, f, g) for f, g in known.swappable)
    pairs = _list_pairs(prepared, known, is_added, keys)
    tools = prepare_tools(
        *(used, couples, add_companion_bands(bands, companions), companions, len(pairs)),
        Possible.of(len(records)),
    )
    shows = np.column_stack([one.codes >= 0 for one in used])
    levels, of_pair = tools.outcomes(pairs)
    chances = known.u, known.band_u, known.band_m
    likely = find_likely_links(levels, of_pair, *chances, len(records))
    parts = PairParts.of(pairs, np.arange(len(pairs), dtype=np.int32))
    slips = find_slips(used, parts, levels, known.agrees, likely)
    return AddedPairs(pairs, levels, of_pair, shows, slips)


def _list_pairs(
    prepared: Sequence[PreparedField],
    known: Comparisons,
    is_added: NDArray[np.bool_],
    keys: Sequence[Sequence[str]],
) -> NDArray[np.int32]:
    """Return the candidate pairs that have an added record.

    Where all pairs were compared, all of added records are, unless that would be too many.
    """
    all_pairs = all(not one.limit and not one.window for one in known.report.keys)
    n_added, n_records = int(is_added.sum()), is_added.size
    if not all_pairs:
        return find_added_candidates(prepared, is_added, known.report.keys, keys)
    if n_added * n_records <= MOST_WITH_ADDED:
        return all_with_added(is_added)
    work = work_here()
    candidates = find_candidates(prepared, keys, work)
    assert candidates.found is not None
    pairs, _ = merge_pairs(work.store, candidates.found, n_records, 0, n_records)
    work.store.delete(*candidates.names)
    kept: NDArray[np.int32] = np.ascontiguousarray(pairs[is_added[pairs].any(axis=1)])
    return kept


def _keep_earlier_bands(old: PreparedField, new: PreparedField) -> Bands:
    """Return the bands of forms by how frequent they were; forms that were not there are rare."""
    bands = make_bands(old.counts)
    known = pl.DataFrame({"form": old.forms, "band": bands.of_form})
    found = pl.DataFrame({"form": new.forms}).join(
        known, on="form", how="left", maintain_order="left"
    )
    return bands._replace(of_form=found["band"].fill_null(0).to_numpy().astype(np.int8))
