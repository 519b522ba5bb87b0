"""Candidate pairs: found by many keys at once, in number linear in the records."""

from collections.abc import Iterator, Sequence

import numpy as np

from kolchin.comparison.atoms import Atom, atoms_of, either_way, ordered_by, words_of
from kolchin.comparison.gathering import Candidates, Gathering, Used
from kolchin.comparison.hashing import bands_of_grams
from kolchin.comparison.keys import LIMITS, Cost, Key, conjunctions, cost_of, joined
from kolchin.comparison.preparing import Prepared
from kolchin.errors import DataError
from kolchin.records.findings import suggestion
from kolchin.threads import over_ranges

FEWEST = 500_000
PAIRS_A_RECORD = 25
SHARE_OF_A_KEY = 1 / 8
SHARE_OF_THE_REST = 1 / 2
NEIGHBOURS = 2
MOST_ORDERS = 3
MOST_CONJUNCTIONS = 60
DEAREST = 10
"""Keys are not looked at that should give so many times the whole budget by chance alone."""

ENOUGH = 0.5
"""When two fields together fill this share of the budget, three are not tried."""


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
        return Candidates(pairs, np.ones(len(pairs), dtype=np.uint8), (used,))
    order = ordered_by(list(prepared), _most_telling(prepared)[0])
    gathered = Gathering(order, budget)
    _gather(gathered, own, list(_priced(prepared, budget * SHARE_OF_A_KEY)))
    return gathered.candidates()


def _given_key(prepared: Sequence[Prepared], columns: Sequence[str]) -> Key:
    """Return the key that a user asked for: equal values in all of some columns."""
    names = [one.field.column for one in prepared]
    columns = [columns] if isinstance(columns, str) else columns
    if not columns:
        raise DataError("A key must name at least one column. Got an empty one instead.")
    for column in columns:
        if column not in names:
            raise DataError(f"No field {column!r} for a key.{suggestion(str(column), names)}")
    return joined([atoms_of(prepared[names.index(c)], names.index(c))[0] for c in columns])


def _gather(
    gathered: Gathering, given: Sequence[Key], priced: Sequence[tuple[Key, Cost | None]]
) -> None:
    """Take the keys that users gave, then others from the cheapest on, within the budget.

    What is left is spent on larger blocks, and on keys that were too dear at first.
    """
    for key in given:
        cost = cost_of(key, gathered.left * SHARE_OF_A_KEY, always=True)
        if cost is not None:
            gathered.take(key, cost, always=True)
    affordable = [(key, cost) for key, cost in priced if cost is not None and cost.pairs]
    unfinished = [key for key, cost in priced if cost is None]
    for key, cost in sorted(affordable, key=lambda one: (one[1].pairs, one[0].name)):
        if gathered.take(key, cost) and cost.capped_blocks:
            unfinished.append(key)
    for key in unfinished:
        rest = max(gathered.left, 0) * SHARE_OF_THE_REST
        wider = cost_of(key, rest, largest=max(LIMITS))
        if wider is not None and wider.pairs:
            gathered.take(key, wider)


def _priced(prepared: Sequence[Prepared], allowance: float) -> Iterator[tuple[Key, Cost | None]]:
    """Give all keys worth trying with what they cost, None where that is too much."""
    by_field = [atoms_of(one, field) for field, one in enumerate(prepared)]
    atoms = [atom for group in by_field for atom in group]
    priced = _with_costs([joined([atom]) for atom in atoms], allowance)
    yield from priced
    unfinished = [
        atom
        for atom, (_, cost) in zip(atoms, priced, strict=True)
        if not atom.whole and (cost is None or cost.capped_blocks)
    ]
    yield from _with_costs(list(_other_keys(prepared)), allowance)
    yield from _conjunctions([group[0] for group in by_field], unfinished, allowance)
    yield from _neighbours(prepared)


def _with_costs(keys: Sequence[Key], allowance: float) -> list[tuple[Key, Cost | None]]:
    """Give keys with what they cost, several of them at once."""
    costs = over_ranges(lambda k, _: cost_of(keys[k], allowance), len(keys), size=1)
    return list(zip(keys, costs, strict=True))


def _conjunctions(
    whole: Sequence[Atom], atoms: Sequence[Atom], allowance: float
) -> Iterator[tuple[Key, Cost | None]]:
    """Give the keys of two fields and, where these do not fill the budget, of three.

    Where parts of fields are too dear together, the whole values are tried.
    """
    most_pairs = allowance / SHARE_OF_A_KEY * DEAREST
    for size in (2, 3):
        groups = list(conjunctions(atoms, size, most_pairs, MOST_CONJUNCTIONS))
        priced = _with_costs([joined(group) for group in groups], allowance)
        yield from priced
        spent = sum(cost.pairs for _, cost in priced if cost is not None)
        failed = {
            tuple(atom.field for atom in group): group
            for group, (_, cost) in zip(groups, priced, strict=True)
            if cost is None or cost.capped_blocks
        }
        coarse = [
            joined([whole[field] for field in fields])
            for fields, group in failed.items()
            if any(atom is not whole[atom.field] for atom in group)
        ]
        yield from _with_costs(coarse, allowance)
        if spent * SHARE_OF_A_KEY >= ENOUGH * allowance:
            break


def _other_keys(prepared: Sequence[Prepared]) -> Iterator[Key]:
    """Give the keys of single words, swapped columns and shared q-grams."""
    for field, one in enumerate(prepared):
        words = words_of(one, field)
        if words is not None:
            yield Key(words.name, (), words.blocks.astype(np.int64), words.records)
    for name, blocks in either_way(prepared):
        yield Key(name, (), blocks)
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
