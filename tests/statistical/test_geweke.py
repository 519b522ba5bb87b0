"""Geweke's joint distribution test of every prior, with delta sampled and values missing.

Two simulations of (parameters, partition, delta, records) must agree. Marginal-conditional:
forwards, by plain rejection. Successive-conditional: the engine updates parameters, delta and
partition given the records, then the records are drawn anew given the rest, and so on.

Each successive chain starts at a direct draw, so it is stationary from the first step if the
engine is right, and chains are independent of each other: the spread of their means is an
honest standard error whatever the autocorrelation within. Quantities are compared as ranks
among the direct draws, by mean and by spread, so that heavy tails do no harm.
"""

import dataclasses
import itertools

import numpy as np
import pytest
from scipy.special import gammaln
from stepping import Stepper

import kolchin as kp
from kolchin.partitions import cluster_sizes, make_canonical
from kolchin.sampling.layout import Layout
from kolchin.sampling.moves.attach import AttachMove
from kolchin.sampling.proposals.attach_lists import build_attach_lists

N_RECORDS = 8
N_DIRECT = 4_000
N_CHAINS = 100
N_STEPS = 40
SKIPPED = 10
"""A wrong engine drifts away from its right start: the first steps would hide it."""

MOVES = 12
LARGEST_Z = 4.0

FREQUENCIES = [np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.7, 0.3])]
OBSERVED = np.ones((N_RECORDS, 3), dtype=bool)
OBSERVED[[1, 4], 0] = OBSERVED[[2, 4], 1] = OBSERVED[[4, 6], 2] = False  # record 4 lacks all

# Which pairs attach to each other: most of them, with odds from small to large.
PAIRS = np.array([(i, j) for i, j in itertools.combinations(range(N_RECORDS), 2) if i + j != 7])
LOOSE = build_attach_lists(
    Layout.single(N_RECORDS), PAIRS.astype(np.int32), np.linspace(-9.0, -2.4, len(PAIRS))[::-1]
)

PRIORS = {
    "NBNB": kp.NBNB(),
    "NBNB, a and q sampled": kp.NBNB(a=kp.Gamma(3, 2), q=kp.Beta(3, 2)),
    "NBD": kp.NBD(alpha=kp.Gamma(2, 1), base=kp.Beta(2, 2)),
    "DirichletProcess": kp.DirichletProcess(),
    "PitmanYor": kp.PitmanYor(),
    "ESCNB": kp.ESCNB(),
    "ESCD": kp.ESCD(alpha=kp.Gamma(2, 1)),
}
DELTA = kp.Gamma(2, 2)


def quantities(labels, parameters, delta, codes) -> dict[str, float]:
    """All that is compared: the partition, the parameters, and how the records agree."""
    sizes = cluster_sizes(labels)
    together = labels[:, None] == labels
    result = {
        "n_clusters": sizes.size,
        "largest": sizes.max(),
        "singletons": np.sum(sizes == 1),
        "records 0 and 1 linked": together[0, 1],
        "records 0 and 4 linked": together[0, 4],
    }
    for f in range(codes.shape[1]):
        equal = (codes[:, f, None] == codes[:, f]) & (codes[:, f] >= 0)
        result[f"agreements in field {f}"] = np.sum(equal & together)
    for name, value in parameters.items():
        if name == "mu":
            result |= {"mu_1": value[0], "mu_2": value[1]}
        else:
            result[name] = value
    return result | {f"delta_{f}": value for f, value in enumerate(delta)}


def direct_draws(direct, rng, prior, tied):
    """Draw everything forwards."""
    for state in direct.draw_states(rng, prior, N_RECORDS, N_DIRECT):
        delta = np.broadcast_to(direct.draws_of(rng, DELTA, 1 if tied else 3), 3)
        codes = direct.draw_codes(rng, state.labels, delta, FREQUENCIES, OBSERVED)
        yield state, delta, codes


def successive_draws(direct, rng, prior, tied, loose, believed_delta, state, delta, codes):
    """Yield the states of one chain of the engine that starts at a direct draw."""
    records = kp.Records.from_codes(codes, FREQUENCIES)
    labels = make_canonical(state.labels)
    prior_values, own_values = None, {"delta": np.array(delta)}
    for _ in range(N_STEPS):
        model = kp.Model(dataclasses.replace(records, codes=codes), prior, believed_delta, tied)
        chain = Stepper(model, rng, labels)
        if prior_values is None:
            # The engine integrates mu out: one valid update leaves it behind.
            direct_values = chain.state.prior_values | state.parameters
            prior_values = prior.update(rng, direct_values, chain.state.counts)
        chain.set_fields(own_values)
        chain.set_prior(prior_values)
        chain.on_links = () if loose is None else (AttachMove(loose),)
        chain.update()
        chain.move(MOVES)
        prior_values, own_values = chain.state.prior_values, chain.state.field_values
        labels = labels_of(chain.state.following)
        codes = direct.draw_codes(rng, labels, own_values["delta"], FREQUENCIES, OBSERVED)
        parameters = {name: prior_values[name] for name in state.parameters if name != "mu"}
        if "mu" in state.parameters:
            complete = prior.draw_integrated(rng, prior_values, chain.state.counts)
            parameters["mu"] = np.exp(complete["log_mu"])
        yield quantities(labels, parameters, own_values["delta"], codes)


def labels_of(following):
    """Number the rings of a chain's state by their smallest record."""
    labels = np.full(following.size, -1)
    for n in range(following.size):
        record = n
        while labels[record] < 0:
            labels[record] = n
            record = following[record]
    return make_canonical(labels)


def z_scores(direct, prior, tied, seed, engine_prior=None, believed_delta=DELTA, loose=LOOSE):
    """Compare the two simulations; the engine may be given another prior, as a control."""
    rng = np.random.default_rng(seed)
    drawn = list(direct_draws(direct, rng, prior, tied))
    reference = [quantities(s.labels, s.parameters, delta, codes) for s, delta, codes in drawn]
    arguments = (direct, rng, engine_prior or prior, tied, loose, believed_delta)
    chains = [
        list(itertools.islice(successive_draws(*arguments, *start), SKIPPED, None))
        for start in drawn[:N_CHAINS]
    ]
    scores = {}
    for name in reference[0]:
        if tied and name in ("delta_1", "delta_2"):
            continue
        truth = np.sort([row[name] for row in reference])
        starts = np.array([row[name] for row in reference[:N_CHAINS]])
        values = np.array([[row[name] for row in chain] for chain in chains])
        scores |= compare(name, truth, starts, values)
    return scores


def compare(name, truth, starts, values) -> dict[str, float]:
    """Return the z-scores of mean rank and of the spread of ranks among the direct draws.

    Where a chain started is known, and so is what starts are on average: what a chain's mean
    owes to its start is taken off by regression.
    """

    def rank(x):
        both = np.searchsorted(truth, x, side="left") + np.searchsorted(truth, x, side="right")
        return both / (2 * truth.size) - 0.5

    scores = {}
    for what, function in (("mean", lambda u: u), ("spread", lambda u: u**2)):
        exact = function(rank(truth))
        start = function(rank(starts)) - exact.mean()
        mean = function(rank(values)).mean(axis=1) - exact.mean()
        slope = np.cov(start, mean)[0, 1] / start.var(ddof=1)
        excess = mean - slope * start
        error = np.sqrt(excess.var(ddof=2) / excess.size + exact.var() / exact.size)
        scores[f"{what} of {name}"] = float(excess.mean() / error)
    return scores


CASES = [(name, True) for name in PRIORS] + [(name, False) for name in ("NBNB", "NBD", "PitmanYor")]
OTHERS = [(name, False) for name in PRIORS if (name, False) not in CASES]


@pytest.mark.parametrize(
    ("name", "tied"), CASES + [pytest.param(*case, marks=pytest.mark.slow) for case in OTHERS]
)
def test_engine_keeps_joint_distribution(direct, name, tied):
    scores = z_scores(direct, PRIORS[name], tied, seed=[20160601, tied, *name.encode()])
    assert {what: z for what, z in scores.items() if not abs(z) < LARGEST_Z} == {}


@pytest.mark.parametrize("tied", [True, False], ids=["tied", "by field"])
def test_delta_given_the_partition_alone(direct, tied):
    """Before pairs are learnt, delta is drawn without the links."""
    scores = z_scores(direct, kp.NBNB(), tied, seed=20160602, loose=None)
    assert {what: z for what, z in scores.items() if not abs(z) < LARGEST_Z} == {}


class OpensWithoutR(kp.NBNB):
    """The misprinted open weight of the paper's appendix: the factor r is lost."""

    def weigh_opening(self, n_records, values):
        right = super().weigh_opening(n_records, values)
        return right._replace(log_scale=right.log_scale - np.log(values["r"]))


class OneTooFew(kp.NBNB):
    """The misprinted conditional of r: Gamma(|c| - 1 + r) in place of Gamma(|c| + r)."""

    def log_sizes(self, counts, values):
        r, sizes = values["r"], counts.sizes
        slip = gammaln(sizes - 1 + r) - gammaln(sizes + r)
        return super().log_sizes(counts, values) + float(counts.counts @ slip)


class ForgetsSizes(kp.PitmanYor):
    """The discount updated from K alone, as if sizes said nothing."""

    def log_part(self, name, counts, values):
        return self.log_g(counts.n_clusters, counts.n_records, values)


class OpensWithoutAlpha(kp.NBD):
    """Leave the Dirichlet's normalising factor out of the weight of a new cluster."""

    def tabulate(self, n_records, largest, values):
        right = super().tabulate(n_records, largest, values)
        return right._replace(opening=right.opening._replace(alpha=0.0))


WRONG = {
    "no factor r": (kp.NBNB(), OpensWithoutR(), DELTA),
    "one too few": (kp.NBNB(), OneTooFew(), DELTA),
    "no sizes": (kp.PitmanYor(), ForgetsSizes(), DELTA),
    "no alpha": (kp.NBD(), OpensWithoutAlpha(), DELTA),
    "rate for scale": (kp.NBNB(), kp.NBNB(), kp.Gamma(DELTA.shape, 1 / DELTA.rate)),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_engine_is_found_out(direct, name):
    prior, wrong, believed_delta = WRONG[name]
    scores = z_scores(direct, prior, True, 20160601, wrong, believed_delta)
    assert max(map(abs, scores.values())) > 1.5 * LARGEST_Z
