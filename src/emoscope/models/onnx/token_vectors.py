"""A frozen encoder as a graph: vectors of words, without torch."""

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
from emoscope.models.text.contextual_rows import FrozenFeatures, HalfFloats
from emoscope.models.text.tokenizer import Tokenizer
from emoscope.parallel.threads import in_parallel

ABOUT = "vectors.json"
FILES = (ABOUT, TOKENIZER, FLOAT, WEIGHTS)
_MAX_CACHE_BYTES = 64 << 20


class TokenVectors(FrozenFeatures):
    """Vectors of tokens; safe to use from many threads.

    Each row is computed alone, so none depends on others. The latest ones are cached: the networks of an ensemble ask
    for the same rows.
    """

    def __init__(self, folder: Path, special: Mapping[str, int], longest: int) -> None:
        self.tokenizer = Tokenizer.read(whole_text(folder / TOKENIZER), **special)
        self.longest = longest
        self.folder = folder
        self._run = open_graph(folder / FLOAT)
        self._cache: OrderedDict[bytes, HalfFloats] = OrderedDict()
        self._cache_bytes = 0
        self._lock = Lock()

    def vectors(self, rows: Sequence[NDArray[np.int32]]) -> list[HalfFloats]:
        distinct = {row.tobytes(): row for row in rows}
        vectors = dict(zip(distinct, in_parallel(self._vectors_of, distinct.values()), strict=True))
        return [vectors[row.tobytes()] for row in rows]

    def _vectors_of(self, row: NDArray[np.int32]) -> HalfFloats:
        key = row.tobytes()
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key]
        vectors: HalfFloats = self._run({"pieces": row[:, None]})[0]
        with self._lock:
            if key not in self._cache:
                self._cache[key] = vectors
                self._cache_bytes += vectors.nbytes
            while self._cache_bytes > _MAX_CACHE_BYTES:
                self._cache_bytes -= self._cache.popitem(last=False)[1].nbytes
        return vectors

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            if not (folder / name).exists() or not (folder / name).samefile(self.folder / name):
                shutil.copy2(self.folder / name, folder / name)


_OPEN: WeakValueDictionary[str, TokenVectors] = WeakValueDictionary()


def load_vectors(folder: Path) -> TokenVectors:
    """Open an exported frozen encoder; folders with the same files share one object while it is in use."""
    path = folder / ABOUT
    try:
        about = json.loads(whole_text(path))
        special, longest = special_pieces(about), int(about["longest"])
    except (json.JSONDecodeError, KeyError, TypeError, ValueError):
        raise InputError(path, "does not describe an encoder that gives vectors") from None
    content = " ".join(content_digest(existing_file(folder / name)) for name in FILES)
    vectors = _OPEN.get(content)
    if vectors is None:
        vectors = _OPEN[content] = TokenVectors(folder, special, longest)
    vectors.folder = folder  # to copy from: the folder it was first loaded from may be gone
    return vectors
