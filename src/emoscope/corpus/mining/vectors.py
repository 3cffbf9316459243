"""The vectors of millions of dialogues: bytes in files of a few thousand, read in place and never all in memory.

A file is named by what its vectors were made of, the embedder and the texts. So a run that was killed goes on where it
stopped, a pool that has grown is embedded only where it is new, and no vector is ever used for another text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from emoscope.corpus.mining.embedder import Embedder, Floats
from emoscope.dialogue import Dialogue
from emoscope.errors import EmoscopeError
from emoscope.files import atomic_write

Bytes = NDArray[np.int8]
SHARD = 8192  # dialogues in a file: at most the work of so many is lost when a run is killed
_NAME = re.compile(r"\d{5,}-[0-9a-f]{32}\.npy")


def as_bytes(vectors: Floats) -> Bytes:
    """Vectors as whole numbers from -127 to 127, each with a step of its own: a cosine does not ask for lengths.

    >>> as_bytes(np.array([[0.5, -1.0], [0.0, 0.0]])).tolist()
    [[64, -127], [0, 0]]
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    return np.rint(vectors / np.where(largest > 0, largest, 1) * 127).astype(np.int8)


class VectorFolder:
    """The vectors of a pool of dialogues, in its order."""

    def __init__(self, folder: str | Path, embedder: Embedder) -> None:
        self.folder = Path(folder)
        self.embedder = embedder
        self._files: list[Path] = []

    def fill(self, dialogues: Iterable[Dialogue], *, shard: int = SHARD) -> int:
        """Embed what is not embedded yet, forget what is no longer in the pool, and say how many dialogues that has."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._files, read = [], 0
        for number, part in enumerate(_batches(dialogues, shard)):
            path = self.folder / f"{number:05d}-{self._digest(part)}.npy"
            read += len(part)
            if not path.exists():
                vectors = self.embedder.vectors(part)
                if len(vectors) != len(part) or not np.isfinite(vectors).all():
                    raise EmoscopeError(f"{self.embedder.name}: expected {len(part)} finite vectors")
                with atomic_write(path, "wb") as handle:
                    np.save(handle, as_bytes(vectors))
            self._files.append(path)
        for old in self.folder.iterdir():
            if _NAME.fullmatch(old.name) and old not in self._files:
                old.unlink()
        return read

    def shards(self) -> Iterator[Bytes]:
        """The vectors file by file, read from the disk when they are looked at."""
        for path in self._files:
            yield np.load(path, mmap_mode="r", allow_pickle=False)

    def _digest(self, part: Sequence[Dialogue]) -> str:
        digest = blake2b(self.embedder.name.encode(), digest_size=16)
        for dialogue in part:
            # Lengths keep "ab", "c" apart from "a", "bc".
            turns = [text.encode("utf-8", "surrogatepass") for text in dialogue.texts]
            digest.update(b"|".join(str(len(turn)).encode() for turn in turns) + b"\n" + b"".join(turns))
        return digest.hexdigest()


def _batches(dialogues: Iterable[Dialogue], size: int) -> Iterator[list[Dialogue]]:
    remaining = iter(dialogues)
    while part := list(islice(remaining, size)):
        yield part
