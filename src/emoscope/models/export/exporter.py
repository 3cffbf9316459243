"""Writes the graphs of networks for `Component.export`."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from emoscope.core.dialogue import Dialogue
from emoscope.models.block import Block
from emoscope.models.onnx.description import WEIGHTS
from emoscope.models.onnx.exported import VECTORS, Exported

if TYPE_CHECKING:
    from emoscope.models.export.kept import KeptNetwork
    from emoscope.models.torch.frozen import EncoderFeatures
    from emoscope.models.torch.network import Network

Loadable = TypeVar("Loadable", bound=Block)


@dataclass(frozen=True)
class Exporter:
    """The folder for graphs during an export, and the options for transformers.

    With `calibration`, dialogues like those to be labelled, the weights are quantised to 8 bits. With the texts
    `vocabulary`, tokens that do not occur in them are dropped. The graphs are checked with `reference` whenever they
    are loaded.
    """

    folder: Path
    reference: Sequence[Dialogue]
    calibration: Sequence[Dialogue] | None = None
    vocabulary: Sequence[str] | None = None
    _numbers: "count[int]" = field(default_factory=count)
    _encoders: dict[tuple[int, int], Path] = field(default_factory=dict)

    def new_folder(self) -> Path:
        """A folder for the files of one graph."""
        return self.folder / f"graph{next(self._numbers)}"

    def encoder(self, network: "Network", block: Exported, columns: Sequence[int] | None = None) -> Exported:
        """Export a transformer and load it as a block; `columns` are the outputs to keep, by default all."""
        return self.encoders({"": (network, columns)}, block)

    def encoders(
        self, networks: Mapping[str, "tuple[Network, Sequence[int] | None] | KeptNetwork"], block: Loadable
    ) -> Loadable:
        """Export transformers, each with the outputs to keep, into one folder, and load it as a block."""
        from emoscope.models.export.kept import KeptNetwork, copy_network
        from emoscope.models.export.network import export_network
        from emoscope.models.export.writer import WeightFile

        folder, weights = self.new_folder(), WeightFile(WEIGHTS)
        for name, part in networks.items():
            if isinstance(part, KeptNetwork):
                copy_network(part, folder, name=name, weights=weights)
            else:
                network, columns = part
                export_network(network, folder, self, columns, name=name, weights=weights)
        block.load_weights(folder)
        return block

    def words(self, network: Any, labels: Sequence[str], questions: Sequence[Mapping[str, Any]]) -> Exported:
        """Export a network over words, with its frozen encoder, if it has one."""
        from emoscope.models.export.words import export_words
        from emoscope.models.onnx.exported_words import ExportedWords

        folder = self.new_folder()
        if hasattr(network, "frozen_features"):
            self._frozen(network.frozen_features, folder / VECTORS)
        block = ExportedWords(labels, network.description(), export_words(network, folder), questions)
        block.load_weights(folder)
        return block

    def _frozen(self, features: "EncoderFeatures", folder: Path) -> None:
        """Export a frozen encoder; networks that share one get the same files."""
        from emoscope.models.export.features import export_features

        key = (id(features.frozen), features.layers)
        if key in self._encoders:
            shutil.copytree(self._encoders[key], folder)
            return
        export_features(features, folder)
        self._encoders[key] = folder
