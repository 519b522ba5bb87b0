"""The exceptions that kolchin raises.

::

    KolchinError
    ├── DataError       a fault in a table, a file or a column
    ├── ModelError      a prior, a field or a parameter that cannot be
    ├── SamplerError    a run that could not go on
    └── MissingExtraError   an optional package that is not installed
"""


class KolchinError(Exception):
    """Base of every error that kolchin raises on purpose."""


class DataError(KolchinError, ValueError):
    """A table, file or column cannot be used; the message lists every fault found."""


class ModelError(KolchinError, ValueError):
    """A prior, field or parameter is out of its range or does not fit the records."""


class SamplerError(KolchinError, RuntimeError):
    """Sampling could not go on; the message says what was kept."""


class MissingExtraError(KolchinError, ImportError):
    """An optional package is needed; the message says how to install it."""
