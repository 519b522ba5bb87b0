"""Time, memory and accuracy of whole runs as tables grow: `python benchmarks/scale`."""
