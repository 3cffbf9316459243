"""A trained block, however it is put together, as one that needs no torch: each network in it becomes a graph."""

import shutil
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.models.block import Block
from emoscope.models.ensembles.blend import Blend
from emoscope.models.ensembles.combine import Combination, Mean
from emoscope.models.ensembles.voting import MultiStepVote
from emoscope.models.features.base import Extractor, Union
from emoscope.models.onnx.exported import VECTORS, Exported, ExportedEncoder, ExportedWords
from emoscope.models.onnx.trigger_words import ExportedTriggerWords

if TYPE_CHECKING:
    from emoscope.models.torch.classifier import NeuralClassifier
    from emoscope.models.torch.frozen import FrozenFeatures


@dataclass(frozen=True)
class Exporting:
    """Where graphs are written while a block is exported, and how transformers are: see `export_network`."""

    folder: Path
    reference: Sequence[Dialogue]
    calibration: Sequence[Dialogue] | None = None
    vocabulary: Sequence[str] | None = None
    _numbers: "count[int]" = field(default_factory=count)
    _encoders: dict[tuple[int, int], Path] = field(default_factory=dict)

    def without_torch(self, block: Block) -> Block:
        """The same block with graphs in the place of networks."""
        from emoscope.models.features.classifier import FeatureClassifier
        from emoscope.models.torch.classifier import NeuralClassifier
        from emoscope.models.torch.transfer import Transferred

        made = copy(block)
        match made:
            case NeuralClassifier():
                return self._graph(made)
            case Transferred():
                return Mean([self.without_torch(each) for each in made.copies])
            case Combination():
                made.parts = [self.without_torch(part) for part in made.parts]
            case MultiStepVote():
                made.sets = {name: [self.without_torch(part) for part in parts] for name, parts in made.sets.items()}
            case Blend():
                made.fitted = [[self.without_torch(each) for each in copies] for copies in made.fitted]
            case FeatureClassifier():
                made.features = Union([self._extractor(each) for each in made.features.extractors])
        return made

    def _extractor(self, extractor: Extractor) -> Extractor:
        from emoscope.models.export.triggers import export_triggers
        from emoscope.models.torch.trigger_lm import TriggerWords

        if not isinstance(extractor, TriggerWords):
            return extractor
        folder = self._new_folder()
        export_triggers(extractor, folder)
        made = ExportedTriggerWords()
        made.load(folder)
        return made

    def _new_folder(self) -> Path:
        return self.folder / f"graph{next(self._numbers)}"

    def _graph(self, block: "NeuralClassifier") -> Exported:
        from emoscope.models.export.network import export_network
        from emoscope.models.export.words import export_words
        from emoscope.models.torch.contextual import Contextual, ContextualHierarchical
        from emoscope.models.torch.transformer import Transformer
        from emoscope.models.torch.word_network import WordNetwork

        folder = self._new_folder()
        questions = [{"groups": each.groups, "grouping": list(each.grouping)} for each in block.questions()]
        made: Exported
        match block.network:
            case None:
                raise EmoscopeError("this model has not been fitted")
            case Transformer() as network:
                export_network(
                    network,
                    folder,
                    reference=self.reference,
                    calibration=self.calibration,
                    vocabulary=self.vocabulary,
                    columns=list(range(block.outputs)),
                )
                made = ExportedEncoder(block.labels, questions)
            case WordNetwork() | Contextual() as network:
                if isinstance(network, Contextual | ContextualHierarchical):
                    self._features(network.frozen_features, folder / VECTORS)
                inputs = export_words(network, folder)
                made = ExportedWords(block.labels, network.description(), inputs, questions)
            case _:
                raise EmoscopeError(f"cannot export a {block.network_name} network")
        made.load_weights(folder)
        return made

    def _features(self, features: "FrozenFeatures", folder: Path) -> None:
        """A frozen encoder as a graph; the networks of an ensemble that share one get the same files."""
        from emoscope.models.export.features import export_features

        key = (id(features.frozen), features.layers)
        if key in self._encoders:
            shutil.copytree(self._encoders[key], folder)
            return
        export_features(features, folder)
        self._encoders[key] = folder
