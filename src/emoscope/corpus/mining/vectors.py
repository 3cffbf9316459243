"""The vectors of millions of dialogues: int8, in memory-mapped files of a few thousand, never all in memory.

A file name depends on the embedder and the turns its vectors were made from. So a killed run can resume, only the new
dialogues of a larger pool are embedded, and no vector is ever used for another text.
"""

import io
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.mining.embedder import Embedder, Floats
from emoscope.parallel import SERIAL, Executor
from emoscope.parallel.parts import PartFolder, batches, packed, unpacked

Bytes = NDArray[np.int8]
SHARD = 2048  # dialogues per file; at most this many per worker are lost when a run is killed


def as_bytes(vectors: Floats) -> Bytes:
    """Quantise vectors to integers from -127 to 127, each with its own scale, which keeps the cosines.

    >>> as_bytes(np.array([[0.5, -1.0], [0.0, 0.0]])).tolist()
    [[64, -127], [0, 0]]
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    return np.rint(vectors / np.where(largest > 0, largest, 1) * 127).astype(np.int8)


class VectorFolder:
    """The vectors of a pool of dialogues, in pool order."""

    def __init__(self, folder: str | Path, embedder: Embedder) -> None:
        self.folder = Path(folder)
        self.embedder = embedder
        self._files: list[Path] = []

    def fill(self, dialogues: Iterable[Dialogue], *, shard: int = SHARD, executor: Executor = SERIAL) -> int:
        """Embed new dialogues, delete the vectors of removed ones, and return the size of the pool."""
        folder = PartFolder(self.folder, self.embedder.name, ".npy")
        parts = (packed(part) for part in batches(dialogues, shard))
        self._files = list(folder.fill(parts, partial(_embedded, self.embedder), executor))
        return sum(map(len, self.shards()))

    def shards(self) -> Iterator[Bytes]:
        """The vectors file by file, memory-mapped."""
        for path in self._files:
            yield np.load(path, mmap_mode="r", allow_pickle=False)


def _embedded(embedder: Embedder, part: bytes) -> bytes:
    """The vectors of a part, as the bytes of a `.npy` file."""
    dialogues = unpacked(part)
    vectors = embedder.vectors(dialogues)
    if len(vectors) != len(dialogues) or not np.isfinite(vectors).all():
        raise EmoscopeError(f"{embedder.name}: expected {len(dialogues)} finite vectors")
    buffer = io.BytesIO()
    np.save(buffer, as_bytes(vectors))
    return buffer.getvalue()
