"""A problem in the store of an engine, of which workers map what they need into memory."""

from kolchin.model import Model
from kolchin.sampling.layout import Layout
from kolchin.sampling.problem import Problem, make_kernel_data, pose_problem
from kolchin.workplace import Workplace

PROBLEM = "problem"
"""The name of the problem in a store."""


def share_problem(model: Model, layout: Layout, work: Workplace | None) -> Problem:
    """Pose a problem; where tasks of an engine are to come, in their store."""
    if work is None or layout.n_blocks == 1:
        return pose_problem(model, layout)
    data = make_kernel_data(model, layout, work)
    work.store.put(PROBLEM, Problem(model.drop_records(), data, layout))
    stored: Problem = work.store.get(PROBLEM)
    return stored._replace(model=model)
