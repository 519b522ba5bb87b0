"""The summary of a result: what ``summary.json`` holds."""

from typing import TYPE_CHECKING, Any

from kolchin.resolution.results.cautions import find_doubts, list_cautions
from kolchin.resolution.results.comparison_summary import summarise_candidates, summarise_dependence
from kolchin.resolution.results.outweighed_fields import describe_too_weak
from kolchin.resolution.results.summary import make_finite
from kolchin.sampling.run.endings import Ending

if TYPE_CHECKING:
    from kolchin.resolution.results.result import Result


def summarise_result(result: "Result") -> dict[str, Any]:
    """Return entities with their interval, sizes, parameters, diagnostics; plain data."""
    from kolchin import __version__

    whole = dict(result._description)
    whole["ended"] = result.ended
    candidates = summarise_candidates(result._model)
    if candidates is not None:
        whole["candidates"] = candidates
        whole["dependence"] = summarise_dependence(result._model, result.posterior)
    whole["entities_shown"] = int(result.labels.max()) + 1
    comparisons = result._model.comparisons
    whole["cautions"] = list_cautions(
        *(whole, result.posterior, result._given.records, result.labels, comparisons),
        one_per_source=result._settings.one_per_source,
        weak=describe_too_weak(result._model),
    )
    open_pairs = [] if result.ended == Ending.WARM_UP else find_doubts(result._pairs, comparisons)
    whole["doubts"] = [{**doubt._asdict(), "sentence": doubt.sentence()} for doubt in open_pairs]
    whole["draws"] = result.posterior.n_draws
    whole["moves"] = result.posterior.settings.get("moves", [])
    if result._own_evaluation is not None:
        whole["evaluation"] = result._own_evaluation
    whole["seconds"] = {name: round(value, 2) for name, value in result.seconds.items()}
    whole["seed"] = result._settings.seed
    whole["settings"] = {
        "input": result._given.title,
        "fields": list(result._given.records.names),
        **result._settings.words(),
    }
    whole["version"] = __version__
    whole["notes"] = list(result.notes)
    plain: dict[str, Any] = make_finite(whole)
    return plain
