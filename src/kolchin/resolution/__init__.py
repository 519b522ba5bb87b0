"""From a user's table to a decision: one call, one directory, nothing lost."""

from kolchin.resolution.changes import Changes, diff
from kolchin.resolution.explanation import Explanation
from kolchin.resolution.resolving import resolve, resume
from kolchin.resolution.result import Result
from kolchin.resolution.updating import add

__all__ = ["Changes", "Explanation", "Result", "add", "diff", "resolve", "resume"]
