"""Records of one source, which no cluster may have two of (model section 9)."""

from kolchin.kernels.arrays import Floats, Int32s
from kolchin.kernels.compiling import hot, lean


@hot
def are_of_one_source(source: Int32s, i: int, j: int) -> bool:
    """Tell whether two records are of one source, so that no cluster may have both."""
    return source[i] >= 0 and source[i] == source[j]


@lean
def forbid_subsets(source: Int32s, members: Int32s, n_members: int, evidence: Floats) -> None:
    """Set the evidence of every subset with two records of one source to 0 (entry 0: all of S)."""
    for k in range(1, n_members):
        for other in range(k):
            if are_of_one_source(source, members[k], members[other]):
                both = (1 << k) | (1 << other)
                evidence[0] = 0.0
                for subset in range(both, 1 << n_members):
                    if subset & both == both:
                        evidence[subset] = 0.0
