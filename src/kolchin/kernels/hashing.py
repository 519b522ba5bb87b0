"""Numbers by which hashes are multiplied."""

import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""Two to the 64th over the golden ratio: multiples of it are spread evenly (Knuth)."""

STIRRING = np.uint64(0xBF58476D1CE4E5B9)
"""The first multiplier of SplitMix64, which stirs the upper bits into the lower ones."""

FOLDING = np.uint64(0xD6E8FEB86659FD93)
"""Another odd multiplier: what a shift has folded together is spread again."""
