"""What `python benchmarks all` runs: each measurement with its command and the page it is on."""

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Part(NamedTuple):
    """A measurement: its command, and about how many minutes it takes on two idle cores.

    A command with ``writes_page`` writes its whole page (`--out docs`); what others print is put
    between the marks of their name on a page. Of those ``by_hand`` only a sentence of the page is
    made; somebody has to write it.
    """

    name: str
    page: str
    minutes: int
    words: tuple[str, ...]
    writes_page: bool = False
    by_hand: bool = False
    keeps: bool = False  # numbers in a file (--json), so that it goes on where it was stopped
    needs: tuple[str, ...] = ()  # data, splink, beside

    @property
    def file(self) -> Path:
        """The page's file."""
        return ROOT / "docs" / self.page

    @property
    def command(self) -> str:
        """The command as a page shows it."""
        out = ("--out", "docs") if self.writes_page else ()
        return " ".join(["python", f"benchmarks/{self.words[0]}", *self.words[1:], *out])


PARTS = (
    Part("efficiency", "benchmarks.md", 5, ("efficiency.py", "--draws", "600")),
    Part("moves", "benchmarks.md", 2, ("moves.py", "--out", "docs")),
    Part("footprint", "benchmarks.md", 3, ("footprint.py",)),
    Part("results", "benchmarks.md", 2, ("results.py",)),
    Part("simulating", "benchmarks.md", 2, ("simulating.py",)),
    Part("rounds", "benchmarks.md", 2, ("rounds.py", "--n", "10000")),
    Part("comparing", "benchmarks.md", 3, ("comparing.py",)),
    Part("phases", "benchmarks.md", 5, ("phases.py", "--records", "10000", "100000", "1000000")),
    Part("calibration", "calibration.md", 5, ("calibration.py", "--replicates", "50"), True),
    Part("answers", "how-to/review.md", 5, ("answers.py",), by_hand=True),
    Part("audits", "how-to/review.md", 5, ("audits.py",), by_hand=True),
    Part(
        "updating",
        "how-to/schedule.md",
        3,
        ("updating.py", "--records", "3000", "--new", "150", "--chains", "2", "--draws", "50"),
        by_hand=True,
    ),
    Part("accuracy", "accuracy.md", 30, ("accuracy",), True, needs=("data", "splink")),
    Part("convergence", "convergence.md", 75, ("convergence",), True, keeps=True, needs=("data",)),
    Part("coverage", "coverage.md", 150, ("coverage", "--seed", "1"), True, keeps=True),
    Part(
        "scale",
        "scale.md",
        60,
        ("scale", "--sizes", "10000,100000,1000000", "--seed", "1"),
        True,
        keeps=True,
        needs=("splink",),
    ),
    Part(
        "workers",
        "large.md",
        45,
        ("workers.py", "--n", "10000000", "--chains", "2", "--draws", "5"),
        by_hand=True,
    ),
)
"""In order: what is short comes first, so that a fault is seen early."""
