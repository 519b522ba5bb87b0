"""What a run found: entities, links and how sure they are."""

import sys
import warnings
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from kolchin.errors import DataError
from kolchin.evaluation import encode, write_as_numbers
from kolchin.files import replace_whole
from kolchin.likelihoods import Exemplar
from kolchin.model import Model
from kolchin.options import command
from kolchin.parameters import FloatArray, IntArray
from kolchin.partitions import Certain, Labels
from kolchin.posterior import Posterior
from kolchin.posterior.scores import evaluate_posterior, tabulate_calibration
from kolchin.posterior.summaries import PosteriorSummary, summarise
from kolchin.records import DataWarning, Records
from kolchin.resolution.golden.golden_records import GoldenRecords, make_golden
from kolchin.resolution.golden.golden_rules import KEPT_RULES, GoldenRules
from kolchin.resolution.results.comparison_summary import (
    count_compared_links,
    summarise_dependence,
)
from kolchin.resolution.results.due import due_notes
from kolchin.resolution.results.entity_views import EntityView, list_least_sure, view_entity
from kolchin.resolution.results.events import Groupings, weigh_events
from kolchin.resolution.results.explanation import (
    Explanation,
    explain_pair,
)
from kolchin.resolution.results.result_summary import summarise_result
from kolchin.resolution.results.result_tables import list_links, merge_with_input
from kolchin.resolution.results.summary import describe, make_finite
from kolchin.resolution.running.directory import RunDirectory
from kolchin.resolution.running.grown_models import extend_model
from kolchin.resolution.running.settings import Settings
from kolchin.resolution.tables.entity_numbers import number_entities
from kolchin.resolution.tables.input_table import InputTable
from kolchin.resolution.tables.truth_table import read_truth
from kolchin.sampling.run.endings import Ending
from kolchin.workplace import Workplace

if TYPE_CHECKING:
    from kolchin.databases import WriteReceipt
    from kolchin.review.server import ReviewServer

MIN_PROBABILITY = 0.01
"""Pairs that are less probable are not listed among the links."""


class Result:
    """The outcome of :func:`kolchin.resolve`.

    Attributes
    ----------
    posterior : the draws.
    ended : why sampling ended: "enough" (by the diagnostics), "draws", "time", "interrupted",
        "updated" where records were added given the parameters of an earlier run, or "warm-up"
        where time was up before the first draw, so that the result is provisional.
    directory : where the run is kept, if it is.
    """

    def __init__(
        self,
        given: InputTable,
        settings: Settings,
        posterior: Posterior,
        ended: str,
        seconds: Mapping[str, float],
        model: Model | None = None,
        work: Workplace | None = None,
        directory: Path | None = None,
    ) -> None:
        self.directory = directory
        self._given = given
        self._settings = settings
        self.posterior = posterior
        self.ended = ended
        self.seconds = dict(seconds)
        self._built = model
        self._work = work

    @classmethod
    def load(cls, path: str | Path) -> "Result":
        """Read a run's directory, finished or not."""
        directory = RunDirectory(Path(path))
        asked, header = directory.read_asked(), directory.header()
        if not any(directory.posterior.glob("draws-*.npz")):
            raise DataError(
                f"The run in {path} has no draws yet. {command('resume', Path(path))} goes on "
                "with it."
            )
        seconds = {**asked["seconds"], "sampling": header["seconds"]}
        return cls(
            InputTable.load(directory.posterior),
            Settings.from_json(asked["settings"]),
            directory.draws(),
            _find_ending(header["ended"], asked),
            seconds,
            directory=Path(path),
        )

    @cached_property
    def _model(self) -> Model:
        if self._built is not None:
            return self._built
        if self._given.base is not None:
            return extend_model(self._base_model, self._given, self._settings)
        records, source = self._given.records, self._given.source
        return self._settings.model(records, source, self._read_likelihood(records))

    @cached_property
    def _base_model(self) -> Model:
        """The model of the records that chances were learnt from."""
        base = self._given.base
        if base is None:
            return self._model
        return self._settings.forget_sources().model(base, kept=self._read_likelihood(base))

    def _read_likelihood(self, records: Records) -> Exemplar | None:
        """Return what was learned from comparing these records, if a directory has it."""
        if self.directory is None:
            return None
        return RunDirectory(self.directory).read_likelihood(records)

    def detach(self) -> None:
        """Make what depends on a workplace, which is about to go, and let go of the rest.

        What is asked for later and needs the model makes it again, in this process.
        """
        _ = self.entities, self.links
        self._built = self._work = None
        vars(self).pop("_model", None)

    @cached_property
    def labels(self) -> Labels:
        """The entity of each record, numbered from 0: least expected variation of information."""
        return self._summary.labels

    @cached_property
    def numbers(self) -> IntArray:
        """The id of the entity of each label; those of an earlier list stay."""
        earlier = self._given.numbered
        if earlier is None:
            return np.arange(int(self.labels.max(initial=-1)) + 1)
        known = earlier.entity_of(self._given.ids)
        return number_entities(known, self.labels.astype(np.int64), earlier.first_free)

    @property
    def entity_of(self) -> IntArray:
        """The id of the entity of each record."""
        result: IntArray = self.numbers[self.labels]
        return result

    @property
    def first_free(self) -> int:
        """The first id that no entity has or had."""
        earlier = self._given.numbered
        given = 0 if earlier is None else earlier.first_free
        return max(given, int(self.numbers.max(initial=-1)) + 1)

    @cached_property
    def events(self) -> pl.DataFrame | None:
        """What became of entities when records were added: as in ``events.csv``; None if none were.

        Columns are event, entity, from_entities, n_records, n_new and probability.
        """
        before = self._given.before
        if before is None:
            return None
        ids = self._given.ids
        groupings = Groupings(before.entity_of(ids), self.entity_of, before.find_lost(ids))
        return weigh_events(groupings, self.posterior, self._summary.confidence)

    @cached_property
    def _summary(self) -> PosteriorSummary:
        model = self._model
        certain = Certain(model.answers.tied, model.answers.parted)
        return summarise(self.posterior, MIN_PROBABILITY, model.sources, self._work, certain)

    @cached_property
    def due(self) -> list[str]:
        """Why parameters should be drawn again, after records were added; nothing if they need not.

        Much is new, or new records have other values or other errors than those before.
        """
        if self._given.base is None:
            return []
        return due_notes(self._given, self._pairs, self._model.comparisons)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What was done with the table and should be known."""
        largest = self._summary.largest
        told = (*self._given.notes, *self.due)
        if largest is None:
            return told
        left_out = f"Pairs within groups of more than {largest:,} records are not listed as links."
        return (*told, left_out)

    @cached_property
    def entities(self) -> pl.DataFrame:
        """One row a record: record, entity, entity_size, confidence."""
        return pl.DataFrame(
            {
                "record": self._given.ids,
                "entity": self.entity_of,
                "entity_size": np.bincount(self.labels)[self.labels],
                "confidence": self._summary.confidence,
            }
        )

    @property
    def _pairs(self) -> pl.DataFrame:
        return self._summary.links

    @cached_property
    def links(self) -> pl.DataFrame:
        """One row a pair with a probability of 0.01 or more, and the evidence of each field."""
        return list_links(self)

    def summary(self) -> dict[str, Any]:
        """Return entities with their interval, sizes, parameters, diagnostics; plain data."""
        return summarise_result(self)

    @cached_property
    def _description(self) -> dict[str, Any]:
        return describe(self.posterior)

    @cached_property
    def _truth(self) -> FloatArray | None:
        """The true entities as numbers, where they were given."""
        return None if self._given.truth is None else write_as_numbers(self._given.truth)

    @cached_property
    def _own_evaluation(self) -> dict[str, Any] | None:
        truth = self._given.truth
        return None if truth is None or truth.null_count() == truth.len() else self.evaluate()

    def evaluate(self, truth: Any = None) -> dict[str, Any]:
        """Compare with the true entities: the point estimate, and the posterior of every rate.

        ``truth`` is FILE or FILE:COLUMN, a table with the ids and the entities, a mapping from ids
        to entities, or one value a record, None where it is not known; by default what the run was
        given. Records are matched by their ids where there are any; a warning says where they are
        not. Records without truth are left out, and counted.
        """
        found = None if truth is None else read_truth(truth, self._given)
        known = self._truth if found is None else write_as_numbers(found.entities)
        if known is None:
            raise DataError("There is no truth to compare with: name some.")
        measures = evaluate_posterior(self.posterior, known, self.labels, self._summary.linked)
        table = self._calibration(known)
        if found is not None and found.by_row:
            warnings.warn(f"Records and truth are matched {found.matched}.", DataWarning, 2)
        if self._model.comparisons is not None:
            compared = count_compared_links(self._model.comparisons, encode(known))
            measures["candidates"] = {"true_pairs": compared}
        plain: dict[str, Any] = make_finite({**measures, "calibration": table.to_dicts()})
        return plain

    def describe_matching(self, truth: Any) -> str:
        """Say how the records would be matched with the truth."""
        return f"Records and truth are matched {read_truth(truth, self._given).matched}."

    def _calibration(self, truth: Any) -> pl.DataFrame:
        return tabulate_calibration(self._pairs, truth)

    def explain(self, record_a: Any, record_b: Any) -> Explanation:
        """Say why two records, by their ids, are (not) the same: evidence by field in bits."""
        return explain_pair(self, record_a, record_b)

    def entity(self, entity: int | str) -> EntityView:
        """Return one entity: its records, how sure, its weakest link, who else could belong."""
        number = self._entity_number(entity)
        return view_entity(
            number, self._given, self.entity_of, self._pairs, self._summary.confidence
        )

    def _entity_number(self, entity: Any) -> int:
        """Return the number of an entity, given as a number or as text."""
        try:
            number = int(entity)
        except (TypeError, ValueError):
            number = -1
        if number not in self.numbers:
            first, last = int(self.numbers.min()), int(self.numbers.max())
            raise DataError(
                f"There is no entity {entity!r} in {self._given.title}: they are numbered from "
                f"{first:,} to {last:,} (column 'entity' of the entities)."
            )
        return number

    def doubtful(self, n: int = 20) -> pl.DataFrame:
        """Return the ``n`` least sure entities, each with the pair that is most worth a look.

        One row an entity: entity, entity_size, confidence, then record_a, record_b, probability and
        same_entity of the pair, inside it or with a record of another one.
        """
        return list_least_sure(self.entities, self._pairs, self.entity_of, n)

    def golden(self, rules: str | Path | Mapping[str, Any] | None = None) -> pl.DataFrame:
        """Return one row an entity: the best value of each field, and the record it is from.

        Columns are entity and n_records, then each field and beside it FIELD_probability, the
        probability that the value is the true one, and FIELD_record. ``rules`` is the path of a
        TOML file, or what it would hold: other ways to choose, and values that are set.
        """
        return self._golden(rules).records

    def golden_values(self, rules: str | Path | Mapping[str, Any] | None = None) -> pl.DataFrame:
        """Return all values of the fields in which an entity has several: those that lost, too.

        Columns are entity, field, value, probability, n_records and chosen.
        """
        return self._golden(rules).values

    def _golden(self, rules: Any) -> GoldenRecords:
        kept = None if self.directory is None else self.directory / KEPT_RULES
        checked = GoldenRules.read(rules, self._given, kept=rules is not None and rules == kept)
        dependence = summarise_dependence(self._model, self.posterior)
        made = make_golden(
            self._model, self.posterior, self._given, self.labels, dependence, checked
        )
        return GoldenRecords(*(_put_ids(table, self.numbers) for table in made))

    def review(
        self,
        port: int = 0,
        reviewer: str | None = None,
        audit: int | None = None,
        block: bool = True,
    ) -> "ReviewServer":
        """Serve the review page on this machine until Ctrl-C; answers go to the run's directory.

        ``audit`` asks so many pairs of a random sample instead. With ``block=False`` it returns at
        once: ``address`` says where the page is, ``close()`` ends it.
        """
        from kolchin.resolution.reviewing import open_review

        served = open_review(self, port, reviewer, audit)
        if block:
            sys.stderr.write(f"The review page is at {served.address} (Ctrl-C ends it)\n")
            served.wait()
        return served

    def update(
        self,
        rows: Any = None,
        *,
        table: str | None = None,
        query: str | None = None,
        key: str | None = None,
        delete: Any = None,
        out: str | Path | None = None,
        overwrite: bool = False,
        seed: int | None = None,
        cores: int | None = None,
        progress: bool | None = None,
    ) -> "Result":
        """Let new records join: return a result of old and new, in which entities keep their ids.

        The parameters of each draw are held, and only what a new record could touch is drawn anew:
        it costs as much as is new. ``resume`` of its directory draws the parameters, too.

        Parameters
        ----------
        rows
            New records, in whatever form :func:`kolchin.resolve` takes a table; none where records
            only go.
        table, query
            Of a database, the table to read, or a SELECT.
        key
            The column that names records: rows of known ids then take the place of the old ones.
        delete
            Ids of records to take out: a list, or a file with a column of them.
        out, overwrite
            A directory for the result, and whether an older run there may be replaced.
        seed
            The same seed gives the same result; by default that of the run.
        cores, progress
            As in :func:`kolchin.resolve`.
        """
        from kolchin.resolution.updating import update

        return update(
            self,
            rows,
            table=table,
            query=query,
            key=key,
            delete=delete,
            out=out,
            overwrite=overwrite,
            seed=seed,
            cores=cores,
            progress=progress,
        )

    def write(
        self,
        target: Any,
        prefix: str = "kolchin_",
        append: bool = False,
        rules: str | Path | Mapping[str, Any] | None = None,
    ) -> "WriteReceipt":
        """Write entities, links and golden records to a database, in one transaction.

        Parameters
        ----------
        target
            ``"sqlite:///FILE"``, ``"duckdb:///FILE"``, ``"postgresql://HOST/DB"``, or a connection
            of sqlite3, DuckDB or ADBC's driver for Postgres, whose open transaction, if there is
            one, is committed with the tables, or taken back if they cannot be written.
        prefix
            What the names of the tables begin with. No other tables are touched, and those of
            these names only if they were written here.
        append
            Keep what earlier runs wrote beside it, instead of replacing it.
        rules
            As in `golden`; by default those that the run's directory keeps.
        """
        from kolchin.resolution.results.database_tables import write_result

        return write_result(self, target, prefix, append, rules)

    def merged(self) -> pl.DataFrame:
        """Return the input with its types, and entities and confidence beside it.

        Of several files, the source is added, too.
        """
        return merge_with_input(self)

    def page(self) -> str:
        """Return the report as one HTML page."""
        from kolchin.resolution.results.result_page import render_result

        return render_result(self)

    def report(self, path: str | Path) -> Path:
        """Write a self-contained HTML page that works offline, and return where it is."""
        path = Path(path)
        text = self.page()
        with replace_whole(path) as part:
            part.write_text(text, encoding="utf-8")
        return path

    def _repr_html_(self) -> str:
        from kolchin.resolution.results.notebook import write_result_html

        return write_result_html(self)

    def __repr__(self) -> str:
        found = self.posterior.statistics["n_clusters"]
        low, high = np.quantile(found, [0.05, 0.95])
        return (
            f"<Result: {found.mean():,.0f} entities ({low:,.0f} to {high:,.0f}) "
            f"of {self.posterior.n_records:,} records>"
        )


def _find_ending(ended: str, asked: Mapping[str, Any]) -> Ending:
    """Find why a run has ended that may have had records added."""
    if asked.get("updated"):
        return Ending.UPDATED
    return Ending.TIME if ended == Ending.STOPPED else Ending(ended)


def _put_ids(table: pl.DataFrame, numbers: IntArray) -> pl.DataFrame:
    """Put ids in place of labels, in the order of ids."""
    ids = pl.Series("entity", numbers[table["entity"].to_numpy()], dtype=pl.Int64)
    return table.with_columns(ids).sort("entity", maintain_order=True)
