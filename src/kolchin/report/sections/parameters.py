"""The parameters of the model in words."""

from collections.abc import Callable
from typing import Any, NamedTuple

from kolchin.report.report_content import Content
from kolchin.report.sections.candidates import M
from kolchin.report.wording import count, is_number, number, percent, text

MOST_ROWS = 40
RARE = 0.001
"""Sizes of a smaller share of the entities are not listed."""


class ParameterRow(NamedTuple):
    """A parameter: its name, its meaning, its mean and its interval."""

    name: str
    meaning: str
    mean: str
    interval: str


def parameter_rows(content: Content) -> list[ParameterRow]:
    """Return the parameters, of the distribution of sizes what is not rare.

    Those of compared fields stand with the candidates, by field and level.
    """
    given = content.summary.get("parameters") or {}
    rows = [
        _row(name, values)
        for name, values in given.items()
        if not (_is_rare_size(name, values) or name.startswith(M))
    ]
    return rows[:MOST_ROWS]


def _is_rare_size(name: str, values: Any) -> bool:
    """Tell whether it is the share of a size, or number of errors, that is hardly ever seen."""
    mean = values.get("mean") if isinstance(values, dict) else values
    return name.startswith(("mu[", "errors[")) and is_number(mean) and bool(mean < RARE)


def _row(name: str, values: Any) -> ParameterRow:
    summary = values if isinstance(values, dict) else {"mean": values}
    mean, low, high = (summary.get(key) for key in ("mean", "q05", "q95"))
    meaning = _MEANINGS.get(name.partition("[")[0])
    known = is_number(low) and is_number(high)
    return ParameterRow(
        name=text(name, 60),
        meaning=meaning(_entry(name), mean) if meaning and is_number(mean) else "",
        mean=number(mean),
        interval=f"{number(low)} to {number(high)}" if known else "",
    )


def _entry(name: str) -> str:
    """Return what stands in the brackets: the size of mu[2], the field of delta[sex]."""
    return text(name.partition("[")[2].rstrip("]"), 40)


def _delta(entry: str, mean: Any) -> str:
    of = f" in {entry}" if entry else ""
    return (
        f"Error rate{of}: two records of one entity show values drawn independently of each other, "
        f"rather than the same value, in about {percent(mean / (1 + mean))} of the cases."
    )


def _mu(entry: str, mean: Any) -> str:
    noun = "record" if entry == "1" else "records"
    return f"{percent(mean)} of all entities have {entry} {noun}."


def _rho(entry: str, mean: Any) -> str:
    what = "replaced nothing" if entry == "nothing" else f"replaced {entry} at once"
    return f"{percent(mean)} of the records of an entity have {what}."


def _errors(entry: str, mean: Any) -> str:
    """Say of errors[2 of 9] how often two of nine fields are wrong."""
    wrong, _, n_fields = entry.partition(" of ")
    verb = "is" if wrong == "1" else "are"
    return (
        f"In {percent(mean)} of the records {wrong} of {n_fields} fields {verb} wrong, or changed."
    )


def _shared(entry: str, mean: Any) -> str:
    return f"About {count(round(mean))} pairs of unrelated records share {entry} for a reason."


def _fixed(meaning: str) -> Callable[[str, Any], str]:
    return lambda entry, mean: meaning


_MEANINGS: dict[str, Callable[[str, Any], str]] = {
    "delta": _delta,
    "errors": _errors,
    "shared": _shared,
    "mu": _mu,
    "rho": _rho,
    "alpha": _fixed(
        "How closely the group sizes keep to the model's first guess: small means that the "
        "data have shaped them."
    ),
    "base": _fixed("The first guess of the group sizes: the smaller, the larger groups may be."),
    "r": _fixed("Shape of the distribution of group sizes, together with p."),
    "p": _fixed("Tail of the distribution of group sizes: nearer to 1, larger groups."),
    "a": _fixed("Shape of what was supposed of the number of entities, together with q."),
    "q": _fixed("Scale of what was supposed of the number of entities, together with a."),
    "theta": _fixed("How readily a record opens an entity of its own: large means many entities."),
    "discount": _fixed("How fast further entities appear as the table grows."),
}
