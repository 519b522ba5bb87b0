"""Realistic persons with known entities, and every kind of dependence that real tables have."""

from kolchin.simulation.people.options import COLUMNS, GAPS, TYPOS, Options, read_shares
from kolchin.simulation.people.simulating import simulate_people

__all__ = ["COLUMNS", "GAPS", "TYPOS", "Options", "read_shares", "simulate_people"]
