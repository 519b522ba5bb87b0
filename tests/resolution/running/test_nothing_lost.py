"""Stopped at any moment, a run goes on; the finished one is equal to the bit."""

import contextlib
import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
import zipfile
from itertools import chain, islice
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kolchin as kp
from kolchin.resolution.running import directory
from kolchin.resolution.running.session import is_finished

COLUMNS = {"id": "rec_id", "truth": "ent_id"}
SHORT = {"chains": 2, "draws": 30, "seed": 3}


class Killed(BaseException):
    """Stands for kill -9 where that must not end the test itself."""


@pytest.fixture(autouse=True)
def _save_always(monkeypatch):
    """Save at every opportunity, in parts that a short run fills."""
    monkeypatch.setattr(directory, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(directory, "LARGEST_SHARE", 1e9)
    monkeypatch.setattr(directory, "DRAWS_A_PART", 8)


@pytest.fixture(scope="module")
def whole(people, tmp_path_factory):
    """A run that nothing happened to."""
    from kolchin.sampling.run import run_settings

    folder = tmp_path_factory.mktemp("whole")
    people.write_csv(folder / "people.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_settings, "FEWEST_WARMUP_STEPS", 60)
        patch.setattr(directory, "DRAWS_A_PART", 8)
        kp.resolve(folder / "people.csv", out=folder / "run", **COLUMNS, **SHORT)
    return folder / "run"


def content(out: Path, shown_before: bool = False) -> dict[str, object]:
    """Return every file that must be equal to the bit, and the summary without its timing.

    Entities of a list that was shown before keep their numbers: then they are numbered anew.
    """
    names = ["entities.csv", "links.csv", *sorted(p.name for p in out.glob("posterior/draws-*"))]
    files: dict[str, object] = {
        name: (out / (f"posterior/{name}" if "draws" in name else name)).read_bytes()
        for name in names
    }
    summary = json.loads((out / "summary.json").read_text())
    del summary["seconds"]
    if shown_before:
        entities = pl.read_csv(out / "entities.csv")
        first = entities["entity"].unique(maintain_order=True)
        anew = entities.with_columns(pl.col("entity").replace_strict(first, range(first.len())))
        files["entities.csv"] = anew.rows()
    return files | {"summary": summary}


def die_at(monkeypatch, number, after):
    """Raise at one of the moments when a file takes its place: just before, or just after."""
    replace = Path.replace
    count = iter(range(10_000))

    def dying(self, target):
        k = next(count)
        if k == number and not after:
            raise Killed
        done = replace(self, target)
        if k == number:
            raise Killed
        return done

    monkeypatch.setattr(Path, "replace", dying)


class TestKilledAtAnyWrite:
    @pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
    @pytest.mark.parametrize("number", [5, 6, 7, 9, 12, 16, 21])
    def test_resumed_it_is_as_if_nothing_had_happened(
        self, whole, table, tmp_path, monkeypatch, number, after
    ):
        out = tmp_path / "run"
        with monkeypatch.context() as patch:
            die_at(patch, number, after)
            with contextlib.suppress(Killed):
                kp.resolve(table, out=out, **COLUMNS, **SHORT)
        kp.resume(out)
        assert content(out) == content(whole)
        assert not list(out.rglob("*.part"))

    def test_killed_again_and_again(self, whole, table, tmp_path, monkeypatch):
        out = tmp_path / "run"
        deaths = 0
        with monkeypatch.context() as patch:
            die_at(patch, 6, True)
            with pytest.raises(Killed):
                kp.resolve(table, out=out, **COLUMNS, **SHORT)
        while not is_finished(out):
            with monkeypatch.context() as patch:
                # A little later each time: results are written whole, one file after another.
                die_at(patch, 2 + deaths // 4, deaths % 2 == 0)
                try:
                    kp.resume(out)
                except Killed:
                    deaths += 1
        assert deaths > 3
        assert content(out) == content(whole)

    def test_killed_before_the_run_is_written_it_can_begin_again(
        self, whole, table, tmp_path, monkeypatch
    ):
        out = tmp_path / "run"
        with monkeypatch.context() as patch:
            die_at(patch, 3, True)
            with pytest.raises(Killed):
                kp.resolve(table, out=out, **COLUMNS, **SHORT)
        with pytest.raises(kp.DataError, match="no run in"):
            kp.resume(out)
        kp.resolve(table, out=out, **COLUMNS, **SHORT)
        assert content(out) == content(whole)


SCRIPT = """
import sys
from kolchin.resolution.running import directory
from kolchin.sampling.run import run_settings
from kolchin.sampling.run import chain
directory.SECONDS_BETWEEN, directory.LARGEST_SHARE, directory.DRAWS_A_PART = 0.0, 1e9, 8
run_settings.FEWEST_WARMUP_STEPS = 60
chain.SECONDS_BETWEEN_LOOKS = 0.02
from kolchin.cli import main
sys.argv = ["kolchin", *sys.argv[1:]]
main()
"""


def start(*arguments):
    source = str(Path(kp.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": source},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(path: Path, process, seconds=120):
    until = time.monotonic() + seconds
    while not path.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.005)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals between processes")
class TestSignals:
    def killed_then_resumed(self, table, out, seed, kills):
        wait = random.Random(seed)
        options = ("--id", "rec_id", "--truth", "ent_id", "--chains", 2, "--draws", 30, "--seed", 3)
        process = start("resolve", table, "--out", out, *options)
        for _ in range(kills):
            wait_for(out / "posterior" / "state.npz", process)
            time.sleep(wait.uniform(0, 0.4))
            process.kill()
            process.communicate()
            process = start("resume", out)
        told = process.communicate(timeout=120)[1]
        assert process.returncode == 0, told

    def test_kill_9(self, whole, table, tmp_path):
        self.killed_then_resumed(table, tmp_path / "run", 1, kills=2)
        assert content(tmp_path / "run") == content(whole)

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", range(2, 12))
    def test_kill_9_at_many_moments(self, whole, table, tmp_path, seed):
        self.killed_then_resumed(table, tmp_path / "run", seed, kills=3)
        assert content(tmp_path / "run") == content(whole)

    def test_ctrl_c_makes_results_of_what_was_drawn(self, table, tmp_path, monkeypatch):
        out = tmp_path / "run"
        module = "from kolchin.resolution.running import session"
        never = f"{module}\nsession.is_enough = lambda posterior: False"
        monkeypatch.setitem(globals(), "SCRIPT", f"{never}\n{SCRIPT}")
        process = start("resolve", table, "--out", out, "--id", "rec_id", "--chains", 2)
        wait_for(out / "posterior" / "draws-00000.npz", process)
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=120)[1]
        assert process.returncode == 130, told
        assert f"'kolchin resume {out}' goes on" in told
        assert "Traceback" not in told
        summary = json.loads((out / "summary.json").read_text())
        assert summary["ended"] == "interrupted"
        assert summary["draws"] >= 8
        assert pl.read_csv(out / "entities.csv").height == 60

    def test_ctrl_c_in_warm_up_says_how_to_go_on(self, table, tmp_path, monkeypatch):
        out = tmp_path / "run"
        script = SCRIPT.replace("STEPS = 60", "STEPS = 1000000")
        monkeypatch.setitem(globals(), "SCRIPT", script)
        process = start("resolve", table, "--out", out, "--id", "rec_id", "--chains", 2)
        wait_for(out / "posterior" / "state.npz", process)
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=120)[1]
        assert process.returncode == 130, told
        assert f"before the first draw. The chains are kept: 'kolchin resume {out}' goes" in told
        assert "results are made" not in told  # there are none
        assert "Traceback" not in told


class TestEndings:
    def test_enough_by_the_diagnostics(self, people, monkeypatch):
        looks = []

        def enough(posterior):
            looks.append(posterior.n_draws)
            return posterior.n_draws > 20

        monkeypatch.setattr("kolchin.resolution.running.session.is_enough", enough)
        monkeypatch.setattr("kolchin.resolution.running.settings.FIRST_LOOK", 10)
        result = kp.resolve(people, **COLUMNS, chains=2, seed=3)
        assert looks == [10, 15, 23]
        assert (result.ended, result.posterior.n_draws) == ("enough", 23)

    def test_resumed_looks_are_the_same(self, table, tmp_path, monkeypatch):
        monkeypatch.setattr(
            "kolchin.resolution.running.session.is_enough", lambda p: p.n_draws > 20
        )
        monkeypatch.setattr("kolchin.resolution.running.settings.FIRST_LOOK", 10)
        kp.resolve(table, out=tmp_path / "whole", chains=2, seed=3, **COLUMNS)
        with monkeypatch.context() as patch:
            die_at(patch, 14, True)
            with pytest.raises(Killed):
                kp.resolve(table, out=tmp_path / "run", chains=2, seed=3, **COLUMNS)
        kp.resume(tmp_path / "run")
        assert content(tmp_path / "run") == content(tmp_path / "whole")

    def test_a_time_limit_keeps_what_was_drawn_and_resume_goes_on(self, whole, table, tmp_path):
        out = tmp_path / "run"
        drawn = []
        stop = time.monotonic

        def watch(state):
            drawn.append(state.n_clusters.shape[1])

        # The clock is not the test's: the limit strikes once there are some draws.
        with pytest.MonkeyPatch.context() as patch:
            late = lambda: stop() + (1e6 if drawn and drawn[-1] >= 3 else 0)  # noqa: E731
            patch.setattr("kolchin.resolution.running.session.time.monotonic", late)
            result = kp.resolve(table, out=out, **COLUMNS, **SHORT, time_limit=1000, progress=watch)
        assert result.ended == "time"
        assert 3 <= result.posterior.n_draws < 30
        assert json.loads((out / "summary.json").read_text())["ended"] == "time"
        assert not is_finished(out)
        assert kp.resume(out).ended == "draws"
        assert content(out, shown_before=True) == content(whole, shown_before=True)

    def test_a_time_limit_in_warm_up_changes_nothing_for_who_goes_on(self, whole, table, tmp_path):
        result = kp.resolve(table, out=tmp_path / "run", **COLUMNS, **SHORT, time_limit=1e-9)
        assert result.ended == "warm-up"
        resumed = kp.resume(tmp_path / "run")
        assert not any("provisional" in said for said in resumed.summary()["cautions"])
        found = content(tmp_path / "run", shown_before=True)
        assert found == content(whole, shown_before=True)

    def test_more_draws_follow_those_that_are_there(self, whole, table, tmp_path):
        out = tmp_path / "run"
        kp.resolve(table, out=out, **COLUMNS, **SHORT | {"draws": 11})
        assert is_finished(out)
        assert is_finished(out, draws=11)
        assert not is_finished(out, draws=30)
        before = kp.Result.load(out).posterior
        result = kp.resume(out, draws=30)
        assert result.posterior.n_draws == 30
        assert np.array_equal(result.posterior.labels[:, :11], before.labels)
        assert np.array_equal(result.posterior.labels, kp.Result.load(whole).posterior.labels)
        assert is_finished(out)

    def test_a_prior_with_parameters_is_resumed(self, table, tmp_path, monkeypatch):
        prior = kp.NBNB(r=kp.Gamma(2, 1), p=0.3)
        options = {**COLUMNS, **SHORT, "prior": prior, "delta": kp.Beta(1, 9), "tied": False}
        kp.resolve(table, out=tmp_path / "whole", **options)
        with monkeypatch.context() as patch:
            die_at(patch, 14, True)
            with pytest.raises(Killed):
                kp.resolve(table, out=tmp_path / "run", **options)
        kp.resume(tmp_path / "run")
        assert content(tmp_path / "run") == content(tmp_path / "whole")

    def test_a_prior_that_cannot_be_written_down_is_refused(self, table, tmp_path):
        with pytest.raises(kp.ModelError, match="use it without a directory"):
            kp.resolve(table, out=tmp_path / "run", prior=kp.KolchinPartition())
        assert not (tmp_path / "run").exists()


class TestFaults:
    def fill_disk(self, monkeypatch, number):
        savez, write = np.savez, directory.write_arrays
        count = iter(range(10_000))

        def no_space():
            raise OSError(errno.ENOSPC, "No space left on device")
            yield

        def full(file, **arrays):
            if next(count) >= number:
                file.write(b"half of it")
                next(no_space())
            savez(file, **arrays)

        def full_within_a_state(path, arrays):
            if next(count) >= number:
                arrays = chain(islice(arrays, 5), no_space())
            write(path, arrays)

        monkeypatch.setattr(np, "savez", full)
        monkeypatch.setattr(directory, "write_arrays", full_within_a_state)

    @pytest.mark.parametrize("number", [0, 3, 20])
    def test_a_disk_that_is_full_within_a_part(self, whole, table, tmp_path, monkeypatch, number):
        out = tmp_path / "run"
        write, count = zipfile.ZipFile.writestr, iter(range(10_000))

        def full(archive, *given, **options):
            if next(count) >= number:
                raise OSError(errno.ENOSPC, "No space left on device")
            write(archive, *given, **options)

        with monkeypatch.context() as patch:
            patch.setattr(zipfile.ZipFile, "writestr", full)
            with pytest.raises(kp.SamplerError, match="No space left on device"):
                kp.resolve(table, out=out, **COLUMNS, **SHORT)
        assert not list(out.rglob("*.part"))
        kp.resume(out)
        assert content(out) == content(whole)

    @pytest.mark.parametrize("number", [1, 4])
    def test_a_full_disk(self, whole, table, tmp_path, monkeypatch, number):
        out = tmp_path / "run"
        with monkeypatch.context() as patch:
            self.fill_disk(patch, number)
            with pytest.raises(kp.SamplerError) as caught:
                kp.resolve(table, out=out, **COLUMNS, **SHORT)
        assert "No space left on device" in str(caught.value)
        assert f"kolchin.resume({str(out)!r}) goes on" in str(caught.value)
        assert not list(out.rglob("*.part"))
        kp.resume(out)
        assert content(out) == content(whole)

    def test_a_disk_that_is_full_from_the_start(self, table, tmp_path, monkeypatch):
        self.fill_disk(monkeypatch, 0)
        with pytest.raises(kp.SamplerError, match="Nothing was begun"):
            kp.resolve(table, out=tmp_path / "run", **COLUMNS, **SHORT)

    def test_a_place_that_is_no_directory_is_a_fault_of_the_command(self, table, tmp_path):
        (tmp_path / "file").write_text("x")
        with pytest.raises(kp.DataError, match="file is a file"):
            kp.resolve(table, out=tmp_path / "file" / "run", **COLUMNS, **SHORT)

    @pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="may write everywhere")
    def test_a_directory_that_may_not_be_changed_is_told_first(self, table, tmp_path):
        (tmp_path / "kept").mkdir(mode=0o500)
        with pytest.raises(kp.DataError, match="may not be changed"):
            kp.resolve(table, out=tmp_path / "kept" / "run", **COLUMNS, **SHORT)

    def stopped(self, table, out):
        kp.resolve(table, out=out, **COLUMNS, **SHORT, time_limit=1e-9)
        return {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}

    def unchanged(self, files):
        assert all(path.read_bytes() == content for path, content in files.items())

    def test_a_changed_input(self, table, tmp_path):
        out = tmp_path / "run"
        files = self.stopped(table, out)
        table.write_text(table.read_text() + "99,99,1,1,1,1\n")
        with pytest.raises(kp.DataError, match=r"people.csv has changed since the run began"):
            kp.resume(out)
        self.unchanged(files)

    def test_a_changed_folder(self, people, tmp_path):
        folder, out = tmp_path / "people", tmp_path / "run"
        folder.mkdir()
        people[:20].write_parquet(folder / "a.parquet")
        people[20:].write_parquet(folder / "b.parquet")
        files = self.stopped(folder, out)
        (folder / "b.parquet").rename(folder / "0.parquet")
        with pytest.raises(kp.DataError, match=r"^people has changed since the run began"):
            kp.resume(out)
        self.unchanged(files)
        (folder / "0.parquet").rename(folder / "b.parquet")
        assert kp.resume(out).entities["record"].equals(people["rec_id"].alias("record"))

    def test_an_input_that_cannot_be_read(self, table, tmp_path):
        out = tmp_path / "run"
        files = self.stopped(table, out)
        table.write_text("")
        with pytest.raises(kp.DataError, match=r"people.csv"):
            kp.resume(out)
        self.unchanged(files)

    def test_an_input_that_is_gone_is_not_needed(self, whole, table, tmp_path):
        self.stopped(table, tmp_path / "run")
        table.unlink()
        kp.resume(tmp_path / "run")
        found = content(tmp_path / "run", shown_before=True)
        assert found == content(whole, shown_before=True)

    @pytest.mark.parametrize("name", ["state.npz", "run.json", "records.npz", "values.parquet"])
    def test_a_damaged_file(self, table, tmp_path, name):
        out = tmp_path / "run"
        self.stopped(table, out)
        path = out / "posterior" / name
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        with pytest.raises(kp.DataError, match=r"cannot be read"):
            kp.resume(out)

    def test_a_damaged_part_of_the_draws(self, table, tmp_path, finished):
        out = tmp_path / "run"
        kp.resolve(table, out=out, **COLUMNS, **SHORT)
        path = out / "posterior" / "draws-00001.npz"
        path.write_bytes(path.read_bytes()[:1000])
        for work in (lambda: kp.resume(out, draws=40), lambda: kp.Result.load(out)):
            with pytest.raises(kp.DataError, match=r"draws-00001\.npz"):
                work()

    def test_an_older_run_is_not_overwritten_unasked(self, whole, table, tmp_path):
        out = tmp_path / "run"
        kp.resolve(table, out=out, **COLUMNS, **SHORT | {"seed": 4}, merged=True)
        files = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
        with pytest.raises(kp.DataError, match="holds an earlier run"):
            kp.resolve(table, out=out, **COLUMNS, **SHORT)
        with pytest.raises(kp.DataError):
            kp.resolve(tmp_path / "nothing.csv", out=out, overwrite=True)
        self.unchanged(files)
        (out / "notes.txt").write_text("mine")
        kp.resolve(table, out=out, **COLUMNS, **SHORT, overwrite=True)
        assert content(out) == content(whole)
        assert (out / "notes.txt").read_text() == "mine"
        assert not (out / "merged.csv").exists()

    def test_two_processes_do_not_share_a_directory(self, table, tmp_path):
        out = tmp_path / "run"
        self.stopped(table, out)
        with directory.RunDirectory(out).lock(), pytest.raises(kp.DataError, match="Another"):
            kp.resume(out)
        kp.resume(out)

    def test_settings_are_checked_together(self, table, tmp_path):
        with pytest.raises(kp.ModelError) as caught:
            kp.resolve(table, prior="nope", chains=0, time_limit=-1, out=tmp_path / "run")
        assert all(name in str(caught.value) for name in ("'prior'", "'chains'", "'time_limit'"))
        assert not (tmp_path / "run").exists()
