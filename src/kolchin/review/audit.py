"""How good is the list? A random stratified sample of pairs is asked, and says so by design."""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.errors import DataError
from kolchin.files import replace_whole
from kolchin.review.answers_file import (
    DIFFERENT,
    FILE,
    SAME,
    Answer,
    AnswersFile,
    find_latest,
    make_pair,
)
from kolchin.review.queues import AUDIT, Question
from kolchin.review.review_content import ReviewContent
from kolchin.review.strata import Estimate, Stratum, estimate_precision, estimate_recall

SAMPLE = "audit.json"
LISTED_BOUNDS = (0.0, 0.5, 0.9, 0.99, 1.01)
APART_BOUNDS = (0.01, 0.1, 0.5, 1.01)
"""Strata are by probability, those of listed pairs and those of others."""

SHARE_BELOW = 0.1
FEWEST = 4
LEAST_CHANCE = 0.03
"""The part of the sample for pairs below all strata, the fewest of each, and a bound on how sure
the model is taken to be when the rest is shared out."""


class AuditLayer(NamedTuple):
    """A stratum before it is sampled: its pairs (None for all others), and what is believed."""

    listed: bool
    low: float
    high: float
    size: int
    believed: float
    pairs: NDArray[np.int64] | None


def make_audit_questions(
    content: ReviewContent, number: int, seed: int | None = None
) -> list[Question]:
    """Return the pairs of the audit, in random order: those begun with, or a new sample."""
    path = content.directory / SAMPLE
    kept = _read_sample(path)
    if kept is None:
        kept = draw_sample(content, number, seed)
        with replace_whole(path) as part:
            part.write_text(json.dumps(kept, ensure_ascii=False), encoding="utf-8")
    place = {name: row for row, name in enumerate(content.names)}
    known = _read_probabilities(content.pairs)
    asked = []
    for k in kept["order"]:
        stratum, pair = k
        names = kept["strata"][stratum]["pairs"][pair]
        if not all(name in place for name in names):
            raise DataError(
                f"{path} is of another table: delete it, and a new sample will be drawn."
            )
        a, b = sorted(place[name] for name in names)
        asked.append(Question(AUDIT, (a, b), known.get((a, b), 0.0)))
    return asked


def draw_sample(content: ReviewContent, number: int, seed: int | None = None) -> dict[str, Any]:
    """Draw pairs at random from each stratum; return them by name, with the strata's sizes."""
    rng = np.random.default_rng(seed)
    layers = read_layers(content)
    names = content.names
    strata: list[dict[str, Any]] = []
    taken = _find_taken(content)
    for layer, n in zip(layers, allocate_questions(layers, number), strict=True):
        if layer.pairs is None:
            rows = _draw_others(rng, content.labels.size, taken, n)
        else:
            rows = layer.pairs[rng.choice(layer.size, n, replace=False)].tolist()
        pairs = [[names[a], names[b]] for a, b in rows]
        strata.append({**layer._asdict(), "pairs": pairs, "size": int(layer.size)})
    order = [(s, k) for s, one in enumerate(strata) for k in range(len(one["pairs"]))]
    shuffled = [order[k] for k in rng.permutation(len(order))]
    return {"n_entities": int(content.labels.max()) + 1, "strata": strata, "order": shuffled}


def read_layers(content: ReviewContent) -> list[AuditLayer]:
    """Return the strata: listed pairs and others, each by probability, and then all the rest."""
    listed = _list_pairs(content.labels)
    known = _read_probabilities(content.pairs)
    chance = np.array([known.get((a, b), 0.0) for a, b in listed.tolist()])
    layers = _cut_layers(listed, chance, LISTED_BOUNDS, True)
    rows = content.pairs.select("record_a", "record_b").to_numpy().astype(np.int64)
    apart = content.labels[rows[:, 0]] != content.labels[rows[:, 1]]
    others = content.pairs["probability"].to_numpy()[apart]
    layers += _cut_layers(rows[apart], others, APART_BOUNDS, False)
    n = content.labels.size
    rest = n * (n - 1) // 2 - sum(layer.size for layer in layers)
    if rest:
        posterior = content.posterior
        sizes = posterior.distinct.sizes.astype(np.float64)
        drawn = float(posterior.sums(sizes * (sizes - 1) / 2).mean())
        below = max(0.0, drawn - sum(layer.believed for layer in layers))
        layers.append(AuditLayer(False, 0.0, APART_BOUNDS[0], rest, below, None))
    return layers


def _cut_layers(
    pairs: NDArray[np.int64], chance: NDArray[np.float64], bounds: Sequence[float], listed: bool
) -> list[AuditLayer]:
    """Cut pairs by their probability; strata without any are left out."""
    layers = []
    for low, high in pairwise(bounds):
        own = (chance >= low) & (chance < high)
        if own.any():
            believed = float(chance[own].sum())
            layers.append(
                AuditLayer(listed, low, min(high, 1.0), int(own.sum()), believed, pairs[own])
            )
    return layers


def allocate_questions(layers: Sequence[AuditLayer], number: int) -> list[int]:
    """Share a sample out: a few for each stratum, the rest where the sum is least known.

    That is Neyman's rule, with shares that are not taken to be as sure as the model has them.
    """
    shares = [
        SHARE_BELOW * number if layer.pairs is None else min(layer.size, FEWEST) for layer in layers
    ]
    counts = [min(layer.size, round(n)) for layer, n in zip(layers, shares, strict=True)]
    weights = []
    for layer in layers:
        chance = min(max(layer.believed / layer.size, LEAST_CHANCE), 1 - LEAST_CHANCE)
        weight = 0.0 if layer.pairs is None else layer.size * (chance * (1 - chance)) ** 0.5
        weights.append(weight)
    while sum(counts) < number:
        short = [
            w / (c + 1) if c < layer.size else 0.0
            for w, c, layer in zip(weights, counts, layers, strict=True)
        ]
        best = int(np.argmax(short))
        if short[best] <= 0:
            break
        counts[best] += 1
    return counts


def read_audit(directory: Path) -> dict[str, Any] | None:
    """Return what an audit has found so far; None where nothing was asked or answered."""
    kept = _read_sample(directory / SAMPLE)
    if kept is None:
        return None
    return estimate_audit(kept, AnswersFile(directory / FILE).read())


def estimate_audit(kept: Mapping[str, Any], answers: Sequence[Answer]) -> dict[str, Any] | None:
    """Return precision and recall with their intervals, beside what the model believes."""
    said: dict[tuple[str, str], str] = {}
    for (pair, _), one in find_latest([a for a in answers if a.of_queue == AUDIT]).items():
        said[pair] = one.answer
    strata, unsure = [], 0
    for one in kept["strata"]:
        own = [said.get(make_pair(a, b)) for a, b in one["pairs"]]
        same, different = own.count(SAME), own.count(DIFFERENT)
        unsure += len([answer for answer in own if answer]) - same - different
        strata.append((one, Stratum(one["size"], same + different, same)))
    if not any(own.answered for _, own in strata):
        return None
    listed = [own for one, own in strata if one["listed"]]
    apart = [own for one, own in strata if not one["listed"]]
    above = [own for one, own in strata if not one["listed"] and one["low"] > 0]
    believed = _read_believed([one for one, _ in strata])
    found = {
        "precision": estimate_precision(listed),
        "recall": estimate_recall(listed, apart),
        "recall_above": estimate_recall(listed, above),
    }
    return {
        "n_entities": kept["n_entities"],
        "asked": len(kept["order"]),
        "answered": sum(own.answered for _, own in strata),
        "unsure": unsure,
        **{name: _make_measure(one, believed[name]) for name, one in found.items()},
        "strata": [
            {k: one[k] for k in ("listed", "low", "high", "size", "believed")}
            | {"answered": own.answered, "same": own.same}
            for one, own in strata
        ],
    }


def _read_believed(strata: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    listed = [one for one in strata if one["listed"]]
    hits = sum(one["believed"] for one in listed)
    size = sum(one["size"] for one in listed)
    every = sum(one["believed"] for one in strata)
    above = sum(one["believed"] for one in strata if one["listed"] or one["low"] > 0)
    return {
        "precision": hits / size if size else None,
        "recall": hits / every if every else None,
        "recall_above": hits / above if above else None,
    }


def _make_measure(found: Estimate | None, believed: float | None) -> dict[str, Any] | None:
    """Return an estimate as plain data, and whether the model's belief lies outside of it."""
    if found is None:
        return None
    disagrees = believed is not None and not found.low <= believed <= found.high
    return {
        "estimate": found.value,
        "low": found.low,
        "high": found.high,
        "believed": believed,
        "disagrees": disagrees,
    }


def describe_audit(audit: Mapping[str, Any]) -> list[str]:
    """Say what an audit has found."""
    unsure = f", {audit['unsure']:,} unsure and left out" if audit["unsure"] else ""
    lines = [
        f"Audit of the list of {audit['n_entities']:,} entities: {audit['answered']:,} of "
        f"{audit['asked']:,} sampled pairs are answered{unsure}. Intervals are of 90%, by design."
    ]
    names = {
        "precision": "Precision",
        "recall_above": "Recall among pairs of 1% and more",
        "recall": "Recall among all pairs",
    }
    for name, words in names.items():
        own = audit[name]
        if own is None:
            continue
        line = f"{words}: {own['estimate']:.3f} ({own['low']:.3f} to {own['high']:.3f})"
        if own["believed"] is not None:
            verdict = "the two disagree" if own["disagrees"] else "the two agree"
            line += f"; the model believes {own['believed']:.3f}: {verdict}"
        lines.append(line + ".")
    below = [one for one in audit["strata"] if not one["listed"] and one["low"] == 0]
    lines += [
        f"Of {one['size']:,} pairs below 1%, {one['answered']:,} were answered and "
        f"{one['same']:,} are the same: few answers say little about so many pairs."
        for one in below
    ]
    return lines


def _read_sample(path: Path) -> dict[str, Any] | None:
    try:
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise DataError(f"{path} is damaged and cannot be read: {error}.") from error
    return kept


def _read_probabilities(pairs: pl.DataFrame) -> dict[tuple[int, int], float]:
    return {(a, b): p for a, b, p in pairs.iter_rows()}


def _list_pairs(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all pairs that the list has as one."""
    order = np.argsort(labels, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    found = [np.column_stack([g[i] for i in np.triu_indices(g.size, 1)]) for g in groups]
    return np.concatenate([*found, np.zeros((0, 2), np.int64)]).astype(np.int64)


def _find_taken(content: ReviewContent) -> set[tuple[int, int]]:
    """Return the pairs that are in some stratum by probability."""
    own = {(int(a), int(b)) for a, b in _list_pairs(content.labels)}
    return own | set(_read_probabilities(content.pairs))


def _draw_others(
    rng: np.random.Generator, n_records: int, taken: set[tuple[int, int]], number: int
) -> list[tuple[int, int]]:
    """Draw pairs of records that are not taken, each as probable as the others."""
    found: dict[tuple[int, int], None] = {}
    while len(found) < number:
        a, b = sorted(rng.choice(n_records, 2, replace=False).tolist())
        if (a, b) not in taken:
            found[a, b] = None
    return list(found)
