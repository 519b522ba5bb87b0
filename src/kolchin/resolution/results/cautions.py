"""What a reader should know first: a run cut short, nothing found, two answers, equals apart."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.comparison import Comparisons
from kolchin.comparison.distinct_rows import find_distinct_rows
from kolchin.options import command, option
from kolchin.posterior import Posterior
from kolchin.records import Records
from kolchin.report.wording import NOT_CONVERGED
from kolchin.sampling.run.endings import Ending

OPEN = (0.1, 0.9)
"""Pairs whose probability lies between are open questions."""

FEWEST_PAIRS, MOST_DOUBTS = 5, 3
"""Pairs that must hang on one question before it is told, and the questions that are."""

MOST_RECORDS = 2_000_000
"""In larger tables equal records are not looked for: it would take memory that links need."""

COLLAPSED, FEWEST_COLLAPSED = 0.2, 20
"""An entity with such a share of all records, and so many, is told of first."""

HARDLY_RECUR = 0.95
"""Values hardly ever recur where so many of those shown, or more, are different ones."""

FAR_APART = 5.0
"""Chains whose numbers of entities differ by so many of their standard deviations disagree."""

FAMILIES_DIFFER, MOST_TELLING, TELLS_MUCH = 0.25, 2, 0.1
"""Records of one entity that differ so often in one of the fields that tell most may be families
of things that are alike. Of the tables tried, those that were resolved well stay below 0.2. A field
on which unrelated records agree more often than the last does not tell much."""
FAMILIES_ADVICE = " If each list has every thing once, say so ({})."


class OpenQuestion(NamedTuple):
    """Pairs that differ in the same fields, of which it is open whether they are one."""

    differing: list[str]
    pairs: int
    expected: float

    def question(self) -> str:
        """Ask the question in words that do not say what the model believes."""
        pairs = f"{self.pairs:,} pairs {self._say_alike()}"
        return f"{pairs}: the same or not? Answers here tell about all."

    def sentence(self) -> str:
        """Ask the question in words."""
        return (
            f"{self.pairs:,} pairs {self._say_alike()}: the same or not? The model believes in "
            f"{self.expected:,.0f} of them; the answer moves the number of entities by up to "
            f"{max(self.expected, self.pairs - self.expected):,.0f}."
        )

    def _say_alike(self) -> str:
        what = _list_names(self.differing) if self.differing else ""
        return f"agree on everything but {what}" if what else "agree on all that both show"


def find_differing(
    rows: NDArray[np.int64], comparisons: Comparisons
) -> tuple[NDArray[np.bool_], list[str]]:
    """Return in which fields each pair differs, and the names of the fields."""
    levels = comparisons.levels_of(rows)
    differs = np.column_stack(
        [
            (level >= 0) & ~agrees[level]
            for level, agrees in zip(levels.T, comparisons.agrees, strict=True)
        ]
    )
    return differs, [field.column for field in comparisons.fields]


def find_doubts(pairs: pl.DataFrame, comparisons: Comparisons | None) -> list[OpenQuestion]:
    """Return the questions on which most open pairs hang, by the fields in which they differ.

    ``pairs`` has record_a, record_b (as rows) and probability.
    """
    if comparisons is None:
        return []
    low, high = OPEN
    some = pairs.filter(pl.col("probability").is_between(low, high))
    rows = some.select("record_a", "record_b").to_numpy()
    if not len(rows):
        return []
    differs, names = find_differing(rows, comparisons)
    probability = some["probability"].to_numpy()
    kinds, which = np.unique(differs, axis=0, return_inverse=True)
    number = np.bincount(which.ravel())
    expected = np.bincount(which.ravel(), probability)
    ranked = np.argsort(-number, kind="stable")[:MOST_DOUBTS]
    return [
        OpenQuestion(
            [name for name, differ in zip(names, kinds[k], strict=True) if differ],
            int(number[k]),
            float(expected[k]),
        )
        for k in ranked
        if number[k] >= FEWEST_PAIRS
    ]


def list_cautions(
    summary: Mapping[str, Any],
    posterior: Posterior,
    records: Records,
    labels: NDArray[np.int64],
    comparisons: Comparisons | None = None,
    *,
    one_per_source: bool = False,
    weak: Sequence[str] = (),
) -> list[str]:
    """Return sentences that come before all others; none where all is well.

    ``weak`` says that the fields cannot outweigh the odds against a link, where that is so.
    """
    if summary["ended"] == Ending.WARM_UP:  # what else there is to say would be about nothing
        return _describe_unsettled(summary)
    return [
        *_describe_unsettled(summary),
        *_describe_nothing_found(records, labels, weak),
        *_describe_collapse(summary, labels),
        *_describe_two_answers(posterior),
        *_describe_equal_apart(records, labels),
        *find_families(summary, comparisons, one_per_source),
    ]


def find_families(
    summary: Mapping[str, Any], comparisons: Comparisons | None, one_per_source: bool = False
) -> list[str]:
    """Say that groups may be families of things that are alike, if their records differ so often.

    The fields that tell most are those on which unrelated records seldom agree.
    """
    if comparisons is None or summary["n_entities"]["mean"] > summary["n_records"] - 1:
        return []
    by_chance = [
        float(u[agrees].sum()) for u, agrees in zip(comparisons.u, comparisons.agrees, strict=True)
    ]
    for f in np.argsort(by_chance, kind="stable")[:MOST_TELLING]:
        column = comparisons.fields[f].column
        chance = summary["parameters"].get(f"m[{column}: different]", {}).get("mean", 0.0)
        if chance > FAMILIES_DIFFER and by_chance[f] < TELLS_MUCH:
            return [
                f"Records that were put together differ altogether in {column} "
                f"{100 * chance:.0f} times of 100, though {column} tells much. They may be "
                "families of things that are alike (the models of a product line, a household), "
                f"not entities: look at some ({command('entity')})."
                + ("" if one_per_source else FAMILIES_ADVICE.format(option("one_per_source")))
            ]
    return []


def _describe_unsettled(summary: Mapping[str, Any]) -> list[str]:
    """Say that chains were still on their way when time was up, or have not agreed yet."""
    if summary["ended"] == Ending.WARM_UP:
        return [
            "This is provisional: the time limit was reached while chains were still on their way, "
            "so that neither the entities nor how sure they are can be relied on. Resume the run, "
            f"or allow it more time ({option('time_limit')})."
        ]
    if not summary["diagnostics"]["converged"]:
        return [NOT_CONVERGED]
    return []


def _describe_nothing_found(
    records: Records, labels: NDArray[np.int64], weak: Sequence[str] = ()
) -> list[str]:
    """Say that the list has no links, whether the fields could tell any, and what may hide them."""
    if labels.size < 2 or np.unique(labels).size < labels.size:
        return list(weak)
    if weak:
        return [" ".join(["No two records were linked.", *weak])]
    return [
        "No two records were linked. The fields could tell a link: either there are no duplicates, "
        "or they differ in too much. If you know two that are the same, ask why they were not "
        f"linked ({command('explain')}); add columns, or change what they are "
        f"({command('fields')})." + _describe_never_recurring(records)
    ]


def _describe_never_recurring(records: Records) -> str:
    """Name the fields whose values hardly ever recur, where others' do: these may hide links."""
    names = []
    for name, codes in zip(records.names, records.codes.T, strict=True):
        shown = codes[codes >= 0]
        if np.unique(shown).size > HARDLY_RECUR * shown.size:
            names.append(name)
    if not 0 < len(names) < len(records.names):
        return ""
    return (
        f" Values of {_list_names(names)} hardly ever recur: what differs by nature between "
        "records of one entity, such as the day of an entry or an amount, hides links, and is "
        "better left out."
    )


def _describe_collapse(summary: Mapping[str, Any], labels: NDArray[np.int64]) -> list[str]:
    """Say that one entity has a large part of all records, which is rarely so."""
    largest, n_records = int(np.bincount(labels).max(initial=0)), summary["n_records"]
    if largest < max(FEWEST_COLLAPSED, COLLAPSED * n_records):
        return []
    return [
        f"One entity has {largest:,} of the {n_records:,} records. That is rarely true: the fields "
        "probably tell too little, or are much alike for records that are different. Look at it "
        f"({command('entity')}), add columns, or change what they are ({command('fields')})."
    ]


def _describe_two_answers(posterior: Posterior) -> list[str]:
    """Say that chains stay at different numbers of entities, and which the model prefers."""
    drawn = posterior.statistics["n_clusters"]
    if drawn.shape[0] < 2 or drawn.shape[1] < 4:
        return []
    means, within = drawn.mean(axis=1), max(float(drawn.std(axis=1).mean()), 0.5)
    order = np.argsort(means)
    gaps = np.diff(means[order])
    if gaps.max(initial=0.0) < FAR_APART * within:
        return []
    split = int(np.argmax(gaps)) + 1
    groups = [order[:split], order[split:]]
    joint = [float(posterior.log_joint[group].mean()) for group in groups]
    better = int(joint[1] > joint[0])
    told = [f"about {means[group].mean():,.0f} ({_write_chains(group.size)})" for group in groups]
    return [
        f"There are two answers: chains found {told[0]} and {told[1]} entities and do not meet. "
        f"The model prefers {told[better]}, by {abs(joint[1] - joint[0]):,.0f} in log density. The "
        "interval spans both; more draws or more columns may settle it."
    ]


def _describe_equal_apart(records: Records, labels: NDArray[np.int64]) -> list[str]:
    """Say that records which are equal in all fields are listed as different entities."""
    if records.n_records > MOST_RECORDS:
        return []
    shows = records.codes >= 0
    complete = shows.all(axis=1) if shows.all(axis=1).any() else shows.any(axis=1)
    (rows,) = np.nonzero(complete)
    if rows.size < 2:
        return []
    codes = records.codes[rows]
    _, group = find_distinct_rows(list(np.ascontiguousarray(codes.T)))
    first, entity = np.unique(group, return_index=True)[1], labels[rows]
    apart = np.unique(group[entity != entity[first][group]]).size
    if not apart:
        return []
    what, verb = ("group", "is") if apart == 1 else ("groups", "are")
    return [
        f"{apart:,} {what} of records that are equal in every field {verb} listed as different "
        "entities: such values coincide by chance too often to be sure. "
        f"Columns that tell more, if there are any, settle it ({command('fields')} says "
        "what is used)."
    ]


def _write_chains(number: int) -> str:
    return "one chain" if number == 1 else f"{number} chains"


def _list_names(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
