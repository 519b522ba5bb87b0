"""Priors over partitions: Kolchin partition models and the processes they are compared with."""

from kolchin.priors.base import Prior
from kolchin.priors.dirichlet_process import DirichletProcess
from kolchin.priors.kolchin_partition import ESCD, ESCNB, NBD, NBNB, KolchinPartition
from kolchin.priors.pitman_yor import PitmanYor

__all__ = [
    "ESCD",
    "ESCNB",
    "NBD",
    "NBNB",
    "DirichletProcess",
    "KolchinPartition",
    "PitmanYor",
    "Prior",
]
