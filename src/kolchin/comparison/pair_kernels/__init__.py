"""Compiled code of pairs of records: arrays in, arrays out, nothing else."""
