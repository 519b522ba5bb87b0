"""Accuracy and calibration of kolchin beside Splink: `python benchmarks/accuracy`."""
