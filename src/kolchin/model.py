"""A model of records: a prior over partitions times a likelihood of the fields."""

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kolchin.answers import Answers, Known, checked_answers
from kolchin.comparison import Comparisons, compare
from kolchin.errors import ModelError
from kolchin.likelihoods import DirichletCategorical, Exemplar
from kolchin.likelihoods.basis import Basis
from kolchin.likelihoods.exemplar import MOST_FIELDS
from kolchin.parameters import Gamma, Hyper
from kolchin.partitions import NO_SOURCES, Sources, canonical, has_clash, size_counts
from kolchin.priors import NBD, Prior
from kolchin.priors.base import SizeCounts
from kolchin.records import Categorical, Compared, Records
from kolchin.workplace import Work

LEARNING = "learning which fields move together"
"""What a model tells when all pairs are compared."""


FIELD_PARAMETERS = ("delta", "m", "rho", "errors", "tau", "shared")
"""Names of parameters that are no prior's."""

LIKELIHOODS = ("compared", "categorical")


class Model:
    """Records, a prior over their partitions, and how records of one entity vary.

    Parameters
    ----------
    records
        The encoded table. Categorical fields agree or differ, the others (Text, Date, ...) may also
        be near.
    prior
        A prior over partitions; ``NBD()`` by default.
    delta
        Variation of the records of one entity under the likelihood of categories: a number, or a
        ``kp.Gamma`` or ``kp.Beta`` prior.
    tied
        One delta for all fields (the paper's choice), or one for each.
    likelihood
        ``"categorical"`` is the paper's, in which values are the same or not and fields are
        independent. ``"compared"`` takes all fields together, for the pairs of records that may be
        of one entity: how near values are, which fields move together, how many err. By default
        the first where all fields are categorical, the second otherwise.
    compared
        The likelihood of compared fields, where they are no fields of the records.
    sources
        A whole number for each record: no two records of one source are of one entity. -1 says
        that nothing is known of a record, None that sources do not matter.
    keys
        Keys beside those that are found automatically, each a tuple of columns: records that agree
        on all of them are compared.
    answers
        What is known of pairs of records, by their numbers: ``(0, 1, "same")`` or
        ``(2, 3, "different", 0.05)`` with the rate at which such answers err; without one they are
        certain.
    tell
        Called with a few words on what is going on, where records are compared: with many records
        that takes a while.
    work
        Where records are compared; by default threads of this process do it.

    Attributes
    ----------
    likelihood : that of the categorical fields; there may be none.
    compared : that of the compared fields, or None.
    comparisons : what came out of comparing, or None.

    Examples
    --------
    >>> records = Records.from_codes([[0, 1], [0, 1], [1, 0]])
    >>> model = Model(records, prior=NBD(), delta=0.1)
    >>> together = model.log_joint([0, 0, 1]) - model.log_joint([0, 1, 2])
    >>> round(together, 3)
    -0.167
    """

    def __init__(
        self,
        records: Records,
        prior: Prior | None = None,
        delta: Hyper = Gamma(1, 1),
        tied: bool = True,
        likelihood: str | None = None,
        compared: Exemplar | None = None,
        sources: ArrayLike | None = None,
        keys: Sequence[Sequence[str]] = (),
        answers: Answers | Iterable[Known | tuple[Any, ...]] | None = None,
        tell: Callable[[str], None] | None = None,
        work: Work | None = None,
    ) -> None:
        if compared is None:
            records = _records_for(likelihood, records)
        self.records = records
        self.prior = NBD() if prior is None else prior
        if not isinstance(self.prior, Prior):
            raise ModelError(
                f"The 'prior' parameter must be a prior such as kp.NBD(). Got {prior!r} instead."
            )
        self.prior.check(records.n_records)
        self.sources = _checked_sources(sources, records.n_records)
        self.answers = checked_answers(answers, records.n_records, self.sources)
        is_compared = [isinstance(field, Compared) for field in records.fields]
        _check_compared(sum(is_compared), compared, keys)
        equal = [f for f, near in enumerate(is_compared) if not near]
        self.likelihood = DirichletCategorical(records.select(equal), delta, tied)
        self.compared = compared
        self.comparisons: Comparisons | None = None
        if any(is_compared):
            own = self.sources if self.sources.size else None
            found = compare(records, keys=keys, sources=own, tell=tell, work=work)
            if tell is not None:
                tell(LEARNING)
            self.compared = Exemplar.of(found, found.shows)
            self.comparisons = found.judged(self.compared.log_ratios() > np.log(len(records)))

    @classmethod
    def on(
        cls,
        basis: Basis,
        records: Records,
        prior: Prior,
        delta: Hyper,
        tied: bool,
        sources: ArrayLike | None = None,
        answers: Iterable[Known] = (),
    ) -> "Model":
        """Return the model of records that were compared before, which is not done again."""
        records = records.as_compared()
        model = cls(records.select([]), prior, delta, tied, sources=sources, answers=answers)
        model.records = records
        model.compared, model.comparisons = basis
        return model

    @property
    def n_records(self) -> int:
        """Number of records."""
        return self.records.n_records

    def without_records(self) -> "Model":
        """Return the model for those who have its records in another form: it is small."""
        bare = copy.copy(self)
        bare.records = self.records.select([])
        bare.likelihood = self.likelihood.without_records()
        bare.compared = None if self.compared is None else self.compared.without_records()
        bare.comparisons, bare.sources = None, NO_SOURCES
        return bare

    def log_joint(self, labels: ArrayLike, **parameters: Any) -> float:
        """Log of P(partition, records, parameters): the slow truth for every sampler.

        Every sampled parameter needs a value, but for ``mu``: without one it is integrated out.
        Under a Kolchin partition model the number of records is random, as in the paper.
        Sources forbid partitions (minus infinity) and leave the others as they are. Answers
        multiply by the probability that they were given.
        """
        array = canonical(labels)
        if array.size != self.n_records:
            raise ModelError(
                f"The 'labels' parameter must have one entry for each of {self.n_records} "
                f"records. Got {array.size} instead."
            )
        if has_clash(array, self.sources):
            return -np.inf
        given = {n: value for n, value in parameters.items() if n not in FIELD_PARAMETERS}
        counts = SizeCounts.of(size_counts(array))
        values = self.prior.values(self.n_records, given)
        own = self.likelihood.values(parameters)
        log_compared = 0.0
        if self.compared is not None:
            more = self.compared.values(parameters)
            log_compared = self.compared.log_likelihood(array, more) + self.compared.log_hyper(more)
        return log_compared + (
            self.answers.log_probability(array)
            + self.prior.log_prob_counts(counts, values)
            + self.prior.log_hyper(self.n_records, values)
            + self.likelihood.log_likelihood(array, own)
            + self.likelihood.log_hyper(own)
        )

    @property
    def coordinates(self) -> dict[str, list[str]]:
        """Names of the entries of those parameters that are vectors."""
        names: dict[str, list[str]] = {}
        if not self.likelihood.tied and self.likelihood.n_fields:
            names["delta"] = list(self.likelihood.records.names)
        if self.comparisons is not None:
            names["m"] = [
                f"{field.column}: {level}"
                for field, levels in zip(
                    self.comparisons.fields, self.comparisons.level_names, strict=True
                )
                for level in levels
            ]
        if self.compared is not None and self.compared.has_classes:
            names["rho"] = self.compared.class_names
        if self.compared is not None and self.compared.counts_errors:
            n_fields = self.compared.n_fields
            names["errors"] = [f"{k} of {n_fields}" for k in range(n_fields + 1)]
        if self.compared is not None and self.compared.has_doubts:
            names["shared"] = self.compared.doubtful_names
        return names

    def __repr__(self) -> str:
        n_fields = self.likelihood.n_fields
        n_fields += 0 if self.compared is None else self.compared.n_fields
        return f"Model({self.n_records} records, {n_fields} fields, prior={self.prior!r})"


def _records_for(likelihood: str | None, records: Records) -> Records:
    """Return the records as a likelihood takes them: all compared, or all categories."""
    if likelihood is not None and likelihood not in LIKELIHOODS:
        raise ModelError(
            f"The 'likelihood' parameter must be one of {', '.join(LIKELIHOODS)}. "
            f"Got {likelihood!r} instead."
        )
    if likelihood == "categorical":
        return records.as_categorical()
    if likelihood is None and not any(isinstance(field, Compared) for field in records.fields):
        return records
    given = [f.column for f in records.fields if isinstance(f, Categorical) and f.frequencies]
    if given:
        raise ModelError(
            f"The frequencies of {', '.join(map(repr, given))} can only be given with "
            "likelihood='categorical': where fields are compared, chance is learnt from the table."
        )
    return records.as_compared()


def _checked_sources(sources: ArrayLike | None, n_records: int) -> Sources:
    """Return small numbers for the sources, -1 where there is none; nothing if none are given."""
    if sources is None:
        return NO_SOURCES
    array = np.asarray(sources)
    if array.shape != (n_records,) or array.dtype.kind not in "iu" or array.min(initial=0) < -1:
        raise ModelError(
            f"The 'sources' parameter must have a whole number of at least -1 for each of "
            f"{n_records} records. Got {sources!r} instead."
        )
    known = array >= 0
    result = np.full(n_records, -1, dtype=np.int32)
    result[known] = np.unique(array[known], return_inverse=True)[1]
    return result


def _check_compared(n_compared: int, given: Exemplar | None, keys: Sequence[Sequence[str]]) -> None:
    """Refuse what does not go together, before anything is compared."""
    if n_compared > MOST_FIELDS:
        raise ModelError(
            f"There may be at most {MOST_FIELDS} compared fields. Got {n_compared} instead: "
            "leave some out, or use likelihood='categorical'."
        )
    if n_compared and given is not None:
        raise ModelError(
            "The 'compared' parameter is for records without compared fields. Got both: make the "
            "records' fields kp.Categorical, or leave 'compared' out."
        )
    if keys and not n_compared:
        raise ModelError(
            "The 'keys' parameter says which records are compared, but no field is: all are "
            "categorical. Use likelihood='compared', or leave the keys out."
        )
