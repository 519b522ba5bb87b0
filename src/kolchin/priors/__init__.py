"""Priors over partitions: Kolchin partition models and the processes they are compared with."""

from kolchin.priors.base import Prior
from kolchin.priors.dirichlet_process import DirichletProcess
from kolchin.priors.kolchin_partition import ESCD, ESCNB, NBD, NBNB, KolchinPartition
from kolchin.priors.pitman_yor import PitmanYor

PRIORS: dict[str, type[Prior]] = {
    "nbd": NBD,
    "nbnb": NBNB,
    "dp": DirichletProcess,
    "pyp": PitmanYor,
    "escnb": ESCNB,
    "escd": ESCD,
}
"""Priors by the names that commands and the files of a run know them by: a line a prior."""

__all__ = [
    "ESCD",
    "ESCNB",
    "NBD",
    "NBNB",
    "PRIORS",
    "DirichletProcess",
    "KolchinPartition",
    "PitmanYor",
    "Prior",
]
