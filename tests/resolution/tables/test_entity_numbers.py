import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from kolchin.resolution.tables.entity_numbers import EarlierEntities, number_entities


class Life:
    """A table that changes, with a grouping of its own each time, and all ids that were given."""

    def __init__(self):
        self.before = EarlierEntities.of(
            pl.Series([], dtype=pl.String), np.empty(0, dtype=np.int64), 0
        )
        self.records_of = {}

    def become(self, records, labels):
        ids = pl.Series("record", records, dtype=pl.Int64)
        labels = np.unique(np.asarray(labels, dtype=np.int64), return_inverse=True)[1]
        earlier = self.before.entity_of(ids)
        numbers = number_entities(earlier, labels, self.before.first_free)
        entities = numbers[labels]
        first_free = max(self.before.first_free, int(numbers.max(initial=-1)) + 1)
        was, self.before = self.before, EarlierEntities.of(ids, entities, first_free)
        return was, earlier, labels, numbers


updates = st.lists(
    st.lists(st.tuples(st.integers(0, 25), st.integers(0, 8)), unique_by=lambda row: row[0]),
    min_size=10,
    max_size=10,
)


@settings(max_examples=200, deadline=None)
@given(updates)
def test_ten_updates_never_give_one_id_to_two_entities(tables):
    life = Life()
    ever = set()
    for rows in tables:
        was, earlier, labels, numbers = life.become([r for r, _ in rows], [g for _, g in rows])
        assert len(set(numbers.tolist())) == numbers.size
        there = set(was.entities.tolist())
        for label, number in enumerate(numbers.tolist()):
            if number in there:  # kept: by an entity with records that had it
                own = earlier[labels == label]
                assert number in own
                shares = [(earlier[labels == other] == number).sum() for other in set(labels)]
                assert (own == number).sum() == max(shares)
            else:  # new: nobody has had it, ever
                assert number not in ever
        ever |= set(numbers.tolist())
        assert life.before.first_free > max(ever, default=-1)


@settings(max_examples=100, deadline=None)
@given(updates)
def test_what_did_not_change_keeps_its_id(tables):
    life = Life()
    for rows in tables:
        life.become([r for r, _ in rows], [g for _, g in rows])
        entities = life.before.entities
        again = life.become([r for r, _ in rows], [g for _, g in rows])
        assert (life.before.entities == entities).all()
        assert again[3].size == len(set(entities.tolist()))


def test_of_a_merger_the_larger_gives_its_id_and_of_a_split_the_larger_part_keeps_it():
    merged = number_entities(np.array([4, 4, 9, 9, 9]), np.zeros(5, dtype=np.int64), 10)
    assert merged.tolist() == [9]
    split = number_entities(np.array([4, 4, 4, 9]), np.array([0, 1, 1, 2]), 10)
    assert split.tolist() == [10, 4, 9]
