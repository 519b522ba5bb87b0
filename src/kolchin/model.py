"""A model of records: a prior over partitions times a likelihood of the fields."""

import copy
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kolchin.answers import Answers, KnownAnswer, check_answers
from kolchin.comparison import Comparisons
from kolchin.errors import ModelError
from kolchin.likelihoods import (
    FIELD_PARAMETERS,
    DirichletCategorical,
    Exemplar,
    IndependentFields,
    Likelihood,
)
from kolchin.parameters import Gamma, Hyper, IntArray
from kolchin.partitions import NO_SOURCES, Sources, has_clash, make_canonical, size_counts
from kolchin.priors import NBD, Prior
from kolchin.priors.base import SizeCounts
from kolchin.records import Categorical, Compared, Records


class Model:
    """Records, a prior over their partitions, and how records of one entity vary.

    It describes: records are compared before, by :func:`compare`.

    Parameters
    ----------
    records
        The encoded table. Fields that agree or differ are categorical; the others (Text, Date, ...)
        may also be near, and are compared.
    prior
        A prior over partitions; ``NBD()`` by default.
    delta
        Variation of the records of one entity in categorical fields: a number, or a ``kp.Gamma``
        or ``kp.Beta`` prior.
    tied
        One delta for all fields (the paper's choice), or one for each.
    likelihood
        ``kp.compare(records)``, where fields are compared. By default all fields are categorical,
        as in the paper: values are the same or not, and fields are independent.
    sources
        A whole number for each record: no two records of one source are of one entity. -1 says
        that nothing is known of a record, None that sources do not matter.
    answers
        What is known of pairs of records, by their numbers: ``(0, 1, "same")`` or
        ``(2, 3, "different", 0.05)`` with the rate at which such answers err; without one they are
        certain.

    Attributes
    ----------
    likelihood : that of all fields.
    n_in_table : how many records the prior reckons with; more than there are where these are a part
        of a table, and clusters of the others are held.

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
        likelihood: Likelihood | None = None,
        sources: ArrayLike | None = None,
        answers: Answers | Iterable[KnownAnswer | tuple[Any, ...]] | None = None,
    ) -> None:
        self.prior = NBD() if prior is None else prior
        if not isinstance(self.prior, Prior):
            raise ModelError(
                f"The 'prior' parameter must be a prior such as kp.NBD(). Got {prior!r} instead."
            )
        self.prior.check(records.n_records)
        self.sources = _check_sources(sources, records.n_records)
        self.answers = check_answers(answers, records.n_records, self.sources)
        self.records, self.likelihood = _choose_likelihood(records, delta, tied, likelihood)
        self.n_in_table = records.n_records

    @property
    def n_records(self) -> int:
        """Number of records."""
        return self.records.n_records

    @property
    def comparisons(self) -> Comparisons | None:
        """What came out of comparing records, if they were."""
        return self.likelihood.comparisons

    def drop_records(self) -> "Model":
        """Return the model for those who have its records in another form: it is small."""
        bare = copy.copy(self)
        bare.records, bare.sources = self.records.select([]), NO_SOURCES
        bare.likelihood = self.likelihood.drop_records()
        return bare

    def take_records(self, rows: IntArray) -> "Model":
        """Return the model of some of the records, by the same likelihood, in ascending order.

        What is said of a record here and one that is left out tells nothing.
        """
        part = copy.copy(self)
        part.records, part.n_in_table = self.records.take(rows), rows.size
        part.likelihood = self.likelihood.take_records(rows)
        part.sources = self.sources[rows] if self.sources.size else self.sources
        part.answers = self.answers.among(rows)
        return part

    def log_joint(self, labels: ArrayLike, **parameters: Any) -> float:
        """Log of P(partition, records, parameters): the slow truth for every sampler.

        Every sampled parameter needs a value, but for ``mu``: without one it is integrated out.
        Under a Kolchin partition model the number of records is random, as in the paper.
        Sources forbid partitions (minus infinity) and leave the others as they are. Answers
        multiply by the probability that they were given.
        """
        array = make_canonical(labels)
        if array.size != self.n_records:
            raise ModelError(
                f"The 'labels' parameter must have one entry for each of {self.n_records} "
                f"records. Got {array.size} instead."
            )
        if has_clash(array, self.sources):
            return -np.inf
        given = {n: value for n, value in parameters.items() if n not in FIELD_PARAMETERS}
        counts = SizeCounts.of(size_counts(array))
        values = self.prior.complete_values(self.n_records, given)
        own = self.likelihood.complete_values(parameters)
        return (
            self.answers.log_probability(array)
            + self.prior.log_prob_counts(counts, values)
            + self.prior.log_hyper(self.n_records, values)
            + self.likelihood.log_likelihood(array, own)
            + self.likelihood.log_hyper(own)
        )

    @property
    def coordinates(self) -> dict[str, list[str]]:
        """Names of the entries of those parameters that are vectors."""
        return self.likelihood.coordinates

    def __repr__(self) -> str:
        n_fields = self.likelihood.n_fields
        return f"Model({self.n_records} records, {n_fields} fields, prior={self.prior!r})"


def _choose_likelihood(
    records: Records, delta: Hyper, tied: bool, given: Likelihood | None
) -> tuple[Records, Likelihood]:
    """Return the records and their likelihood; fields that were not compared are categorical."""
    compared = given.names if isinstance(given, Exemplar) else ()
    if any(isinstance(f, Categorical) and f.column in compared for f in records.fields):
        records = records.as_compared()
    lacking = [f.column for f in records.fields if isinstance(f, Compared)]
    lacking = [column for column in lacking if column not in compared]
    if lacking:
        raise ModelError(
            f"The values of {', '.join(map(repr, lacking))} may be near each other, so records are "
            "compared before there is a model of them: kp.Model(records, "
            "likelihood=kp.compare(records)). To take values as the same or not: "
            "kp.Model(records.as_categorical())."
        )
    if given is not None and given.n_compared not in (0, records.n_records):
        raise ModelError(
            f"The 'likelihood' parameter is about {given.n_compared:,} records, and there are "
            f"{records.n_records:,}: compare the records that the model is of."
        )
    equal = [f for f, field in enumerate(records.fields) if field.column not in compared]
    own = DirichletCategorical(records.select(equal), delta, tied)
    if given is None:
        return records, own
    if isinstance(given, Exemplar) and own.n_fields:
        return records, IndependentFields(own, given)
    return records, given


def _check_sources(sources: ArrayLike | None, n_records: int) -> Sources:
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
