"""Export a network over words or over a frozen encoder's features, for `ExportedWords`."""

import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.models.onnx.description import FLOAT
from emoscope.models.text.contextual_rows import GROUP
from emoscope.models.torch.contextual import Contextual
from emoscope.models.torch.network import Network
from emoscope.models.torch.word_network import WordNetwork

# Three turns of different lengths, so that tracing takes no size for a constant.
_TRACED = Example(Dialogue.of(["so how was it", "it was fine I think", "good"]), 2)


class _Positional(nn.Module):
    """The network with positional inputs, as graphs have them."""

    def __init__(self, network: Network, names: list[str]) -> None:
        super().__init__()
        self.network = network
        self.names = names

    def forward(self, *tensors: Tensor) -> Any:
        return self.network(dict(zip(self.names, tensors, strict=True)))


def export_words(network: WordNetwork | Contextual, folder: Path) -> list[str]:
    """Write the graph in single precision, for one example at a time, and its vocabulary.

    Returns the names of the graph's inputs; unused ones are dropped by the exporter.
    """
    import onnx

    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(network, WordNetwork):
        network.save_words(folder)
    elif network.context + network.future > GROUP:
        raise EmoscopeError(f"cannot export a network over more than {GROUP} turns")
    network.cpu().eval()
    batch = network.collate(network.encode([_TRACED]))
    with warnings.catch_warnings():
        # Tracing warns about constants: the single example, and the widths of filters.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            _Positional(network, list(batch)).eval(),
            tuple(batch.values()),
            str(folder / FLOAT),
            input_names=list(batch),
            output_names=["scores"],
            dynamic_axes={name: {axis: f"{name}{axis}" for axis in range(each.ndim)} for name, each in batch.items()},
            dynamo=False,  # the newer exporter needs another package
            opset_version=17,
        )
    return [each.name for each in onnx.load(folder / FLOAT).graph.input]
