"""What a setting is called: ``--safe-csv`` in a shell, ``safe_csv=True`` in Python."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

FLAGS = frozenset({"merged", "one_per_source", "overwrite", "safe_csv", "append"})
COMMANDS = {"keys": "--key COLUMN,COLUMN", "rename": "--map FILE:COLUMN=NAME"}
"""Settings that the command line calls otherwise than Python does."""

_in_a_shell: ContextVar[bool] = ContextVar("_in_a_shell", default=False)


@contextmanager
def command_line() -> Iterator[None]:
    """Call settings as the command line does, while a command runs."""
    token = _in_a_shell.set(True)
    try:
        yield
    finally:
        _in_a_shell.reset(token)


def option(name: str) -> str:
    """Return what a setting is called where the user is.

    >>> option("one_per_source"), option("time_limit")
    ('one_per_source=True', 'time_limit=')
    >>> with command_line():
    ...     option("one_per_source"), option("rename")
    ('--one-per-source', '--map FILE:COLUMN=NAME')
    """
    if _in_a_shell.get():
        return COMMANDS.get(name, f"--{name.replace('_', '-')}")
    return f"{name}=True" if name in FLAGS else f"{name}="
