"""What every learning block can do. Blocks take examples, so any of them can stand alone or inside a combination."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from emoscope.dialogue import Example
from emoscope.errors import EmoscopeError, InputError
from emoscope.files import atomic_write, whole_text
from emoscope.registry import Registry

Floats = NDArray[np.float64]
CONFIG = "block.json"

BLOCKS: Registry[type["Block"]] = Registry("block")


def _silent(message: str, done: float) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Fitting:
    """What a fit may use beside its data: a seed, a device, where to keep checkpoints, whom to tell of progress.

    `resources` is the folder of lexicons, vectors and unlabelled text; blocks that need one say so by name. `unseen`
    holds texts that will be scored: what is learnt beside the data must not contain them. `workers` is how many parts
    of an ensemble may be trained at once, each in a process of its own; `devices` on how many devices each network is
    trained, batches shared out between them.
    """

    seed: int = 0
    device: str = "auto"
    checkpoints: Path | None = None
    resources: Path | None = None
    unseen: frozenset[str] = frozenset()
    workers: int = 1
    devices: int = 1
    report: Callable[[str, float], None] = field(default=_silent)

    def part(self, name: str, *, seed: int | None = None) -> "Fitting":
        """The same for one part of a combination, with a checkpoint folder of its own.

        >>> Fitting(checkpoints=Path("kept")).part("first", seed=3).checkpoints.name
        'first'
        """
        kept = self.checkpoints / name if self.checkpoints is not None else None
        return replace(self, checkpoints=kept, seed=self.seed if seed is None else seed)

    def resource(self, name: str) -> Path:
        """A file or folder of the resources, or a clear line that it is missing."""
        if self.resources is None:
            raise EmoscopeError(f"this needs {name}: give the folder of the data with --data or EMOSCOPE_DATA")
        path = self.resources / name
        if not path.exists():
            raise EmoscopeError(f"this needs {name}, which is not in {self.resources}")
        return path


class Block(ABC):
    """A classifier of examples: scikit-learn's grammar, saved without pickle.

    `labels` is fixed when the block is made; probabilities have one column for each.
    """

    labels: tuple[str, ...]

    @abstractmethod
    def fit(self, examples: Sequence[Example], labels: Sequence[str], fitting: Fitting) -> Self:
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
BLOCKS.add("mean", "emoscope.models.combine:Mean")
BLOCKS.add("majority", "emoscope.models.combine:Majority")
BLOCKS.add("folds", "emoscope.models.combine:Folds")
BLOCKS.add("cascade", "emoscope.models.combine:Cascade")
BLOCKS.add("stack", "emoscope.models.combine:Stack")
BLOCKS.add("neural", "emoscope.models.neural.classifier:NeuralClassifier")
BLOCKS.add("linear", "emoscope.models.linear:LinearClassifier")
BLOCKS.add("lightgbm", "emoscope.models.boosting:LightGbmClassifier")
BLOCKS.add("xgboost", "emoscope.models.boosting:XgboostClassifier")
BLOCKS.add("multi-step-vote", "emoscope.models.voting:MultiStepVote")
BLOCKS.add("blend", "emoscope.models.blend:Blend")
BLOCKS.add("ngrams", "emoscope.models.ngram_block:NgramBlock")
BLOCKS.add("transferred", "emoscope.models.transfer:Transferred")
BLOCKS.add("exported-words", "emoscope.models.exported:ExportedWords")
BLOCKS.add("exported-encoder", "emoscope.models.exported:ExportedEncoder")
