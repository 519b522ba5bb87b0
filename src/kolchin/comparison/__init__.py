"""Fields that people type: candidate pairs, compared into levels (model section 6)."""

from kolchin.comparison.comparisons import CandidateReport, Comparisons, compare

__all__ = ["CandidateReport", "Comparisons", "compare"]
