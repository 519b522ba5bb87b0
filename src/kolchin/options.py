"""What a setting or command is called: ``--safe-csv`` in a shell, ``safe_csv=True`` in Python."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

FLAGS = frozenset({"merged", "one_per_source", "overwrite", "safe_csv", "append"})
COMMANDS = {"keys": "--key COLUMN,COLUMN", "rename": "--map FILE:COLUMN=NAME"}
"""Settings that the command line calls otherwise than Python does."""

CALLS = {
    "entity": "result.entity(number)",
    "explain": "result.explain(one, another)",
    "fields": "fields=",
    "resolve": "kolchin.resolve(table, out=directory)",
    "resume": "kolchin.resume(directory)",
}
"""What Python has for a command."""

_where = {"in a shell": False}
"""Where the user is: all threads of a command are in the shell, those of a server, too."""


@contextmanager
def command_line() -> Iterator[None]:
    """Call settings as the command line does, while a command runs."""
    before = _where["in a shell"]
    _where["in a shell"] = True
    try:
        yield
    finally:
        _where["in a shell"] = before


def option(name: str) -> str:
    """Return what a setting is called where the user is.

    >>> option("one_per_source"), option("time_limit")
    ('one_per_source=True', 'time_limit=')
    >>> with command_line():
    ...     option("one_per_source"), option("rename")
    ('--one-per-source', '--map FILE:COLUMN=NAME')
    """
    if _where["in a shell"]:
        return COMMANDS.get(name, f"--{name.replace('_', '-')}")
    return f"{name}=True" if name in FLAGS else f"{name}="


def command(name: str, directory: Path | None = None) -> str:
    """Return what is done where the user is, perhaps with the directory of a run.

    >>> command("entity"), command("resume", Path("run"))
    ('result.entity(number)', "kolchin.resume('run')")
    >>> with command_line():
    ...     command("entity"), command("resume", Path("run"))
    ("'kolchin entity'", "'kolchin resume run'")
    """
    if _where["in a shell"]:
        words = [name] if directory is None else [name, quote(str(directory))]
        return f"'kolchin {' '.join(words)}'"
    call = CALLS[name]
    return call if directory is None else call.replace("directory", repr(str(directory)))
