"""Vectors of dialogues by an exported sentence encoder, without torch."""

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.models.onnx.description import FILE
from emoscope.models.onnx.exported_encoder import ExportedEncoder


class SentenceEncoder:
    """Vectors of last turns, read in context; from a folder that `export_vectors` wrote."""

    def __init__(self, folder: str | Path) -> None:
        path = Path(folder)
        if not (path / FILE).is_file():
            raise EmoscopeError(f"{path}: is not a sentence encoder; `emoscope corpus encoder` makes one")
        self._folder = path.absolute()
        self._encoder = ExportedEncoder()
        self._encoder.open(path)
        digest = blake2b(digest_size=8)
        for file in sorted(path.iterdir()):
            digest.update(file.read_bytes())
        self.name = f"encoder-{digest.hexdigest()}"

    def __reduce__(self) -> tuple[type["SentenceEncoder"], tuple[Path]]:
        return SentenceEncoder, (self._folder,)  # another process loads its own

    def vectors(self, dialogues: Sequence[Dialogue]) -> NDArray[np.float32]:
        """A row for each of one or more dialogues."""
        return self._encoder.logits([Example.last(dialogue) for dialogue in dialogues])[0].astype(np.float32)
