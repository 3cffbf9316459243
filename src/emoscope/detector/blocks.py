"""A bundle of any block that needs no torch, as the detector uses it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from emoscope.detector.bundle import Head
from emoscope.dialogue import Dialogue, Example
from emoscope.errors import EmoscopeError
from emoscope.models.block import Block, load_block
from emoscope.models.exported import Exported
from emoscope.models.label_shift import prior_vector

Floats = NDArray[np.float64]
FOLDER = "model"


class BlockModel:
    """A block with one head; probabilities are sharpened or flattened by the head's temperature."""

    def __init__(self, block: Block, head: Head) -> None:
        if set(head.labels) != set(block.labels) or set(head.trained or ()) != set(head.labels):
            raise EmoscopeError(f"head {head.name}: expected the model's labels, and the mix of them it was trained on")
        self.labels = head.labels
        self.prior = prior_vector(head.trained or {}, head.labels)
        self._block = block
        self._order = [block.labels.index(label) for label in head.labels]
        self._temperature = head.temperature
        self._networks = list(_exported(block))

    @classmethod
    def load(cls, folder: Path, head: Head) -> "BlockModel":
        """Read the block of a bundle."""
        return cls(load_block(folder / FOLDER), head)

    def predict_proba(self, dialogues: Sequence[Dialogue]) -> Floats:
        """The probability of each label under the training prior."""
        answers = self._block.predict_proba([Example(dialogue, len(dialogue) - 1) for dialogue in dialogues])
        if self._temperature == 1:
            return np.asarray(answers[:, self._order])
        raised = answers[:, self._order] ** (1 / self._temperature)
        return np.asarray(raised / raised.sum(1, keepdims=True))

    def truncates(self, dialogue: Dialogue) -> bool:
        """Whether a part of the dialogue is read by none of the networks."""
        example = Example(dialogue, len(dialogue) - 1)
        return bool(self._networks) and all(network.truncates(example) for network in self._networks)


def _exported(block: Block) -> Iterator[Exported]:
    """The networks of a block, wherever they stand in it."""
    if isinstance(block, Exported):
        yield block
    for held in vars(block).values():
        for part in _blocks(held):
            yield from _exported(part)


def _blocks(value: object) -> Iterator[Block]:
    if isinstance(value, Block):
        yield value
    elif isinstance(value, dict):
        yield from _blocks(list(value.values()))
    elif isinstance(value, list):
        for each in value:
            yield from _blocks(each)
