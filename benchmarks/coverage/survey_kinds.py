"""Surveys: categories alone, that depend on each other, and answers that really change."""

import numpy as np
import polars as pl
from corrupting import change_some, exchange_among
from entities import Ints, as_table, draw_entities, poisson, repeat
from numpy.typing import NDArray
from vocabulary import Fields, Rng, Texts, falling_weights, list_words

STATUS = list_words("employed self-employed unemployed student retired home")
BRANCHES = list_words(
    "farming mining food textiles metal machines power building trade transport hotels media "
    "banking housing research offices state schools health arts"
)
QUALIFICATIONS = list_words(
    "none primary secondary apprenticeship college bachelor master doctorate"
)
REGIONS = [f"region {letter}" for letter in "ABCDEFGHIJKLMNOP"]
WAVES = 3
OLDEST, YOUNGEST = 1935, 2003
WORKING = 2
"""The first so many kinds of status have a branch."""


def draw_panel(
    rng: Rng, n_records: int, present: float = 0.7, changed: float = 0.15, share: float = 0.02
) -> pl.DataFrame:
    """Draw waves of a panel: some change branch, qualification and status; others err."""
    is_in = rng.random((n_records, WAVES)) < present
    is_in[np.arange(n_records), rng.integers(WAVES, size=n_records)] = True
    entity, wave = (places[:n_records] for places in np.nonzero(is_in))
    n = int(entity[-1]) + 1
    answers = [draw_answers(rng, n)]
    for _ in range(1, WAVES):
        answers.append(_changed_work(rng, answers[-1], changed))
    fields = {name: np.stack([each[name] for each in answers])[wave, entity] for name in answers[0]}
    fields = _with_errors(rng, fields, ("birth_year", "sex", "region"), share)
    return as_table(rng, fields, entity, np.array([f"wave {k + 1}" for k in wave], dtype=object))


def draw_survey(rng: Rng, n_records: int, share: float = 0.04) -> pl.DataFrame:
    """Draw people who were asked several times; nothing changes, every answer may be wrong."""
    entity = draw_entities(rng, n_records, poisson(1.8))
    fields = repeat(draw_answers(rng, int(entity[-1]) + 1), entity)
    return as_table(rng, _with_errors(rng, fields, tuple(fields), share), entity)


def draw_answers(rng: Rng, n: int) -> Fields:
    """Draw people: status depends on age, branch on status, qualification on branch."""
    born = rng.integers(OLDEST, YOUNGEST, n)
    sex = rng.integers(2, size=n)
    work = _draw_work(rng, born, sex)
    return {
        "birth_year": born.astype(str).astype(object),
        "sex": np.array(["female", "male"], dtype=object)[sex],
        "region": _chosen(REGIONS, rng.choice(len(REGIONS), n, p=falling_weights(len(REGIONS)))),
        **work,
    }


def _draw_work(rng: Rng, born: Ints, sex: Ints) -> Fields:
    status = _draw_rows(rng, _status_chances(born))
    branch = _draw_rows(rng, _falling_from(len(BRANCHES), (3 + 9 * sex) % len(BRANCHES)))
    level = (branch * len(QUALIFICATIONS)) // len(BRANCHES)
    qualification = _draw_rows(rng, _falling_from(len(QUALIFICATIONS), level))
    branches = np.where(status < WORKING, _chosen(BRANCHES, branch), "no branch")
    return {
        "employment": _chosen(STATUS, status),
        "branch": branches.astype(object),
        "qualification": _chosen(QUALIFICATIONS, qualification),
    }


def _status_chances(born: Ints) -> NDArray[np.float64]:
    """Return the chances of each status: the young study, the old are retired."""
    young, old = born > 1998, born < 1958
    usual = np.array([0.65, 0.12, 0.08, 0.03, 0.02, 0.10])
    at_school = np.array([0.25, 0.02, 0.08, 0.62, 0.00, 0.03])
    after = np.array([0.06, 0.04, 0.01, 0.00, 0.82, 0.07])
    return np.where(young[:, None], at_school, np.where(old[:, None], after, usual))


def _falling_from(n_values: int, start: Ints) -> NDArray[np.float64]:
    """Return chances of n values, one row a person, that fall with the distance from a start."""
    distance = np.abs(np.arange(n_values) - start[:, None])
    weights = 1 / (1 + distance) ** 1.5
    return weights / weights.sum(axis=1, keepdims=True)


def _draw_rows(rng: Rng, chances: NDArray[np.float64]) -> Ints:
    """Draw a value for each row of chances."""
    above = rng.random(chances.shape[0])[:, None] > np.cumsum(chances, axis=1)
    return np.minimum(above.sum(axis=1), chances.shape[1] - 1)


def _chosen(values: list[str], places: Ints) -> Texts:
    return np.array(values, dtype=object)[places]


def _changed_work(rng: Rng, before: Fields, share: float) -> Fields:
    """Return the answers of the next wave: who changes work changes all of it."""
    born = before["birth_year"].astype(np.int64)
    new = _draw_work(rng, born, (before["sex"] == "male").astype(np.int64))
    moves = rng.random(born.size) < share
    return {**before, **{name: np.where(moves, new[name], before[name]) for name in new}}


def _with_errors(rng: Rng, fields: Fields, columns: tuple[str, ...], share: float) -> Fields:
    known = {name: sorted(set(fields[name])) for name in columns}
    return fields | {
        name: change_some(rng, fields[name], share, exchange_among(known[name])) for name in columns
    }
