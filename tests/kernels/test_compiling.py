"""What is kept of compiled code is stale as soon as a function that it calls has changed."""

import os
import re
import subprocess
import sys
from pathlib import Path

from kolchin.kernels import compiling

PACKAGE = Path(compiling.__file__).parents[1]
CALLEE = "from pack.compiling import lean\n\n\n@lean\ndef one():\n    return {value}\n"
CALLER = (
    "from pack.callee import one\nfrom pack.compiling import compiled\n\n\n"
    "@compiled\ndef two():\n    return 10 * one()\n"
)
ASK = (
    "from pack.caller import two; print(two(), sum(two.stats.cache_hits.values()), "
    "sum(two.stats.cache_misses.values()))"
)


def answer(folder: Path) -> list[int]:
    """Return what the caller says in a process of its own, and whether it was kept or compiled."""
    # Numba's own stamp of the caller must stay the same, so Python's cache is none of the test's.
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=True
    )
    return [int(word) for word in done.stdout.split()]


def test_a_changed_callee_is_noticed(tmp_path: Path) -> None:
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "compiling.py").write_bytes(Path(compiling.__file__).read_bytes())
    (package / "callee.py").write_text(CALLEE.format(value=1))
    (package / "caller.py").write_text(CALLER)
    assert answer(tmp_path) == [10, 0, 1]
    assert answer(tmp_path) == [10, 1, 0]
    (package / "callee.py").write_text(CALLEE.format(value=2))
    assert answer(tmp_path) == [20, 0, 1]
    assert answer(tmp_path) == [20, 1, 0]


NAMED = (
    "from typing import NamedTuple\nfrom pack.compiling import compiled\n\n\n"
    "class {name}(NamedTuple):\n    value: float\n\n\n"
    "@compiled\ndef three(given):\n    return given.value\n\n\n"
    "def two():\n    return int(three({name}({value})))\n\n\ntwo.stats = three.stats\n"
)


def test_types_that_are_there_no_more_are_no_fault(tmp_path: Path) -> None:
    """What another release has kept in the same place speaks of types that this one has not."""
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "compiling.py").write_bytes(Path(compiling.__file__).read_bytes())
    (package / "caller.py").write_text(NAMED.format(name="Given", value=1))
    assert answer(tmp_path) == [1, 0, 1]
    assert answer(tmp_path) == [1, 1, 0]
    (package / "caller.py").write_text(NAMED.format(name="Other", value=2))
    assert answer(tmp_path) == [2, 0, 1]
    assert answer(tmp_path) == [2, 1, 0]


def test_other_rooms_call_each_others_files(tmp_path: Path) -> None:
    package, room = tmp_path / "pack", tmp_path / "room"
    for folder in (package, room):
        folder.mkdir()
        (folder / "__init__.py").touch()
    (package / "compiling.py").write_bytes(Path(compiling.__file__).read_bytes())
    (package / "caller.py").write_text("from room.caller import two\n")
    (room / "callee.py").write_text(CALLEE.format(value=1))
    (room / "caller.py").write_text(CALLER.replace("pack.callee", "room.callee"))
    assert answer(tmp_path) == [10, 0, 1]
    assert answer(tmp_path) == [10, 1, 0]
    (room / "callee.py").write_text(CALLEE.format(value=2))
    assert answer(tmp_path) == [20, 0, 1]


def test_numba_alone_does_not_notice(tmp_path: Path) -> None:
    """Else there would be no need of a stamp."""
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").touch()
    plain = "from numba import njit\ncompiled = lean = njit(cache=True)\n"
    (package / "compiling.py").write_text(plain)
    (package / "callee.py").write_text(CALLEE.format(value=1))
    (package / "caller.py").write_text(CALLER)
    assert answer(tmp_path) == [10, 0, 1]
    (package / "callee.py").write_text(CALLEE.format(value=2))
    assert answer(tmp_path) == [10, 1, 0]


def strays(path: Path, text: str) -> list[str]:
    """Return what a file of compiled code imports and whose changes would not be noticed."""
    room = ".".join(("kolchin", *path.relative_to(PACKAGE).parent.parts))
    imported = re.findall(r"^from (kolchin[\w.]*) import", text, re.M)
    return [name for name in imported if name.rpartition(".")[0] not in (room, "kolchin.kernels")]


def test_all_that_is_compiled_is_stamped() -> None:
    """Compiled functions call those of their folder and of the kernels alone."""
    texts = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    own = [path.name for path, text in texts.items() if "import njit" in text]
    assert own == ["compiling.py"]
    files = [path for path, text in texts.items() if "compiling import" in text]
    stray = {path.name: strays(path, texts[path]) for path in files}
    assert {name: modules for name, modules in stray.items() if modules} == {}
    assert len(files) > 30
    wrong = "from kolchin.threads import call_over_ranges\n"
    assert strays(PACKAGE / "kernels" / "rings.py", wrong) == ["kolchin.threads"]
