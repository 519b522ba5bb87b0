"""Compiled code of what pairs say: arrays in, arrays out, nothing else."""
