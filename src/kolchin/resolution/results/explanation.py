"""Why two records are (not) the same: evidence field by field, in bits."""

import math
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.comparison.kinds.long_texts import list_shared_words
from kolchin.errors import DataError
from kolchin.model import Model
from kolchin.parameters import FloatArray, IntArray
from kolchin.partitions import find_clashing
from kolchin.posterior import Posterior
from kolchin.posterior.size_statistics import count_sizes_by_draw
from kolchin.priors.base import SizeCounts
from kolchin.records import Records, Words
from kolchin.terminal import find_width, write_table

if TYPE_CHECKING:
    from kolchin.resolution.results.result import Result

DRAWS_FOR_PRIOR = 200
NOT_COMPARED = "not compared"
SHARES = ": shares "
WORTH_A_WORD = 0.5
"""A field that differs and has so many bits for one entity is explained."""
MOST_WORDS = 6
"""So many of the words that texts share are named."""


@dataclass(frozen=True)
class Explanation:
    """What speaks for and against two records being of one entity; print it.

    Attributes
    ----------
    record_a, record_b : the records' ids.
    fields : field, value_a, value_b, compared: how the values compare, such as "mistyped", and
        bits: log2 of the field's Bayes factor, posterior mean.
    evidence : the sum of all fields' bits.
    prior : log2 of the prior odds that two single records are of one entity, posterior mean.
    probability : the posterior probability that the two are of one entity.
    same_entity : whether the entities shown have them together.
    forbidden : whether they are of one source, and the run links no such records.
    answers : log2 of the factor by which people's answers about the two speak for one entity;
        infinite where they are certain.
    naming : what records are called by.
    """

    record_a: Any
    record_b: Any
    fields: pl.DataFrame
    evidence: float
    prior: float | None
    probability: float
    same_entity: bool
    forbidden: bool = False
    answers: float = 0.0
    naming: str = ""

    def __str__(self) -> str:
        head = [f"Records are named {self.naming}.", ""] if self.naming else []
        rows = [("field", f"record {self.record_a}", f"record {self.record_b}", "compared", "bits")]
        rows += [
            (
                row["field"],
                _show_value(row["value_a"]),
                _show_value(row["value_b"]),
                row["compared"].partition(SHARES)[0],
                f"{row['bits']:+.2f}",
            )
            for row in self.fields.iter_rows(named=True)
        ]
        rows.append(("all fields", "", "", "", f"{self.evidence:+.2f}"))
        if self.answers:
            rows.append(("people's answers", "", "", "", f"{self.answers:+.2f}"))
        if self.prior is not None:
            whole = self.prior + self.evidence + self.answers
            rows.append(("before looking", "", "", "", f"{self.prior:+.2f}"))
            both = "all" if self.answers else "both"
            rows.append((f"{both} together", "", "", "", f"{whole:+.2f}"))
        lines = [*head, *write_table(rows, right=[4], whole=[3]).split("\n")]
        lines.insert(len(head) + 1, "-" * max(map(len, lines[len(head) :])))
        lines += _describe_shared(self.fields)
        shown = "one entity" if self.same_entity else "two entities"
        lines.append(f"\nProbability of one entity: {self.probability:.4f}; shown as {shown}.")
        lines += _describe_odds(self)
        if self.forbidden:
            lines.append("The two are of one source, and so never of one entity (one per source).")
        elif math.isinf(self.answers):
            known = "the same" if self.answers > 0 else "different"
            lines.append(f"The two are known to be {known}: every draw has them so.")
        elif self.prior is not None:
            lines += _write_comment(self.prior + self.evidence + self.answers, self)
        lines += _describe_differing(self.fields)
        if NOT_COMPARED in self.fields["compared"]:
            lines.append(
                "No key brought the two together, so their values were not compared and count as "
                "different."
            )
        return "\n".join(lines)


def _describe_shared(fields: pl.DataFrame) -> list[str]:
    """Say below the table which words texts share: there is room for them."""
    told = [
        f"{field}: both records have {compared.partition(SHARES)[2]}."
        for field, compared in fields.select("field", "compared").iter_rows()
        if SHARES in compared
    ]
    width = find_width()
    wrapped = [fill(line, width, subsequent_indent="  ") for line in told]
    return ["", *wrapped] if wrapped else []


def _describe_differing(fields: pl.DataFrame) -> list[str]:
    """Say why a field that differs may speak for one entity, where one does."""
    strange = fields.filter(pl.col("compared") == "different", pl.col("bits") >= WORTH_A_WORD)
    if not strange.height:
        return []
    names = ", ".join(strange["field"])
    return [
        f"Why {names} speaks for one entity though it differs: unrelated records that have the "
        "other fields in common for a reason, such as a household, would mostly have it in common "
        "too. That it differs makes such a reason less probable."
    ]


def _describe_odds(explanation: Explanation) -> list[str]:
    """Say why the list has two records together, or apart, that are so with less than one half."""
    if explanation.same_entity == (explanation.probability >= 0.5):
        return []
    if explanation.same_entity:
        return [
            "The list links them through others: each is more probably with the rest of the entity "
            "than without it, and the list must decide for all of them at once."
        ]
    return [
        "The list keeps them apart though they are more probably one: with the other records, "
        "another way to group them fits all better."
    ]


def _write_comment(bits: float, explanation: Explanation) -> list[str]:
    """Say it where a pair by itself would be judged otherwise."""
    alone = 1 / (1 + 2 ** -max(min(bits, 500.0), -500.0))
    if abs(alone - explanation.probability) < 0.1:
        return []
    raised = explanation.probability > alone
    why = "other records tie them together" if raised else "other records fit them as well"
    return [f"By themselves the two would have {alone:.4f}: {why}."]


def _show_value(value: Any, width: int = 30) -> str:
    text = "(missing)" if value is None else " ".join(str(value).split())
    return text if len(text) <= width else text[: width - 1] + "…"


def compute_pair_bits(model: Model, posterior: Posterior, pairs: NDArray[Any]) -> FloatArray:
    """Return the evidence of pairs of records, (pair, field), in bits, posterior mean."""
    drawn = {
        name: array.reshape(len(posterior), *array.shape[2:])
        for name, array in posterior.parameters.items()
    }
    names = list(model.likelihood.names)
    evidence = model.likelihood.weigh_pairs(pairs, drawn)
    in_order: FloatArray = evidence[:, [names.index(name) for name in model.records.names]]
    return in_order / math.log(2)


def describe_comparison(model: Model, one: int, two: int) -> list[str]:
    """Say of each field how the values of two records compare."""
    words = {}
    codes = model.records.codes
    for name, a, b in zip(model.records.names, codes[one], codes[two], strict=True):
        words[name] = "missing" if min(a, b) < 0 else "exact" if a == b else "different"
    comparisons = model.comparisons
    if comparisons is not None:
        (levels,) = comparisons.levels_of(np.array([[one, two]]))
        known = was_compared(model, one, two)
        names = zip(comparisons.fields, comparisons.level_names, levels, strict=True)
        for field, of_field, level in names:
            word = of_field[level] if known else NOT_COMPARED
            words[field.column] = "missing" if level < 0 else word
        add_shared_words(model.records, one, two, words)
    return [words[name] for name in model.records.names]


def add_shared_words(records: Records, one: int, two: int, words: dict[str, str]) -> None:
    """Say of texts which words the two records share; what shorter ones told is not told again."""
    told: set[str] = set()
    texts = []
    for f, field in enumerate(records.fields):
        codes = records.codes[[one, two], f].tolist()
        if isinstance(field, Words) and min(codes) >= 0:
            texts.append((field.column, *(str(records.vocabularies[f][code]) for code in codes)))
    for column, first, second in sorted(texts, key=lambda text: len(text[1]) + len(text[2])):
        shared = [word for word in list_shared_words(first, second) if word not in told]
        told.update(shared)
        if shared:
            more = "" if len(shared) <= MOST_WORDS else ", ..."
            words[column] += f"{SHARES}{', '.join(shared[:MOST_WORDS])}{more}"


def was_compared(model: Model, one: int, two: int) -> bool:
    """Tell whether two records were compared, if there is anything to compare."""
    if model.comparisons is None:
        return True
    return bool(model.comparisons.parts.outcomes_of(np.array([[one, two]]))[0] >= 0)


def estimate_pair_probability(posterior: Posterior, one: int, two: int) -> float:
    """Return the share of draws that have two records in one cluster."""
    if one == two:
        return 1.0
    drawn = posterior.distinct
    sets = [drawn.sets[drawn.starts[n] : drawn.starts[n + 1]] for n in (one, two)]
    return float(drawn.counts[np.intersect1d(*sets)].sum() / len(posterior))


def compute_prior_bits(model: Model, posterior: Posterior) -> float | None:
    """Return log2 of the prior odds that two singletons are one, posterior mean.

    It is how much more probable the prior finds a partition with one pair in place of two
    singletons, all else as drawn.
    """
    picks = np.unique(np.linspace(0, len(posterior) - 1, DRAWS_FOR_PRIOR).astype(int))
    tables = [count_sizes_by_draw(chain, posterior.n_records) for chain in posterior.chains]
    values = []
    for chain, draw in (divmod(int(k), posterior.n_draws) for k in picks):
        sizes, drawn = tables[chain]
        counts = np.zeros(max(sizes[-1], 2) + 1, dtype=np.int64)
        counts[sizes] = drawn[draw]
        values.append(_compute_log_odds(model, posterior, chain, draw, counts))
    known = [value for value in values if value is not None]
    return float(np.mean(known)) / math.log(2) if known else None


def _compute_log_odds(
    model: Model, posterior: Posterior, chain: int, draw: int, counts: IntArray
) -> float | None:
    prior, n_records = model.prior, model.n_records
    if counts[1] < 2:
        return None
    # Without mu, where there is one: it is integrated out, as in the sampler.
    given = {name: v[chain, draw] for name, v in posterior.parameters.items()}
    known = prior.list_parameters(n_records)
    own = {name: value for name, value in given.items() if name in known and name != "mu"}
    values = prior.complete_values(n_records, own)
    linked = counts + np.eye(1, counts.size, 2, dtype=np.int64)[0]
    linked[1] -= 2
    together = prior.log_prob_counts(SizeCounts.of(linked), values)
    return together - prior.log_prob_counts(SizeCounts.of(counts), values)


def explain_pair(result: "Result", record_a: Any, record_b: Any) -> Explanation:
    """Say why two records, by their ids, are (not) the same: evidence by field in bits."""
    given = result._given
    one, two = given.row_of(record_a), given.row_of(record_b)
    if one == two:
        raise DataError(f"Name two different records. Got {record_a!r} twice.")
    bits = compute_pair_bits(result._model, result.posterior, np.array([[one, two]]))[0]
    names = list(given.records.names)
    value_a, value_b = given.texts.row(one), given.texts.row(two)
    fields = pl.DataFrame(
        {
            "field": names,
            "value_a": [value_a[name] for name in names],
            "value_b": [value_b[name] for name in names],
            "compared": describe_comparison(result._model, one, two),
            "bits": bits,
        },
        schema_overrides={"value_a": pl.String, "value_b": pl.String},
    )
    return Explanation(
        record_a=given.ids[one],
        record_b=given.ids[two],
        fields=fields,
        evidence=float(bits.sum()),
        prior=compute_prior_bits(result._model, result.posterior),
        probability=estimate_pair_probability(result.posterior, one, two),
        same_entity=bool(result.labels[one] == result.labels[two]),
        forbidden=bool(find_clashing(result._model.sources, np.array([[one, two]]))[0]),
        answers=result._model.answers.log_factor_of(one, two) / float(np.log(2)),
        naming=given.describe_naming(),
    )
