"""What comparing a table gave, kept beside its draws: a run that is read need not compare again.

Whoever looks at a run, adds records to it or lets answers count needs its model. It is made of
``compared.npz`` where that is there and of this version, else of the records, which takes longer
and gives the same.
"""

from pathlib import Path

import numpy as np

from kolchin.comparison import plain_arrays as comparisons_kept
from kolchin.files import replace_whole
from kolchin.likelihoods import Exemplar, Likelihood
from kolchin.likelihoods import plain_exemplar as likelihood_kept
from kolchin.records import Compared, Records
from kolchin.resolution.tables.input_table import UNREADABLE

FILE = "compared.npz"


def write_likelihood(folder: Path, likelihood: Likelihood) -> None:
    """Write what was learned from comparing records, if they were compared."""
    if likelihood.comparisons is None or not isinstance(likelihood, Exemplar):
        return
    arrays = likelihood_kept.flatten_exemplar(likelihood)
    arrays |= comparisons_kept.arrays_of(likelihood.comparisons)
    version = np.frombuffer(_version().encode(), dtype=np.uint8)
    with replace_whole(folder / FILE) as part, part.open("wb") as file:
        np.savez(file, allow_pickle=False, version=version, **arrays)


def read_likelihood(folder: Path, records: Records) -> Exemplar | None:
    """Return what was kept of these records; None where it is not there, or of another version."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
            if bytes(data["version"]).decode() != _version():
                return None
            arrays = {name: data[name] for name in data.files}
        fields = [field for field in records.as_compared().fields if isinstance(field, Compared)]
        found = comparisons_kept.comparisons_of(arrays, fields)
        return likelihood_kept.rebuild_exemplar(arrays, found)
    except (*UNREADABLE, TypeError):
        return None  # what is damaged is made again


def _version() -> str:
    from kolchin import __version__

    return __version__
