"""The interface of every part of a model: fit, predict, save, load and export, without pickle.

A block classifies examples, alone or inside a combination; an extractor computes their features. A component lists the
ones it contains in `children`, and is saved, loaded and exported together with them.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import whole_text, write_file
from emoscope.core.fit_context import FitContext
from emoscope.core.registry import Registry
from emoscope.models.former_names import current_names

if TYPE_CHECKING:
    from emoscope.models.export.exporter import Exporter
    from emoscope.models.features.base import Extractor

Floats = NDArray[np.float64]
Truncated = NDArray[np.bool_]
CONFIG = "block.json"
LONG_MESSAGE = 300  # characters, about 50 words: a longer one may not fit into the model

BLOCKS: Registry[type["Block"]] = Registry("block", entry_points="emoscope.blocks")
EXTRACTORS: Registry[type["Extractor"]] = Registry("feature extractor")
_REGISTRIES: Mapping[str, Registry[Any]] = {"block": BLOCKS, "extractor": EXTRACTORS}


@dataclass(frozen=True, slots=True)
class Prediction:
    """The probability of each label, a row per example, and which examples were truncated.

    `truncated` is None if that is unknown.
    """

    probabilities: Floats
    truncated: Truncated | None = None


def read_by_none(predictions: Iterable[Prediction]) -> Truncated | None:
    """Which examples were truncated by all of several models, not counting those that do not know.

    >>> some, none = np.zeros((2, 1)), np.array([True, False])
    >>> read_by_none([Prediction(some, none), Prediction(some), Prediction(some, ~none)]).tolist()
    [False, False]
    """
    truncated = [each.truncated for each in predictions if each.truncated is not None]
    return np.logical_and.reduce(truncated) if truncated else None


class Component(ABC):
    """A part of a model: a block or a feature extractor."""

    registered_as: ClassVar[str]  # "block" or "extractor"
    former_names: ClassVar[Mapping[str, str]] = {}  # of the constructor's arguments
    child_arguments: ClassVar[tuple[str, ...]] = ()  # the constructor's arguments that are its children

    def config(self) -> dict[str, Any]:
        """The constructor's arguments except the children, as JSON values: the attributes with the same names."""
        config: dict[str, Any] = {}
        for name, argument in signature(type(self)).parameters.items():
            if argument.kind is Parameter.VAR_KEYWORD:
                config |= getattr(self, name)
            elif name not in self.child_arguments:
                config[name] = getattr(self, name)
        return config

    def children(self) -> Mapping[str, "Component"]:
        """The components it contains, by the names of their folders."""
        return {}

    def set_children(self, children: Mapping[str, Any]) -> None:
        """Replace the children by others of the same names."""
        assert not children, f"{type(self).__name__} has no children"

    @classmethod
    def from_config(cls, config: Mapping[str, Any], children: Mapping[str, Any]) -> Self:
        """The component that `config` describes, before `load_weights`."""
        component = cls(**current_names(config, cls.former_names))
        if children:
            component.set_children(children)
        return component

    def corpora(self) -> frozenset[str]:
        """The auxiliary corpora it learns from besides its task; see `tasks.datasets.auxiliary`."""
        return frozenset[str]().union(*(child.corpora() for child in self.children().values()))

    def kernels(self) -> frozenset[str]:
        """The kernels on this machine that its probabilities depend on."""
        return frozenset[str]().union(*(child.kernels() for child in self.children().values()))

    def turns_read(self) -> int | None:
        """How many turns it reads, up to and including the one to label; None if unknown."""
        read = [child.turns_read() for child in self.children().values()]
        counts = [turns for turns in read if turns is not None]
        return max(counts) if counts and len(counts) == len(read) else None

    def save_weights(self, folder: Path) -> None:
        """Write what it has learnt, if anything; children are saved separately."""
        del folder

    def load_weights(self, folder: Path) -> None:
        """Read what `save_weights` wrote."""
        del folder

    def save(self, folder: Path) -> None:
        """Write the component and its children to a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self.save_weights(folder)
        children = self.children()
        for name, child in children.items():
            child.save(folder / name)
        name = _REGISTRIES[self.registered_as].name_of(type(self))
        content = {self.registered_as: name, "config": self.config(), "children": list(children)}
        write_file(folder / CONFIG, json.dumps(content, indent=2))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read a component of this or a derived class with its children.

        Only registered classes are created, so untrusted files are safe to load.
        """
        path = folder / CONFIG
        if not path.is_file():
            raise EmoscopeError(f"{folder}: holds no block ({CONFIG} is missing)")
        try:
            content = json.loads(whole_text(path))
            kind = next(kind for kind in _REGISTRIES if kind in content)
            component_class = _REGISTRIES[kind][content[kind]]
            names = content["children"] if "children" in content else _unlisted_children(folder)
            children = {name: Component.load(folder / name) for name in names}
            component = component_class.from_config(content["config"], children)
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError, StopIteration) as error:
            raise InputError(path, f"is not a block's description ({error})") from None
        if not isinstance(component, cls):
            raise EmoscopeError(f"{folder}: expected a saved {cls.registered_as}, found a saved {kind}")
        component.load_weights(folder)
        return component

    def export(self, exporter: "Exporter") -> "Component":
        """The same component without torch: networks become ONNX graphs, others export their children."""
        exported = copy(self)
        exported.set_children({name: child.export(exporter) for name, child in self.children().items()})
        return exported


class Block(Component):
    """A classifier of examples, with scikit-learn's methods.

    `labels` is set by the constructor; probabilities have one column per label. A block with several heads has the
    labels of all of them side by side: see `columns`.
    """

    registered_as = "block"
    bag_of_words: ClassVar[bool] = False  # in an ensemble with networks, truncation is judged by the networks alone
    labels: tuple[str, ...]

    @abstractmethod
    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        """Learn the label of each example."""

    @abstractmethod
    def infer(self, examples: Sequence[Example]) -> Prediction:
        """The probability of each label, and which examples were truncated."""

    def infer_texts(self, dialogues: Sequence[Sequence[str]]) -> Prediction:
        """`infer` for the last turns of dialogues given as texts; a block that reads only texts may override this."""
        return self.infer([Example.last(Dialogue.of(texts)) for texts in dialogues])

    def predict_proba(self, examples: Sequence[Example]) -> Floats:
        """The probability of each label."""
        return self.infer(examples).probabilities

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """The most likely label of each example."""
        return [self.labels[best] for best in self.predict_proba(examples).argmax(1)]

    def overlong(self, examples: Sequence[Example]) -> Truncated:
        """Which examples have a turn to label that does not fit into the model, even without its context."""
        return np.zeros(len(examples), bool)

    def of_head(self, head: str) -> "Block":
        """The part of it that answers for a head: a block that has several networks does not compute the others."""
        del head
        return self

    def columns(self, head: str) -> slice:
        """The columns of a head's labels."""
        del head
        return slice(None)

    def out_of_fold(self) -> Floats | None:
        """Out-of-fold probabilities of the training examples; None if it keeps none."""
        return None

    def export(self, exporter: "Exporter") -> "Block":
        exported = super().export(exporter)
        assert isinstance(exported, Block)
        return exported


def _unlisted_children(folder: Path) -> Iterator[str]:
    """The children of a block that was saved before `block.json` listed them."""
    for path in sorted(folder.iterdir(), key=lambda path: (len(path.name), path.name)):
        if (path / CONFIG).is_file():
            yield path.name
        elif path.is_dir():
            yield from (f"{path.name}/{name}" for name in _unlisted_children(path))


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
BLOCKS.add("neural", "emoscope.models.torch.classifier:NeuralClassifier")
BLOCKS.add("linear", "emoscope.models.linear.classifier:LinearClassifier")
BLOCKS.add("lightgbm", "emoscope.models.trees.boosting:LightGBM")
BLOCKS.add("xgboost", "emoscope.models.trees.boosting:XGBoost")
BLOCKS.add("multi-step-vote", "emoscope.models.ensembles.voting:MultiStepVote")
BLOCKS.add("blend", "emoscope.models.ensembles.blend:Blend")
BLOCKS.add("ngrams", "emoscope.models.linear.ngram_block:NgramBlock")
BLOCKS.add("transferred", "emoscope.models.torch.transfer:Transferred")
BLOCKS.add("exported-words", "emoscope.models.onnx.exported_words:ExportedWords")
BLOCKS.add("exported-encoder", "emoscope.models.onnx.exported_encoder:ExportedEncoder")
BLOCKS.add("exported-networks", "emoscope.models.onnx.exported_networks:ExportedNetworks")
BLOCKS.add("hub-graph", "emoscope.models.onnx.hub:HubGraph")
BLOCKS.add("hub-network", "emoscope.models.torch.hub:HubNetwork")

# One line per kind of feature.
EXTRACTORS.add("ngrams", "emoscope.models.features.ngrams:Ngrams")
EXTRACTORS.add("ranked-words", "emoscope.models.features.ranked_words:RankedWords")
EXTRACTORS.add("word-ratings", "emoscope.models.features.word_ratings:WordRatings")
EXTRACTORS.add("style", "emoscope.models.features.style:Style")
EXTRACTORS.add("scores", "emoscope.models.features.scores:ClassifierScores")
EXTRACTORS.add("vectors", "emoscope.models.features.vectors:AveragedVectors")
EXTRACTORS.add("trigger-words", "emoscope.models.torch.trigger_lm:TriggerWords")
EXTRACTORS.add("exported-trigger-words", "emoscope.models.onnx.trigger_words:ExportedTriggerWords")
