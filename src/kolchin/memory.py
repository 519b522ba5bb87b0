"""Memory that is free goes back to the system."""

import ctypes

LARGE = 1 << 18
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


def give_back_arrays() -> bool:
    """Let arrays of 256 kB and more have memory of their own, which goes back when they do.

    Unasked, the GNU C library takes those of up to 32 MB from one heap, in which what is still in
    use keeps what is free from going back: with a million records, these are most arrays. Return
    whether it could be asked.
    """
    try:
        ask = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return all(ask(option, LARGE) == 1 for option in (_TRIM_THRESHOLD, _MMAP_THRESHOLD))
