import numpy as np
import pytest

from kolchin.sampling.layout import Layout, Lists


@pytest.mark.parametrize("n_blocks", [1, 2, 5, 6])
def test_blocks_meet_as_often_as_is_said(n_blocks):
    layout = Layout(np.arange(n_blocks + 1))
    rng = np.random.default_rng(1)
    shards = [shard for _ in range(4000) for shard in layout.shards(rng)]
    share = np.mean([shard.blocks == (0, 1) for shard in shards]) * len(shards) / 4000
    assert share == pytest.approx(layout.meeting, abs=0.02)


def test_pairs_between_blocks_are_within_reach_when_these_meet():
    layout = Layout(np.array([0, 2, 4, 6, 8]))
    pairs = np.array([[0, 1], [0, 2], [4, 7], [6, 7]], dtype=np.int32)
    lists = Lists.of(layout, pairs, np.array([1.0, 2.0, 4.0, 8.0]))
    assert lists.within_reach(layout.meeting) == pytest.approx(9 + 6 / 3)
    rounds = [layout.shards(np.random.default_rng(seed)) for seed in range(3000)]
    met = [sum(lists.in_shard(shard)[1].sum() for shard in shards) for shards in rounds]
    assert np.mean(met) == pytest.approx(11, abs=0.2)
