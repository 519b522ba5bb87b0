"""Where tasks are done: processes of this machine, or a cluster that somebody already operates."""

from kolchin.engines.base import Engine
from kolchin.engines.naming import choose_engine, open_engine

__all__ = ["Engine", "choose_engine", "open_engine"]
