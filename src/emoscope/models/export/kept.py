"""Put a network that was exported before into a new model as it is."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.core.files import whole_text, write_file
from emoscope.models.export.writer import WeightFile
from emoscope.models.onnx.description import TOKENIZER, Description, named


@dataclass(frozen=True, slots=True)
class KeptNetwork:
    """A network in the folder of an exported model, with its heads.

    Its graphs are copied. Quantising it again would round numbers that are rounded already.
    """

    folder: Path
    network: str
    heads: Mapping[str, tuple[str, ...]]


def copy_network(kept: KeptNetwork, folder: Path, *, name: str, weights: WeightFile) -> None:
    """Copy the graphs and the description under another name; `weights` gets the arrays."""
    onnx = require("onnx", extra="train")
    if whole_text(folder / TOKENIZER) != whole_text(kept.folder / TOKENIZER):
        raise EmoscopeError("networks with different vocabularies cannot be in one model")
    description, graphs = Description.load(kept.folder, kept.network), []
    for graph in description.graphs:
        model = onnx.load(kept.folder / graph.file)
        for constant in model.graph.initializer:
            constant.CopyFrom(weights.tensor(constant.name, onnx.numpy_helper.to_array(constant)))
        file = named(graph.file.removeprefix(named("", kept.network)), name)
        write_file(folder / file, model.SerializeToString())
        graphs.append(replace(graph, file=file))
    weights.save(folder)
    replace(description, graphs=tuple(graphs)).save(folder, name)
