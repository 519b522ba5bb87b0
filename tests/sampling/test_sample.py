"""What kp.sample promises: repeatable draws, an end at any moment, and clear words."""

import math
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import kolchin as kp
from kolchin.partitions import make_canonical
from kolchin.sampling.moves import chaperones
from kolchin.sampling.run import chain


def name_of(value):
    """Name a case; the names of a set in order, so that every worker finds the same tests."""
    return ", ".join(sorted(value)) or "none" if isinstance(value, set) else repr(value)


SHORT = {"chains": 3, "draws": 30, "warmup": 40, "thin": 1, "moves": 200, "progress": False}


def same_draws(left: kp.Posterior, right: kp.Posterior) -> bool:
    """Tell whether two posteriors hold the same partitions and parameters, bit by bit."""
    parameters = left.parameters.keys() == right.parameters.keys() and all(
        np.array_equal(left.parameters[name], right.parameters[name]) for name in left.parameters
    )
    return (
        parameters
        and np.array_equal(left.labels, right.labels)
        and np.array_equal(left.log_joint, right.log_joint)
    )


class TestSeeds:
    def test_same_seed_gives_same_draws_on_any_number_of_cores(self, small_model):
        one = kp.sample(small_model, seed=5, cores=1, **SHORT)
        two = kp.sample(small_model, seed=5, cores=2, **SHORT)
        assert same_draws(one, two)

    @pytest.mark.parametrize("prior", [kp.NBNB(), kp.NBD(), kp.PitmanYor()], ids=repr)
    def test_draws_do_not_depend_on_how_long_a_chain_works_at_once(
        self, simulate_records, monkeypatch, prior
    ):
        model = kp.Model(simulate_records(60)[0], prior)
        whole = kp.sample(model, seed=5, cores=1, **SHORT)
        monkeypatch.setattr(chaperones, "MOVES_AT_ONCE", 7)
        monkeypatch.setattr(chain, "SECONDS_BETWEEN_LOOKS", 0.001)
        assert same_draws(whole, kp.sample(model, seed=5, cores=2, **SHORT))

    def test_learnt_moves_are_repeatable_too(self, small_model):
        arguments = SHORT | {"moves": None}
        first = kp.sample(small_model, seed=5, cores=1, **arguments)
        second = kp.sample(small_model, seed=5, cores=2, **arguments)
        assert first.settings["moves"] == second.settings["moves"]
        assert same_draws(first, second)

    def test_seed_sequence_is_as_good_as_its_number(self, small_model):
        number = kp.sample(small_model, seed=5, **SHORT)
        sequence = kp.sample(small_model, seed=np.random.SeedSequence(5), **SHORT)
        assert same_draws(number, sequence)

    def test_other_seeds_and_other_chains_differ(self, small_model):
        one = kp.sample(small_model, seed=5, **SHORT)
        other = kp.sample(small_model, seed=6, **SHORT)
        assert not np.array_equal(one.labels, other.labels)
        assert not np.any(one.parameters["delta"] == other.parameters["delta"])
        assert not np.any(one.parameters["delta"][0] == one.parameters["delta"][1])

    def test_without_a_seed_runs_differ(self, small_model):
        one, other = (kp.sample(small_model, **SHORT).parameters["delta"] for _ in range(2))
        assert not np.any(one == other)


class TestDraws:
    def test_partitions_are_canonical_and_counted(self, small_model):
        posterior = kp.sample(small_model, seed=1, **SHORT)
        assert posterior.labels.shape == (3, 30, 60)
        for labels, n_clusters in zip(
            posterior, posterior.statistics["n_clusters"].ravel(), strict=True
        ):
            assert np.array_equal(labels, make_canonical(labels))
            assert labels.max() + 1 == n_clusters

    @pytest.mark.parametrize(
        ("prior", "names"),
        [
            (kp.NBNB(), {"r", "p"}),
            (kp.NBNB(r=1.0, p=kp.Beta(2, 2)), {"p"}),
            (kp.NBNB(a=kp.Gamma(1, 1), q=kp.Beta(2, 2), r=1.0, p=0.5), {"a", "q"}),
            (kp.NBNB(r=1.0, p=0.5), set()),
            (kp.NBD(), {"mu"}),
            (kp.NBD(alpha=kp.Gamma(2, 1), base=kp.Beta(2, 2)), {"alpha", "base", "mu"}),
            (kp.DirichletProcess(), {"theta"}),
            (kp.DirichletProcess(theta=20.0), set()),
            (kp.PitmanYor(), {"theta", "discount"}),
            (kp.PitmanYor(theta=20.0), {"discount"}),
            (kp.PitmanYor(theta=20.0, discount=0.0), set()),
            (kp.ESCNB(), {"r", "p"}),
            (kp.ESCD(), {"mu", "r", "p"}),
            (kp.ESCD(r=1.0, p=0.5), {"mu"}),
            (kp.KolchinPartition(), set()),
        ],
        ids=name_of,
    )
    @pytest.mark.parametrize(
        ("delta", "tied", "shape"),
        [(kp.Gamma(1, 1), True, ()), (kp.Gamma(1, 1), False, (5,)), (0.1, True, None)],
        ids=["delta tied", "delta by field", "delta fixed"],
    )
    def test_fixed_parameters_stay_fixed(self, simulate_records, prior, names, delta, tied, shape):
        model = kp.Model(simulate_records(60)[0], prior, delta, tied)
        arguments = SHORT | {"chains": 2, "draws": 6, "warmup": 5, "moves": 50}
        posterior = kp.sample(model, seed=1, **arguments)
        parameters = posterior.parameters
        assert set(parameters) == names | (set() if shape is None else {"delta"})
        for name, array in parameters.items():
            inner = {"mu": (20,), "delta": shape}.get(name, ())
            assert array.shape == (2, 6, *inner)
            # A parameter that is sampled moves.
            assert np.unique(array.reshape(2, 6, -1)[:, :, 0]).size > 2

    def test_log_joint_of_draws_is_that_of_the_model(self, simulate_records):
        model = kp.Model(simulate_records(60)[0], kp.NBNB(), tied=False)
        posterior = kp.sample(model, seed=1, **SHORT)
        for t in range(0, 30, 7):
            values = {name: array[1, t] for name, array in posterior.parameters.items()}
            exact = model.log_joint(posterior.partition(1, t), **values)
            assert posterior.log_joint[1, t] == pytest.approx(exact, rel=1e-9)

    def test_settings_say_how_draws_were_made(self, small_model):
        settings = kp.sample(small_model, seed=7, **SHORT).settings
        wanted = {"chains": 3, "draws": 30, "warmup": 40, "moves": [200] * 3, "seed": 7}
        assert {name: settings[name] for name in wanted} == wanted
        assert settings["interrupted"] is False

    def test_thinning_keeps_every_so_manieth_step(self, small_model):
        every = kp.sample(small_model, seed=5, **SHORT)
        third = kp.sample(small_model, seed=5, **SHORT | {"draws": 10, "thin": 3})
        assert np.array_equal(third.labels, every.labels[:, 2::3])


class TestEnough:
    def test_draws_go_on_until_they_are_enough(self, small_model):
        seen = []

        def enough(posterior):
            seen.append(posterior.n_draws)
            return posterior.n_draws >= 100

        posterior = kp.sample(small_model, seed=5, enough=enough, **SHORT)
        assert seen[:5] == [30, 32, 34, 36, 38]
        assert seen[-3:] == [93, 98, 103]
        assert same_draws(posterior, kp.sample(small_model, seed=5, **SHORT | {"draws": 103}))

    def test_most_draws_are_the_most(self, small_model):
        posterior = kp.sample(
            small_model, seed=5, enough=lambda posterior: False, most_draws=50, **SHORT
        )
        assert posterior.n_draws == 50


class TestInterruption:
    def test_interrupt_from_a_callback_keeps_what_was_drawn(self, small_model, monkeypatch):
        monkeypatch.setattr(chain, "SECONDS_BETWEEN_LOOKS", 0.01)

        def stop_soon(state):
            if state.draws >= 60:
                raise KeyboardInterrupt

        arguments = SHORT | {"draws": 100_000, "progress": stop_soon}
        posterior = kp.sample(small_model, seed=5, **arguments)
        assert posterior.settings["interrupted"] is True
        assert posterior.n_chains == 3
        assert 1 <= posterior.n_draws < 100_000

    def test_kept_draws_are_those_of_a_whole_run(self, small_model, monkeypatch):
        monkeypatch.setattr(chain, "SECONDS_BETWEEN_LOOKS", 0.001)

        def stop_soon(state):
            if state.n_clusters.shape[1] >= 3:
                raise KeyboardInterrupt

        posterior = kp.sample(small_model, seed=5, **SHORT | {"progress": stop_soon})
        whole = kp.sample(small_model, seed=5, **SHORT)
        assert np.array_equal(posterior.labels, whole.labels[:, : posterior.n_draws])

    def test_interrupt_before_the_first_draw_says_so(self, small_model, monkeypatch):
        monkeypatch.setattr(chain, "SECONDS_BETWEEN_LOOKS", 0.001)

        def stop_now(state):
            raise KeyboardInterrupt

        arguments = SHORT | {"warmup": 100_000, "progress": stop_now}
        with pytest.raises(kp.SamplerError, match="before the first draw"):
            kp.sample(small_model, seed=5, **arguments)

    def test_an_error_in_a_callback_is_not_swallowed(self, small_model):
        def fail(state):
            raise RuntimeError("from the callback")

        with pytest.raises(RuntimeError, match="from the callback"):
            kp.sample(small_model, seed=5, **SHORT | {"progress": fail})

    @pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT between processes")
    def test_ctrl_c_in_a_terminal_keeps_what_was_drawn(self):
        script = """
import os, signal
import kolchin as kp
records = kp.Records.from_codes([[n % 7, n % 5] for n in range(60)])
kill = lambda state: state.draws and os.kill(os.getpid(), signal.SIGINT)
posterior = kp.sample(kp.Model(records), chains=2, draws=10**6, warmup=5, seed=1, progress=kill)
print(posterior.settings["interrupted"], 1 <= posterior.n_draws < 10**6)
"""
        source = str(Path(kp.__file__).parents[1])
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"PYTHONPATH": source},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == ["True", "True"]


class TestProgress:
    def test_callback_sees_the_run_go_on(self, small_model, monkeypatch):
        monkeypatch.setattr(chain, "SECONDS_BETWEEN_LOOKS", 0.002)
        states = []
        kp.sample(small_model, seed=5, **SHORT | {"draws": 60, "progress": states.append})
        shares = [state.share for state in states]
        assert shares == sorted(shares)
        assert all(0 < share <= 1 for share in shares)
        assert states[-1].share == 1
        assert states[-1].draws == states[-1].total_draws == 180
        assert states[0].warming_up
        assert not states[-1].warming_up
        assert "warming up" in states[0].words()
        assert "180 of 180 draws" in states[-1].words()
        assert all(1 <= state.now <= 60 for state in states)
        assert all(early.seconds <= late.seconds for early, late in pairwise(states))
        assert states[-1].n_clusters.shape == (3, 60)
        assert states[-1].seconds_left == 0
        assert math.isfinite(states[-1].rhat)

    def test_no_display_is_the_default_away_from_a_terminal(self, small_model, capsys):
        kp.sample(small_model, seed=5, **SHORT | {"progress": None})
        shown = capsys.readouterr()
        assert shown.out == shown.err == ""

    def test_progress_bar_can_be_asked_for(self, small_model, monkeypatch, capsys):
        from kolchin.sampling.run import progress

        monkeypatch.setattr(progress, "SECONDS_BEFORE_SHOWING", 0.0)
        kp.sample(small_model, seed=5, **SHORT | {"progress": True})
        assert "clusters" in capsys.readouterr().err


class TestFaults:
    def test_all_faults_come_in_one_message(self, small_model):
        wrong = {"chains": 0, "draws": 2.5, "warmup": -1, "thin": 0, "moves": "many"}
        with pytest.raises(kp.ModelError) as caught:
            kp.sample(small_model, **wrong)
        message = str(caught.value)
        for name, value in wrong.items():
            assert f"The {name!r} parameter must be a whole number" in message
            assert f"Got {value!r} instead." in message

    @pytest.mark.parametrize(
        "wrong", [{"start": "nowhere"}, {"start": ["singletons", "nowhere"]}], ids=repr
    )
    def test_unknown_start_is_refused_with_the_known_ones(self, small_model, wrong):
        with pytest.raises(kp.ModelError, match="'singletons', 'random', 'blocks'") as caught:
            kp.sample(small_model, **SHORT | wrong)
        assert "'nowhere'" in str(caught.value)

    @pytest.mark.parametrize(
        ("wrong", "name"),
        [
            ({"start": []}, "start"),
            ({"cores": 0}, "cores"),
            ({"cores": -1}, "cores"),
            ({"seed": "one"}, "seed"),
            ({"seed": -1}, "seed"),
            ({"chains": True}, "chains"),
        ],
        ids=repr,
    )
    def test_other_faults_are_named(self, small_model, wrong, name):
        with pytest.raises(kp.ModelError, match=f"'{name}' parameter"):
            kp.sample(small_model, **SHORT | wrong)

    def test_start_and_numbers_are_told_together(self, small_model):
        with pytest.raises(kp.ModelError) as caught:
            kp.sample(small_model, chains=0, start="nowhere", cores=0)
        assert all(f"'{name}'" in str(caught.value) for name in ("chains", "start", "cores"))

    def test_numbers_may_be_numpys(self, small_model):
        numbers = {name: np.int64(SHORT[name]) for name in ("chains", "draws", "thin", "moves")}
        posterior = kp.sample(small_model, seed=1, **SHORT | numbers)
        assert same_draws(posterior, kp.sample(small_model, seed=1, **SHORT))
