"""Rows of tokens as the inputs of an encoder's graph."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.models.text.window import TokenRow, Window, focus_places

Feed = dict[str, NDArray[Any]]

# Tokens computed at once; with more, the values between two layers no longer fit into the processor's cache.
PIECES_AT_ONCE = 320
# The same for batches of mixed lengths: small enough that no core waits long for another's last batch.
RAGGED_PIECES_AT_ONCE = 512


@dataclass(frozen=True, slots=True)
class Layout:
    """How a dialogue becomes inputs: the window, the pooling, and the ids of special tokens."""

    window: Window
    pooling: str
    segments: bool
    special: Mapping[str, int]

    @property
    def takes_maximum(self) -> bool:
        """Whether pooling takes the maximum, not the mean."""
        return self.pooling.endswith("max")

    @property
    def vectors(self) -> int:
        """The number of pooled vectors that are concatenated."""
        return 2 if self.pooling == "mean+focus" else 1

    def feed(self, rows: Sequence[TokenRow]) -> Feed:
        """The inputs for rows of one length.

        `pieces` and `segments` have the shape (positions, rows), so that attention can read each head's vectors without
        copying. `pooling` has the shape (rows, vectors, positions): the weight of each position in a mean, or the
        number added to it before the maximum is taken.
        """
        pieces = np.stack([row.token_ids for row in rows])
        focus = focus_places(rows, pieces, self.pooling, mask=self.special["mask"], padding=self.special["padding"])
        if self.takes_maximum:
            pooling = np.where(focus, 0, -np.inf)[:, None]
        else:
            first, everywhere = np.arange(pieces.shape[1]) == np.zeros((len(rows), 1)), np.ones(pieces.shape, np.bool_)
            chosen = {"cls": [first], "mean+focus": [everywhere, focus]}.get(self.pooling, [focus])
            pooling = np.stack([places / places.sum(1, keepdims=True) for places in chosen], axis=1)
        feed: Feed = {"pieces": np.ascontiguousarray(pieces.T), "pooling": pooling.astype(np.float32)}
        if self.segments:
            feed["segments"] = np.ascontiguousarray(self.window.segments(rows, pieces.shape[1]).T.astype(np.float32))
        return feed


def batches_in_order(lengths: Iterable[int]) -> Iterator[list[int]]:
    """Consecutive items in batches of an efficient size, whatever their lengths.

    >>> list(batches_in_order([300, 100, 200, 7]))
    [[0, 1], [2, 3]]
    """
    batch: list[int] = []
    pieces = 0
    for place, length in enumerate(lengths):
        if batch and pieces + length > RAGGED_PIECES_AT_ONCE:
            yield batch
            batch, pieces = [], 0
        batch.append(place)
        pieces += length
    if batch:
        yield batch


def batches_of_equal_length(lengths: Iterable[int]) -> Iterator[list[int]]:
    """Items of equal length in batches of an efficient size.

    A batch is yielded as soon as it is full, before the next length is read; the rest follow at the end, longest first.

    >>> list(batches_of_equal_length([3, 200, 3, 7, 200]))
    [[1], [4], [3], [0, 2]]
    """
    waiting: dict[int, list[int]] = {}
    for place, length in enumerate(lengths):
        batch = waiting.setdefault(length, [])
        batch.append(place)
        if (len(batch) + 1) * length > PIECES_AT_ONCE:
            yield waiting.pop(length)
    for length in sorted(waiting, reverse=True):
        yield waiting[length]
