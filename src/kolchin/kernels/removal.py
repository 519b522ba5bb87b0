"""Records taken out of their clusters, before a forest of links is grown."""

import numpy as np

from kolchin.kernels.answers import count_tied, is_tied
from kolchin.kernels.arrays import AnswerLists, Data, Floats, Int32s, Removal, Units
from kolchin.kernels.categorical import are_alike
from kolchin.kernels.compiling import compiled, lean
from kolchin.kernels.rings import list_ring

LARGEST_LOOKED_AT = 16
"""Of clusters up to this size, records are taken out that fit least."""

REMOVAL_ODDS = 200.0
"""A record is taken out so many times as often for each value that no other shows."""


@lean
def write_chances_to_leave(
    codes: Int32s, members: Int32s, n_members: int, removal: Removal, chance: Floats
) -> float:
    """Write the chance of each record of a cluster to be taken out; return their sum.

    That is ``removal.alike`` where all show the same and ``removal.unlike`` else. Of more records
    than are looked at, each has the same chance, which is written once.
    """
    if n_members == 1:
        return 0.0
    if n_members > LARGEST_LOOKED_AT:
        chance[0] = removal.alike / n_members
        return removal.alike
    if n_members == 2:
        whole = removal.alike if are_alike(codes, members[0], members[1]) else removal.unlike
        chance[0] = chance[1] = 0.5 * whole
        return whole
    total = 0.0
    alike = True
    for k in range(n_members):
        chance[k] = 1.0
        for f in range(codes.shape[1]):
            x = codes[members[k], f]
            if x < 0:
                continue
            shown = 0
            shared = 0
            for other in range(n_members):
                if other != k:
                    y = codes[members[other], f]
                    shown += y >= 0
                    shared += x == y
            alike &= shared == shown
            if shared == 0 and shown > 0 and chance[k] < REMOVAL_ODDS**2:
                chance[k] *= REMOVAL_ODDS
        total += chance[k]
    whole = removal.alike if alike else removal.unlike
    for k in range(n_members):
        chance[k] *= whole / total
    return whole


@compiled
def take_apart(rng: np.random.Generator, following: Int32s, data: Data, removal: Removal) -> Units:
    """Take at most one record out of each cluster, by chance, but none that is tied to another."""
    codes = data.codes
    n_records = following.size
    unit = np.full(n_records, -1, dtype=np.int32)
    taken, former = np.empty((2, n_records), dtype=np.int32)
    members = np.empty(LARGEST_LOOKED_AT, dtype=np.int32)
    chance = np.empty(LARGEST_LOOKED_AT)
    n_taken = 0
    for first in range(n_records):
        if unit[first] >= 0:
            continue
        size = list_ring(following, first, members)
        out = before = np.int32(-1)
        if size > 1:
            left = write_chances_to_leave(codes, members, size, removal, chance) - rng.random()
            if left > 0.0:
                before = np.int32(first)
                # The record that is taken out is the one that follows.
                out = following[before]
                k = 1
                while k < size:
                    left -= chance[k] if size <= LARGEST_LOOKED_AT else chance[0]
                    if left <= 0.0:
                        break
                    before = out
                    out = following[before]
                    k += 1
                if is_tied(data.answers, out):
                    out = np.int32(-1)
                else:
                    following[before] = following[out]
                    following[out] = out
                    unit[out] = out
        start = before if out == first else np.int32(first)
        least = start
        n = following[start]
        while n != start:
            least = min(least, n)
            n = following[n]
        unit[start] = least
        n = following[start]
        while n != start:
            unit[n] = least
            n = following[n]
        if out >= 0:
            taken[n_taken], former[n_taken] = out, least
            n_taken += 1
    return Units(unit, taken[:n_taken], former[:n_taken])


@lean
def compute_chance_to_stay(
    following: Int32s,
    codes: Int32s,
    answers: AnswerLists,
    record: int,
    unit: int,
    removal: Removal,
    members: Int32s,
    chance: Floats,
) -> float:
    """Return the chance that a unit stays whole, over that of a record to be taken out of both."""
    size = list_ring(following, unit, members[1:])
    stayed = 1.0 - write_chances_to_leave(codes, members[1:], size, removal, chance)
    if size > LARGEST_LOOKED_AT:
        stayed += chance[0] * count_tied(answers, following, unit)
    elif size > 1:
        for k in range(size):
            stayed += chance[k] if is_tied(answers, members[1 + k]) else 0.0
    members[0] = record
    came = write_chances_to_leave(codes, members, size + 1, removal, chance)
    if size > 1:
        came = chance[0]
    return stayed / came
