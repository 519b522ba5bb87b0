"""Likelihoods: how the records of one entity resemble each other."""

from kolchin.likelihoods.categorical import DirichletCategorical

__all__ = ["DirichletCategorical"]
