"""Compiled code of comparing texts: arrays in, arrays out, nothing else."""
