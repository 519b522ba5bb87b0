"""Candidate pairs: found by many keys at once, in number linear in the records."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.atoms import Atom, atoms_of, ordered_by, words_of
from kolchin.comparison.hashing import bands_of_grams
from kolchin.comparison.kernels import list_pairs
from kolchin.comparison.keys import Cost, Key, conjunctions, cost_of, joined
from kolchin.comparison.preparing import Prepared
from kolchin.errors import DataError
from kolchin.records.findings import suggestion

FEWEST = 500_000
PAIRS_A_RECORD = 25
SHARE_OF_A_KEY = 1 / 8
NEIGHBOURS = 2
MOST_ORDERS = 3
MOST_CONJUNCTIONS = 60
ENOUGH = 0.5
"""When two fields together fill this share of the budget, three are not tried."""


class Used(NamedTuple):
    """A key that was used: its pairs, and how many blocks and records a window cut."""

    key: str
    pairs: int
    capped_blocks: int
    capped_records: int


class Candidates(NamedTuple):
    """Pairs i < j, sorted, how many keys found each, and the keys."""

    pairs: NDArray[np.int32]
    n_found: NDArray[np.int32]
    keys: tuple[Used, ...]


def find(prepared: Sequence[Prepared], given: Sequence[Sequence[str]] = ()) -> Candidates:
    """Find pairs of records that may be of one entity.

    Up to about 1,000 records all pairs are candidates. Beyond, keys are taken from the one with
    the fewest pairs on, until the budget is used up.
    """
    n_records = prepared[0].codes.size
    budget = max(FEWEST, PAIRS_A_RECORD * n_records)
    own = [_given_key(prepared, columns) for columns in given]
    if n_records * (n_records - 1) // 2 <= FEWEST:
        pairs = np.column_stack(np.triu_indices(n_records, 1)).astype(np.int32)
        used = Used("all pairs", len(pairs), 0, 0)
        return Candidates(pairs, np.ones(len(pairs), dtype=np.int32), (used,))
    chosen = _choose(prepared, own, budget)
    order = ordered_by(list(prepared), _most_telling(prepared)[0])
    return _listed(chosen, order, n_records)


def _given_key(prepared: Sequence[Prepared], columns: Sequence[str]) -> Key:
    """Return the key that a user asked for: equal values in all of some columns."""
    names = [one.field.column for one in prepared]
    columns = [columns] if isinstance(columns, str) else columns
    for column in columns:
        if column not in names:
            raise DataError(f"No field {column!r} for a key.{suggestion(str(column), names)}")
    return joined([atoms_of(prepared[names.index(c)], names.index(c))[0] for c in columns])


def _choose(
    prepared: Sequence[Prepared], given: Sequence[Key], budget: int
) -> list[tuple[Key, Cost]]:
    """Take the keys that users gave, then others from the cheapest on, within the budget."""
    allowance = budget * SHARE_OF_A_KEY
    chosen = [
        (key, cost) for key in given if (cost := cost_of(key, allowance, always=True)) is not None
    ]
    left = budget - sum(cost.pairs for _, cost in chosen)
    priced = sorted(_priced(prepared, budget), key=lambda one: (one[1].pairs, one[0].name))
    for key, cost in priced:
        if cost.pairs <= left:
            chosen.append((key, cost))
            left -= cost.pairs
    return _widened(chosen, left)


def _widened(chosen: Sequence[tuple[Key, Cost]], left: int) -> list[tuple[Key, Cost]]:
    """Spend what is left of the budget on larger blocks, key by key."""
    result = []
    for key, cost in chosen:
        wider = None
        if cost.capped_blocks and left > 0:
            wider = cost_of(key, cost.pairs + left * SHARE_OF_A_KEY)
        if wider is not None and wider.limit > cost.limit:
            left -= wider.pairs - cost.pairs
            result.append((key, wider))
        else:
            result.append((key, cost))
    return result


def _priced(prepared: Sequence[Prepared], budget: int) -> Iterator[tuple[Key, Cost]]:
    """Give all keys worth trying with what they cost."""
    allowance = budget * SHARE_OF_A_KEY
    n_records = prepared[0].codes.size
    open_atoms: list[Atom] = []
    spent = 0
    for field, one in enumerate(prepared):
        for atom in atoms_of(one, field):
            key = joined([atom])
            cost = cost_of(key, allowance)
            if cost is not None and cost.pairs:
                yield key, cost
            if not atom.whole and (cost is None or cost.capped_blocks):
                open_atoms.append(atom)
    for key in _other_keys(prepared):
        cost = cost_of(key, allowance)
        if cost is not None and cost.pairs:
            yield key, cost
    for size in (2, 3):
        for group in conjunctions(open_atoms, size, n_records * 100, MOST_CONJUNCTIONS):
            key = joined(group)
            cost = cost_of(key, allowance)
            if cost is not None and cost.pairs:
                spent += cost.pairs
                yield key, cost
        if spent >= ENOUGH * budget:
            break
    yield from _neighbours(prepared)


def _other_keys(prepared: Sequence[Prepared]) -> Iterator[Key]:
    """Give the keys of single words and of shared q-grams."""
    for field, one in enumerate(prepared):
        words = words_of(one, field)
        if words is not None:
            yield Key(words.name, (), words.blocks.astype(np.int64), words.records)
    for band, blocks in enumerate(bands_of_grams(prepared, prepared[0].codes.size)):
        yield Key(f"shared letters {band + 1}", (), blocks)


def _most_telling(prepared: Sequence[Prepared]) -> list[int]:
    """Return the fields with the most different forms."""
    return sorted(range(len(prepared)), key=lambda f: -prepared[f].forms.len())


def _neighbours(prepared: Sequence[Prepared]) -> Iterator[tuple[Key, Cost]]:
    """Give the keys of records that come one after the other when sorted by a field."""
    for field in _most_telling(prepared)[:MOST_ORDERS]:
        order = ordered_by(list(prepared), field)
        places = order[prepared[field].codes[order] >= 0].astype(np.int32)
        key = Key(
            f"neighbours by {prepared[field].field.column}",
            given=np.zeros(places.size, dtype=np.int64),
            records=places,
        )
        yield key, Cost(NEIGHBOURS * places.size, 1, NEIGHBOURS, 0, 0)


def _listed(
    chosen: Sequence[tuple[Key, Cost]], order: NDArray[np.int64], n_records: int
) -> Candidates:
    """List the pairs of all keys, each once."""
    rank = np.empty(n_records, dtype=np.int64)
    rank[order] = np.arange(n_records)
    parts, used = [], []
    for key, cost in chosen:
        pairs = _pairs_of(key, cost, order, rank, n_records)
        parts.append(pairs)
        used.append(Used(key.name, pairs.size, cost.capped_blocks, cost.capped_records))
    together = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
    packed, counts = np.unique(together, return_counts=True)
    unpacked = np.column_stack(np.divmod(packed, n_records)).astype(np.int32)
    return Candidates(unpacked, counts.astype(np.int32), tuple(used))


def _pairs_of(
    key: Key, cost: Cost, order: NDArray[np.int64], rank: NDArray[np.int64], n_records: int
) -> NDArray[np.int64]:
    """List the pairs of one key, packed as low * n_records + high, each once."""
    records = order if key.records is None else key.records
    blocks = key.blocks()[order] if key.records is None else key.blocks()
    if key.records is not None and cost.limit > 1:
        by_rank = np.argsort(rank[records], kind="stable")
        records, blocks = records[by_rank], blocks[by_rank]
    by_block = np.argsort(blocks, kind="stable")
    out = np.empty(cost.pairs, dtype=np.int64)
    n = list_pairs(blocks[by_block], records[by_block], n_records, cost.limit, cost.window, out)
    # Several words in common, or a window that meets the same record, must not count twice.
    return np.unique(out[:n]) if key.records is not None else out[:n]
