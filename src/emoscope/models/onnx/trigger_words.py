"""An exported language model's guesses for the word that IEST masked: see `trigger_lm`."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.errors import InputError
from emoscope.core.files import whole_text
from emoscope.models.features.base import Extractor, Matrix, as_rows
from emoscope.models.onnx.description import FLOAT, TOKENIZER, special_pieces
from emoscope.models.onnx.exported import FromFolder
from emoscope.models.onnx.session import Run, open_graph, reason
from emoscope.models.text.tokenizer import Tokenizer
from emoscope.models.text.window import TokenRow, Window
from emoscope.parallel.threads import in_parallel

ABOUT = "triggers.json"


class ExportedTriggerWords(FromFolder, Extractor):
    """The columns of `TriggerWords`, without torch: six for the emotions, then one for each word."""

    _run: Run
    _tokenizer: Tokenizer
    _window: Window
    _words: list[int]

    def transform(self, examples: Sequence[Example]) -> Matrix:
        rows = self._window.rows([Example(Dialogue((Turn(example.text),)), 0) for example in examples], self._tokenizer)
        guesses = np.stack(in_parallel(self._guess, rows))
        ends = np.cumsum(self._words)[:-1]
        emotions = [np.logaddexp.reduce(part, axis=1) for part in np.split(guesses, ends, axis=1)]
        return as_rows(np.concatenate([np.stack(emotions, axis=1), guesses], axis=1))

    def _guess(self, row: TokenRow) -> NDArray[np.float32]:
        masks = np.flatnonzero(row.token_ids == self._tokenizer.mask)
        if not len(masks):
            return np.zeros(sum(self._words), np.float32)
        guesses: NDArray[np.float32] = self._run({"pieces": row.token_ids[:, None], "masks": masks.astype(np.int64)})[0]
        return np.asarray(guesses.mean(0))

    def open(self, folder: Path) -> None:
        try:
            about = json.loads(whole_text(folder / ABOUT))
            self._words = [int(count) for count in about["words"].values()]
            self._window = Window(length=int(about["max_length"]))
            special = special_pieces(about)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(folder / ABOUT, f"is not an exported model ({reason(error)})") from None
        self._tokenizer = Tokenizer.read(whole_text(folder / TOKENIZER), **special)
        self._run = open_graph(folder / FLOAT)
