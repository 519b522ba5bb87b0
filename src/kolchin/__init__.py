"""Bayesian entity resolution: who is who in a table, and how sure that is.

>>> import kolchin as kp
>>> records = kp.Records.from_codes([[0, 0], [0, 0], [1, 1], [2, 1]])
>>> posterior = kp.sample(kp.Model(records), chains=2, draws=50, seed=1, progress=False)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kolchin.errors import (
        DataError,
        KolchinError,
        MissingExtraError,
        ModelError,
        SamplerError,
    )
    from kolchin.evaluation import Evaluation, evaluate
    from kolchin.likelihoods import compare
    from kolchin.model import Model
    from kolchin.parameters import Beta, Gamma
    from kolchin.posterior import Posterior
    from kolchin.priors import (
        ESCD,
        ESCNB,
        NBD,
        NBNB,
        DirichletProcess,
        KolchinPartition,
        PitmanYor,
    )
    from kolchin.records import (
        Categorical,
        Code,
        Date,
        Email,
        Name,
        Number,
        Phone,
        Records,
        Text,
        Words,
    )
    from kolchin.resolution import Result, diff, resolve, resume
    from kolchin.sampling import sample
    from kolchin.simulation import simulate

    __version__: str

_HOMES = {
    "kolchin.errors": (
        "DataError",
        "KolchinError",
        "MissingExtraError",
        "ModelError",
        "SamplerError",
    ),
    "kolchin.evaluation": ("Evaluation", "evaluate"),
    "kolchin.likelihoods": ("compare",),
    "kolchin.model": ("Model",),
    "kolchin.parameters": ("Beta", "Gamma"),
    "kolchin.posterior": ("Posterior",),
    "kolchin.priors": (
        "ESCD",
        "ESCNB",
        "NBD",
        "NBNB",
        "DirichletProcess",
        "KolchinPartition",
        "PitmanYor",
    ),
    "kolchin.records": (
        "Categorical",
        "Code",
        "Date",
        "Email",
        "Name",
        "Number",
        "Phone",
        "Records",
        "Text",
        "Words",
    ),
    "kolchin.resolution": ("Result", "diff", "resolve", "resume"),
    "kolchin.sampling": ("sample",),
    "kolchin.simulation": ("simulate",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "ESCD",
    "ESCNB",
    "NBD",
    "NBNB",
    "Beta",
    "Categorical",
    "Code",
    "DataError",
    "Date",
    "DirichletProcess",
    "Email",
    "Evaluation",
    "Gamma",
    "KolchinError",
    "KolchinPartition",
    "MissingExtraError",
    "Model",
    "ModelError",
    "Name",
    "Number",
    "Phone",
    "PitmanYor",
    "Posterior",
    "Records",
    "Result",
    "SamplerError",
    "Text",
    "Words",
    "__version__",
    "compare",
    "diff",
    "evaluate",
    "resolve",
    "resume",
    "sample",
    "simulate",
]


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that importing kolchin costs nothing."""
    if name == "__version__":
        value: Any = _installed_version()
    elif name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
    else:
        raise AttributeError(f"module 'kolchin' has no attribute {name!r}")
    globals()[name] = value
    return value


def _installed_version() -> str:
    """Return the version that the build took from the git tag."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("kolchin")
    except PackageNotFoundError:
        return "0.0"  # run from the files of a checkout that is not installed


def __dir__() -> list[str]:
    return sorted(__all__)
