"""A frozen encoder as a graph: the vectors of words, without torch."""

import json
import shutil
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from emoscope.core.errors import InputError
from emoscope.core.files import content_digest, existing_file, whole_text
from emoscope.models.onnx.description import FLOAT, TOKENIZER, WEIGHTS, special_pieces
from emoscope.models.onnx.session import open_graph
from emoscope.models.text.frozen_words import HalfFloats, Words, word_vectors
from emoscope.models.text.tokenizer import Tokenizer
from emoscope.parallel.threads import in_parallel

ABOUT = "vectors.json"
FILES = (ABOUT, TOKENIZER, FLOAT, WEIGHTS)
_MOST_BYTES_KEPT = 64 << 20


class PieceVectors:
    """Vectors of words; safe to use from many threads.

    Each row is computed alone, so none depends on others. The latest are remembered: the networks of an ensemble ask
    for the same ones.
    """

    def __init__(self, folder: Path, special: Mapping[str, int], longest: int) -> None:
        self.tokenizer = Tokenizer.read(whole_text(folder / TOKENIZER), **special)
        self.longest = longest
        self._run = open_graph(folder / FLOAT)
        self._folder = folder
        self._kept: OrderedDict[bytes, HalfFloats] = OrderedDict()
        self._kept_bytes = 0
        self._lock = Lock()

    def words(self, rows: Sequence[Words], *, length: int) -> list[tuple[HalfFloats, HalfFloats]]:
        """A vector for each word and for the whole of each row: see `word_vectors`."""
        return word_vectors(rows, self.tokenizer, self._vectors, length=length)

    def _vectors(self, rows: Sequence[NDArray[np.int32]]) -> list[HalfFloats]:
        different = {row.tobytes(): row for row in rows}
        found = dict(zip(different, in_parallel(self._vector, different.values()), strict=True))
        return [found[row.tobytes()] for row in rows]

    def _vector(self, row: NDArray[np.int32]) -> HalfFloats:
        key = row.tobytes()
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made: HalfFloats = self._run({"pieces": row[:, None]})[0]
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._kept_bytes += made.nbytes
            while self._kept_bytes > _MOST_BYTES_KEPT:
                self._kept_bytes -= self._kept.popitem(last=False)[1].nbytes
        return made

    def save(self, folder: Path) -> None:
        """Copy its files."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            if not (folder / name).exists() or not (folder / name).samefile(self._folder / name):
                shutil.copy2(self._folder / name, folder / name)

    def stay_with(self, folder: Path) -> None:
        """Copy from another folder with the same files from now on: where it came from may be gone."""
        self._folder = folder


_OPEN: WeakValueDictionary[str, PieceVectors] = WeakValueDictionary()


def load_vectors(folder: Path) -> PieceVectors:
    """Open an exported frozen encoder; those with the same files become one while someone uses it."""
    path = folder / ABOUT
    try:
        about = json.loads(whole_text(path))
        special, longest = special_pieces(about), int(about["longest"])
    except (json.JSONDecodeError, KeyError, TypeError, ValueError):
        raise InputError(path, "does not describe an encoder that gives vectors") from None
    content = " ".join(content_digest(existing_file(folder / name)) for name in FILES)
    made = _OPEN.get(content)
    if made is None:
        made = _OPEN[content] = PieceVectors(folder, special, longest)
    else:
        made.stay_with(folder)
    return made
