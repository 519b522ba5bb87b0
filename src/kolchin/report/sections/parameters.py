"""The parameters of the model in words."""

from collections.abc import Callable
from typing import Any, NamedTuple

from kolchin.report.report_content import ReportContent
from kolchin.report.sections.candidates import M
from kolchin.report.wording import is_number, write_count, write_number, write_percent, write_text

MOST_ROWS = 40
RARE = 0.001
"""Sizes of a smaller share of the entities are not listed."""


class ParameterRow(NamedTuple):
    """A parameter: its name, its meaning, its mean and its interval."""

    name: str
    meaning: str
    mean: str
    interval: str


def make_parameter_rows(content: ReportContent) -> list[ParameterRow]:
    """Return the parameters, of the distribution of sizes what is not rare.

    Those of compared fields stand with the candidates, by field and level.
    """
    given = content.summary.get("parameters") or {}
    rows = [
        _make_row(name, values)
        for name, values in given.items()
        if not (_is_rare_size(name, values) or name.startswith(M))
    ]
    return rows[:MOST_ROWS]


def _is_rare_size(name: str, values: Any) -> bool:
    """Tell whether it is the share of a size, or number of errors, that is hardly ever seen."""
    mean = values.get("mean") if isinstance(values, dict) else values
    return name.startswith(("mu[", "errors[")) and is_number(mean) and bool(mean < RARE)


def _make_row(name: str, values: Any) -> ParameterRow:
    summary = values if isinstance(values, dict) else {"mean": values}
    mean, low, high = (summary.get(key) for key in ("mean", "q05", "q95"))
    meaning = _MEANINGS.get(name.partition("[")[0])
    known = is_number(low) and is_number(high)
    return ParameterRow(
        name=write_text(name, 60),
        meaning=meaning(_describe_entry(name), mean) if meaning and is_number(mean) else "",
        mean=write_number(mean),
        interval=f"{write_number(low)} to {write_number(high)}" if known else "",
    )


def _describe_entry(name: str) -> str:
    """Return what stands in the brackets: the size of mu[2], the field of delta[sex]."""
    return write_text(name.partition("[")[2].rstrip("]"), 40)


def _describe_delta(entry: str, mean: Any) -> str:
    of = f" in {entry}" if entry else ""
    return (
        f"Error rate{of}: two records of one entity show values drawn independently of each other, "
        f"rather than the same value, in about {write_percent(mean / (1 + mean))} of the cases."
    )


def _describe_mu(entry: str, mean: Any) -> str:
    noun = "record" if entry == "1" else "records"
    return f"{write_percent(mean)} of all entities have {entry} {noun}."


def _describe_rho(entry: str, mean: Any) -> str:
    what = "replaced nothing" if entry == "nothing" else f"replaced {entry} at once"
    return f"{write_percent(mean)} of the records of an entity have {what}."


def _describe_errors(entry: str, mean: Any) -> str:
    """Say of errors[2 of 9] how often two of nine fields are wrong."""
    wrong, _, n_fields = entry.partition(" of ")
    verb = "is" if wrong == "1" else "are"
    return (
        f"In {write_percent(mean)} of the records {wrong} of {n_fields} fields {verb} "
        "wrong, or changed."
    )


def _describe_shared(entry: str, mean: Any) -> str:
    return (
        f"About {write_count(round(mean))} pairs of unrelated records share {entry} for a reason."
    )


def _describe_always(meaning: str) -> Callable[[str, Any], str]:
    return lambda entry, mean: meaning


_MEANINGS: dict[str, Callable[[str, Any], str]] = {
    "delta": _describe_delta,
    "errors": _describe_errors,
    "shared": _describe_shared,
    "mu": _describe_mu,
    "rho": _describe_rho,
    "alpha": _describe_always(
        "How closely the group sizes keep to the model's first guess: small means that the "
        "data have shaped them."
    ),
    "base": _describe_always(
        "The first guess of the group sizes: the smaller, the larger groups may be."
    ),
    "r": _describe_always("Shape of the distribution of group sizes, together with p."),
    "p": _describe_always("Tail of the distribution of group sizes: nearer to 1, larger groups."),
    "a": _describe_always("Shape of what was supposed of the number of entities, together with q."),
    "q": _describe_always("Scale of what was supposed of the number of entities, together with a."),
    "theta": _describe_always(
        "How readily a record opens an entity of its own: large means many entities."
    ),
    "discount": _describe_always("How fast further entities appear as the table grows."),
}
