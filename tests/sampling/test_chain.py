"""One chain: its state stays whole, and its updates cost what they should."""

import numpy as np
import pytest
from stepping import Stepper

import kolchin as kp
from kolchin import kernels
from kolchin.partitions import make_canonical, size_counts
from kolchin.sampling.state import ensure_statistics

PRIORS = [
    kp.NBNB(),
    kp.NBD(),
    kp.DirichletProcess(),
    kp.PitmanYor(),
    kp.ESCNB(),
    kp.ESCD(),
    kp.KolchinPartition(),
]


def labels_of(chain):
    """Labels from the rings of a chain, which must all close."""
    following = chain.state.following
    labels = np.full(following.size, -1)
    for n in range(following.size):
        record = n
        while labels[record] < 0:
            labels[record] = n
            record = following[record]
        assert labels[record] == n or labels[n] != n
    assert np.array_equal(np.sort(following), np.arange(following.size))
    return make_canonical(labels)


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_counts_follow_the_partition(small_model, prior):
    model = kp.Model(small_model.records, prior, tied=False)
    chain = Stepper(model, np.random.default_rng(1), np.arange(60))
    for n_moves in (1, 10, 100, 1000):
        chain.move(n_moves)
        chain.update()
        counts = size_counts(labels_of(chain))
        assert chain.state.n_clusters == counts.sum()
        assert np.array_equal(chain.state.partition.size_counts[1 : counts.size], counts[1:])
        assert not chain.state.partition.size_counts[counts.size :].any()


@pytest.mark.parametrize(
    "prior",
    [
        kp.NBNB(r=2.0, p=0.99),
        kp.NBD(alpha=500.0, base=0.01),
        kp.DirichletProcess(theta=1.0),
        kp.PitmanYor(theta=1.0, discount=0.1),
        kp.ESCD(alpha=500.0, r=1.0, p=0.98),
    ],
    ids=repr,
)
def test_clusters_may_outgrow_the_tables(prior):
    """Equal records come together, beyond the sizes tabulated at first."""
    records = kp.Records.from_codes(np.zeros((90, 2), dtype=int), [[0.01, 0.99]] * 2)
    chain = Stepper(kp.Model(records, prior, delta=0.01), np.random.default_rng(1), np.arange(90))
    for _ in range(40):
        chain.move(200)
        chain.update()
    labels = labels_of(chain)
    counts = size_counts(labels)
    assert counts.size - 1 > 32
    assert np.array_equal(chain.state.partition.size_counts[1 : counts.size], counts[1:])


def test_start_may_be_one_cluster():
    records = kp.Records.from_codes(np.arange(100)[:, None] % 50)
    model = kp.Model(records, kp.NBNB(), delta=0.1)
    chain = Stepper(model, np.random.default_rng(1), np.zeros(100, dtype=int))
    for _ in range(50):
        chain.move(500)
        chain.update()
    assert chain.state.n_clusters > 20


def test_draw_holds_what_the_chain_is_at(small_model):
    chain = Stepper(small_model, np.random.default_rng(1), np.arange(60))
    chain.move(2000)
    chain.update()
    draw = chain.snapshot()
    labels = labels_of(chain)
    assert draw.following is chain.state.following
    values = dict(draw.parameters)
    values.pop("mu")
    exact = small_model.log_joint(labels, **values)
    assert draw.log_joint == pytest.approx(exact, rel=1e-9)


def cells_of(chain):
    """What delta depends on."""
    return ensure_statistics(chain.state.rng, chain.problem, chain.state).statistics


class TestDelta:
    """Delta depends on clusters of two or more, through counts collected once an update."""

    FREQUENCIES = ([0.5, 0.3, 0.2], [0.6, 0.4])

    def chain(self, n_singletons, tied=True):
        rng = np.random.default_rng(7)
        codes = np.stack([rng.integers(0, 3, 40), rng.integers(0, 2, 40)], axis=1)
        codes[::7, 0] = -1
        more = np.stack([rng.integers(0, 3, n_singletons), rng.integers(0, 2, n_singletons)], 1)
        records = kp.Records.from_codes(np.vstack([codes, more]), self.FREQUENCIES)
        model = kp.Model(records, kp.DirichletProcess(theta=1.0), tied=tied)
        labels = np.concatenate([np.arange(40) // 3, 40 + np.arange(n_singletons)])
        return Stepper(model, np.random.default_rng(1), labels)

    @pytest.mark.parametrize("tied", [True, False])
    def test_singletons_say_nothing(self, tied):
        few, many = self.chain(3, tied), self.chain(5_000, tied)
        few.update()
        many.update()
        assert np.array_equal(few.state.field_values["delta"], many.state.field_values["delta"])

    def test_counts_do_not_grow_with_the_records(self):
        few, many = self.chain(3), self.chain(5_000)
        few.update()
        many.update()
        for left, right in zip(cells_of(few), cells_of(many), strict=True):
            assert np.array_equal(left, right)

    def test_equal_cells_are_evaluated_once(self):
        """3,000 clusters alike: the slice sees a handful of cells, not 3,000."""
        records = kp.Records.from_codes(np.zeros((6_000, 2), dtype=int), self.FREQUENCIES)
        model = kp.Model(records, kp.DirichletProcess(theta=1.0))
        chain = Stepper(model, np.random.default_rng(1), np.arange(6_000) // 2)
        chain.update()
        assert cells_of(chain).step.size <= 4
        assert cells_of(chain).number.sum() == 6_000

    def test_slice_looks_at_cells_alone(self, monkeypatch):
        chain = self.chain(5_000)
        sizes = []
        density = kernels.log_density_of_delta

        def noted(delta, *cells):
            sizes.extend(np.size(part) for part in cells)
            return density(delta, *cells)

        monkeypatch.setattr(kernels, "log_density_of_delta", noted)
        chain.update()
        assert sizes
        assert max(sizes) <= 40 * 2

    @pytest.mark.parametrize("tied", [True, False])
    def test_evidence_from_cells_is_that_of_the_records(self, tied):
        chain = self.chain(30, tied)
        chain.update()
        likelihood = chain.problem.model.likelihood
        labels = labels_of(chain)
        for delta in ([0.01, 0.3], [2.0, 0.7]):
            values = {"delta": np.array(delta)}
            fast = likelihood.log_singletons + likelihood.log_evidence(
                cells_of(chain), values["delta"]
            )
            slow = likelihood.log_likelihood(labels, values)
            assert fast == pytest.approx(slow, abs=1e-9)
