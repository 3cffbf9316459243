"""Splits without leaks: evaluation at the natural mix of labels, and related rows in one split.

Rows drawn at random are natural: their labels are as frequent as in real life. Development and test sets hold only
these. All other rows, such as mined ones, are for training only.
"""

from collections.abc import Iterable, Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from emoscope.core.errors import EmoscopeError


class Split(IntEnum):
    """Where a row goes; LEAK is left out, because it is related to a row of an evaluation set."""

    TRAIN = 0
    DEV = 1
    TEST = 2
    LEAK = 3


def join_groups(size: int, pairs: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    """The group of each of `size` rows: the first row that pairs connect it to, directly or not.

    >>> join_groups(5, [(1, 0), (4, 3), (3, 1)]).tolist()
    [0, 0, 2, 0, 0]
    """
    first = list(range(size))

    def root(row: int) -> int:
        while first[row] != row:
            first[row] = first[first[row]]  # shortens the path for the next lookup
            row = first[row]
        return row

    for one, other in pairs:
        low, high = sorted((root(one), root(other)))
        first[high] = low
    return np.array([root(row) for row in range(size)], dtype=np.int64)


def assign(
    labels: Sequence[int] | NDArray[np.integer],
    groups: Sequence[int] | NDArray[np.integer],
    natural: Sequence[bool] | NDArray[np.bool_],
    *,
    dev: float,
    test: float,
    seed: int,
) -> NDArray[np.int8]:
    """The split of each row, groups kept whole; `dev` and `test` are shares of the natural rows of every label.

    A group counts for the rarest of its labels. A group too large for a set goes to training. So do rows that are not
    natural, unless their group is in an evaluation set: then they are left out.

    >>> splits = assign([0] * 90 + [1] * 10, range(100), [True] * 100, dev=0.1, test=0.2, seed=1)
    >>> np.bincount(splits).tolist(), np.bincount(splits[90:]).tolist()
    ([70, 10, 20], [7, 1, 2])
    """
    if dev < 0 or test < 0 or dev + test >= 1:
        raise EmoscopeError(f"dev and test must be shares that leave something for train, not {dev} and {test}")
    code, group, random = np.asarray(labels), np.asarray(groups), np.asarray(natural, dtype=bool)
    splits = np.full(len(code), Split.TRAIN, dtype=np.int8)
    frequency = np.bincount(code[random], minlength=int(code.max(initial=0)) + 1)
    # Natural rows group by group, the rarest label of each first.
    rows = np.flatnonzero(random)
    rows = rows[np.lexsort((code[rows], frequency[code[rows]], group[rows]))]
    natural_groups, starts, sizes = np.unique(group[rows], return_index=True, return_counts=True)
    stratum = code[rows[starts]] if len(rows) else np.empty(0, dtype=np.int64)
    chosen = np.full(len(natural_groups), Split.TRAIN, dtype=np.int8)
    rng = np.random.default_rng(seed)
    room = {Split.TEST: 0.0, Split.DEV: 0.0}
    for label in range(len(frequency)):
        candidates = rng.permutation(np.flatnonzero(stratum == label))
        total = int(sizes[candidates].sum())
        # What rounding left over from one label goes to the next, so that the sets' sizes come out right.
        room = {Split.TEST: room[Split.TEST] + test * total, Split.DEV: room[Split.DEV] + dev * total}
        for place in candidates.tolist():
            for split in (Split.TEST, Split.DEV):
                if room[split] + 0.5 >= sizes[place]:
                    chosen[place] = split
                    room[split] -= int(sizes[place])
                    break
    split_of_group = dict(zip(natural_groups.tolist(), chosen.tolist(), strict=True))
    for row, number in enumerate(group.tolist()):
        split = split_of_group.get(number, Split.TRAIN)
        splits[row] = split if random[row] or split == Split.TRAIN else Split.LEAK
    return splits


def repeats(labels: Sequence[int] | NDArray[np.integer], share: float, *, seed: int) -> NDArray[np.int64]:
    """How often to repeat each training row so that every label has at least `share` of the commonest label's rows.

    >>> repeats([0, 0, 0, 0, 1], 0.5, seed=1).tolist()
    [1, 1, 1, 1, 2]
    """
    codes = np.asarray(labels)
    times = np.ones(len(codes), dtype=np.int64)
    if not len(codes):
        return times
    distinct, sizes = np.unique(codes, return_counts=True)
    least = int(np.ceil(share * sizes.max()))
    rng = np.random.default_rng(seed)
    for label, size in zip(distinct, sizes.tolist(), strict=True):
        if size < least:
            rows = np.flatnonzero(codes == label)
            times[rows] = least // size
            times[rng.permutation(rows)[: least % size]] += 1
    return times
