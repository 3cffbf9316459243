"""A loaded model: its description (`bundle.json`) and its block."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.text import masked
from emoscope.detector.bundle import PRESETS, Bundle, Head, folder_hash, resolve
from emoscope.detector.long_turns import READINGS, pooled, shortened_example, too_long, windows
from emoscope.models.block import LONG_MESSAGE, Block, Floats, Prediction, Truncated

BLOCK = "model"  # the folder of the block


@dataclass(frozen=True)
class FittedModel:
    """A bundle and its block, shared by detectors with different labels or priors.

    The pickle of a loaded model holds its name and hash, not its weights.
    """

    bundle: Bundle
    block: Block
    folder: Path | None = field(default=None, compare=False)  # None if it was not loaded

    def __post_init__(self) -> None:
        for head in self.bundle.heads:
            labels = self.block.labels[self.block.columns(head.name)]
            if set(head.labels) != set(labels):
                raise EmoscopeError(f"head {head.name}: expected the model's labels, which are {', '.join(labels)}")

    @cached_property
    def sha256(self) -> str | None:
        """The hash of its files when this was first asked for; None if it was not loaded."""
        return None if self.folder is None else folder_hash(self.folder)

    @classmethod
    def load(cls, folder: Path) -> "FittedModel":
        """Read a run, an export or an embedded preset."""
        bundle = Bundle.load(folder)
        try:
            if (folder / BLOCK).is_dir():
                return cls(bundle, Block.load(folder / BLOCK), folder)
            from emoscope.detector.old_formats import read_block

            return cls(bundle, read_block(folder, bundle), folder)
        except ModuleNotFoundError as error:
            raise EmoscopeError(
                f"{folder}: needs {error.name}, which is not installed (pip install 'emoscope[train]'); where it is, "
                "`emoscope export` writes a model that does not need torch"
            ) from None

    def __reduce__(self) -> tuple[Any, ...]:
        if self.folder is None:
            return FittedModel, (self.bundle, self.block)
        name = next((name for name in PRESETS if resolve(name) == self.folder), str(self.folder.absolute()))
        return _load_same, (name, self.sha256)

    def save(self, folder: Path) -> None:
        """Write the block and `bundle.json`."""
        self.block.save(folder / BLOCK)
        self.bundle.save(folder)

    def infer(self, head: Head, examples: Sequence[Example]) -> tuple[Floats, Truncated]:
        """The probabilities of a head's labels under its training prior, and which examples were truncated.

        If the turn to be labelled is too long for the model, its sentences are read and their answers are pooled.
        """
        block = self.block.of_head(head.name)
        if all(len(turn.text) <= LONG_MESSAGE for each in examples for turn in each.dialogue.turns):
            return head_answers(head, block, block.infer(examples))
        shorter = [shortened_example(example) for example in examples]
        overlong = _overlong(block, shorter)
        if not overlong:
            answers, cut = head_answers(head, block, block.infer(shorter))
            return answers, cut | too_long(examples)
        parts = [windows(each) if place in overlong else [each] for place, each in enumerate(shorter)]
        # An explanation asks about hundreds of variants of a long turn, which share most of their windows.
        different = {(window.dialogue, window.turn): window for part in parts for window in part}
        answers, cut = head_answers(head, block, block.infer(list(different.values())))
        places = {key: place for place, key in enumerate(different)}
        rows = [[places[window.dialogue, window.turn] for window in part] for part in parts]
        mix = np.array([head.trained[label] for label in head.labels])
        probabilities = [
            pooled(answers[each].reshape(-1, READINGS, len(mix)), mix) if place in overlong else answers[each[0]]
            for place, each in enumerate(rows)
        ]
        # What does not fit into a longer window is read with the sentence alone.
        truncated = np.array(
            [cut[each[:: READINGS if place in overlong else 1]].any() for place, each in enumerate(rows)]
        )
        return np.stack(probabilities), truncated | too_long(examples)

    def infer_texts(self, head: Head, dialogues: Sequence[Sequence[str]]) -> tuple[Floats, Truncated]:
        """Like `infer`, for the last turns of dialogues given as texts."""
        block = self.block.of_head(head.name)
        if max(map(len, chain.from_iterable(dialogues)), default=0) <= LONG_MESSAGE:
            return head_answers(head, block, block.infer_texts(dialogues))
        long = np.array([max(map(len, texts)) > LONG_MESSAGE for texts in dialogues])
        short = [texts for texts, is_long in zip(dialogues, long, strict=True) if not is_long]
        others = [Example.last(Dialogue.of(texts)) for texts, is_long in zip(dialogues, long, strict=True) if is_long]
        probabilities, truncated = np.empty((len(dialogues), len(head.labels))), np.empty(len(dialogues), bool)
        probabilities[long], truncated[long] = self.infer(head, others)
        if short:
            probabilities[~long], truncated[~long] = head_answers(head, block, block.infer_texts(short))
        return probabilities, truncated


def _overlong(block: Block, examples: Sequence[Example]) -> set[int]:
    """Which examples are read in windows; not those with a masked word, which is what the question is about."""
    places = [place for place, each in enumerate(examples) if len(each.text) > LONG_MESSAGE]
    places = [place for place in places if not masked(examples[place].text)]
    overlong = block.overlong([examples[place] for place in places]) if places else ()
    return {place for place, windowed in zip(places, overlong, strict=True) if windowed}


def head_answers(head: Head, block: Block, prediction: Prediction) -> tuple[Floats, Truncated]:
    """The probabilities of a head's labels, in its order, and which examples were truncated."""
    columns = block.columns(head.name)
    labels = block.labels[columns]
    probabilities = prediction.probabilities[:, columns][:, [labels.index(label) for label in head.labels]]
    if head.temperature != 1:
        raised = probabilities ** (1 / head.temperature)
        probabilities = raised / raised.sum(1, keepdims=True)
    truncated = prediction.truncated
    return probabilities, np.zeros(len(probabilities), bool) if truncated is None else truncated


@lru_cache(2)  # tasks of one worker share the model
def _load_same(name: str, sha256: str) -> FittedModel:
    model = FittedModel.load(resolve(name))
    if model.sha256 != sha256:
        from socket import gethostname

        problem = f"model {name} differs from the one the detector was pickled with; install the same"
        raise EmoscopeError(f"{gethostname()}: {problem}")
    return model
