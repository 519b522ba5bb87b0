"""What a chain is about and never changes: the model, and its records as the kernels read them."""

from typing import NamedTuple

from kolchin import kernels
from kolchin.model import Model
from kolchin.parameters import IntArray
from kolchin.sampling.layout import Layout, Shard


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


def make_kernel_data(model: Model, layout: Layout | None = None) -> kernels.Data:
    """Return the records in the form that the kernels read, in the order of a layout."""
    order = None if layout is None else layout.order
    data = make_unlisted_data(model, order)
    if model.compared is None:
        return data
    begins, others, pattern = model.compared.lists(order)
    return data._replace(begins=begins, others=others, pattern=pattern)


def make_unlisted_data(model: Model, order: IntArray | None) -> kernels.Data:
    """Return all but the lists of compared pairs."""
    data = make_categorical_data(model)
    answers = kernels.Answers(*model.answers.lists(order))
    if order is not None:
        source = data.source[order] if data.source.size else data.source
        data = data._replace(codes=data.codes[order], source=source)
    if model.compared is not None:
        shown = model.compared.shown if order is None else model.compared.shown[order]
        data = data._replace(shown=shown)
    return data._replace(answers=answers)


def make_categorical_data(model: Model) -> kernels.Data:
    """Return what kernels read of the categorical fields, and of sources, record by record."""
    data = kernels.Data(model.likelihood.codes, 1 / model.likelihood.frequency)
    return data._replace(source=model.sources)
