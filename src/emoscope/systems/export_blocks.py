"""A trained block, however it is put together, as one that needs no torch: each network in it becomes a graph."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from emoscope.dialogue import Dialogue
from emoscope.errors import EmoscopeError
from emoscope.models.blend import Blend
from emoscope.models.block import Block
from emoscope.models.combine import Combination, Mean
from emoscope.models.exported import Exported, ExportedEncoder, ExportedWords
from emoscope.models.voting import MultiStepVote

if TYPE_CHECKING:
    from emoscope.models.neural.classifier import NeuralClassifier


@dataclass(frozen=True)
class Exporting:
    """Where graphs are written while a block is exported, and how transformers are: see `export_network`."""

    folder: Path
    reference: Sequence[Dialogue]
    calibration: Sequence[Dialogue] | None
    vocabulary: Sequence[str] | None
    _numbers: "count[int]"

    @classmethod
    def into(
        cls,
        folder: Path,
        reference: Sequence[Dialogue],
        calibration: Sequence[Dialogue] | None = None,
        vocabulary: Sequence[str] | None = None,
    ) -> "Exporting":
        """Write graphs into folders below this one."""
        return cls(folder, reference, calibration, vocabulary, count())

    def without_torch(self, block: Block) -> Block:
        """The same block with graphs in the place of networks."""
        from emoscope.models.features.classifier import FeatureClassifier
        from emoscope.models.neural.classifier import NeuralClassifier
        from emoscope.models.transfer import Transferred

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
            case FeatureClassifier() if any(each["kind"] == "trigger-words" for each in made.features.configs()):
                raise EmoscopeError("cannot export trigger-words: a language model that guesses words needs torch")
        return made

    def _graph(self, block: "NeuralClassifier") -> Exported:
        from emoscope.models.export.network import export_network
        from emoscope.models.export.words import export_words
        from emoscope.models.neural.contextual import ContextualHierarchical
        from emoscope.models.neural.transformer import Transformer
        from emoscope.models.neural.word_network import WordNetwork

        folder = self.folder / f"graph{next(self._numbers)}"
        questions = [{"groups": each.groups, "grouping": list(each.grouping)} for each in block.questions()]
        made: Exported
        match block.network:
            case None:
                raise EmoscopeError("this model has not been fitted")
            case Transformer(frozen=None) as network:
                export_network(
                    network,
                    folder,
                    reference=self.reference,
                    calibration=self.calibration,
                    vocabulary=self.vocabulary,
                    columns=list(range(block.outputs)),
                )
                made = ExportedEncoder(block.labels, questions)
            case WordNetwork() as network if not isinstance(network, ContextualHierarchical):
                inputs = export_words(network, folder)
                made = ExportedWords(block.labels, network.description(), inputs, questions)
            case _:
                raise EmoscopeError(
                    f"cannot export a {block.network_name} network: one over a frozen encoder's features needs torch"
                )
        made.load_weights(folder)
        return made
