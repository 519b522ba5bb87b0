"""What a chain is about and never changes: the model, and its records as the kernels read them."""

from typing import NamedTuple

from kolchin import kernels
from kolchin.model import Model
from kolchin.sampling.layout import Layout, Shard
from kolchin.workplace import Workplace


class Problem(NamedTuple):
    """A model, its records in the order of a layout as kernels read them, and that layout."""

    model: Model
    data: kernels.Data
    layout: Layout

    @property
    def n_records(self) -> int:
        """Number of records."""
        return self.model.n_records

    @property
    def whole(self) -> Shard:
        """All records as one shard."""
        return self.layout.whole


def pose_problem(model: Model, layout: Layout | None = None) -> Problem:
    """Put the records of a model into the order of a layout; by default as they come."""
    layout = Layout.single(model.n_records) if layout is None else layout
    return Problem(model, make_kernel_data(model, layout), layout)


def make_kernel_data(
    model: Model, layout: Layout | None = None, work: Workplace | None = None
) -> kernels.Data:
    """Return the records in the form that the kernels read, in the order of a layout.

    Where compared pairs are in the store of an engine, its tasks list them.
    """
    order = None if layout is None else layout.order
    data = model.likelihood.make_kernel_data(order, work)
    source = model.sources
    if order is not None and source.size:
        source = source[order]
    return data._replace(source=source, answers=model.answers.lists(order))
