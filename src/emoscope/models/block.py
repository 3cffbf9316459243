"""What every learning block can do. Blocks take examples, so any of them can stand alone or inside a combination."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import atomic_write, whole_text
from emoscope.core.fit_context import FitContext
from emoscope.core.registry import Registry

Floats = NDArray[np.float64]
CONFIG = "block.json"

BLOCKS: Registry[type["Block"]] = Registry("block")


class Block(ABC):
    """A classifier of examples: scikit-learn's grammar, saved without pickle.

    `labels` is fixed when the block is made; probabilities have one column for each.
    """

    labels: tuple[str, ...]

    @abstractmethod
    def fit(self, examples: Sequence[Example], labels: Sequence[str], fitting: FitContext) -> Self:
        """Learn the label of each example."""

    @abstractmethod
    def predict_proba(self, examples: Sequence[Example]) -> Floats:
        """The probability of each label."""

    @abstractmethod
    def config(self) -> dict[str, Any]:
        """The constructor's arguments, as JSON."""

    @abstractmethod
    def save_weights(self, folder: Path) -> None:
        """Write what was learnt."""

    @abstractmethod
    def load_weights(self, folder: Path) -> None:
        """Read what was learnt."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any], folder: Path) -> Self:
        """The unfitted block that `config` describes; `folder` is where its parts lie."""
        del folder
        return cls(**config)

    def save(self, folder: Path) -> None:
        """Write the block into a folder of its own."""
        folder.mkdir(parents=True, exist_ok=True)
        self.save_weights(folder)
        with atomic_write(folder / CONFIG) as handle:
            json.dump({"block": block_name(type(self)), "config": self.config()}, handle, indent=2)

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """The most likely label of each example."""
        return [self.labels[best] for best in self.predict_proba(examples).argmax(1)]


def block_name(kind: type[Block]) -> str:
    """The name a block is registered under."""
    for name in BLOCKS:
        if BLOCKS.target(name) == f"{kind.__module__}:{kind.__qualname__}":
            return name
    raise EmoscopeError(f"{kind.__name__} is not a registered block")


def load_block(folder: Path) -> Block:
    """Read a block of any kind; only registered kinds are made, so a file from elsewhere can do no harm."""
    path = folder / CONFIG
    if not path.is_file():
        raise EmoscopeError(f"{folder}: holds no block ({CONFIG} is missing)")
    try:
        content = json.loads(whole_text(path))
        block = BLOCKS[content["block"]].from_config(content["config"], folder)
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise InputError(path, f"is not a block's description ({error})") from None
    block.load_weights(folder)
    return block


def one_hot(labels: Sequence[str], names: Sequence[str]) -> Floats:
    """Certain probabilities, for voting.

    >>> one_hot(["b"], ["a", "b"]).tolist()
    [[0.0, 1.0]]
    """
    return np.eye(len(names))[[list(names).index(label) for label in labels]]


# One line per kind of block that may be saved.
BLOCKS.add("mean", "emoscope.models.ensembles.combine:Mean")
BLOCKS.add("majority", "emoscope.models.ensembles.combine:Majority")
BLOCKS.add("folds", "emoscope.models.ensembles.combine:Folds")
BLOCKS.add("cascade", "emoscope.models.ensembles.combine:Cascade")
BLOCKS.add("stack", "emoscope.models.ensembles.combine:Stack")
BLOCKS.add("neural", "emoscope.models.torch.classifier:NeuralClassifier")
BLOCKS.add("linear", "emoscope.models.linear.classifier:LinearClassifier")
BLOCKS.add("lightgbm", "emoscope.models.trees.boosting:LightGBM")
BLOCKS.add("xgboost", "emoscope.models.trees.boosting:XGBoost")
BLOCKS.add("multi-step-vote", "emoscope.models.ensembles.voting:MultiStepVote")
BLOCKS.add("blend", "emoscope.models.ensembles.blend:Blend")
BLOCKS.add("ngrams", "emoscope.models.linear.ngram_block:NgramBlock")
BLOCKS.add("transferred", "emoscope.models.torch.transfer:Transferred")
BLOCKS.add("exported-words", "emoscope.models.onnx.exported:ExportedWords")
BLOCKS.add("exported-encoder", "emoscope.models.onnx.exported:ExportedEncoder")
