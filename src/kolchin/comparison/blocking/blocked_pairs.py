"""Candidate pairs: found by many keys at once, in number linear in the records."""

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from kolchin.comparison.blocking.blocking_features import (
    BlockingFeature,
    block_by_words,
    list_either_way,
    list_features,
    order_records,
)
from kolchin.comparison.blocking.keys import (
    LIMITS,
    ORDER,
    RANK,
    Cost,
    Key,
    PricedKey,
    join_features,
    list_conjunctions,
    price_keys,
)
from kolchin.comparison.blocking.pair_budget import FoundPairs, KeyUse, PairBudget
from kolchin.comparison.blocking.similar_texts import block_by_grams
from kolchin.comparison.blocking.word_blocks import list_word_blocks
from kolchin.comparison.kinds.preparing import PreparedField
from kolchin.errors import DataError
from kolchin.records.faults_and_notes import suggest
from kolchin.store import StoreShelf
from kolchin.workplace import Workplace, work_here

FEWEST = 500_000
PAIRS_A_RECORD = 25
SHARE_OF_A_KEY = 1 / 8
SHARE_OF_THE_REST = 1 / 2
NEIGHBOURS = 2
RECORDS_A_SECTION = 2_500_000
"""The blocks of a key are looked at in as many parts as there are so many records."""

MOST_ORDERS = 3
MOST_CONJUNCTIONS = 60
DEAREST = 10
"""Keys are not looked at that should give so many times the whole budget by chance alone."""

ENOUGH = 0.5
"""When two fields together fill this share of the budget, three are not tried."""


class CandidatePairs(NamedTuple):
    """Which pairs are candidates: those that keys have found, or all of few records.

    ``names`` are of all that was put into the store for them.
    """

    n_pairs: int
    found: tuple[FoundPairs, ...] | None
    keys: tuple[KeyUse, ...]
    names: tuple[str, ...] = ()


def find_candidates(
    prepared: Sequence[PreparedField],
    given: Sequence[Sequence[str]] = (),
    work: Workplace | None = None,
) -> CandidatePairs:
    """Find pairs of records that may be of one entity.

    Up to about 1,000 records all pairs are candidates. Beyond, keys are taken from the one with
    the fewest pairs on, until the budget is used up.
    """
    work = work or work_here()
    n_records = prepared[0].codes.size
    budget = max(FEWEST, PAIRS_A_RECORD * n_records)
    _check_keys(prepared, given)
    n_pairs = n_records * (n_records - 1) // 2
    if n_pairs <= FEWEST:
        return CandidatePairs(n_pairs, None, (KeyUse("all pairs", n_pairs, 0, 0),))
    shelf = StoreShelf(work.store)
    put_order(prepared, shelf)
    n_parts = -(-n_records // RECORDS_A_SECTION)
    gathered = PairBudget(work, n_records, budget, n_parts)
    keys = KeySelection(prepared, shelf, gathered, budget * SHARE_OF_A_KEY)
    keys.gather(given)
    shelf.clear()
    names = tuple(name for one in gathered.found for name in one.names)
    used = tuple(one.used for one in gathered.found)
    return CandidatePairs(int(budget - gathered.left), gathered.found, used, names)


def put_order(prepared: Sequence[PreparedField], shelf: StoreShelf) -> None:
    """Put the records as they are sorted within blocks, and the place of each, into the store."""
    order = order_records(list(prepared), _rank_by_telling(prepared)[0]).astype(np.int32)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size, dtype=np.int32)
    shelf.put(ORDER, order)
    shelf.put(RANK, rank)


def _check_keys(prepared: Sequence[PreparedField], given: Sequence[Sequence[str]]) -> None:
    """Refuse keys of columns that there are not."""
    names = [one.field.column for one in prepared]
    for columns in given:
        if not columns:
            raise DataError("A key must name at least one column. Got an empty one instead.")
        for column in [columns] if isinstance(columns, str) else columns:
            if column not in names:
                raise DataError(f"No field {column!r} for a key.{suggest(str(column), names)}")


class KeySelection:
    """All keys worth trying: what they would give, and which of them are taken."""

    def __init__(
        self,
        prepared: Sequence[PreparedField],
        shelf: StoreShelf,
        gathered: PairBudget,
        allowance: float,
    ) -> None:
        self.prepared = prepared
        self.shelf = shelf
        self.gathered = gathered
        self.allowance = allowance
        # What is not asked for twice: atoms of all fields, by field.
        self.atoms = [list_features(one, field, shelf) for field, one in enumerate(prepared)]

    def gather(self, given: Sequence[Sequence[str]]) -> None:
        """Take the keys that users gave, then others from the cheapest on, within the budget.

        What is left is spent on larger blocks, and on keys that were too dear at first.
        """
        gathered, allowance = self.gathered, self.allowance
        for one in self._price([self._make_asked_key(columns) for columns in given]):
            cost = one.cost(gathered.left * SHARE_OF_A_KEY, always=True)
            if cost is not None:
                gathered.take([(one.key, cost)], always=True)
        priced = [(one, one.cost(allowance)) for one in self._worth_trying()]
        affordable = [(one, cost) for one, cost in priced if cost is not None and cost.pairs]
        affordable.sort(key=lambda one: (one[1].pairs, one[0].key.name))
        neighbours = list(self._neighbours())
        wanted = sorted(
            [*((one.key, cost) for one, cost in affordable), *neighbours],
            key=lambda one: (one[1].pairs, one[0].name),
        )
        taken = dict(zip((key.name for key, _ in wanted), gathered.take(wanted), strict=True))
        unfinished = [one for one, cost in priced if cost is None] + [
            one for one, cost in affordable if taken[one.key.name] and cost.capped_blocks
        ]
        for one in unfinished:
            rest = max(gathered.left, 0) * SHARE_OF_THE_REST
            wider = one.cost(rest, largest=max(LIMITS))
            if wider is not None and wider.pairs:
                gathered.take([(one.key, wider)])

    def list_named_keys(
        self, names: Collection[str], given: Sequence[Sequence[str]]
    ) -> Iterator[Key]:
        """Give the keys of these names again, and those that users gave."""
        for columns in given:
            yield self._make_asked_key(columns)
        atoms = [atom for group in self.atoms for atom in group]
        for size in (1, 2, 3):
            for group in combinations(atoms, size):
                if len({atom.field for atom in group}) == size:
                    key = join_features(group)
                    if key.name in names:
                        yield key
        for keys in self._other_keys():
            yield from (key for key in keys if key.name in names)
        for key, _ in self._neighbours(names):
            yield key

    def _make_asked_key(self, columns: Sequence[str]) -> Key:
        """Return the key that a user asked for: equal values in all of some columns."""
        names = [one.field.column for one in self.prepared]
        columns = [columns] if isinstance(columns, str) else columns
        return join_features([self.atoms[names.index(column)][0] for column in columns])

    def _price(self, keys: Sequence[Key]) -> list[PricedKey]:
        gathered = self.gathered
        return price_keys(gathered.work, keys, gathered.n_records, gathered.n_parts)

    def _worth_trying(self) -> Iterator[PricedKey]:
        """Give all keys worth trying with what they would give."""
        atoms = [atom for group in self.atoms for atom in group]
        alone = self._price([join_features([atom]) for atom in atoms])
        yield from alone
        unfinished = [
            atom
            for atom, one in zip(atoms, alone, strict=True)
            if not atom.whole and self._is_unfinished(one)
        ]
        for keys in self._other_keys():
            yield from self._price(keys)
        yield from self._conjunctions(unfinished)

    def _is_unfinished(self, one: PricedKey) -> bool:
        """Tell whether a key is too dear for all of its blocks."""
        cost = one.cost(self.allowance)
        return cost is None or cost.capped_blocks > 0

    def _conjunctions(self, atoms: Sequence[BlockingFeature]) -> Iterator[PricedKey]:
        """Give the keys of two fields and, where these do not fill the budget, of three.

        Where parts of fields are too dear together, the whole values are tried.
        """
        whole = [group[0] for group in self.atoms]
        most_pairs = self.allowance / SHARE_OF_A_KEY * DEAREST
        for size in (2, 3):
            groups = list(list_conjunctions(atoms, size, most_pairs, MOST_CONJUNCTIONS))
            found = self._price([join_features(group) for group in groups])
            yield from found
            costs = [one.cost(self.allowance) for one in found]
            spent = sum(cost.pairs for cost in costs if cost is not None)
            failed = {
                tuple(atom.field for atom in group): group
                for group, one in zip(groups, found, strict=True)
                if self._is_unfinished(one)
            }
            yield from self._price(
                [
                    join_features([whole[field] for field in fields])
                    for fields, group in failed.items()
                    if any(atom is not whole[atom.field] for atom in group)
                ]
            )
            if spent * SHARE_OF_A_KEY >= ENOUGH * self.allowance:
                break

    def _other_keys(self) -> Iterator[list[Key]]:
        """Give the keys of single words, swapped columns and shared q-grams, a few at a time."""
        n_records = self.gathered.n_records
        for field, one in enumerate(self.prepared):
            alone = block_by_words(one, field)
            every = list_word_blocks(one, field) if alone is None else [alone]
            for k, words in enumerate(every):
                names = f"words-{field}-{k}-blocks", f"words-{field}-{k}-records"
                self.shelf.put(names[0], words.blocks)
                self.shelf.put(names[1], words.records)
                yield [Key(words.name, names[:1], words.blocks.size, names[1])]
        for k, (name, blocks) in enumerate(list_either_way(self.prepared)):
            self.shelf.put(f"either-{k}", blocks)
            yield [Key(name, (f"either-{k}",), n_records)]
        bands = []
        for band, blocks in enumerate(block_by_grams(self.prepared, n_records)):
            self.shelf.put(f"grams-{band}", blocks)
            bands.append(Key(f"shared letters {band + 1}", (f"grams-{band}",), n_records))
        yield bands

    def _neighbours(self, names: Collection[str] = ()) -> Iterator[tuple[Key, Cost]]:
        """Give the keys of records that come one after the other when sorted by a field.

        That are the most telling ones, or those that are named.
        """
        named = [f for f, one in enumerate(self.prepared) if _name_neighbours(one) in names]
        for field in named if names else _rank_by_telling(self.prepared)[:MOST_ORDERS]:
            one = self.prepared[field]
            order = order_records(list(self.prepared), field)
            places = order[one.codes[order] >= 0].astype(np.int32)
            self.shelf.put(f"neighbours-{field}", places)
            column = f"neighbours-{field}"
            key = Key(_name_neighbours(one), (column,), places.size, window=NEIGHBOURS)
            yield key, Cost(NEIGHBOURS * places.size, 1, NEIGHBOURS, 0, 0)


def _name_neighbours(one: PreparedField) -> str:
    """Return the name of the key of records that come one after the other."""
    return f"neighbours by {one.field.column}"


def _rank_by_telling(prepared: Sequence[PreparedField]) -> list[int]:
    """Return the fields with the most different forms."""
    return sorted(range(len(prepared)), key=lambda f: -prepared[f].forms.len())
