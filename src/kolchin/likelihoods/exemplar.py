"""Compared fields: one record of each entity shows its true values (model section 6).

Two values of a compared field agree to some level: exact, near, ..., different. A record shows a
level against its entity's true value with chance m(level), and against that of another entity
with chance u(level). Which record of a cluster is the exemplar is not known; each may be:

    P(x_c) / prod P(x_n) = (1/|c|) sum over e in c of prod over n in c, n != e, of m(n, e) / u(n, e)

Pairs that were never compared count as different in every field that both records show. Fields
that move together do so on both sides of the ratio (`dependence`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kolchin import kernels
from kolchin.comparison import Comparisons
from kolchin.comparison.base import falling_weights
from kolchin.comparison.numbering import distinct_rows
from kolchin.errors import ModelError
from kolchin.likelihoods.dependence import (
    Dependence,
    Masks,
    learn_dependence,
    log_mixture,
    log_parts,
)
from kolchin.likelihoods.sharing import Chances, Patterns, shares_shown
from kolchin.parameters import FloatArray, IntArray, Values

MOST_FIELDS = 16
"""The fields that a record shows are the bits of a small number."""

DRAWS_FOR_EVIDENCE = 100

LARGEST_PRODUCT = 150.0
SMALLEST_CHANCE = 1e-150
"""Ratios whose absolute logs add up to less are multiplied: sums with such chances are exact."""


class Outcomes(NamedTuple):
    """Pairs of records (i < j) that were compared, and the level of each field (-1: missing).

    ``chance`` has, for each outcome and field, the chance that an unrelated record would show such
    a level: for an exact agreement, that of a value as frequent (few different numbers, since
    outcomes that differ in them are told apart). ``chance_apart[f]`` is the chance of the last
    level, ``shows[n, f]`` whether record n has a value of field f. There is an outcome for each
    pair, or ``which[k]`` is that of pair k.
    """

    pairs: NDArray[np.int32]
    levels: NDArray[np.int8]
    chance: FloatArray
    n_levels: tuple[int, ...]
    chance_apart: FloatArray
    shows: NDArray[np.bool_]
    which: NDArray[np.int32] | None = None


def outcomes_of(comparisons: Comparisons, shows: NDArray[np.bool_]) -> Outcomes:
    """Say what came out of comparing, and how often that happens by chance.

    For an exact agreement the chance is that of the value's frequency: by band, that two unrelated
    records agree on such a value over that a record has one.
    """
    rows, which = distinct_rows([*comparisons.levels.T, *comparisons.bands.T])
    levels, bands = comparisons.levels[rows], comparisons.bands[rows]
    chance = np.ones(levels.shape)
    for f, by_level in enumerate(comparisons.u):
        exact = comparisons.band_u[f] / np.maximum(comparisons.band_m[f], 1e-300)
        chance[:, f] = np.where(levels[:, f] == 0, exact[bands[:, f]], by_level[levels[:, f]])
    return Outcomes(
        pairs=comparisons.pairs,
        levels=levels,
        chance=chance,
        n_levels=tuple(len(names) for names in comparisons.level_names),
        chance_apart=np.array([by_level[-1] for by_level in comparisons.u]),
        shows=shows,
        which=which,
    )


class Exemplar:
    """Likelihood of the compared fields of records.

    Parameters
    ----------
    compared
        Which pairs were compared, and what came out.
    names
        The fields' names.
    weights
        For each field the Dirichlet weights of m, or numbers that m is fixed to if ``fixed``.
    dependence
        Which fields move together, and how often; by default all are independent. It then gives the
        weights of m.
    """

    def __init__(
        self,
        compared: Outcomes,
        names: Sequence[str],
        weights: Sequence[ArrayLike] | None = None,
        fixed: bool = False,
        dependence: Dependence | None = None,
    ) -> None:
        if len(names) > MOST_FIELDS:
            raise ModelError(
                f"There may be at most {MOST_FIELDS} compared fields. Got {len(names)} instead."
            )
        self.names = tuple(names)
        self.fixed = fixed
        self.offsets = np.concatenate([[0], np.cumsum(compared.n_levels)]).astype(np.int64)
        if weights is None:
            weights = [falling_weights(n) for n in compared.n_levels]
        self.weights: FloatArray = np.concatenate([np.asarray(w, dtype=float) for w in weights])
        bits = (1 << np.arange(len(names))).astype(np.int32)
        self.shown: NDArray[np.int32] = (compared.shows @ bits).astype(np.int32)
        pattern = self._number_patterns(compared)
        self._list_pairs(compared.pairs, pattern, compared.shows.shape[0])
        self._number = np.bincount(pattern, minlength=self.n_patterns).astype(float)
        self._depend(dependence)

    @classmethod
    def of(cls, comparisons: Comparisons, shows: NDArray[np.bool_]) -> Self:
        """Return the likelihood of fields that were compared; ``shows[n, f]``: n has a value.

        Which of them move together is learnt from the pairs.
        """
        names = [field.column for field in comparisons.fields]
        likelihood = cls(outcomes_of(comparisons, shows), names)
        chances = Chances(
            n_records=len(shows),
            u=comparisons.u,
            agrees=comparisons.agrees,
            shows=shares_shown(shows),
            together=comparisons.together,
        )
        likelihood._depend(learn_dependence(likelihood.patterns, chances))
        return likelihood

    @property
    def patterns(self) -> Patterns:
        """The different outcomes of comparing, and how many pairs show each."""
        place = self.place[: self.n_patterns]
        levels = np.where(place < self.offsets[-1], place - self.offsets[:-1], -1)
        return Patterns(levels.astype(np.int8), self.constant[: self.n_patterns], self._number)

    def _depend(self, dependence: Dependence | None) -> None:
        """Say which fields move together."""
        self.dependence = dependence
        if dependence is None:
            self.kept = np.ones((1, self.n_fields), dtype=bool)
            self.rho_weights = np.ones(1)
            self.log_unlinked: FloatArray = np.zeros(len(self.place))
            return
        self.kept = ~dependence.replaced
        self.rho_weights = dependence.rho_weights
        self.weights = dependence.m_weights
        self.log_unlinked = dependence.log_unlinked(self.place, self.constant)

    def _number_patterns(self, compared: Outcomes) -> NDArray[np.int32]:
        """Give each outcome a number, and last those of pairs not compared, by what both show."""
        seen = compared.levels >= 0
        # The place of each level among all; the last place stands for a missing value.
        missing = self.offsets[-1]
        place = np.where(seen, compared.levels + self.offsets[:-1], missing).astype(np.int64)
        constant = -np.log(np.where(seen, compared.chance, 1.0))
        first, pattern = distinct_rows([*place.T, *constant.view(np.int64).T])
        masks = np.arange(1 << self.n_fields)
        both = (masks[:, None] >> np.arange(self.n_fields)) & 1 == 1
        apart = np.where(both, self.offsets[1:] - 1, missing)
        self.place: IntArray = np.concatenate([place[first], apart])
        last = np.where(both, -np.log(compared.chance_apart), 0.0)
        self.constant: FloatArray = np.concatenate([constant[first], last])
        self.n_patterns = len(first)
        return pattern if compared.which is None else pattern[compared.which]

    def _list_pairs(
        self, pairs: NDArray[np.int32], pattern: NDArray[np.int32], n_records: int
    ) -> None:
        """List for each record those it was compared with."""
        record = np.concatenate([pairs[:, 0], pairs[:, 1]])
        other = np.concatenate([pairs[:, 1], pairs[:, 0]])
        order = np.lexsort([other, record])
        self.begins = np.concatenate([[0], np.cumsum(np.bincount(record, minlength=n_records))])
        self.others: NDArray[np.int32] = other[order].astype(np.int32)
        self.pattern: NDArray[np.int32] = np.tile(pattern, 2)[order].astype(np.int32)
        self.pairs = pairs

    @property
    def n_fields(self) -> int:
        """Number of compared fields."""
        return len(self.names)

    @property
    def arrays(self) -> tuple[IntArray, NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """What the kernels read of the records."""
        return self.begins, self.others, self.pattern, self.shown

    @property
    def has_classes(self) -> bool:
        """Whether fields may be replaced at once, so that there are chances of it to sample."""
        return len(self.kept) > 1

    @property
    def class_names(self) -> list[str]:
        """Which fields are replaced at once, in words; nothing comes first."""
        return [self.named(~kept) or "nothing" for kept in self.kept]

    def named(self, fields: Masks) -> str:
        """Write a set of fields."""
        return " + ".join(self.listed(fields))

    def listed(self, fields: Masks) -> list[str]:
        """Return the names of a set of fields."""
        return [name for name, inside in zip(self.names, fields, strict=True) if inside]

    def start(self) -> Values:
        """Return m and rho as they are expected."""
        if self.dependence is None:
            return {"m": self._normalised(self.weights)}
        classes = {"rho": self.dependence.rho.copy()} if self.has_classes else {}
        return {"m": self.dependence.m.copy()} | classes

    def _rho(self, values: Values) -> FloatArray:
        return values["rho"] if self.has_classes else np.ones(1)

    def _normalised(self, weights: FloatArray) -> FloatArray:
        """Scale the levels of each field to sum to one."""
        totals = np.add.reduceat(weights, self.offsets[:-1])
        result: FloatArray = weights / np.repeat(totals, np.diff(self.offsets))
        return result

    def ratios(self, values: Values) -> tuple[FloatArray, FloatArray]:
        """Return the evidence of each pattern, and of pairs not compared by what both show."""
        log_linked = log_mixture(self.log_ratios(values), self.kept, self._rho(values))
        whole = np.exp(log_linked - self.log_unlinked)
        return whole[: self.n_patterns], whole[self.n_patterns :]

    def log_ratios(self, values: Values) -> FloatArray:
        """Return the log evidence of each field in each pattern, as if it stood alone."""
        log_m = np.append(np.log(values["m"]), 0.0)
        result: FloatArray = log_m[self.place] + self.constant
        return result

    def update(
        self,
        rng: np.random.Generator,
        values: Values,
        ratios: tuple[FloatArray, FloatArray],
        members: NDArray[np.int32],
        sizes: NDArray[np.int32],
    ) -> Values:
        """Draw the exemplars and what was replaced given m and rho, then these given those."""
        if self.fixed:
            return values
        counts = np.zeros(len(self.place), dtype=np.int64)
        parts = counts[: self.n_patterns], counts[self.n_patterns :]
        kernels.count_patterns(rng, *self.arrays, *ratios, members, sizes, *parts)
        seen = np.flatnonzero(counts)
        by_class = self._classes(rng, values, seen, counts[seen])
        n_places = int(self.offsets[-1])
        kept = by_class @ self.kept
        of_level = np.bincount(self.place[seen].ravel(), kept.ravel(), minlength=n_places + 1)
        drawn = np.maximum(rng.standard_gamma(self.weights + of_level[:n_places]), 1e-300)
        result = dict(values) | {"m": self._normalised(drawn)}
        if self.has_classes:
            rho = np.maximum(rng.standard_gamma(self.rho_weights + by_class.sum(axis=0)), 1e-300)
            result["rho"] = rho / rho.sum()
        return result

    def _classes(
        self, rng: np.random.Generator, values: Values, seen: IntArray, counts: IntArray
    ) -> FloatArray:
        """Draw for the pairs of each pattern which fields were replaced, (pattern, class)."""
        if not self.has_classes:
            return counts[:, None].astype(float)
        log_m = np.append(np.log(values["m"]), 0.0)
        log_ratios = log_m[self.place[seen]] + self.constant[seen]
        parts = log_parts(log_ratios, self.kept, values["rho"])
        chances = np.exp(parts - parts.max(axis=1, keepdims=True))
        drawn = rng.multinomial(counts, chances / chances.sum(axis=1, keepdims=True))
        return drawn.astype(float)

    def sampled(self, values: Values) -> dict[str, Any]:
        """Return m, all fields after each other, and rho, as they are kept in the posterior."""
        if self.fixed:
            return {}
        return {name: values[name].copy() for name in self.start()}

    def log_hyper(self, values: Values) -> float:
        """Log prior density of m and rho."""
        if self.fixed:
            return 0.0
        from scipy.stats import dirichlet

        bounds = list(zip(self.offsets[:-1], self.offsets[1:], strict=True))
        total = sum(dirichlet(self.weights[a:b]).logpdf(values["m"][a:b]) for a, b in bounds)
        if self.has_classes:
            total += dirichlet(self.rho_weights).logpdf(values["rho"])
        return float(total)

    def log_likelihood(self, labels: IntArray, values: Values) -> float:
        """Log evidence of a partition over singletons: the slow truth."""
        ratio, apart = self.ratios(values)
        total = 0.0
        for cluster in np.unique(labels):
            members = np.flatnonzero(labels == cluster)
            between = np.ones((members.size, members.size))
            for a, i in enumerate(members):
                for b, j in enumerate(members):
                    if a != b:
                        between[a, b] = self._ratio_of(int(i), int(j), ratio, apart)
            total += float(np.log(between.prod(axis=0).mean()))
        return total

    def pair_evidence(self, pairs: NDArray[Any], draws: Mapping[str, FloatArray]) -> FloatArray:
        """Return each field's log Bayes factor that two records are one, (pair, field).

        It is the mean over draws of the parameters, each with the draws along its first axis. Where
        fields move together, a field's part is what it adds to those before it and to those
        after it, on average; the parts always add up to the whole.
        """
        patterns, place = np.unique(self.patterns_of(pairs), return_inverse=True)
        start = self.start()
        n_draws = len(draws["m"]) if "m" in draws else 1
        picks = np.unique(np.linspace(0, n_draws - 1, DRAWS_FOR_EVIDENCE).astype(int))
        total = np.zeros((patterns.size, self.n_fields))
        for pick in picks:
            values = {name: draws[name][pick] if name in draws else start[name] for name in start}
            total += self._by_field(values, patterns)
        return (total / picks.size - self._unlinked_by_field(patterns))[place]

    def _by_field(self, values: Values, patterns: IntArray) -> FloatArray:
        """Divide the log chance of patterns in an entity, over independent fields, by field."""
        log_m = np.append(np.log(values["m"]), 0.0)[self.place[patterns]] + self.constant[patterns]
        return _differences(log_m, self.kept, self._rho(values))

    def _unlinked_by_field(self, patterns: IntArray) -> FloatArray:
        """Divide the log chance of patterns between unrelated records among the fields."""
        if self.dependence is None or not len(self.dependence.shared):
            return np.zeros((patterns.size, self.n_fields))
        log_typed = np.append(np.log(self.dependence.typed), 0.0)[self.place[patterns]]
        return _differences(log_typed + self.constant[patterns], *self.dependence.unlinked)

    def patterns_of(self, pairs: NDArray[Any]) -> IntArray:
        """Return the pattern of each pair, compared or not."""
        n_records = self.shown.size
        record = np.repeat(np.arange(n_records), np.diff(self.begins))
        listed = record * n_records + self.others
        wanted = pairs[:, 0].astype(np.int64) * n_records + pairs[:, 1]
        result: IntArray = self.n_patterns + (
            self.shown[pairs[:, 0]] & self.shown[pairs[:, 1]]
        ).astype(np.int64)
        place = np.searchsorted(listed, wanted)
        inside = np.flatnonzero(place < listed.size)
        found = inside[listed[place[inside]] == wanted[inside]]
        result[found] = self.pattern[place[found]]
        return result

    def _ratio_of(self, i: int, j: int, ratio: FloatArray, apart: FloatArray) -> float:
        inside = slice(self.begins[i], self.begins[i + 1])
        found = np.flatnonzero(self.others[inside] == j)
        if found.size:
            return float(ratio[self.pattern[inside][found[0]]])
        return float(apart[self.shown[i] & self.shown[j]])

    def values(self, parameters: Mapping[str, Any]) -> Values:
        """Complete what a user gave."""
        result = self.start()
        for name, expected in result.items():
            if name not in parameters and not self.fixed:
                raise ModelError(f"The model needs a value for {name!r}, which has a prior.")
            given = np.asarray(parameters.get(name, expected), dtype=float)
            if given.shape != expected.shape:
                what = "those of all fields after each other" if name == "m" else "one a class"
                raise ModelError(
                    f"The {name!r} parameter must have {expected.size} entries, {what}. "
                    f"Got {given.size} instead."
                )
            result[name] = given
        return result


def _differences(
    log_ratios: FloatArray, fields: NDArray[np.bool_], chance: FloatArray
) -> FloatArray:
    """Return what each field adds to a mixture, on average over both orders of the fields."""
    small = np.abs(log_ratios).sum(axis=1) < LARGEST_PRODUCT
    result = np.empty_like(log_ratios)
    result[~small] = _log_differences(log_ratios[~small], fields, chance)
    ratios = np.exp(log_ratios[small]).T
    total = np.zeros_like(ratios)
    for order in (range(len(ratios)), range(len(ratios) - 1, -1, -1)):
        parts = np.repeat(np.maximum(chance, SMALLEST_CHANCE)[:, None], ratios.shape[1], axis=1)
        before = np.log(parts.sum(axis=0))
        for f in order:
            np.multiply(parts, ratios[f], out=parts, where=fields[:, f, None])
            after = np.log(parts.sum(axis=0))
            total[f] += (after - before) / 2
            before = after
    result[small] = total.T
    return result


def _log_differences(
    log_ratios: FloatArray, fields: NDArray[np.bool_], chance: FloatArray
) -> FloatArray:
    """Return the same for any ratios, slowly."""
    n_fields = log_ratios.shape[1]
    total = np.zeros_like(log_ratios)
    for order in (range(n_fields), range(n_fields - 1, -1, -1)):
        so_far = np.zeros_like(log_ratios)
        before = log_mixture(so_far, fields, chance)
        for f in order:
            so_far[:, f] = log_ratios[:, f]
            after = log_mixture(so_far, fields, chance)
            total[:, f] += (after - before) / 2
            before = after
    return total
