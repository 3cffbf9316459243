"""A bundle of any block, as the detector uses it: a trained run as it is, or exported so that it needs no torch."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.detector.bundle import Head
from emoscope.models.block import Block, load_block
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
        self._readers = list(_readers(block))

    @classmethod
    def load(cls, folder: Path, head: Head) -> "BlockModel":
        """Read the block of a bundle."""
        try:
            return cls(load_block(folder / FOLDER), head)
        except ModuleNotFoundError as error:
            raise EmoscopeError(
                f"{folder}: needs {error.name}, which is not installed (pip install 'emoscope[train]'); where it is, "
                "`emoscope export` writes a model that does not need torch"
            ) from None

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
        return bool(self._readers) and all(reader.truncates(example) for reader in self._readers)


class _Reader(Protocol):
    """A block that may not read all of an example."""

    def truncates(self, example: Example, /) -> bool: ...


def _readers(block: Block) -> Iterator[_Reader]:
    """The networks of a block, wherever they stand in it."""
    if hasattr(block, "truncates"):
        yield cast(_Reader, block)
    for held in vars(block).values():
        for part in _blocks(held):
            yield from _readers(part)


def _blocks(value: object) -> Iterator[Block]:
    if isinstance(value, Block):
        yield value
    elif isinstance(value, dict):
        yield from _blocks(list(value.values()))
    elif isinstance(value, list):
        for each in value:
            yield from _blocks(each)
