"""The network at run time: dialogues in, scores out."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import numpy as np

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.files import whole_text
from emoscope.models.onnx.description import TOKENIZER, Description
from emoscope.models.onnx.layout import batches_of_equal_length
from emoscope.models.onnx.session import Scores, open_first
from emoscope.models.text.token_cache import RememberedPieces
from emoscope.models.text.window import Row
from emoscope.parallel.threads import in_parallel

LAID_OUT_AT_ONCE = 128


class EncoderNetwork:
    """Scores of dialogues' last turns; safe to use from many threads.

    Only dialogues of exactly the same length are computed together. So none is ever padded, what is computed for one
    does not depend on the others, and its scores are the same alone and in any batch.
    """

    def __init__(self, folder: Path, description: Description) -> None:
        self.weight = description.weight
        self._layout = description.layout
        self._pieces = RememberedPieces.read(whole_text(folder / TOKENIZER), **description.layout.special)
        reference = self._layout.rows(description.reference, self._pieces)
        self._run = open_first(folder, description.graphs, [self._layout.feed([row]) for row in reference])

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read the network's files, and choose a graph that computes right on this machine."""
        return cls(folder, Description.load(folder))

    def scores(self, dialogues: Sequence[Dialogue]) -> Scores:
        """A row of scores for each dialogue; at least one is needed."""
        rows: list[Row] = []

        def answered(batch: list[int]) -> tuple[list[int], Scores]:
            return batch, self._run(self._layout.feed([rows[place] for place in batch]))[0]

        answers = in_parallel(answered, batches_of_equal_length(self._lengths(dialogues, rows)))
        made = np.empty((len(rows), answers[0][1].shape[1]))
        for batch, scores in answers:
            made[batch] = scores
        return made

    def _lengths(self, dialogues: Sequence[Dialogue], rows: list[Row]) -> Iterator[int]:
        """Lay dialogues out, and give each one's length. A few at a time: the first are computed meanwhile."""
        for first in range(0, len(dialogues), LAID_OUT_AT_ONCE):
            made = self._layout.rows(dialogues[first : first + LAID_OUT_AT_ONCE], self._pieces)
            rows += made
            yield from [len(row.pieces) for row in made]

    def truncates(self, dialogue: Dialogue) -> bool:
        """Whether turns or pieces of the dialogue are not read."""
        # Its pieces are still known where it was answered just before.
        return self._layout.window.cuts(Example(dialogue, len(dialogue) - 1), self._pieces)
