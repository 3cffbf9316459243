"""Padding rows of different lengths to one table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def padded(rows: Sequence[Any], padding: int = 0, dtype: Any = np.int64) -> NDArray[Any]:
    """Rows of numbers, or of vectors, as one table.

    >>> padded([[5, 6], [7]]).tolist()
    [[5, 6], [7, 0]]
    """
    width = max(1, *map(len, rows))
    table = np.full((len(rows), width, *np.shape(rows[0])[1:]), padding, dtype)
    for number, row in enumerate(rows):
        table[number, : len(row)] = row
    return table
