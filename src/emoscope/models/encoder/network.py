"""The network at run time: dialogues in, scores out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np

from emoscope.dialogue import Dialogue
from emoscope.files import whole_text
from emoscope.models.encoder.description import TOKENIZER, Description
from emoscope.models.encoder.layout import batches_of_equal_length
from emoscope.models.encoder.session import Scores, in_parallel, open_first
from emoscope.models.pieces import Pieces
from emoscope.text import normalise_text


class EncoderNetwork:
    """Scores of dialogues' last turns; safe to use from many threads.

    Only dialogues of exactly the same length are computed together. So none is ever padded, what is computed for one
    does not depend on the others, and its scores are the same alone and in any batch.
    """

    def __init__(self, folder: Path, description: Description) -> None:
        self.weight = description.weight
        self._layout = description.layout
        self._pieces = Pieces.read(whole_text(folder / TOKENIZER), **description.layout.special)
        reference = self._layout.rows(description.reference, self._pieces)
        self._run = open_first(folder, description.graphs, [self._layout.feed([row]) for row in reference])

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read the network's files, and choose a graph that computes right on this machine."""
        return cls(folder, Description.load(folder))

    def scores(self, dialogues: Sequence[Dialogue]) -> Scores:
        """A row of scores for each dialogue; at least one is needed."""
        rows = self._layout.rows(dialogues, self._pieces)
        batches = list(batches_of_equal_length([len(row.pieces) for row in rows]))
        answers = in_parallel(
            lambda batch: self._run(self._layout.feed([rows[place] for place in batch]))[0],
            batches,
        )
        made = np.empty((len(rows), answers[0].shape[1]))
        for batch, answer in zip(batches, answers, strict=True):
            made[batch] = answer
        return made

    def truncates(self, dialogue: Dialogue) -> bool:
        """Whether turns or pieces of the dialogue are not read."""
        window = self._layout.window
        if len(dialogue) > window.context:
            return True
        texts = [normalise_text(turn.text) for turn in dialogue.turns]
        # No piece is shorter than a character, and a turn brings a separator and perhaps its speaker besides.
        if all(map(str.isascii, texts)) and 1 + sum(len(text) + 2 for text in texts) <= window.length:
            return False
        return self._layout.rows([dialogue], self._pieces)[0].cut
