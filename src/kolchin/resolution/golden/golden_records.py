"""Golden records: one row an entity, the best value of each field and the record it is from."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.model import Model
from kolchin.parameters import FloatArray, IntArray
from kolchin.posterior import Posterior
from kolchin.resolution.golden.exemplar_records import (
    find_field_blocks,
    mark_compared_members,
    number_meanings,
    weigh_exemplars,
)
from kolchin.resolution.golden.golden_rules import PROBABLE, GoldenRules, RuleScores
from kolchin.resolution.tables.input_table import InputTable

OWN = ("entity", "n_records")
VALUES = {
    "entity": pl.Int64,
    "field": pl.String,
    "value": pl.String,
    "probability": pl.Float64,
    "n_records": pl.Int64,
    "chosen": pl.Boolean,
}
"""The columns of the values that entities have."""


class GoldenRecords(NamedTuple):
    """The golden records, and all values of the fields in which an entity has several."""

    records: pl.DataFrame
    values: pl.DataFrame


class GoldenColumn(NamedTuple):
    """A column by record: a number for each meaning, -1 for none, the text, and its weights.

    ``known`` says whether the weights are the model's; ``common`` how many records have a meaning.
    """

    codes: NDArray[np.int32]
    texts: pl.Series
    weights: FloatArray
    known: bool

    @property
    def common(self) -> IntArray:
        """How many records of the table mean the same as each."""
        present = self.codes >= 0
        counts = np.bincount(self.codes[present], minlength=1)
        result: IntArray = np.where(present, counts[self.codes], 0)
        return result


class GoldenCells:
    """The chosen row and the probability of each entity, by column."""

    def __init__(self, names: Sequence[str], n_entities: int) -> None:
        self.rows = {name: np.full(n_entities, -1, dtype=np.int64) for name in names}
        self.chances = {name: np.full(n_entities, np.nan) for name in names}
        self.values: list[tuple[Any, ...]] = []


def make_golden(
    model: Model,
    posterior: Posterior,
    given: InputTable,
    labels: NDArray[np.int64],
    dependence: Mapping[str, Any],
    rules: GoldenRules,
) -> GoldenRecords:
    """Choose the value of each field for each entity."""
    order = np.argsort(labels, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    several = [members for members in groups if members.size > 1]
    names = [*given.records.names, *rules.columns_beside(given)]
    weights = weigh_exemplars(model, posterior, several)
    columns = {name: _make_column(model, given, name, weights) for name in names}
    cells = GoldenCells(names, len(groups))
    scores = RuleScores(rules, given)
    for block in _divide_by_rule(find_field_blocks(names, dependence), rules):
        _fill_block(block, columns, groups, scores, cells)
    return GoldenRecords(_make_table(given, groups, columns, cells, rules), _make_values(cells))


def _make_column(model: Model, given: InputTable, name: str, weights: FloatArray) -> GoldenColumn:
    # Without its name, which Polars would take for a pattern when it is like "^...$".
    texts, names = given.texts[name].alias("value"), given.records.names
    if name in names:
        place = names.index(name)
        return GoldenColumn(number_meanings(model, place), texts, weights[:, place], True)
    codes = texts.rank("dense").cast(pl.Int32).fill_null(0).to_numpy() - 1
    return GoldenColumn(codes, texts, np.zeros(len(weights)), False)


def _divide_by_rule(blocks: Sequence[tuple[str, ...]], rules: GoldenRules) -> list[tuple[str, ...]]:
    """Divide blocks whose fields follow different rules."""
    divided: list[tuple[str, ...]] = []
    for block in blocks:
        parts: dict[Any, list[str]] = {}
        for name in block:
            parts.setdefault(rules.of(name), []).append(name)
        divided.extend(map(tuple, parts.values()))
    return divided


def _fill_block(
    block: Sequence[str],
    columns: Mapping[str, GoldenColumn],
    groups: Sequence[NDArray[np.int64]],
    scores: RuleScores,
    cells: GoldenCells,
) -> None:
    """Choose one record for some fields of each entity."""
    codes = np.column_stack([columns[name].codes for name in block])
    weights = np.column_stack([columns[name].weights for name in block]).sum(axis=1)
    common = np.column_stack([columns[name].common for name in block]).sum(axis=1)
    known = all(columns[name].known for name in block)
    by_rule = scores.of(block[0])
    single = np.array([members[0] for members in groups if members.size == 1], dtype=np.int64)
    entities = np.array([k for k, members in enumerate(groups) if members.size == 1], dtype=int)
    for f, name in enumerate(block):
        shown = codes[single, f] >= 0
        cells.rows[name][entities[shown]] = single[shown]
        cells.chances[name][entities[shown]] = 1.0 if known else np.nan
    for entity, members in enumerate(groups):
        if members.size == 1:
            continue
        own = codes[members]
        chance = _compute_chances(own, weights[members])
        ranked = np.lexsort([np.arange(members.size), -common[members], -chance, -by_rule[members]])
        for f, name in enumerate(block):
            place = _find_place(own, ranked, f)
            if place is None:
                continue
            chances = _add_by_meaning(own[:, f], chance) if known else {}
            meaning = int(own[place, f])
            spelt = _choose_spelling(
                columns[name], members, own[:, f] == meaning, place, scores, name
            )
            cells.rows[name][entity] = members[spelt]
            cells.chances[name][entity] = chances.get(meaning, np.nan)
            _tell_values(cells, entity, name, columns[name], members, own[:, f], chances, meaning)


def _compute_chances(codes: NDArray[np.int32], weights: FloatArray) -> FloatArray:
    """Return the chance of each record to be the exemplar; of a large group, of some of them."""
    able = np.zeros(len(codes), dtype=bool)
    able[mark_compared_members(len(codes))] = True
    able &= (codes >= 0).any(axis=1)
    if not able.any():
        return np.zeros(len(codes))
    raised = np.where(able, weights, -np.inf)
    chance = np.exp(raised - raised.max())
    result: FloatArray = chance / chance.sum()
    return result


def _add_by_meaning(codes: NDArray[np.int32], chance: FloatArray) -> dict[int, float]:
    """Add up the chances of records that mean the same, over those that have a value."""
    shown = codes >= 0
    total = float(chance[shown].sum())
    if total <= 0:
        return {}
    return {
        int(code): float(chance[codes == code].sum() / total) for code in np.unique(codes[shown])
    }


def _find_place(codes: NDArray[np.int32], ranked: IntArray, field: int) -> int | None:
    """Return the best record for a field: the block's, or one that does not contradict it."""
    best = next((place for place in ranked if (codes[place] >= 0).any()), None)
    if best is None:
        return None
    for place in ranked:
        both = (codes[place] >= 0) & (codes[best] >= 0)
        if codes[place, field] >= 0 and (codes[place] == codes[best])[both].all():
            return int(place)
    return None


def _choose_spelling(
    column: GoldenColumn,
    members: NDArray[np.int64],
    same: NDArray[np.bool_],
    place: int,
    scores: RuleScores,
    name: str,
) -> int:
    """Return the record with the usual spelling of a meaning, unless a rule has chosen one."""
    if not column.known or scores.rules.of(name).keep != PROBABLE:
        return place
    texts = column.texts.gather(members[same]).to_list()
    counts = {text: texts.count(text) for text in texts}
    own = column.texts[int(members[place])]
    usual = max(texts, key=lambda text: (counts[text], text == own))
    return int(np.flatnonzero(same)[texts.index(usual)])


def _tell_values(
    cells: GoldenCells,
    entity: int,
    name: str,
    column: GoldenColumn,
    members: NDArray[np.int64],
    codes: NDArray[np.int32],
    chances: Mapping[int, float],
    meaning: int,
) -> None:
    """Write down all values where there are several."""
    meanings, first, number = np.unique(codes[codes >= 0], return_index=True, return_counts=True)
    if meanings.size < 2:
        return
    rows = members[codes >= 0]
    for code, place, count in zip(meanings.tolist(), first, number.tolist(), strict=True):
        text = column.texts[int(rows[place])]
        cells.values.append((entity, name, text, chances.get(code), count, code == meaning))


def _make_table(
    given: InputTable,
    groups: Sequence[NDArray[np.int64]],
    columns: Mapping[str, GoldenColumn],
    cells: GoldenCells,
    rules: GoldenRules,
) -> pl.DataFrame:
    """Write the chosen values, their probabilities and their records as a table."""
    entity = np.arange(len(groups))
    sizes = [members.size for members in groups]
    result = {"entity": pl.Series(entity), "n_records": pl.Series(sizes, dtype=pl.Int64)}
    labels = np.empty(given.records.n_records, dtype=np.int64)
    for number, members in enumerate(groups):
        labels[members] = number
    for name, column in columns.items():
        rows = pl.Series(cells.rows[name])
        rows = rows.set(rows < 0, None)
        values = column.texts.gather(rows).to_list()
        chances: list[float | None] = pl.Series(cells.chances[name]).fill_nan(None).to_list()
        records = given.ids.gather(rows).to_list()
        for number, value in rules.list_overrides(name, given, labels).items():
            values[number], chances[number], records[number] = value, 1.0, None
        told = f"{name}_value" if name in OWN else name
        result[told] = pl.Series(values, dtype=pl.String)
        result[f"{told}_probability"] = pl.Series(chances, dtype=pl.Float64)
        result[f"{told}_record"] = pl.Series(records, dtype=given.ids.dtype)
    return pl.DataFrame(result)


def _make_values(cells: GoldenCells) -> pl.DataFrame:
    table = pl.DataFrame(cells.values, schema=VALUES, orient="row")
    places = {name: place for place, name in enumerate(cells.rows)}
    return table.sort(
        "entity",
        pl.col("field").replace_strict(places, default=0, return_dtype=pl.Int64),
        pl.col("chosen").not_(),
        pl.col("probability").neg(),
        maintain_order=True,
    )
