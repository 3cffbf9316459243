"""Splits without leaks: evaluation at the natural mix of labels, and what belongs together never parted.

Rows that were drawn at random are natural: among them, labels are as frequent as in real life. Development and test set
are made of these alone. All other rows, such as those found by mining, are for training only.
"""

from collections.abc import Iterable, Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from emoscope.core.errors import EmoscopeError


class Part(IntEnum):
    """Where a row goes; LEAK is nowhere, because it is tied to a row of an evaluation set."""

    TRAIN = 0
    DEV = 1
    TEST = 2
    LEAK = 3


def join_groups(size: int, pairs: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    """For each of so many rows the number of its group: the first row that pairs tie it to, directly or not.

    >>> join_groups(5, [(1, 0), (4, 3), (3, 1)]).tolist()
    [0, 0, 2, 0, 0]
    """
    first = list(range(size))

    def root(row: int) -> int:
        while first[row] != row:
            first[row] = first[first[row]]  # shortens the way for whoever asks next
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
    """The part of each row, groups being kept whole; `dev` and `test` are shares of the natural rows of every label.

    A group counts for the rarest of its labels. One that is larger than what a set has room for goes to training. Rows
    that are not natural go there too, unless their group is in an evaluation set: then they are left out.

    >>> parts = assign([0] * 90 + [1] * 10, range(100), [True] * 100, dev=0.1, test=0.2, seed=1)
    >>> np.bincount(parts).tolist(), np.bincount(parts[90:]).tolist()
    ([70, 10, 20], [7, 1, 2])
    """
    if dev < 0 or test < 0 or dev + test >= 1:
        raise EmoscopeError(f"dev and test must be shares that leave something for train, not {dev} and {test}")
    kind, group, random = np.asarray(labels), np.asarray(groups), np.asarray(natural, dtype=bool)
    parts = np.full(len(kind), Part.TRAIN, dtype=np.int8)
    frequency = np.bincount(kind[random], minlength=int(kind.max(initial=0)) + 1)
    # Natural rows group by group, the rarest label of each first.
    rows = np.flatnonzero(random)
    rows = rows[np.lexsort((kind[rows], frequency[kind[rows]], group[rows]))]
    found, starts, sizes = np.unique(group[rows], return_index=True, return_counts=True)
    stratum = kind[rows[starts]] if len(rows) else np.empty(0, dtype=np.int64)
    chosen = np.full(len(found), Part.TRAIN, dtype=np.int8)
    rng = np.random.default_rng(seed)
    owed = {Part.TEST: 0.0, Part.DEV: 0.0}
    for label in range(len(frequency)):
        mine = rng.permutation(np.flatnonzero(stratum == label))
        total = int(sizes[mine].sum())
        # What rounding left over in one label is made up for in the next, so that the sets' sizes come out right.
        owed = {Part.TEST: owed[Part.TEST] + test * total, Part.DEV: owed[Part.DEV] + dev * total}
        for place in mine.tolist():
            for part in (Part.TEST, Part.DEV):
                if owed[part] + 0.5 >= sizes[place]:
                    chosen[place] = part
                    owed[part] -= int(sizes[place])
                    break
    of_group = dict(zip(found.tolist(), chosen.tolist(), strict=True))
    for row, number in enumerate(group.tolist()):
        part = of_group.get(number, Part.TRAIN)
        parts[row] = part if random[row] or part == Part.TRAIN else Part.LEAK
    return parts


def repeats(labels: Sequence[int] | NDArray[np.integer], share: float, *, seed: int) -> NDArray[np.int64]:
    """How often each training row is written, so that every label has at least `share` of the most frequent one's rows.

    >>> repeats([0, 0, 0, 0, 1], 0.5, seed=1).tolist()
    [1, 1, 1, 1, 2]
    """
    kind = np.asarray(labels)
    times = np.ones(len(kind), dtype=np.int64)
    if not len(kind):
        return times
    found, sizes = np.unique(kind, return_counts=True)
    wanted = int(np.ceil(share * sizes.max()))
    rng = np.random.default_rng(seed)
    for label, size in zip(found, sizes.tolist(), strict=True):
        mine = np.flatnonzero(kind == label)
        if size < wanted:
            times[mine] = wanted // size
            times[rng.permutation(mine)[: wanted % size]] += 1
    return times
