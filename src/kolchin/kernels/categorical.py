"""Evidence of categorical fields (model section 3)."""

import numpy as np

from kolchin.kernels.answers import log_answers
from kolchin.kernels.arrays import Data, Evidence, Floats, Int32s, Int64s, Sides
from kolchin.kernels.compiling import compiled, hot, lean
from kolchin.kernels.sources import are_of_one_source


@lean
def log_categorical_predictive(
    data: Data,
    evidence: Evidence,
    record: int,
    members: Int32s,
    side: Sides,
    wanted: int,
    n_members: int,
) -> float:
    """Log predictive of the categorical fields of a record given some members, over that alone.

    Model section 3: (delta gamma_x + equal) / (delta + observed) / gamma_x for each field.
    """
    total = 0.0
    product = 1.0
    for f in range(data.codes.shape[1]):
        x = data.codes[record, f]
        if x < 0:
            continue
        observed = 0
        equal = 0
        for k in range(n_members):
            n = members[k]
            if side[k] == wanted and n != record:
                y = data.codes[n, f]
                if y >= 0:
                    observed += 1
                    if y == x:
                        equal += 1
        if observed > 0:
            factor = evidence.delta[f]
            if equal > 0:
                factor += equal * data.gain[x]
            product *= factor / (evidence.delta[f] + observed)
            if product > 1e100 or product < 1e-100:
                total += np.log(product)
                product = 1.0
    return total + np.log(product)


@hot
def compute_categorical_ratio(data: Data, evidence: Evidence, i: int, j: int) -> float:
    """Bayes factor of the categorical fields that two records are one entity rather than two.

    May overflow to infinity or underflow to 0, see ``log_categorical_ratio``.
    """
    above = 1.0
    below = 1.0
    for f in range(data.codes.shape[1]):
        x = data.codes[i, f]
        y = data.codes[j, f]
        if x == y:
            if x >= 0:
                above *= evidence.delta[f] + data.gain[x]
                below *= evidence.delta[f] + 1.0
        elif x >= 0 and y >= 0:
            above *= evidence.delta[f]
            below *= evidence.delta[f] + 1.0
    return above / below


@lean
def log_categorical_ratio(data: Data, evidence: Evidence, i: int, j: int) -> float:
    """Log Bayes factor of the categorical fields that two records are one entity."""
    product = compute_categorical_ratio(data, evidence, i, j)
    if 1e-250 < product < 1e250:
        return np.log(product)
    total = 0.0
    for f in range(data.codes.shape[1]):
        x = data.codes[i, f]
        y = data.codes[j, f]
        if x >= 0 and y >= 0:
            agreed = data.gain[x] if x == y else 0.0
            total += np.log((evidence.delta[f] + agreed) / (evidence.delta[f] + 1.0))
    return total


@lean
def log_predictive(
    data: Data,
    evidence: Evidence,
    record: int,
    members: Int32s,
    side: Sides,
    wanted: int,
    n_members: int,
) -> float:
    """Log predictive of a record given the members on one side, over its predictive alone.

    With what people say of them; minus infinity if one of them is of the record's source. Compared
    fields come on top of it.
    """
    if data.source.size > 0:
        for k in range(n_members):
            if (
                side[k] == wanted
                and members[k] != record
                and are_of_one_source(data.source, record, members[k])
            ):
                return -np.inf
    total = log_categorical_predictive(data, evidence, record, members, side, wanted, n_members)
    if data.answers.starts.size > 0:
        total += log_answers(data.answers, record, members, side, wanted, n_members)
    return total


@lean
def log_evidence(
    data: Data, evidence: Evidence, members: Int32s, side: Sides, wanted: int, n_members: int
) -> float:
    """Log evidence that the members on one side are one entity, but for compared fields."""
    total = 0.0
    for k in range(1, n_members):
        if side[k] == wanted:
            total += log_predictive(data, evidence, members[k], members, side, wanted, k)
    return total


@compiled
def collect_agreement_cells(
    members: Int32s, sizes: Int32s, codes: Int32s
) -> tuple[Int64s, Int64s, Int64s]:
    """Collect all that the likelihood of delta depends on (model section 3).

    A value that k >= 2 records of a cluster share gives the steps (code, 1), ..., (code, k-1):
    a row (code, step) each. ``n_cells[f]`` counts the different values seen in clusters, and
    ``observed[f, j]`` the clusters in which more than j records show field f.
    """
    n_fields = codes.shape[1]
    largest = 1
    for size in sizes:
        largest = max(largest, size)
    n_cells = np.zeros(n_fields, dtype=np.int64)
    observed = np.zeros((n_fields, largest), dtype=np.int64)
    steps = np.empty((members.size * n_fields, 2), dtype=np.int64)
    n_steps = 0
    start = 0
    for size in sizes:
        for f in range(n_fields):
            seen = 0
            for k in range(start, start + size):
                x = codes[members[k], f]
                if x < 0:
                    continue
                observed[f, seen] += 1
                seen += 1
                earlier = 0
                for other in range(start, k):
                    earlier += codes[members[other], f] == x
                if earlier == 0:
                    n_cells[f] += 1
                else:
                    steps[n_steps, 0] = x
                    steps[n_steps, 1] = earlier
                    n_steps += 1
        start += size
    return steps[:n_steps], n_cells, observed


@lean
def log_density_of_delta(
    delta: float, frequency: Floats, step: Floats, number: Floats, n_cells: int, observed: Int64s
) -> float:
    """Log evidence of all clusters as a function of one delta (see ``collect_agreement_cells``)."""
    total = n_cells * np.log(delta)
    for k in range(number.size):
        total += number[k] * np.log(delta * frequency[k] + step[k])
    for j in range(observed.size):
        total -= observed[j] * np.log(delta + j)
    return total


@lean
def are_alike(codes: Int32s, record: int, other: int) -> bool:
    """Tell whether two records differ in no field that both show."""
    for f in range(codes.shape[1]):
        x, y = codes[record, f], codes[other, f]
        if x != y and x >= 0 and y >= 0:
            return False
    return True


@lean
def are_equal(codes: Int32s, record: int, other: int) -> bool:
    """Tell whether two records show the same in all fields."""
    equal = True
    for f in range(codes.shape[1]):
        equal &= codes[record, f] == codes[other, f]
    return equal
