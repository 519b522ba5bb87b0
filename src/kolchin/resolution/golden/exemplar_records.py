"""Which of an entity's records shows the true value of a field (model section 6).

Given that some records are one entity, each of them may be the exemplar of a field, the one that
shows its true value. Record e is it with a chance in proportion to

    product over the other records n of m(level of n against e) / u(level of n against e)

with m as it was fitted, and u the chance of such a level against a value as that of e: at least the
frequency of n's value, which is one of those at this level. So what nobody else writes is rather
the slip than what many do. Fields that move together have one exemplar.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison import Comparisons
from kolchin.comparison.kinds.preparing import KINDS
from kolchin.model import Model
from kolchin.parameters import FloatArray, IntArray
from kolchin.posterior import Posterior
from kolchin.records import Compared
from kolchin.records.columns.distinct_values import encode_column
from kolchin.resolution.results.explanation import compute_pair_bits

LEAST_SHARE = 0.002
"""Fields that are replaced at once in fewer of an entity's pairs do not move together."""

MOST_MEMBERS = 100
"""Of a larger entity so many records, evenly spread, are compared with each other."""

LEAST_CHANCE = 1e-300
SWAPPED = "swapped"


def find_field_blocks(names: Sequence[str], dependence: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the fields that come from one record, in the order of the table; most are alone.

    Those are sets that are replaced at once, the most frequent first, then couples that unrelated
    records share, such as a postcode and its city; a field is in one of them.

    >>> found = {"replaced": [{"fields": ["street", "city"], "share": 0.06}], "shared": []}
    >>> find_field_blocks(["name", "street", "city"], found)
    [('name',), ('street', 'city')]
    """
    replaced = [one for one in dependence.get("replaced", ()) if one["share"] >= LEAST_SHARE]
    couples = [one for one in dependence.get("shared", ()) if len(one["fields"]) == 2]
    ranked = [
        *sorted(replaced, key=lambda one: -one["share"]),
        *sorted(couples, key=lambda one: -one["pairs"]),
    ]
    block: dict[str, tuple[str, ...]] = {name: (name,) for name in names}
    for one in ranked:
        fields = tuple(name for name in names if name in one["fields"])
        if all(len(block[name]) == 1 for name in fields):
            block.update(dict.fromkeys(fields, fields))
    return list(dict.fromkeys(block.values()))


def number_meanings(model: Model, place: int) -> NDArray[np.int32]:
    """Return a number a record, -1 for none: the same where values are exactly the same.

    Telephone numbers are the same by their digits, dates whatever their form, and so on.
    """
    records = model.records
    field, codes = records.fields[place], records.codes[:, place]
    kind = KINDS.get(type(field)) if isinstance(field, Compared) else None
    if kind is None or getattr(field, "comparator", None) is not None:
        return codes
    form = encode_column(kind.forms_of(list(records.vocabularies[place]))).codes
    return np.append(form, np.int32(-1))[codes]


def weigh_exemplars(
    model: Model, posterior: Posterior, groups: Sequence[NDArray[np.int64]]
) -> FloatArray:
    """Return, by record and field, the log of how well the others of its group fit to it.

    A field that a record does not show has no weight of its own: 0.
    """
    pairs = _list_pairs(groups)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    evidence = _sum_evidence(model, posterior, both)
    columns = [np.bincount(both[:, 1], one, minlength=model.n_records) for one in evidence.T]
    return np.column_stack(columns)


def _list_pairs(groups: Sequence[NDArray[np.int64]]) -> IntArray:
    """Return the pairs of records of each group; of a large one, those among some of them."""
    found = [np.empty((0, 2), dtype=np.int64)]
    for members in groups:
        few = members[mark_compared_members(members.size)]
        one, two = np.triu_indices(few.size, 1)
        found.append(np.column_stack([few[one], few[two]]))
    return np.concatenate(found)


def mark_compared_members(size: int) -> IntArray:
    """Return which of so many records are compared with each other."""
    places = np.linspace(0, size - 1, min(size, MOST_MEMBERS))
    result: IntArray = np.unique(places.astype(np.int64))
    return result


def _sum_evidence(model: Model, posterior: Posterior, pairs: IntArray) -> FloatArray:
    """Return the log of m over u of the first record of each pair against the second, by field."""
    comparisons = model.comparisons
    if comparisons is None or "m" not in posterior.parameters:
        result: FloatArray = compute_pair_bits(model, posterior, pairs) * np.log(2)
        return result
    levels = comparisons.levels_of(pairs)
    codes = model.records.codes
    a, b = codes[pairs[:, 0]], codes[pairs[:, 1]]
    # Pairs that were not compared count as different in all fields, also where they are equal.
    levels[(a == b) & (a >= 0) & (levels >= 0)] = 0
    # A value that stands in another field's column speaks for that column, not for its own.
    for field, _ in comparisons.swappable:
        if SWAPPED in comparisons.level_names[field]:
            swapped = levels[:, field] == comparisons.level_names[field].index(SWAPPED)
            levels[swapped, field] = -1
    m = posterior.parameters["m"]
    fitted = m.reshape(-1, m.shape[-1]).mean(axis=0)
    result = np.zeros(levels.shape)
    first = 0
    for f, names in enumerate(comparisons.level_names):
        chances = fitted[first : first + len(names)]
        first += len(names)
        result[:, f] = _compute_log_ratio(model, comparisons, f, levels[:, f], a[:, f], chances)
    return result


def _compute_log_ratio(
    model: Model,
    comparisons: Comparisons,
    field: int,
    levels: NDArray[np.int8],
    codes: NDArray[np.int32],
    fitted: FloatArray,
) -> FloatArray:
    """Return log m over u of one field; no evidence where a value is missing."""
    frequency = model.records.frequencies[field][codes]
    chance = np.where(levels == 0, frequency, np.maximum(comparisons.u[field][levels], frequency))
    ratio = np.maximum(fitted, LEAST_CHANCE)[levels] / np.maximum(chance, LEAST_CHANCE)
    result: FloatArray = np.where(levels >= 0, np.log(ratio), 0.0)
    return result
