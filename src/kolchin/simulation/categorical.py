"""Synthetic categorical records by the model's own equations (model reference, section 3).

Entity k has theta_fk ~ Dirichlet(delta_f gamma_f) for each field f, and its records copy a value
from it. Theta is never drawn: with theta integrated out, the values of one entity follow an urn.
The first record takes a value from gamma_f; after m records the next one copies one of them,
chosen uniformly, with probability m / (delta_f + m), and otherwise takes a new value from gamma_f.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from kolchin.errors import ModelError
from kolchin.partitions import make_canonical

Frequencies = Mapping[Any, float] | Sequence[float] | NDArray[np.float64]
Seed = int | np.random.Generator | None

_ID_COLUMNS = ("rec_id", "ent_id")


class PartitionPrior(Protocol):
    """Anything that draws a partition of n records, such as `kolchin.NBD`."""

    def draw(self, n_records: int, seed: Seed = None) -> ArrayLike:
        """Return the cluster label of each record."""


class _Field(NamedTuple):
    name: str
    values: list[Hashable]
    probabilities: NDArray[np.float64]
    delta: float
    missing: float


def simulate(
    fields: Mapping[str, Frequencies],
    *,
    sizes: Mapping[int, int] | Sequence[int] | None = None,
    prior: PartitionPrior | None = None,
    n_records: int | None = None,
    delta: float | Mapping[str, float] = 0.05,
    missing: float | Mapping[str, float] = 0.0,
    seed: Seed = None,
) -> pl.DataFrame:
    """Draw a table of records of known entities, rows in random order.

    Parameters
    ----------
    fields
        Base frequencies by field: `{value: weight}`, or weights of the values 0, 1, ... . Weights
        are scaled to sum to one.
    sizes
        Records per entity: a sequence with one size an entity, or a histogram
        `{size: number of entities}`.
    prior, n_records
        Instead of `sizes`, a prior from which a partition of `n_records` records is drawn.
    delta
        Distortion, one for all fields or by field; 0 makes records of one entity equal.
    missing
        Share of values left out at random, one for all fields or by field.

    Returns
    -------
    Columns `rec_id` (1, 2, ...), `ent_id` (the true entity) and the fields.

    Examples
    --------
    >>> table = simulate({"sex": {"f": 0.5, "m": 0.5}}, sizes={1: 3, 2: 1}, seed=1)
    >>> table.columns, table["ent_id"].n_unique()
    (['rec_id', 'ent_id', 'sex'], 4)
    """
    rng = np.random.default_rng(seed)
    checked = _check_fields(fields, delta, missing)
    entities = _draw_entities(sizes, prior, n_records, rng)
    order = np.argsort(entities, kind="stable")
    starts, positions = _draw_positions(entities[order])
    table: dict[str, NDArray[np.int64] | pl.Series] = {
        "rec_id": np.arange(1, entities.size + 1),
        "ent_id": entities + 1,
    }
    for field in checked:
        codes = np.empty(entities.size, dtype=np.int64)
        codes[order] = _draw_urn(rng, starts, positions, field.probabilities, field.delta)
        codes[rng.random(codes.size) < field.missing] = len(field.values)
        table[field.name] = pl.Series([*field.values, None]).gather(codes)
    return pl.DataFrame(table)


def _draw_urn(
    rng: np.random.Generator,
    starts: NDArray[np.int64],
    positions: NDArray[np.int64],
    probabilities: NDArray[np.float64],
    delta: float,
) -> NDArray[np.int64]:
    """Draw the value codes of records sorted by entity, all entities at once.

    Each record points at the record that it copies, or at itself when its value is new. Following
    all pointers to their ends by doubling takes as many rounds as the logarithm of the longest
    chain of copies.
    """
    n_records = positions.size
    copies = rng.random(n_records) * (delta + positions) < positions
    copied = starts + (rng.random(n_records) * positions).astype(np.int64)
    source = np.where(copies, copied, np.arange(n_records))
    while not np.array_equal(further := source[source], source):
        source = further
    cumulative = np.cumsum(probabilities)
    codes = np.searchsorted(cumulative / cumulative[-1], rng.random(n_records), side="right")
    return codes[source]


def _draw_positions(entities: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for records sorted by entity, the row of the entity's first record and the offset."""
    sizes = np.bincount(entities)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    return starts, np.arange(entities.size) - starts


def _draw_entities(
    sizes: Mapping[int, int] | Sequence[int] | None,
    prior: PartitionPrior | None,
    n_records: int | None,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Return the entity of each record, numbered by first appearance, rows in random order."""
    if sizes is not None and prior is None and n_records is None:
        per_entity = _check_sizes(sizes)
        entities = np.repeat(np.arange(per_entity.size), per_entity)
    elif sizes is None and prior is not None and n_records is not None:
        if n_records < 1:
            raise ModelError(
                f"The 'n_records' parameter must be 1 or more. Got {n_records!r} instead."
            )
        entities = np.asarray(prior.draw(n_records, seed=rng))
    else:
        given = {"sizes": sizes, "prior": prior, "n_records": n_records}
        named = [name for name, value in given.items() if value is not None] or ["none of them"]
        raise ModelError(
            f"Give either 'sizes' or both 'prior' and 'n_records'. Got {', '.join(named)} instead."
        )
    return make_canonical(rng.permutation(entities))


def _check_sizes(sizes: Mapping[int, int] | Sequence[int]) -> NDArray[np.int64]:
    """Return one size an entity."""
    if isinstance(sizes, Mapping):
        values, counts = np.array(list(sizes)), np.array(list(sizes.values()))
    else:
        values = np.array(sizes)
        counts = np.ones_like(values)
    whole = values.ndim == 1 and values.dtype.kind in "iu" and counts.dtype.kind in "iu"
    if not whole or values.size == 0 or values.min() < 1 or counts.min() < 0 or not counts.any():
        raise ModelError(
            "The 'sizes' parameter must be whole numbers of records, 1 or more, one an entity, "
            f"or a mapping of such sizes to numbers of entities. Got {sizes!r:.200} instead."
        )
    return np.repeat(values, counts)


def _check_fields(
    fields: Mapping[str, Frequencies],
    delta: float | Mapping[str, float],
    missing: float | Mapping[str, float],
) -> list[_Field]:
    """Return the fields ready for drawing, or raise one error with every fault."""
    faults: list[str] = []
    if not fields:
        faults.append("The 'fields' parameter must name at least one field. Got none instead.")
    faults += [
        f"A field cannot be called '{column}': that is a column of the result."
        for column in _ID_COLUMNS
        if column in fields
    ]
    deltas = _read_by_field("delta", delta, fields, np.inf, faults)
    missing_shares = _read_by_field("missing", missing, fields, 1.0, faults)
    checked = []
    for name, frequencies in fields.items():
        values, weights = _read_values(frequencies)
        if weights.ndim != 1 or not (np.isfinite(weights) & (weights >= 0)).all():
            faults.append(f"The frequencies of field '{name}' must be finite and not negative.")
        elif weights.sum() <= 0:
            faults.append(f"The frequencies of field '{name}' must not all be zero.")
        elif len({type(value) for value in values}) > 1:
            faults.append(f"The values of field '{name}' must all be of one type.")
        else:
            probabilities = weights / weights.sum()
            checked.append(_Field(name, values, probabilities, deltas[name], missing_shares[name]))
    if faults:
        raise ModelError("\n".join(faults))
    return checked


def _read_values(
    frequencies: Frequencies,
) -> tuple[list[Hashable], NDArray[np.float64]]:
    """Return the values of a field and their weights."""
    if isinstance(frequencies, Mapping):
        return list(frequencies), np.array(list(frequencies.values()), dtype=np.float64)
    return list(range(len(frequencies))), np.asarray(frequencies, dtype=np.float64)


def _read_by_field(
    parameter: str,
    given: float | Mapping[str, float],
    fields: Mapping[str, Frequencies],
    below: float,
    faults: list[str],
) -> dict[str, float]:
    """Return a parameter for every field, adding what is wrong with it to the faults."""
    by_field = dict(given) if isinstance(given, Mapping) else dict.fromkeys(fields, given)
    if set(by_field) != set(fields):
        faults.append(
            f"The '{parameter}' parameter must be one number, or one for each of the fields "
            f"{', '.join(fields)}. Got {', '.join(by_field)} instead."
        )
    for value in set(by_field.values()):
        if not 0 <= value < below:
            upper = "" if below == np.inf else f" and below {below:g}"
            faults.append(
                f"The '{parameter}' parameter must be 0 or more{upper}. Got {value!r} instead."
            )
    return {name: by_field.get(name, 0.0) for name in fields}
