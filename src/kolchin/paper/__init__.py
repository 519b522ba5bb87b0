"""The paper's experiments, run again: table 1 and both figures."""

from kolchin.paper.figure1 import reproduce_figure1
from kolchin.paper.figure2 import reproduce_figure2
from kolchin.paper.printed import printed_figure2, printed_table1
from kolchin.paper.result import Reproduction
from kolchin.paper.table1 import reproduce_table1

__all__ = [
    "Reproduction",
    "printed_figure2",
    "printed_table1",
    "reproduce_figure1",
    "reproduce_figure2",
    "reproduce_table1",
]
