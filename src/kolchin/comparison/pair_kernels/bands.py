"""Bands of pairs, by how frequent their values are, and the evidence of levels and bands."""

from typing import Any

from kolchin.kernels.compiling import compiled


@compiled
def add_evidence(levels: Any, bands: Any, of_level: Any, of_band: Any, out: Any) -> None:
    """Add the evidence of a field: by band where values agree, none where one is missing."""
    for k in range(levels.size):
        if levels[k] == 0:
            out[k] += of_band[bands[k]]
        elif levels[k] > 0:
            out[k] += of_level[levels[k]]


@compiled
def write_bands(levels: Any, pairs: Any, codes: Any, of_form: Any, n_near: int, out: Any) -> None:
    """Write the band of the more frequent form of each pair, 0 from level ``n_near`` on."""
    for k in range(levels.size):
        out[k] = 0
        if 0 <= levels[k] < n_near:
            out[k] = max(of_form[codes[pairs[k, 0]]], of_form[codes[pairs[k, 1]]])
