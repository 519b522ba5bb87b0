"""Where tasks are done: processes of this machine, or a cluster that somebody already operates."""

from kolchin.engines.base import Engine
from kolchin.engines.naming import engine_for, engine_of

__all__ = ["Engine", "engine_for", "engine_of"]
