"""What a language model would put where IEST masked a word, from an exported model: see `trigger_lm`."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import whole_text
from emoscope.core.fit_context import FitContext
from emoscope.models.features.base import Extractor, Matrix, as_rows
from emoscope.models.onnx.description import FLOAT, TOKENIZER, special_pieces
from emoscope.models.onnx.session import Run, open_graph, reason
from emoscope.models.text.tokenizer import Pieces
from emoscope.models.text.window import Row, Window
from emoscope.parallel.threads import in_parallel

ABOUT = "triggers.json"


class ExportedTriggerWords(Extractor):
    """The columns of `TriggerWords`, without torch."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._run: Run
        self._pieces: Pieces
        self._window: Window
        self._words: list[int]

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        """Not asked: what was exported does not learn."""
        del examples, labels, fit_context
        raise EmoscopeError("an exported model cannot be trained; train the run it came from")

    def transform(self, examples: Sequence[Example]) -> Matrix:
        """Six columns of emotions, then one for each word."""
        rows = self._window.rows([Example(Dialogue((Turn(example.text),)), 0) for example in examples], self._pieces)
        guesses = np.stack(in_parallel(self._guess, rows))
        ends = np.cumsum(self._words)[:-1]
        emotions = [np.logaddexp.reduce(part, axis=1) for part in np.split(guesses, ends, axis=1)]
        return as_rows(np.concatenate([np.stack(emotions, axis=1), guesses], axis=1))

    def _guess(self, row: Row) -> NDArray[np.float32]:
        masks = np.flatnonzero(row.pieces == self._pieces.mask)
        if not len(masks):
            return np.zeros(sum(self._words), np.float32)
        found: NDArray[np.float32] = self._run({"pieces": row.pieces[:, None], "masks": masks.astype(np.int64)})[0]
        return np.asarray(found.mean(0))

    def config(self) -> dict[str, Any]:
        return {}

    def save_weights(self, folder: Path) -> None:
        """Copy the files it was loaded from."""
        if self._folder is None:
            raise EmoscopeError("this language model has not been loaded")
        shutil.copytree(self._folder, folder, dirs_exist_ok=True)

    def load_weights(self, folder: Path) -> None:
        """Open the graph."""
        path = folder / ABOUT
        try:
            about = json.loads(whole_text(path))
            self._words = [int(count) for count in about["words"].values()]
            self._window = Window(length=int(about["max_length"]))
            self._pieces = Pieces.read(whole_text(folder / TOKENIZER), **special_pieces(about))
            self._run = open_graph(folder / FLOAT)
        except EmoscopeError:
            raise
        except Exception as error:  # whatever onnxruntime raises of a file that is missing or damaged
            raise InputError(path, f"is not an exported model ({reason(error)})") from None
        self._folder = folder
