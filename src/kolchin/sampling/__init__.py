"""Samplers: chaperones moves on weighted pairs, and plain reseating as their slow truth."""

from kolchin.sampling.reseating import reseat
from kolchin.sampling.run.progress import Progress
from kolchin.sampling.run.runner import sample

__all__ = ["Progress", "reseat", "sample"]
