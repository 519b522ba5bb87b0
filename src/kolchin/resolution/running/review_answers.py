"""Answers of a review become part of what a run knows, from where its chains are."""

from pathlib import Path
from typing import NamedTuple

import polars as pl

from kolchin.answers import SAME, KnownAnswer
from kolchin.resolution.running.directory import RunDirectory
from kolchin.resolution.running.settings import Settings
from kolchin.resolution.tables.input_table import InputTable
from kolchin.review.answers_file import FILE, AnswersFile
from kolchin.review.rates import ErrorRate, choose_answers, estimate_rate


class ReviewAnswers(NamedTuple):
    """The answers of a run's reviewers that count, and how often they err."""

    known: tuple[KnownAnswer, ...]
    rate: ErrorRate

    def words(self) -> str:
        """Say what the run is conditioned on."""
        same = sum(one.answer == SAME for one in self.known)
        learnt = (
            f"learnt from {self.rate.n_pairs:,} pairs that were asked twice"
            if self.rate.n_pairs
            else "as no pair was asked twice, that of the prior"
        )
        return (
            f"{len(self.known):,} answers of the review count: {same:,} same, "
            f"{len(self.known) - same:,} different. Their error rate is {self.rate.mean:.3f}, "
            f"{learnt}."
        )


def read_reviewed(path: Path, ids: pl.Series) -> ReviewAnswers:
    """Read the answers in a run's directory."""
    answers = AnswersFile(path / FILE).read()
    rate = estimate_rate(answers)
    rows = {str(name): row for row, name in enumerate(ids.cast(pl.String).to_list())}
    return ReviewAnswers(choose_answers(answers, rows, rate.mean), rate)


def has_new_answers(directory: RunDirectory) -> bool:
    """Tell whether there are answers that the run does not know yet."""
    settings = Settings.from_json(directory.read_asked()["settings"])
    if not (directory.path / FILE).exists():
        return bool(settings.reviewed)
    ids = InputTable.load(directory.posterior, hold=False).ids
    return read_reviewed(directory.path, ids).known != settings.reviewed
