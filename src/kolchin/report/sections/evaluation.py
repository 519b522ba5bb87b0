"""The result against known entities."""

from typing import Any, NamedTuple

from kolchin.report.report_content import ReportContent
from kolchin.report.wording import (
    is_number,
    write_count,
    write_counted,
    write_decimals,
    write_percent,
)

_MEASURES = {
    "precision": ("Precision", "of the pairs linked, the share that is right"),
    "recall": ("Recall", "of the true pairs, the share that was found"),
    "f1": ("F1", "precision and recall in one number"),
    "bcubed_precision": ("B-cubed precision", "the same, as a mean over records"),
    "bcubed_recall": ("B-cubed recall", "the same, as a mean over records"),
    "bcubed_f1": ("B-cubed F1", "both in one number"),
    "cluster_precision": ("Entity precision", "of the entities listed, the share exactly right"),
    "cluster_recall": ("Entity recall", "of the true entities, the share found exactly"),
    "cluster_f1": ("Entity F1", "both in one number"),
    "adjusted_rand": ("Adjusted Rand index", "1 is perfect, 0 is chance"),
}


class Measure(NamedTuple):
    """A measure of the list of entities, and its posterior mean with interval."""

    name: str
    meaning: str
    listed: str
    mean: str
    interval: str


class EvaluationSection(NamedTuple):
    """How the result compares with the truth."""

    sentences: list[str]
    measures: list[Measure]


def make_evaluation(content: ReportContent) -> EvaluationSection | None:
    """Return the comparison with the truth, if it was given."""
    given = content.summary.get("evaluation")
    if not given:
        return None
    listed = given.get("point_estimate") or {}
    drawn = given.get("posterior") or {}
    measures = [
        _make_measure(*words, listed.get(name), drawn.get(name))
        for name, words in _MEASURES.items()
        if name in listed or name in drawn
    ]
    return EvaluationSection(_write_sentences(listed), measures)


def make_calibration_rows(content: ReportContent) -> list[dict[str, Any]]:
    """Return the points of the reliability plot."""
    if content.calibration is None:
        return []
    return [
        {
            "said": round(float(row["mean_probability"]), 4),
            "true": round(float(row["share_true"]), 4),
            "low": round(float(row["low"]), 4),
            "high": round(float(row["high"]), 4),
            "tip": f"{write_counted(row['n_pairs'], 'pair')} with a mean probability of "
            f"{write_percent(row['mean_probability'])}: "
            f"{write_percent(row['share_true'])} are true",
        }
        for row in content.calibration.iter_rows(named=True)
        if row["n_pairs"] and is_number(row["share_true"])
    ]


def _write_sentences(listed: dict[str, Any]) -> list[str]:
    sentences = []
    if is_number(listed.get("precision")) and is_number(listed.get("recall")):
        sentences.append(
            f"Of the pairs that the list links, {write_percent(listed['precision'])} "
            "are truly the same; "
            f"of all pairs that are truly the same, it finds {write_percent(listed['recall'])}."
        )
    if is_number(listed.get("n_clusters")) and is_number(listed.get("n_true_clusters")):
        found, true = listed["n_clusters"], listed["n_true_clusters"]
        sentences.append(
            f"It has {write_counted(found, 'entity', 'entities')}; in truth there are "
            f"{write_count(true)}."
        )
    if listed.get("n_unknown"):
        sentences.append(
            f"{write_counted(listed['n_unknown'], 'record')} of unknown truth are left out."
        )
    return sentences


def _make_measure(name: str, meaning: str, listed: Any, drawn: Any) -> Measure:
    summary = drawn if isinstance(drawn, dict) else {"mean": drawn}
    low, high = summary.get("q05"), summary.get("q95")
    known = is_number(low) and is_number(high)
    return Measure(
        name=name,
        meaning=meaning,
        listed=write_decimals(listed),
        mean=write_decimals(summary.get("mean")),
        interval=f"{write_decimals(low)} to {write_decimals(high)}" if known else "",
    )
