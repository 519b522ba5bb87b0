"""From a user's table to a decision: one call, one directory, nothing lost."""

from kolchin.resolution.resolving import resolve, resume
from kolchin.resolution.results.explanation import Explanation
from kolchin.resolution.results.result import Result
from kolchin.resolution.results.result_differences import Changes, diff
from kolchin.resolution.updating import add

__all__ = ["Changes", "Explanation", "Result", "add", "diff", "resolve", "resume"]
