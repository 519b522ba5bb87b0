"""Likelihoods: how the records of one entity resemble each other."""

from kolchin.likelihoods.base import FIELD_PARAMETERS, Likelihood
from kolchin.likelihoods.categorical import DirichletCategorical
from kolchin.likelihoods.comparing import compare, compare_records
from kolchin.likelihoods.exemplar import Exemplar
from kolchin.likelihoods.outcomes import Outcomes
from kolchin.likelihoods.product import IndependentFields

__all__ = [
    "FIELD_PARAMETERS",
    "DirichletCategorical",
    "Exemplar",
    "IndependentFields",
    "Likelihood",
    "Outcomes",
    "compare",
    "compare_records",
]
