"""How functions are compiled, and how their machine code is kept between runs.

Three kinds: ``compiled`` functions make arrays and are called from Python; ``lean`` ones neither
make arrays nor return any, and count no references to those they are given, which halves the time
of a move; ``hot`` ones are written into their callers.

Numba keeps compiled code on disk until the file of a function changes, and does not notice that a
function which it calls has changed in another file. So what is kept is stamped with a hash of all
files of the function's own folder and of this one, and a function may call those that are there.
"""

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

Function = TypeVar("Function", bound=Callable[..., Any])

HERE = Path(__file__).parent

# Numba's option to count no references has an underscore: not public, and only for speed.
UNCOUNTED: dict[str, Any] = {"_nrt": False}


@cache
def compute_source_stamp(folder: Path) -> str:
    """Return a hash of all files of a folder and of this one."""
    files = sorted({*folder.glob("*.py"), *HERE.glob("*.py")})
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


class StampedCache(FunctionCache):
    """Compiled code on disk, which is stale as soon as any file that it may call has changed."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = compute_source_stamp(Path(function.__code__.co_filename).parent)
        self._cache_file = IndexDataCacheFile(self.cache_path, self._impl.filename_base, stamp)
        # What is of another version is never unpickled: its arguments may be of types that are
        # there no more, as when another release was installed in the same place before.
        self._cache_file._version = (self._cache_file._version, stamp)


def compile_with(**options: Any) -> Callable[[Function], Function]:
    """Return a decorator that compiles functions when they are first called, and keeps the code."""

    def decorate(function: Function) -> Function:
        dispatcher: Any = njit(nogil=True, error_model="numpy", **options)(function)
        if dispatcher is not function:  # else Numba is told to compile nothing
            dispatcher._cache = StampedCache(function)
        compiled_function: Function = dispatcher
        return compiled_function

    return decorate


compiled = compile_with()
lean = compile_with(**UNCOUNTED)
hot = compile_with(inline="always")
