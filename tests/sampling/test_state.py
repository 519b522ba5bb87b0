"""A run that is saved and taken up again goes on to the bit."""

import numpy as np
import pytest

import kolchin as kp
from kolchin.posterior.recorder import collect_posterior
from kolchin.sampling import layout
from kolchin.sampling.moves import chaperones
from kolchin.sampling.run import chain
from kolchin.sampling.run.checkpoint import pack_run, restore
from kolchin.sampling.run.run_settings import check_run_settings
from kolchin.sampling.run.runner import Run
from kolchin.sampling.run.starts import STARTS


def begun(model, **changes):
    settings = check_run_settings(3, 20, 60, 1, changes.get("moves"), STARTS)
    return Run.begin(model, settings, changes.get("seed", 7))


def stop_after(moments):
    left = iter(range(moments))
    return lambda: next(left, None) is None


PRIORS = [kp.NBD(), kp.NBNB(), kp.PitmanYor(), kp.ESCD(), kp.KolchinPartition()]


@pytest.mark.parametrize(
    ("prior", "tied"), [(kp.NBD(), True), *((prior, False) for prior in PRIORS)], ids=repr
)
def test_stopped_and_taken_up_often(simulate_records, monkeypatch, prior, tied):
    check_stopped_often(kp.Model(simulate_records(60)[0], prior, tied=tied), monkeypatch)


@pytest.mark.parametrize("prior", [kp.NBD(), kp.NBNB()], ids=repr)
def test_shards_stopped_and_taken_up_often(simulate_records, monkeypatch, prior):
    monkeypatch.setattr(layout, "SMALLEST_SHARDED", 60)
    monkeypatch.setattr(layout, "RECORDS_A_BLOCK", 10)
    monkeypatch.setattr(layout, "MOST_CUT", 1.0)
    model = kp.Model(simulate_records(60)[0], prior)
    assert begun(model).chains[0].problem.layout.n_blocks > 1
    check_stopped_often(model, monkeypatch)


def check_stopped_often(model, monkeypatch):
    whole = begun(model)
    whole.go_on()
    monkeypatch.setattr(chain, "SECONDS_BETWEEN_LOOKS", 0.003)
    monkeypatch.setattr(chaperones, "MOVES_AT_ONCE", 100)
    run, stops, parts, held = begun(model), 0, [], 0
    while run.ended != "draws":
        run.go_on(pause=stop_after(1 + stops % 4))
        first = run.kept // 5 * 5
        saved = dict(pack_run(run, first))
        assert not any(array.dtype.hasobject for array in saved.values())
        parts.append(collect_posterior([one.draws for one in run.chains], {}, held, first))
        held = first
        run = begun(model, seed=8)
        restore(run, saved, parts)
        stops += 1
    assert stops > 2
    with pytest.raises(kp.DataError, match="no longer held"):
        run.posterior()
    parts.append(collect_posterior([one.draws for one in run.chains], {}, held))
    ours, theirs = whole.posterior(), parts[0].join(*parts[1:])
    assert np.array_equal(ours.labels, theirs.labels)
    assert np.array_equal(ours.log_joint, theirs.log_joint)
    for name, values in ours.parameters.items():
        assert np.array_equal(values, theirs.parameters[name])
    for one, same in zip(ours.chains, theirs.chains, strict=True):
        assert all(map(np.array_equal, one, same))
    for name, values in run.collect_traces().statistics.items():
        assert np.array_equal(values, ours.statistics[name])
    assert whole.progress().n_clusters.tolist() == run.progress().n_clusters.tolist()


def test_a_state_does_not_change_while_the_run_goes_on(small_model):
    run = begun(small_model)
    run.go_on(pause=stop_after(1))
    saved = run.chains[0].checkpoint().now.state
    rng, following = saved.rng.bit_generator.state, saved.following.copy()
    run.go_on()
    assert np.array_equal(saved.following, following)
    assert str(saved.rng.bit_generator.state) == str(rng)


def test_a_state_is_given_chain_by_chain(small_model, monkeypatch):
    """No more than that of one chain is in memory."""
    run, asked = begun(small_model), []
    for number, one in enumerate(run.chains):
        checkpoint = one.checkpoint
        noted = lambda n=number, c=checkpoint: asked.append(n) or c()  # noqa: E731
        monkeypatch.setattr(one, "checkpoint", noted)
    names = []
    for name, _ in pack_run(run, 0):
        names.append(name)
        if name != "header":
            assert asked[-1] == len(asked) - 1 == int(name.split("/")[1])
    assert names[-1] == "header"
    assert len(asked) == len(run.chains)


def test_the_state_of_another_model_is_refused(small_model, medium_model):
    run = begun(small_model)
    saved = dict(pack_run(run, 0))
    with pytest.raises(kp.DataError, match="another model"):
        restore(begun(medium_model), saved)
    with pytest.raises(kp.DataError, match=r"format 4\. Got format None"):
        restore(begun(small_model), {})


def test_unknown_kinds_are_not_lost_silently(small_model):
    run = begun(small_model)
    first = run.chains[0]
    first.take_state(first.state._replace(field_values={"novelty": object()}))
    with pytest.raises(TypeError, match=r"cannot hold a object .*novelty"):
        dict(pack_run(run, 0))
