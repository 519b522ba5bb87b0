"""Draws of partitions, and what they say: links, a point estimate, diagnostics."""

from kolchin.posterior.draws import Draw, Posterior
from kolchin.posterior.recorder import Recorder, Snapshot

__all__ = ["Draw", "Posterior", "Recorder", "Snapshot"]
