"""Samplers: chaperones moves on weighted pairs, and plain reseating as their slow truth."""

from kolchin.sampling.progress import Progress
from kolchin.sampling.reseating import reseat
from kolchin.sampling.runner import sample

__all__ = ["Progress", "reseat", "sample"]
