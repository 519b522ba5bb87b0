"""The model of a table that grew, with chances as they were learnt before."""

import copy
from dataclasses import replace

import numpy as np
import polars as pl

from kolchin.answers import Answers
from kolchin.comparison.added_records import compare_added
from kolchin.likelihoods import Exemplar
from kolchin.likelihoods.extending import extend_likelihood
from kolchin.model import Model
from kolchin.parameters import IntArray
from kolchin.resolution.running.settings import Settings, number_sources
from kolchin.resolution.tables.input_table import InputTable

BASE_ROW = "base_row"


def find_base_rows(given: InputTable) -> IntArray:
    """Return the row of each record among those that chances were learnt from; -1: added since."""
    if given.base is None:
        return np.arange(given.records.n_records)
    rows: IntArray = given.about[BASE_ROW].cast(pl.Int64).to_numpy()
    return rows


def extend_model(learnt: Model, given: InputTable, settings: Settings) -> Model:
    """Return the model of all records, of which some were added to those it was learnt from."""
    likelihood = learnt.likelihood
    assert isinstance(likelihood, Exemplar)
    assert likelihood.comparisons is not None
    rows = find_base_rows(given)
    records = given.records.as_compared()
    added = compare_added(learnt.records, likelihood.comparisons, records, rows < 0, settings.keys)
    row_now = np.full(learnt.n_records, -1, dtype=np.int64)
    row_now[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    model = copy.copy(learnt)
    model.records = records
    model.likelihood = extend_likelihood(likelihood, row_now, added)
    model.answers = Answers.of(records.n_records, (*settings.known, *settings.reviewed))
    if settings.one_per_source:
        model.sources = number_sources(given.source).astype(np.int32)
    return model


def forget_base(given: InputTable) -> InputTable:
    """Return the input of a run that learns from all of its records."""
    about = given.about.drop(BASE_ROW, strict=False)
    return replace(given, about=about, base=None)
