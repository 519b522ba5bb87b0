"""Draw partition and parameters exactly, let a chain work on them, and see that nothing changed."""

from functools import partial

import enumeration as by_hand
import numpy as np
from driving import PAIRS, Driver
from enumeration import (
    Block,
    beta_grid,
    beta_probability,
    by_sizes,
    gamma_grid,
    histograms,
    log_dirichlet,
    partition_test,
    uniform_test,
)
from problems import FIXED, FREQUENCIES, codes
from scipy import stats
from scipy.special import logsumexp

import kolchin as kp
from kolchin.records import Records

SMALLEST_P = 1e-4
N_RECORDS = 6


def fixed_block(probability, n_records=N_RECORDS):
    """A block without parameters: the prior probability of every partition."""
    kinds, row = histograms(n_records)
    return Block([], [], np.array([probability(kind) for kind in kinds]), row)


class Joint:
    """The joint posterior of a partition and blocks of parameters.

    ``free`` gives the base measure of mu as a function of the parameters, where mu is sampled.
    """

    def __init__(self, prior, delta, blocks, *, tied=True, missing=False, free=None):
        self.n_records = N_RECORDS
        records = Records.from_codes(codes(missing, self.n_records), FREQUENCIES)
        self.model = kp.Model(records, prior, delta=delta, tied=tied)
        self.blocks, self.free = blocks, free
        weight = np.prod([block.evidence for block in blocks], axis=0)
        self.probability = weight / weight.sum()

    def shapes(self, partition, values):
        """Dirichlet shapes of mu_1, ..., mu_N and of the tail, given all else."""
        base = np.array([self.free(m, values) for m in range(1, self.n_records + 1)])
        counts = np.bincount(by_hand.sizes_of_all(self.n_records)[partition], minlength=7)[1:]
        return values["alpha"] * np.append(base, 1 - base.sum()) + np.append(counts, 0)

    def start(self, rng, n_draws):
        """Draw partitions and parameters from the joint posterior."""
        found = rng.choice(self.probability.size, n_draws, p=self.probability)
        values = {}
        for block in self.blocks:
            values |= block.draw(rng, found)
        return found, values

    def run(self, n_draws=2500, seed=1, pairs="uniform", rounds=2, moves=6):
        """Return p-values: of the partition, and of each parameter given the partition."""
        rng = np.random.default_rng(seed)
        driver = Driver(self.model, PAIRS[pairs](self.n_records), seed)
        found, values = self.start(rng, n_draws)
        fixed = {k: v for k, v in driver.state.prior_values.items() if not k.startswith("log_")}
        after = []
        for k in range(n_draws):
            now = {name: float(column[k]) for name, column in values.items()}
            deltas = [now.pop(name) for name in list(now) if name.startswith("delta")]
            driver.set_partition(found[k])
            driver.set_delta(np.array(deltas))
            if self.free:
                now["log_mu"] = log_dirichlet(rng, self.shapes(found[k], fixed | now))
            driver.set_parameters(**now)
            for _ in range(rounds):
                driver.move(moves)
                driver.update()
            state = driver.state
            values_of = state.prior_values, state.field_values["delta"]
            after.append((state.following.copy(), *values_of))
        return self.p_values(after)

    def p_values(self, after):
        """Compare the states after the work with the joint posterior."""
        partition = by_hand.index_of_rings(np.array([state[0] for state in after]))
        result = {"partition": partition_test(partition, self.probability)}
        for block in self.blocks:
            for name in block.names:
                values = self.values_of(name, after)
                result[name] = uniform_test(block.uniform(name, partition, values))
        if self.free:
            result |= self.mu_p_values(partition, after)
        return result

    def values_of(self, name, after):
        """The values of one parameter after the work."""
        if name.startswith("delta"):
            field = int(name[6:-1]) if "[" in name else 0
            return np.array([state[2][field] for state in after])
        return np.array([state[1][name] for state in after])

    def mu_p_values(self, partition, after):
        """Given all else, mu_1 and mu_2 / (1 - mu_1) have Beta distributions."""
        uniforms = []
        for index, (_, values, _) in zip(partition, after, strict=True):
            shape = self.shapes(index, values)
            log_mu = np.append(values["log_mu"], values["log_tail"])
            beyond = [logsumexp(log_mu[k:]) for k in range(3)]
            uniforms.append(
                [
                    beta_probability(
                        log_mu[k] - beyond[k],
                        beyond[k + 1] - beyond[k],
                        shape[k],
                        shape[k + 1 :].sum(),
                    )
                    for k in range(2)
                ]
            )
        return {f"mu[{k + 1}]": uniform_test(u) for k, u in enumerate(np.array(uniforms).T)}


DELTA = kp.Gamma(1.5, 2.0)
DELTA_GRID = gamma_grid(1.5, 2.0)


def delta_block(missing=False, field=None):
    """The block of a sampled delta, tied or of one field."""
    return by_hand.delta_block(codes(missing, N_RECORDS), FREQUENCIES, DELTA_GRID, field)


def geometric_base(m, values):
    """The base measure of NBD."""
    return by_hand.geometric(values["base"])(m)


def negative_binomial_base(m, values):
    """The base measure of ESCD."""
    return by_hand.negative_binomial(m, values["r"], values["p"])


def fixed_joint(name, missing):
    """One of the priors with fixed parameters (mu sampled), and a sampled delta."""
    make, probability = FIXED[name]
    free = {"NBD": geometric_base, "ESCD": negative_binomial_base}.get(name)
    if name == "NBD":
        probability = partial(by_hand.nbd, a=1.0, q=0.55, alpha=1.0, base=0.5)
    if name == "ESCD":
        probability = partial(by_hand.escd, alpha=1.0, r=1.8, p=0.6)
    return Joint(
        make(), DELTA, [fixed_block(probability), delta_block(missing)], missing=missing, free=free
    )


def sizes_block(names, grids, probability):
    """A block of parameters of the prior."""
    return by_sizes(N_RECORDS, names, grids, probability)


R, P, ALPHA = kp.Gamma(2, 1.5), kp.Beta(5, 3), kp.Gamma(2, 0.7)


def r_grid(cells=400):
    """The prior of r."""
    return gamma_grid(2, 1.5, cells, low=-7, high=3.2)


def p_grid(cells=400):
    """The prior of p."""
    return beta_grid(5, 3, cells, low=-5, high=7)


def nbnb_joint(prior=None):
    """NBNB with r and p sampled; another prior may claim to be it."""
    block = sizes_block(
        ["r", "p"], [r_grid(), p_grid()], lambda s, r, p: by_hand.nbnb(s, 1.5, 0.6, r, p)
    )
    return Joint(prior or kp.NBNB(1.5, 0.6, R, P), DELTA, [block, delta_block()])


def all_sampled_joint():
    """NBNB with a, q, r and p sampled; p by a Gamma prior that is cut to (0, 1)."""
    count = sizes_block(
        ["a", "q"],
        [gamma_grid(2, 1, 400, low=-7, high=3.2), beta_grid(3, 2, 400, low=-8, high=8)],
        lambda s, a, q: by_hand.kolchin(
            s, lambda k: by_hand.negative_binomial(k, a, q), lambda m: 1.0
        ),
    )
    cut = by_hand.Grid(stats.gamma(2, scale=1 / 3).pdf, -8, 12, 400, "logit")
    inside = sizes_block(
        ["r", "p"],
        [r_grid(), cut],
        lambda s, r, p: np.prod([by_hand.negative_binomial(m, r, p) for m in s], axis=0),
    )
    prior = kp.NBNB(kp.Gamma(2, 1), kp.Beta(3, 2), R, kp.Gamma(2, 3))
    return Joint(prior, DELTA, [count, inside, delta_block()])


def escnb_joint():
    """ESCNB with r and p sampled."""
    block = sizes_block(["r", "p"], [r_grid(), p_grid()], by_hand.escnb)
    return Joint(kp.ESCNB(R, P), DELTA, [block, delta_block()])


def nbd_joint():
    """NBD with mu, alpha and the base sampled."""
    block = sizes_block(
        ["alpha", "base"],
        [gamma_grid(2, 0.7, 300, low=-7, high=3.2), beta_grid(3, 3, 300, low=-7, high=7)],
        lambda s, alpha, base: by_hand.nbd(s, 1.0, 0.55, alpha, base),
    )
    prior = kp.NBD(1.0, 0.55, ALPHA, kp.Beta(3, 3))
    return Joint(prior, DELTA, [block, delta_block()], free=geometric_base)


def escd_joint():
    """ESCD with mu, alpha, r and p sampled."""
    block = sizes_block(
        ["alpha", "r", "p"],
        [gamma_grid(2, 0.7, 80, low=-6, high=3), r_grid(80), p_grid(80)],
        by_hand.escd,
    )
    return Joint(kp.ESCD(ALPHA, R, P), DELTA, [block, delta_block()], free=negative_binomial_base)


def dirichlet_process_joint():
    """Dirichlet process with theta sampled."""
    block = sizes_block(["theta"], [gamma_grid(2, 1.5)], by_hand.dirichlet_process)
    return Joint(kp.DirichletProcess(kp.Gamma(2, 1.5)), DELTA, [block, delta_block()])


def pitman_yor_joint():
    """Pitman-Yor process with theta and the discount sampled."""
    grids = [gamma_grid(2, 1.5, 400, low=-7, high=3.2), beta_grid(1.5, 2, 400, low=-10, high=10)]
    block = sizes_block(["theta", "discount"], grids, by_hand.pitman_yor)
    prior = kp.PitmanYor(kp.Gamma(2, 1.5), kp.Beta(1.5, 2))
    return Joint(prior, DELTA, [block, delta_block()])


def fields_joint():
    """A delta for each field, with missing values."""
    deltas = [delta_block(True, field) for field in range(3)]
    block = fixed_block(partial(by_hand.dirichlet_process, theta=0.8))
    return Joint(kp.DirichletProcess(0.8), DELTA, [block, *deltas], tied=False, missing=True)


SAMPLED = {
    "NBNB": nbnb_joint,
    "NBNB, all sampled": all_sampled_joint,
    "NBD": nbd_joint,
    "ESCNB": escnb_joint,
    "ESCD": escd_joint,
    "DirichletProcess": dirichlet_process_joint,
    "PitmanYor": pitman_yor_joint,
    "a delta for each field": fields_joint,
}
