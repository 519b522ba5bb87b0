"""Moves of a chain, one a file: each keeps the posterior of the problem.

A move is a named tuple of what it needs beside the state, such as the pairs that were learned for
it, and has one method, ``step(rng, problem, state)``, which returns the next state. So a schedule
of moves (``sampling.schedule``) is data.
"""
