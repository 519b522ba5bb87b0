"""The exceptions that kolchin raises.

::

    KolchinError
    ├── DataError       a fault in a table, a file or a column
    ├── ModelError      a prior, a field or a parameter that cannot be
    ├── SamplerError    a run that could not go on
    └── MissingExtraError   an optional package that is not installed
"""

import re

ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:/{1,2}[^/].*")
CREDENTIALS = re.compile(r"(:/{1,2}).*@")
"""What stands before the host of an address: a name, and perhaps a password."""

SETTING = re.compile(r"(\w*pass\w*|pwd)(\s*=\s*)('[^']*'?|[^\s;&]+)", re.IGNORECASE)
"""A password among the settings of a connection, as in 'host=db password=secret'."""


def hide_credentials(given: str) -> str:
    """Return what was given as a file or an address as messages may tell it.

    >>> hide_credentials("mysql://ann:secret@host/crm")
    'mysql://***@host/crm'
    >>> hide_credentials("host=db user=ann password='se cret' dbname=crm")
    'host=db user=ann password=*** dbname=crm'
    >>> hide_credentials("/home/ann@host/people.csv")
    '/home/ann@host/people.csv'
    """
    told = CREDENTIALS.sub(r"\1***@", given) if ADDRESS.fullmatch(given) else given
    return SETTING.sub(r"\1\2***", told)


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
