"""The priors and records that the exact tests run on, with their probabilities by formula."""

import enumeration as by_hand
import numpy as np
from enumeration import sizes_of_all

import kolchin as kp
from kolchin.records import Records

FREQUENCIES = [[0.7, 0.3], [0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1]]
CODES = np.array(
    [[0, 0, 1], [0, 0, 1], [0, 1, 1], [1, 1, 0], [0, 1, 2], [0, 0, 3], [1, 2, 0]], dtype=np.int32
)
MISSING = [(0, 2), (2, 0), (3, 1), (4, 0), (4, 2), (5, 1), (1, 0)]
MU = np.array([0.3, 0.2, 0.16, 0.12, 0.1, 0.07, 0.03, 0.02])
KAPPA = np.array([0.1, 0.3, 0.05, 0.25, 0.1, 0.15, 0.05])
SHORT_MU = np.array([0.3, 0.3, 0.2, 0.2])


def codes(missing, n_records=6):
    """Records of three fields, with or without missing values."""
    result = CODES.copy()
    if missing:
        for n, f in MISSING:
            result[n, f] = -1
    return result[:n_records]


def table(list_of, k):
    """An entry of a list of probabilities of 1, 2, ..., 0 beyond its end."""
    return list_of[k - 1] if k <= len(list_of) else 0.0


FIXED = {
    "NBNB": (
        lambda: kp.NBNB(a=1.5, q=0.6, r=2.5, p=0.5),
        lambda sizes: by_hand.nbnb(sizes, 1.5, 0.6, 2.5, 0.5),
    ),
    "NBD": (
        lambda: kp.NBD(a=1.0, q=0.55),
        lambda sizes: by_hand.kolchin(
            sizes, lambda k: by_hand.negative_binomial(k, 1.0, 0.55), lambda m: MU[m - 1]
        ),
    ),
    "DirichletProcess": (
        lambda: kp.DirichletProcess(0.8),
        lambda sizes: by_hand.dirichlet_process(sizes, 0.8),
    ),
    "PitmanYor": (
        lambda: kp.PitmanYor(0.5, 0.3),
        lambda sizes: by_hand.pitman_yor(sizes, 0.5, 0.3),
    ),
    "ESCNB": (
        lambda: kp.ESCNB(r=1.8, p=0.6),
        lambda sizes: by_hand.escnb(sizes, 1.8, 0.6),
    ),
    "ESCD": (
        lambda: kp.ESCD(alpha=1.0, r=1.8, p=0.6),
        lambda sizes: by_hand.kolchin(sizes, lambda k: 1.0, lambda m: MU[m - 1]),
    ),
    "KolchinPartition": (
        lambda: kp.KolchinPartition(kappa=KAPPA, mu=SHORT_MU),
        lambda sizes: by_hand.kolchin(sizes, lambda k: KAPPA[k - 1], lambda m: table(SHORT_MU, m)),
    ),
}


def log_of_all(probability, n_records):
    """Log prior probability of every partition, 0 becoming minus infinity."""
    with np.errstate(divide="ignore"):
        return np.log([probability(sizes) for sizes in sizes_of_all(n_records)])


def problem(name, missing, n_records=6, delta=0.6):
    """Return a model, the log joint probability of every partition, and mu where it is fixed.

    Where mu is given to ``log_joint``, its own prior density is the same for all partitions; it
    is added here by its formula.
    """
    make, probability = FIXED[name]
    data = codes(missing, n_records)
    model = kp.Model(Records.from_codes(data, FREQUENCIES), make(), delta=delta)
    log_joint = log_of_all(probability, n_records)
    log_joint = log_joint + by_hand.log_evidence_of_all(data, FREQUENCIES, delta).sum(axis=1)
    if name not in ("NBD", "ESCD"):
        return model, log_joint, {}
    base = [
        0.5**m if name == "NBD" else by_hand.negative_binomial(m, 1.8, 0.6) for m in range(1, 8)
    ]
    shape = np.append(base, 1 - sum(base))
    log_joint = log_joint + by_hand.stats.dirichlet(shape).logpdf(MU / MU.sum())
    return model, log_joint, {"mu": MU[:-1]}
