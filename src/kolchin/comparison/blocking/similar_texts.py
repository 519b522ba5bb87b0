"""Locality-sensitive hashing: records whose text shares most of its q-grams fall together."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.kinds.base import Codes
from kolchin.comparison.kinds.preparing import PreparedField
from kolchin.comparison.kinds.strings import Letters, encode_letters
from kolchin.comparison.text_kernels.min_hashes import lower_hashes, write_least_hashes
from kolchin.kernels.hashing import GOLDEN
from kolchin.threads import call_over_ranges

Q = 3
BANDS = 10
LONG = 20
"""Texts of a record are long enough for q-grams from so many letters on, on average."""

ALIKE_BY_CHANCE = 0.12
"""About the share of q-grams that unrelated records have in common."""

EMPTY = np.uint32(0xFFFFFFFF)


def block_by_grams(
    prepared: Sequence[PreparedField], n_records: int
) -> Iterator[NDArray[np.int64]]:
    """Give blocks a record, one array a band, if texts are long.

    Grams of all fields are taken together, so that swapped columns do no harm. Rows a
    band grow with the number of records, so that chance pairs a record do not.
    """
    used = [
        one
        for one in prepared
        if one.comparing is not None and (one.comparing.spelled or one.comparing.custom)
    ]
    n_letters = sum(_count_letters(one) for one in used) / max(n_records, 1)
    if n_letters < LONG:
        return
    letters = [encode_letters(one.forms) for one in used]
    rows = int(np.clip(np.log(n_records) / -np.log(ALIKE_BY_CHANCE), 2, 6))
    rng = np.random.default_rng(0)
    for _ in range(BANDS):
        seeds = rng.integers(0, 2**63, rows, dtype=np.uint64)
        yield _number_blocks(_find_least_hashes(used, letters, seeds, n_records))


def _count_letters(one: PreparedField) -> int:
    lengths = one.forms.str.len_chars().to_numpy()
    return int(lengths @ one.counts)


def _find_least_hashes(
    used: Sequence[PreparedField],
    letters: Sequence[tuple[Letters, Codes]],
    seeds: NDArray[np.uint64],
    n_records: int,
) -> NDArray[np.uint32]:
    """Return the least hashes of each record: the least over its fields."""
    result = np.full((n_records, seeds.size), EMPTY, dtype=np.uint32)
    for one, of_texts in zip(used, letters, strict=True):
        of_form = np.full((one.forms.len(), seeds.size), EMPTY, dtype=np.uint32)
        call_over_ranges(partial(_hash_forms, of_texts, seeds, of_form), len(of_form))
        call_over_ranges(partial(_lower_to_forms, of_form, one.codes, result), n_records)
    return result


def _hash_forms(
    texts: tuple[Letters, Codes],
    seeds: NDArray[np.uint64],
    out: NDArray[np.uint32],
    first: int,
    last: int,
) -> None:
    write_least_hashes(*texts, Q, seeds, first, last, out)


def _lower_to_forms(
    of_form: NDArray[np.uint32], codes: Codes, out: NDArray[np.uint32], first: int, last: int
) -> None:
    lower_hashes(of_form, codes, first, last, out)


def _number_blocks(least: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Make one number of the hashes of a band; -1 for records without text."""
    mixed = np.zeros(len(least), dtype=np.uint64)
    for column in least.T:
        mixed = (mixed ^ column) * GOLDEN
        mixed ^= mixed >> np.uint64(32)
    blocks = (mixed >> np.uint64(1)).astype(np.int64)
    blocks[least[:, 0] == EMPTY] = -1
    return blocks
