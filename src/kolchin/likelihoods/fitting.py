"""Which fields move together, and how often: learnt from all candidate pairs (model section 6).

The counts of patterns are Poisson: of N (N - 1) / 2 pairs nearly all are unrelated and show pattern
p with chance u(p), about N do not. Chance (`chance`) is thus known, and only what exceeds it can be
explained by sharing or by entities. m, rho, tau and pi are where chains start.
"""

import numpy as np

from kolchin.comparison.kinds.base import make_falling_weights
from kolchin.likelihoods import error_counts
from kolchin.likelihoods.agreement import Agreement
from kolchin.likelihoods.chance import FIRST_SHARE, Coincidences
from kolchin.likelihoods.dependence import Dependence, Masks, make_typed_levels
from kolchin.likelihoods.doubts import PatternRates, find_doubts
from kolchin.likelihoods.evidence_kernels.class_mixtures import multiply_kept_gains, weigh_classes
from kolchin.likelihoods.evidence_kernels.pair_shares import (
    ENTITIES,
    FAMILY,
    TYPED,
    PairClasses,
    PairPatterns,
)
from kolchin.likelihoods.families import fit_family_levels, guess_family_levels, pool_by_similarity
from kolchin.likelihoods.shares import Shares, share_pairs
from kolchin.likelihoods.sharing import (
    LEAST_PAIRS,
    LEAST_SHARE,
    FieldSets,
    Patterns,
    UnrelatedChances,
    bound_links,
    describe_agreement,
    may_change,
)
from kolchin.parameters import FloatArray, IntArray

PSEUDO_PAIRS, FEWEST_PSEUDO = 1 / 400, 10.0
"""Weight of the prior of m and rho, in pairs a record, and at least: it must not outweigh the links
of a table that has few."""

LEAST_NEAR, LEAST_DIFFERENT = 0.5, 1.0
"""Weight of each level, and of the last, in the prior of m, at least, in pairs. The less it is, the
more a level without records is believed impossible: a table in which few records of one entity
differ would teach that none ever do, and a chain that has emptied a level would stay so."""

LARGEST_SHARE = 0.5
"""Of all unrelated pairs at most so many share anything: one may be counted for several sets."""

REPLACED = 0.01
STEPS, PRUNED_AT = 40, (10, 16, 22, 30)
CLOSE, CLOSE_PAIRS = 1e-3, 0.5
"""No more steps are made once expected numbers of pairs change by less, in proportion or at all."""

LEAK, MOST_LEAK, LEAK_PAIRS = 0.005, 0.1, 20.0
"""Chance that records which share a set share one more field for that reason: before any data, at
most, and how many pairs that is worth; as many weigh the levels beside a shared set."""

FIRST_LINKS = 0.5
"""Share of the links that there may be, before anything is fitted."""

DOUBTFUL_LINKS = 0.02
"""Patterns of which so many pairs are linked may be of another making."""

NEGLIGIBLE = 1e-4
"""Patterns of which fewer pairs are linked or share anything are looked at now and then only."""

MOST_ALIKE = 1.5
"""Alike records of two sources are at most so many times what those within sources lead to expect:
within a source, style is one as well."""

STEPS_WITH_M_HELD = 2
"""In the first steps m stays as it is expected: what may be either is of a family."""


class Fit:
    """Rates of patterns: by chance, by each shared set, by entities with each set replaced."""

    def __init__(
        self,
        patterns: Patterns,
        chances: UnrelatedChances,
        sets: FieldSets,
        coincidences: Coincidences | None = None,
        before: "Fit | None" = None,
    ) -> None:
        self.patterns, self.chances, self.coincidences = patterns, chances, coincidences
        self.n_records = chances.n_records
        n_levels = [levels.size for levels in chances.u]
        self.offsets = np.concatenate([[0], np.cumsum(n_levels)]).astype(np.int64)
        shown = patterns.levels >= 0
        place = np.where(shown, patterns.levels + self.offsets[:-1], self.offsets[-1])
        self.place = np.ascontiguousarray(place, dtype=np.int16)
        self.gain = np.array(patterns.log_gain, order="C")
        weight = max(PSEUDO_PAIRS * self.n_records, FEWEST_PSEUDO)
        expected = [make_falling_weights(n) / make_falling_weights(n).sum() for n in n_levels]
        self.m: FloatArray = np.concatenate(expected)
        self.typed: FloatArray = np.concatenate([make_typed_levels(n) for n in n_levels])
        self.m_weights, self.typed_weights = weight * self.m, weight * self.typed
        last = self.offsets[1:] - 1
        self.m_weights = np.maximum(self.m_weights, LEAST_NEAR)
        self.m_weights[last] = np.maximum(self.m_weights[last], LEAST_DIFFERENT)
        self.sets = list(sets.shared)
        self.known, self.couples, self.doubted = sets.known, sets.couples, sets.doubted
        self.n_shared = np.array(list(sets.shared.values()))
        self.family: FloatArray | None = None
        self.most_alike = np.inf
        if sets.family:
            self.sets.append(self.all_fields)
            self.n_shared = np.append(self.n_shared, float(self.n_records))
            self.family = guess_family_levels(chances.u, self.texts)
            self.family_weights = weight * self.family
            self._learn_of_unrelated(coincidences)
        self.shared = self._mask_sets(self.sets)
        self.leak = np.where(self._is_counted[:, None] | self.shared, 0.0, LEAK)
        self.loose: FloatArray = np.zeros((len(self.sets), int(self.offsets[-1]) + 1))
        self.replaced = self._mask_sets([0, *sets.replaced])
        self.rho_weights = weight * np.append(1.0, np.full(len(sets.replaced), REPLACED))
        self.rho = self.rho_weights / self.rho_weights.sum()
        self.tau = np.zeros(len(n_levels) + 1)
        self.most_links = bound_links(patterns, chances)
        self.n_linked = FIRST_LINKS * self.most_links
        self.shares: Shares | None = None
        self.rows: IntArray = np.arange(patterns.number.size)
        self.continued = before is not None
        if before is not None:
            self._begin_from(before)
        elif coincidences is not None:
            self.learn_chance()

    def _begin_from(self, before: "Fit") -> None:
        """Begin where another fit has ended, as far as the sets are the same."""
        self.m, self.tau, self.n_linked = before.m.copy(), before.tau, before.n_linked
        self.typed = before.typed.copy()
        if self.family is not None and before.family is not None:
            self.family = before.family
        for k, one in enumerate(self.sets):
            if one in before.sets:
                was = before.sets.index(one)
                self.n_shared[k] = before.n_shared[was]
                self.leak[k], self.loose[k] = before.leak[was], before.loose[was]

    def _learn_of_unrelated(self, coincidences: Coincidences | None) -> None:
        """Learn what alike records have in common from pairs that are certainly unrelated."""
        known = None if coincidences is None else coincidences.family
        if known is None:
            return
        self.family, self.n_shared[-1] = known.levels, known.n_pairs
        self.family_weights = np.minimum(known.n_pairs, self.n_records) * known.levels
        self.most_alike = MOST_ALIKE * known.n_pairs

    def _mask_sets(self, sets: list[int]) -> Masks:
        """Tell of each set, given as bits, which fields it has."""
        n_fields = len(self.chances.u)
        rows = [[(one >> f) & 1 == 1 for f in range(n_fields)] for one in sets]
        return np.array(rows, dtype=bool).reshape(len(sets), n_fields)

    @property
    def all_fields(self) -> int:
        """The set of all fields, which stands for the family."""
        return (1 << len(self.chances.u)) - 1

    @property
    def texts(self) -> tuple[int, ...]:
        """The fields whose values are texts of many words."""
        return () if self.coincidences is None else self.coincidences.texts

    @property
    def kinds(self) -> IntArray:
        """The kind of each shared set."""
        family = np.array(self.sets, dtype=np.int64) == self.all_fields
        result: IntArray = np.where(family, FAMILY, TYPED)
        return result

    @property
    def _is_family_unknown(self) -> bool:
        """Whether what alike records have in common has still to be found."""
        told = self.coincidences is not None and self.coincidences.family is not None
        return self.family is not None and not self.continued and not told

    @property
    def wrong(self) -> FloatArray:
        """The chance that a field is wrong, before the number of errors is weighed."""
        result: FloatArray = 1 - self.m[self.offsets[:-1]]
        return result

    def run(self, most_steps: int = STEPS) -> None:
        """Alternate between shares of patterns and parameters; drop sets without support."""
        settled = False
        for step in range(most_steps):
            ends = settled or step == most_steps - 1
            if ends or step == 0 or step - 1 in PRUNED_AT:
                self.rows = np.arange(self.patterns.number.size)
            before = self._count_expected()
            self.shares = self._divide_pairs()
            holds_m = self._is_family_unknown and step < STEPS_WITH_M_HELD
            self._maximise(self.shares, holds_m)
            settled = step >= PRUNED_AT[0] and bool(
                np.allclose(self._count_expected(), before, rtol=CLOSE, atol=CLOSE_PAIRS)
            )
            prunes = settled or step in PRUNED_AT
            if prunes or step in (0, most_steps - 2):
                self.learn_chance()
            else:
                # Most patterns are by chance alone; in between, the others are looked at.
                (self.rows,) = np.nonzero(self.shares.linked + self.shares.sharing > NEGLIGIBLE)
                self.learn_chance(rows=self.rows)
            if ends:
                break
            if prunes:
                settled &= not self._prune(self.shares.by_entity)

    def _count_expected(self) -> FloatArray:
        """Return how many pairs are expected of each set, and of each level among links."""
        links = self.n_linked * np.concatenate([self.rho, self.m])
        return np.concatenate([self.n_shared, links])

    def build_dependence(self) -> Dependence:
        """Return what was learnt."""
        most = LARGEST_SHARE * self.chances.n_pairs
        n_shared = self.n_shared * (most / max(self.n_shared.sum(), most, 1.0))
        return self._build_dependence(n_shared)

    def _build_dependence(self, n_shared: FloatArray) -> Dependence:
        """Return what was learned, with so many pairs that share each set."""
        return Dependence(
            self.shared,
            n_shared,
            self.chances.n_pairs,
            self.typed,
            self.replaced,
            self.rho,
            self.rho_weights,
            self.m,
            self.m_weights,
            self.leak,
            self.loose,
            ~self._is_counted,
            self.tau,
            self.family,
        )

    def find_sets_in_doubt(self) -> FieldSets | None:
        """Return the sets with those that would explain links better than errors do, if any.

        Pairs that agree on a set alone are unrelated records that share it, or records of one
        entity in which all else was replaced at once.
        """
        shared, replaced = dict(zip(self.sets, self.n_shared.tolist(), strict=True)), []
        shared.pop(self.all_fields, None)
        agreement = self._describe_agreement()
        for one, n_pairs in find_doubts(self._expect_pairs()).items():
            rest = self.all_fields & ~one
            may_share, may_replace = agreement.tell_readings(one, rest)
            if may_share:
                shared.setdefault(one, n_pairs)
            if may_replace and self._may_change(rest):
                replaced.append(rest)
        doubted = {*shared} - {*self.sets}
        if not doubted and not replaced:
            return None
        return self._extend_sets(shared, replaced, (*doubted, *replaced))

    def leave_out_unsupported(self) -> FieldSets | None:
        """Return the sets, if there are some in doubt that more pairs share than there may be.

        Of these all else is replaced at once.
        """
        sharing = dict(zip(self.sets, self.n_shared.tolist(), strict=True))
        agreement = self._describe_agreement()
        unsupported = [
            one
            for one in self.doubted
            if one in sharing and not agreement.may_share(one, sharing[one])
        ]
        if not unsupported:
            return None
        shared = {
            one: n for one, n in sharing.items() if one not in (*unsupported, self.all_fields)
        }
        replaced = [
            self.all_fields & ~one
            for one in unsupported
            if self._may_change(self.all_fields & ~one)
        ]
        doubts = tuple(one for one in self.doubted if one not in unsupported)
        return self._extend_sets(shared, replaced, (*doubts, *replaced))

    def _may_change(self, fields: int) -> bool:
        """Tell whether fields may be replaced at once in a record of an entity."""
        return may_change(fields, len(self.chances.u))

    def _extend_sets(
        self, shared: dict[int, float], replaced: list[int], doubts: tuple[int, ...]
    ) -> FieldSets:
        """Return sets to fit anew: these shared ones, and replaced ones beside those known."""
        bits = (self.replaced[1:] @ (1 << np.arange(self.replaced.shape[1]))).tolist()
        more = [one for one in dict.fromkeys(replaced) if one not in bits]
        family = self.family is not None
        return FieldSets(shared, self.known, [*bits, *more], self.couples, doubts, family)

    def _describe_agreement(self) -> Agreement:
        """Return what agreement says, and which sets unrelated records share."""
        sharing = dict(zip(self.sets, self.n_shared.tolist(), strict=True))
        sharing.pop(self.all_fields, None)
        sharing |= {one: self.known[one] for one in self.couples}
        return describe_agreement(self.chances, sharing)

    def _expect_pairs(self) -> PatternRates:
        """Return how many pairs are expected to show the patterns of links that differ."""
        assert self.shares is not None
        differ = (self.patterns.levels > 0).any(axis=1)
        (rows,) = np.nonzero((self.shares.linked > DOUBTFUL_LINKS) & differ)
        place, gain = self.place[rows].astype(np.int32), self.gain[rows]
        replaced = (self.replaced @ (1 << np.arange(self.replaced.shape[1]))).astype(np.int64)
        tilts = error_counts.compute_tilts(self.wrong, self.tau)
        linked = weigh_classes(place, replaced, self.rho, self.m, tilts, self.offsets)
        linked *= multiply_kept_gains(place, gain, replaced, int(self.offsets[-1]))
        learnt = self._build_dependence(self.n_shared)
        unlinked = self.chances.n_pairs * np.exp(learnt.log_unlinked(place, gain))
        expected = unlinked + self.n_linked * linked.sum(axis=1)
        return PatternRates(self.patterns.number[rows], expected, learnt.log_typed(place, gain))

    def learn_chance(self, unseen: bool = False, rows: IntArray | None = None) -> None:
        """Take what is linked, as things stand, out of the pairs that agree.

        Then patterns have other gains; of some of them, or of all.
        """
        known, patterns = self.coincidences, self.patterns
        if known is None:
            return
        if self.shares is None:
            exact = self.m[self.offsets[:-1]]
            taken = known.guess_links(self.n_linked, self.n_records, exact)
            of_all = np.zeros(len(taken))
            similar = known.count_similar(patterns, (1 - FIRST_SHARE) * patterns.number)
        else:
            pairs = self.shares.linked
            taken, of_all = known.count_by_band(patterns, pairs)
            by_chance = patterns.number - self.shares.linked - self.shares.sharing
            similar = known.count_similar(patterns, np.maximum(by_chance, 0.0))
        # Pairs that are never of one entity show how often unrelated texts are similar.
        told = known.family is not None
        u, of_value = known.estimate_chances(taken, of_all, unseen, None if told else similar)
        known.write_gains(patterns.levels, of_value, self.gain, rows)
        self.chances = self.chances._replace(u=u)

    def _divide_pairs(self, threads: int | None = None) -> Shares:
        """Divide the pairs of each pattern among shared sets and entities; chance has the rest."""
        whole = self.rows.size == self.patterns.number.size
        rows: IntArray | slice = slice(None) if whole else self.rows
        patterns = PairPatterns(
            self.place[rows], self.gain[rows], self.patterns.number[rows], self.offsets
        )
        by_class, by_pattern = share_pairs(patterns, self._build_classes(), threads)
        return Shares(
            by_set=by_class.total[: len(self.sets)],
            by_entity=by_class.total[len(self.sets) :],
            typed=by_class.levels[TYPED, :-1],
            m=by_class.levels[ENTITIES, :-1],
            linked=self._spread_rows(by_pattern.linked),
            sharing=self._spread_rows(by_pattern.sharing),
            wrong=by_class.wrong,
            beside=by_class.beside,
            leaked=by_class.leaked,
            family=by_class.levels[-1, :-1],
        )

    def _build_classes(self) -> PairClasses:
        """Return what pairs may be of: shared sets, then entities by what they have replaced."""
        bits, n_replaced = 1 << np.arange(len(self.chances.u)), len(self.replaced)
        n_pairs = np.concatenate([self.n_shared, self.n_linked * self.rho])
        of_kind = [self.typed, self.m, *([] if self.family is None else [self.family])]
        loose = np.exp(self.loose)
        return PairClasses(
            sets=np.concatenate([self.shared @ bits, ~self.replaced @ bits]).astype(int),
            kinds=np.concatenate([self.kinds, np.full(n_replaced, ENTITIES)]),
            counts=np.concatenate([~self._is_counted, np.ones(n_replaced, dtype=bool)]),
            log_sets=np.log(np.maximum(n_pairs, 1e-300)),
            log_rest=float(np.log(max(self.chances.n_pairs, 1.0))),
            log_levels=np.log(np.maximum([np.append(p, 1) for p in of_kind], 1e-300)),
            leak=self.leak,
            loose=loose,
            is_plain=~((self.leak > 0).any(axis=1) | (loose != 1).any(axis=1)),
            log_tilt=np.log(np.maximum(error_counts.compute_tilts(self.wrong, self.tau), 1e-300)),
        )

    def _spread_rows(self, of_rows: FloatArray) -> FloatArray:
        """Return numbers of the patterns that were looked at, and 0 for the others."""
        result = np.zeros(self.patterns.number.size)
        result[self.rows] = of_rows
        return result

    @property
    def _is_counted(self) -> Masks:
        """Which shared sets were counted among all pairs of records."""
        return np.array([one in self.known for one in self.sets], dtype=bool)

    def _maximise(self, shares: Shares, holds_m: bool = False) -> None:
        """Find the parameters that make the divided pairs most likely, beside their priors."""
        self.n_shared = shares.by_set.copy()
        if self.family is not None:
            self.n_shared[-1] = min(self.n_shared[-1], self.most_alike)
        counted = self._is_counted
        for k in np.flatnonzero(counted):
            # Pairs that agree on little are seldom candidates: these were counted among all.
            larger = (self.shared & self.shared[k]).sum(axis=1) == self.shared[k].sum()
            alike = self.known[self.sets[k]] - self._expect_exact_links(self.shared[k])
            exact = float(np.prod(self.typed[self.offsets[:-1][self.shared[k]]]))
            rest = alike / exact - self.n_shared[larger & ~counted].sum()
            self.n_shared[k] = max(rest, 1.0)
        self.n_linked = min(float(shares.by_entity.sum()), self.most_links)
        rho = shares.by_entity + self.rho_weights
        self.rho = rho / rho.sum()
        self.typed = self._scale_levels(shares.typed + self.typed_weights)
        self._maximise_beside(shares)
        if not holds_m:
            self._maximise_errors(shares)
        if self.family is not None:
            counts = shares.family + self.family_weights
            self.family = fit_family_levels(counts, self.m, self.offsets, self.texts)

    def _maximise_errors(self, shares: Shares) -> None:
        """Find the chances of errors by field, and how many a record has."""
        records, hidden = error_counts.expect_errors(shares.wrong, self.wrong, self.tau)
        counted = shares.m + self.m_weights
        first, ends = self.offsets[:-1], self.offsets[1:]
        prior_right = self.m_weights[first]
        prior_wrong = np.add.reduceat(self.m_weights, first) - prior_right
        seen = np.add.reduceat(shares.m, first) - shares.m[first]
        n_wrong = seen + hidden + prior_wrong
        n_right = records.sum() - seen - hidden + prior_right
        wrong = error_counts.fit_wrong(
            self.wrong, self.tau, n_wrong, np.maximum(n_right, 1e-9), float(records.sum())
        )
        base = error_counts.compute_error_chances(wrong)
        tau = error_counts.drop_steps_up(error_counts.fit_tau(records, base))
        wrong, tau = error_counts.balance(wrong, tau)
        self.tau = error_counts.drop_steps_up(tau)
        for f, (a, b) in enumerate(zip(first, ends, strict=True)):
            near = counted[a + 1 : b]
            if f in self.texts[:1]:
                near = pool_by_similarity(near)
            self.m[a] = 1 - wrong[f]
            self.m[a + 1 : b] = wrong[f] * near / near.sum()

    def _maximise_beside(self, shares: Shares) -> None:
        """Find what records that share a set have in common besides."""
        leaked, of_all = shares.leaked
        chance = (leaked + LEAK_PAIRS * LEAK) / (of_all + LEAK_PAIRS)
        counted = self._is_counted
        fixed = counted[:, None] | self.shared
        self.leak = np.where(fixed, 0.0, np.minimum(chance, MOST_LEAK))
        self.loose = np.zeros_like(self.loose)
        for f, (first, u) in enumerate(zip(self.offsets[:-1], self.chances.u, strict=True)):
            levels = np.flatnonzero(~self.chances.agrees[f])
            sets = np.flatnonzero(~fixed[:, f])
            if levels.size < 2 or not sets.size:
                continue
            expected = u[levels] / u[levels].sum()
            seen = shares.beside[sets][:, first + levels]
            share = (seen + LEAK_PAIRS * expected) / (seen.sum(axis=1, keepdims=True) + LEAK_PAIRS)
            self.loose[np.ix_(sets, first + levels)] = np.log(share / expected)

    def _expect_exact_links(self, fields: Masks) -> float:
        """Return how many pairs of one entity agree exactly on some fields, as things stand."""
        first = self.offsets[:-1][fields]
        by_chance = np.array([levels[0] for levels in self.chances.u])[fields]
        exact = np.where(self.replaced[:, fields], by_chance, self.m[first])
        return self.n_linked * float(self.rho @ exact.prod(axis=1))

    def _scale_levels(self, counts: FloatArray) -> FloatArray:
        """Scale the levels of each field to sum to one."""
        totals = np.add.reduceat(counts, self.offsets[:-1])
        result: FloatArray = counts / np.repeat(totals, np.diff(self.offsets))
        return result

    def _prune(self, by_entity: FloatArray) -> bool:
        """Drop sets that explain few pairs, but for those asked about; tell if there were any."""
        least = max(LEAST_SHARE * self.n_records, LEAST_PAIRS)
        kept = (self.n_shared > least) | np.isin(self.sets, (self.all_fields, *self.doubted))
        self.sets = [one for one, stays in zip(self.sets, kept, strict=True) if stays]
        self.n_shared, self.shared = self.n_shared[kept], self.shared[kept]
        self.leak, self.loose = self.leak[kept], self.loose[kept]
        bits = self.replaced @ (1 << np.arange(self.replaced.shape[1]))
        stays = (by_entity > least) | np.isin(bits, (0, *self.doubted))
        self.replaced, self.rho_weights = self.replaced[stays], self.rho_weights[stays]
        self.rho = self.rho[stays] / self.rho[stays].sum()
        return not (kept.all() and stays.all())
