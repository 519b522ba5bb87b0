"""Small runs in shards, and engines to make them on."""

import os
import pickle
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import kolchin as kp
from kolchin.sampling.run.run_settings import check_run_settings
from kolchin.sampling.run.runner import Run
from kolchin.sampling.run.starts import STARTS
from kolchin.store import DirectoryStore

KILLED_AT = 20
"""A worker is killed when its chain has written so many objects: in the middle of a run."""

N_RECORDS = 120
SHORT = {"chains": 2, "draws": 12, "warmup": 16, "thin": 1, "seed": 5, "progress": False}


class Inline:
    """An engine of this process; all that goes in and out is pickled, as on its way elsewhere."""

    n_workers = 3

    def run(self, task, items):
        return [pickle.loads(pickle.dumps(task(pickle.loads(pickle.dumps(i))))) for i in items]

    def close(self):
        pass


def drawn(model, **changes):
    """All that was drawn, in a form that can be compared to the bit."""
    return comparable(kp.sample(model, **(SHORT | changes)))


@dataclass(frozen=True)
class Killing(DirectoryStore):
    """A directory one of whose workers is killed, once: as it reads a state, or as it writes one.

    ``marker`` names the process that was killed.
    """

    marker: Path = Path()
    moment: str = ""
    driver: int = 0

    def put(self, name, value):
        if self.moment == "writing" and self._strikes(name):
            (self.path / f".{name}.half.part").write_bytes(b"half of a state")
            os.kill(os.getpid(), signal.SIGKILL)
        super().put(name, value)

    def get(self, name):
        if self.moment == "reading" and self._strikes(name):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().get(name)

    def _strikes(self, name):
        parts = name.split("-")
        if os.getpid() == self.driver or "round" not in parts or int(parts[2]) < KILLED_AT:
            return False
        try:
            with self.marker.open("x") as file:
                file.write(str(os.getpid()))
        except FileExistsError:
            return False
        return True


def drawn_at(model, place):
    """All that was drawn at a workplace."""
    named = {name: SHORT[name] for name in ("chains", "draws", "warmup", "thin")}
    settings = check_run_settings(**named, moves=None, start=STARTS, n_compared=model.n_records)
    run = Run.begin(model, settings, SHORT["seed"], place)
    run.go_on()
    return comparable(run.posterior())


def comparable(posterior):
    """Return what was drawn in a form that can be compared to the bit."""
    chains = [tuple(array.tobytes() for array in chain[:4]) for chain in posterior.chains]
    parameters = {name: values.tobytes() for name, values in posterior.parameters.items()}
    return chains, parameters, posterior.log_joint.tobytes()


def is_alive(process):
    """Tell whether there is a process, and it is more than a name in a list."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def children(process):
    """Return the processes that a process has started, and those that they have."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            if path.read_text().rsplit(")", 1)[1].split()[1] == str(process):
                number = int(path.parent.name)
                found += [number, *children(number)]
    return found


def gone(processes, seconds=20.0):
    """Wait until processes are gone, and tell whether they are."""
    until = time.monotonic() + seconds
    while any(map(is_alive, processes)) and time.monotonic() < until:
        time.sleep(0.1)
    return not any(map(is_alive, processes))


# Workers import what they are asked to do: it cannot stand in a test.


def end_oneself(_):
    os.kill(os.getpid(), signal.SIGKILL)


def own_number(_):
    return os.getpid()


def one_over(number):
    return 1 / number


def double(number):
    return 2 * number
