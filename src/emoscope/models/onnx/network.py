"""Inference with an exported transformer."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.files import whole_text
from emoscope.models.block import Truncated
from emoscope.models.native.encoder import NativeEncoder, UnsupportedGraphError
from emoscope.models.onnx.description import INT8, TOKENIZER, Description
from emoscope.models.onnx.layout import batches_in_order, batches_of_equal_length
from emoscope.models.onnx.session import Scores, open_first
from emoscope.models.text.tokenizer import Tokenizer
from emoscope.models.text.window import TokenRow
from emoscope.parallel.threads import in_parallel

ROWS_AT_ONCE = 128


class EncoderNetwork:
    """The logits of examples; safe to use from many threads.

    An example's logits are the same alone and in any batch, because nothing is ever padded: `encoder.c` computes rows
    of any length together, onnxruntime only rows of the same length.
    """

    def __init__(self, folder: Path) -> None:
        description = Description.load(folder)
        layout = self.layout = description.layout
        self.tokenizer = Tokenizer.read(whole_text(folder / TOKENIZER), **layout.special)
        reference = layout.window.rows([Example.last(dialogue) for dialogue in description.reference], self.tokenizer)
        self._scores: Callable[[Sequence[TokenRow]], Scores]
        self._batches: Callable[[Iterable[int]], Iterator[list[int]]]
        native = self._native(folder, description, reference)
        if native is not None:
            self.kernel = "encoder.c"
            self._scores, self._batches = native.scores, batches_in_order
            return
        run, file = open_first(folder, description.graphs, [layout.feed([row]) for row in reference])
        self.kernel = "onnxruntime" if file == INT8 else "onnxruntime in single precision"
        self._scores, self._batches = lambda rows: run(layout.feed(rows))[0], batches_of_equal_length

    def logits(self, examples: Sequence[Example]) -> tuple[Scores, Truncated]:
        """The graph's output for one or more examples, and which of them were truncated."""
        if len(examples) == 1:
            rows = self.layout.window.rows(examples, self.tokenizer)
            return self._scores(rows), np.array([rows[0].cut])
        return self._logits_of_many(examples)

    def _logits_of_many(self, examples: Sequence[Example]) -> tuple[Scores, Truncated]:
        rows: list[TokenRow] = []

        def computed(batch: list[int]) -> tuple[list[int], Scores]:
            return batch, self._scores([rows[place] for place in batch])

        batches = in_parallel(computed, self._batches(self._lengths(examples, rows)))
        logits = np.empty((len(rows), batches[0][1].shape[1]))
        for batch, scores in batches:
            logits[batch] = scores
        return logits, np.array([row.cut for row in rows])

    @staticmethod
    def _native(folder: Path, description: Description, reference: Sequence[TokenRow]) -> NativeEncoder | None:
        """The 8-bit graph in encoder.c, if it reproduces the stored scores on this machine."""
        stored = next((graph for graph in description.graphs if graph.file == INT8), None)
        if stored is None:
            return None
        try:
            native = NativeEncoder(folder / INT8, description.layout)
        except (UnsupportedGraphError, OSError, ValueError, LookupError):  # onnxruntime reports damaged files better
            return None
        error = np.abs(native.scores(reference) - np.array(stored.scores)).max()
        return native if error <= stored.tolerance else None

    def _lengths(self, examples: Sequence[Example], rows: list[TokenRow]) -> Iterator[int]:
        """Add the examples' rows to `rows` and yield their lengths; in parts, so that computing can start early."""
        for first in range(0, len(examples), ROWS_AT_ONCE):
            new_rows = self.layout.window.rows(examples[first : first + ROWS_AT_ONCE], self.tokenizer)
            rows += new_rows
            yield from [len(row.token_ids) for row in new_rows]
