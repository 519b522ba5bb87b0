"""Why sampling ended."""

from enum import StrEnum


class Ending(StrEnum):
    """Why sampling ended, as the files of a run have it."""

    NOT_YET = ""
    """It goes on, or was stopped from outside."""
    DRAWS = "draws"
    """All draws that were asked for are made."""
    ENOUGH = "enough"
    """The diagnostics say that it is enough."""
    STOPPED = "stopped"
    """Whoever called did not wait for more draws."""
    INTERRUPTED = "interrupted"
    """Somebody pressed Ctrl-C."""
    TIME = "time"
    """The time limit was reached."""
    WARM_UP = "warm-up"
    """The time limit was reached before the first draw: what there is, is provisional."""
    UPDATED = "updated"
    """Records were added given the parameters of an earlier run."""
