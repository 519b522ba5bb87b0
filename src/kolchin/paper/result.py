"""What a reproduction hands back: the files written, notes on them and text for the terminal."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

Progress = Callable[[int, int, str], None]
"""Called with the number of parts done, the number of all parts and what is under way."""


class Renderable(Protocol):
    """Something that `rich` can print."""

    def __rich_console__(self, console: Any, options: Any) -> Any:
        """Yield what to print."""


@dataclass(frozen=True)
class Reproduction:
    """A part of the paper, run again."""

    files: Sequence[Path]
    notes: Sequence[str] = ()
    tables: Sequence[Renderable] = field(default=(), repr=False)

    def show(self) -> None:
        """Print the tables on standard output."""
        if not self.tables:
            return
        from rich.console import Console

        console = Console()
        if not console.is_terminal:
            # Piped output has no width of its own: do not fold the columns into 80 characters.
            console = Console(width=160)
        for table in self.tables:
            console.print(table)


def ignore(_done: int, _total: int, _what: str) -> None:
    """Show no progress."""
