"""Likelihoods: how the records of one entity resemble each other."""

from kolchin.likelihoods.categorical import DirichletCategorical
from kolchin.likelihoods.exemplar import Exemplar, Outcomes

__all__ = ["DirichletCategorical", "Exemplar", "Outcomes"]
