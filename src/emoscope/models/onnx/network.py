"""An exported transformer at run time: examples in, logits out."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.files import whole_text
from emoscope.models.block import Truncated
from emoscope.models.onnx.description import TOKENIZER, Description
from emoscope.models.onnx.layout import batches_of_equal_length
from emoscope.models.onnx.session import Scores, open_first
from emoscope.models.text.tokenizer import Tokenizer
from emoscope.models.text.window import TokenRow
from emoscope.parallel.threads import in_parallel

LAID_OUT_AT_ONCE = 128


class EncoderNetwork:
    """Logits of examples; safe to use from many threads.

    Only rows of exactly the same length are computed together. So none is ever padded, what is computed for one
    does not depend on the others, and its logits are the same alone and in any batch.
    """

    def __init__(self, folder: Path) -> None:
        description = Description.load(folder)
        self._layout = description.layout
        self._tokenizer = Tokenizer.read(whole_text(folder / TOKENIZER), **description.layout.special)
        examples = [Example.last(dialogue) for dialogue in description.reference]
        reference = self._layout.window.rows(examples, self._tokenizer)
        self._run = open_first(folder, description.graphs, [self._layout.feed([row]) for row in reference])

    def logits(self, examples: Sequence[Example]) -> tuple[Scores, Truncated]:
        """The graph's output for each of at least one example, and which of them were cut."""
        rows: list[TokenRow] = []

        def computed(batch: list[int]) -> tuple[list[int], Scores]:
            return batch, self._run(self._layout.feed([rows[place] for place in batch]))[0]

        batches = in_parallel(computed, batches_of_equal_length(self._lengths(examples, rows)))
        logits = np.empty((len(rows), batches[0][1].shape[1]))
        for batch, scores in batches:
            logits[batch] = scores
        return logits, np.array([row.cut for row in rows])

    def overlong(self, examples: Sequence[Example]) -> Truncated:
        """Which turns to be labelled have more tokens than the window."""
        return self._layout.window.overlong(examples, self._tokenizer)

    @property
    def turns_read(self) -> int:
        """How many turns are laid out, the one to be labelled included."""
        return self._layout.window.context

    def _lengths(self, examples: Sequence[Example], rows: list[TokenRow]) -> Iterator[int]:
        """Lay examples out, and give each one's length. A few at a time: the first are computed meanwhile."""
        for first in range(0, len(examples), LAID_OUT_AT_ONCE):
            laid_out = self._layout.window.rows(examples[first : first + LAID_OUT_AT_ONCE], self._tokenizer)
            rows += laid_out
            yield from [len(row.token_ids) for row in laid_out]
