"""Draws of partitions, and what they say: links, a point estimate, diagnostics."""

from kolchin.posterior.draws import Draw, Posterior

__all__ = ["Draw", "Posterior"]
