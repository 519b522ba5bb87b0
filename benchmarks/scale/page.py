"""The page: numbers of all sizes in tables, with what each column is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scale.figures import PHASES, draw_figures
from scale.parts import DRAWS_BY_CORES, SPLINK

Parts = dict[str, dict[str, Any]]
Common = dict[str, Any]

DEFAULT_LIMIT = "10 minutes"


def write_page(parts: Parts, common: Common, command: str, out: Path) -> Path:
    """Write scale.md and its figures into a folder of documentation."""
    figures = out / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    draw_figures(parts, figures)
    file = out / "scale.md"
    file.write_text("\n".join(_lines(parts, common, command)) + "\n", encoding="utf-8")
    return file


def of(parts: Parts, kind: str) -> dict[int, dict[str, Any]]:
    """Return the parts of a kind by number of records."""
    found = {name.rpartition(" "): part for name, part in parts.items()}
    return dict(sorted((int(n), part) for (own, _, n), part in found.items() if own == kind))


def _lines(parts: Parts, common: Common, command: str) -> Iterator[str]:
    yield from ("# Scale", "", "```sh", command, "```", "")
    yield (
        "Simulated people with every kind of dependence (`kolchin simulate people` with defaults), "
        "resolved with defaults in a fresh process (`kolchin resolve people.csv --id rec_id "
        f"--truth ent_id`): fields inferred, no label, no threshold, at most "
        f"{common['time_limit'] or DEFAULT_LIMIT} of sampling. {_about(parts, common)}"
    )
    yield from ("", *tables(parts))


def _about(parts: Parts, common: Common) -> str:
    """Say when, with what and on which machine."""
    dates = sorted({part["date"] for part in parts.values()})
    commits = list(dict.fromkeys(part["commit"] for part in parts.values() if part["commit"]))
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    states = f" ({', '.join(commits)})" if commits else ""
    own = next((part["version"] for part in of(parts, "kolchin").values() if "version" in part), "")
    others = ", ".join(f"{name} {number}" for name, number in common["versions"].items())
    machine = common["machine"]
    return (
        f"Measured {when} with kolchin {own}{states}, {others}, seed {common['seed']}, on a "
        f"machine with {machine['cores']} cores and {machine['memory_gb']} GB."
    )


def tables(parts: Parts) -> Iterator[str]:
    """Write all tables, each with what its columns are."""
    yield from ("## Time and memory", "", *_time_table(parts), "")
    yield (
        "Seconds of the whole process and by phase, as `summary.json` has them: reading the table; "
        "comparing candidate pairs; learning which fields move together (dependence); choosing "
        "pairs to propose and laying records out (starting); sampling; results; the report. The "
        "rest is starting Python and importing, loading compiled code, and the "
        "last look at the diagnostics. Peak is "
        "the most resident memory of the process. "
        "Simulating is a process of its own."
    )
    yield from ("", "![Seconds by phase](figures/scale-time.svg)", "")
    yield from ("![Peak memory](figures/scale-memory.svg)", "")
    yield from ("## What was found", "", *_found_table(parts), "")
    yield (
        "F1, precision and recall are of pairs, of the point estimate. K is the posterior mean of "
        "the number of entities, with its standard deviation and 90% interval. Calibration error "
        "is the mean distance of said and true probability of links, in ten bins, as in "
        "[accuracy](accuracy.md#calibration)."
    )
    yield from ("", "## Sampling", "", *_sampling_table(parts), "")
    yield (
        "Draws are of each of the chains, after the steps of warm-up; ended says why there are no "
        "more. R-hat is the largest and ESS (effective sample size) the smallest of all monitored "
        "quantities; converged means R-hat below 1.01 and ESS above 400. Moves a second are of all "
        "chains, from the learnt number of moves a step, warm-up included. ESS of K a second is "
        "that of the number of entities, over all seconds of sampling."
    )
    if any(name.startswith("splink") for name in parts):
        yield from ("", "## Beside Splink", "", *_splink_table(parts), "")
        yield (
            f"Splink{_splink_version(parts)} on the same files in the same run, told about every "
            "column as `benchmarks/accuracy/columns.py` says. First: every column compared, as one "
            "would try it at once (`plain`). Expert: term frequencies, and without columns that "
            "say the same as others (`fewer columns`), its best specification for such people. "
            "Rates at the default threshold of 0.95, and at the threshold in bits that is best "
            "when the truth is known. Seconds are of the whole process, for Splink with "
            "clustering at 0.95, without the search for a threshold. Pairs: for kolchin the "
            "candidates that it compares; for Splink those that its blocking rules form and that "
            "score above -10 bits, pair recall the share of true links among them."
        )
    if any(name.startswith("cores") for name in parts):
        yield from ("", "## From one core to two", "", *_cores_table(parts), "")
        yield (
            f"Seconds of `kolchin resolve --draws {DRAWS_BY_CORES} --cores 1` and `--cores 2`, "
            f"each in a process that may use no more cores than that. {_sameness(parts)}"
        )


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _header(*names: str) -> Iterator[str]:
    yield _row(list(names))
    yield "|" + "---:|" * len(names)


def _failed(n: int, part: dict[str, Any], n_columns: int) -> str:
    return _row([f"{n:,}", part["error"].replace("|", "/"), *["-"] * (n_columns - 2)])


def _time_table(parts: Parts) -> Iterator[str]:
    names = ("records", "simulating", "whole", *PHASES, "rest", "peak")
    yield from _header(*names)
    simulated = of(parts, "simulate")
    for n, part in of(parts, "kolchin").items():
        if "error" in part:
            yield _failed(n, part, len(names))
            continue
        seconds = [*(part["phases"].get(phase) for phase in PHASES), _rest(part)]
        own = [_seconds(simulated.get(n, {}).get("seconds")), _seconds(part["seconds"])]
        yield _row([f"{n:,}", *own, *map(_seconds, seconds), _memory(part["peak_mb"])])


def _rest(part: dict[str, Any]) -> float:
    return max(0.0, part["seconds"] - sum(part["phases"].values()))


def _found_table(parts: Parts) -> Iterator[str]:
    names = ("records", "entities", "K", "sd", "90% interval")
    names += ("F1", "precision", "recall", "calibration error")
    yield from _header(*names)
    for n, part in of(parts, "kolchin").items():
        if "error" in part:
            yield _failed(n, part, len(names))
            continue
        found = part["n_entities"]
        rates = [part[name] for name in ("f1", "precision", "recall", "calibration_error")]
        interval = f"{found['q05']:,.0f} to {found['q95']:,.0f}"
        number = [f"{found['mean']:,.0f}", f"{found['sd']:,.1f}", interval]
        yield _row([f"{n:,}", f"{part['entities']:,}", *number, *map(_rate, rates)])


def _sampling_table(parts: Parts) -> Iterator[str]:
    names = ("records", "warm-up", "draws", "ended", "R-hat", "ESS", "converged")
    names += ("moves a second", "ESS of K a second")
    yield from _header(*names)
    for n, part in of(parts, "kolchin").items():
        if "error" in part:
            yield _failed(n, part, len(names))
            continue
        ran = [f"{part['warmup']:,}", f"{part['chains']} x {part['draws']:,}", part["ended"]]
        checks = [_rate(part["rhat"]), _number(part["ess"]), "yes" if part["converged"] else "no"]
        speeds = [_number(part["moves_a_second"]), _number(part["ess_a_second"], ".2f")]
        yield _row([f"{n:,}", *ran, *checks, *speeds])


def _splink_table(parts: Parts) -> Iterator[str]:
    names = ("records", "tool", "seconds", "peak", "F1 (at 0.95)", "precision", "recall")
    names += ("F1 at best", "threshold", "pairs", "pair recall")
    yield from _header(*names)
    for n, part in of(parts, "kolchin").items():
        if "error" not in part:
            rates = [_rate(part[name]) for name in ("f1", "precision", "recall")]
            own = [_seconds(part["seconds"]), _memory(part["peak_mb"]), *rates]
            pairs = _number(part["candidates"])
            yield _row([f"{n:,}", "kolchin", *own, "-", "-", pairs, "-"])
        for each in SPLINK:
            theirs = of(parts, f"splink {each}").get(n)
            if theirs is not None and "error" in theirs:
                yield _failed(n, {"error": f"Splink, {each}: {theirs['error']}"}, len(names))
            elif theirs is not None:
                yield _row([f"{n:,}", f"Splink, {each}", *_splink_cells(theirs)])


def _splink_cells(part: dict[str, Any]) -> list[str]:
    usual, best = part["default"], part["best"]
    return [
        _seconds(part["whole_seconds"]),
        _memory(part["peak_mb"]),
        *(_rate(usual[name]) for name in ("f1", "precision", "recall")),
        _rate(best["f1"]),
        f"{best['threshold']:g} bits",
        _number(part["pairs"]),
        _rate(part["pair_recall"]),
    ]


def _splink_version(parts: Parts) -> str:
    theirs = [part for name, part in parts.items() if name.startswith("splink")]
    return next((f" {part['version']}" for part in theirs if "version" in part), "")


def _cores_table(parts: Parts) -> Iterator[str]:
    yield from _header("records", "cores", "whole", *PHASES, "peak")
    one, two = of(parts, "cores 1"), of(parts, "cores 2")
    for n in sorted(one.keys() & two.keys()):
        for cores, part in ((1, one[n]), (2, two[n])):
            if "error" in part:
                yield _failed(n, part, 4 + len(PHASES))
                continue
            seconds = [part["phases"].get(phase) for phase in PHASES]
            cells = [_seconds(part["seconds"]), *map(_seconds, seconds), _memory(part["peak_mb"])]
            yield _row([f"{n:,}", str(cores), *cells])
        if "error" not in one[n] and "error" not in two[n]:
            yield _row([f"{n:,}", "1 over 2", *_ratios(one[n], two[n]), ""])


def _ratios(one: dict[str, Any], two: dict[str, Any]) -> list[str]:
    both = [(one["seconds"], two["seconds"])]
    both += [(one["phases"].get(phase), two["phases"].get(phase)) for phase in PHASES]
    return [f"{a / b:.2f}" if a and b else "-" for a, b in both]


def _sameness(parts: Parts) -> str:
    one, two = of(parts, "cores 1"), of(parts, "cores 2")
    same = [one[n].get("content") == two[n].get("content") for n in one.keys() & two.keys()]
    if all(same):
        return "links.csv and entities.csv are the same, byte by byte."
    return "links.csv or entities.csv DIFFER, which they must not: that is a fault."


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def _memory(megabytes: float) -> str:
    return f"{megabytes:,.0f} MB"


def _rate(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _number(value: float | None, form: str = ",.0f") -> str:
    return "-" if value is None else format(value, form)
