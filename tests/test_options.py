"""Settings are called as the user calls them: options in a shell, parameters in Python."""

import inspect
import re
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

import kolchin as kp
from kolchin.cli import app
from kolchin.options import CALLS, command, command_line, option

SOURCE = Path(kp.__file__).parent
SPOKEN_IN_SHELLS_ALONE = {"options.py", "column_renames.py"}
OTHERS = {"cli"}


def test_names_depend_on_where_the_user_is():
    assert option("safe_csv") == "safe_csv=True"
    with command_line():
        assert option("safe_csv") == "--safe-csv"
        assert option("keys") == "--key COLUMN,COLUMN"
    assert option("keys") == "keys="


def test_an_earlier_run_is_told_in_the_words_of_python_and_of_the_shell(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "summary.json").write_text("{}")
    (tmp_path / "a.csv").write_text("id,name\n1,Ann\n2,Bob\n")
    with pytest.raises(kp.DataError, match=r"overwrite=True replaces"):
        kp.resolve(tmp_path / "a.csv", out=tmp_path / "run")
    words = ["resolve", str(tmp_path / "a.csv"), "--out", str(tmp_path / "run")]
    assert "--overwrite replaces it" in CliRunner().invoke(app, words).stderr


def names_an_option(line: str) -> bool:
    """Tell whether a line of source has an option of the command line in a text."""
    return bool(re.search(r'"[^"]*(?<![\w-])--[a-z][^"]*"', line)) and "var(--" not in line


def test_no_message_of_python_has_an_option_of_the_command_line():
    found = [
        (str(path.relative_to(SOURCE)), line.strip())
        for path in sorted(SOURCE.rglob("*.py"))
        if path.name not in SPOKEN_IN_SHELLS_ALONE and OTHERS.isdisjoint(path.parts)
        for line in path.read_text().splitlines()
        if names_an_option(line)
    ]
    assert found == []
    assert names_an_option('"allow it more time (--time-limit)."')


def names_a_command(line: str) -> bool:
    """Tell whether a line of source tells a user to type a command."""
    return bool(re.search(r"'kolchin [a-z]|“kolchin [a-z]", line))


def test_no_message_of_python_has_a_command():
    found = [
        (str(path.relative_to(SOURCE)), line.strip())
        for path in sorted(SOURCE.rglob("*.py"))
        if path.name not in SPOKEN_IN_SHELLS_ALONE and OTHERS.isdisjoint(path.parts)
        for line in path.read_text().splitlines()
        if names_a_command(line) and "#" not in line
    ]
    assert found == []
    assert names_a_command("f\"'kolchin resume' goes on\"")


def test_what_python_has_for_a_command_is_there():
    called = {call.partition("(")[0] for call in CALLS.values() if "(" in call}
    for name in called:
        home, method = name.split(".")
        assert callable(getattr(kp if home == "kolchin" else kp.Result, method))
    assert "fields" in inspect.signature(kp.resolve).parameters


def test_all_threads_of_a_command_are_in_the_shell():
    told = []
    with command_line():
        thread = threading.Thread(target=lambda: told.append(command("entity")))
        thread.start()
        thread.join()
    assert told == ["'kolchin entity'"]
    assert command("entity") == "result.entity(number)"


@pytest.mark.parametrize("table", [[], [1, 2], ()])
def test_lists_that_are_no_tables_are_told_apart(table):
    with pytest.raises(kp.DataError) as told:
        kp.resolve(table)
    said = str(told.value)
    assert ("no dictionary (int)" if table else f"an empty {type(table).__name__}") in said
