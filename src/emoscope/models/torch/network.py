"""What the training loop asks of a network: turn examples into tensors, and tensors into scores."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.core.registry import Registry

if TYPE_CHECKING:
    from emoscope.models.export.exporter import Exporter
    from emoscope.models.onnx.exported import Exported

Item = dict[str, Any]
Batch = dict[str, Tensor]

NETWORKS: Registry[type["Network"]] = Registry("network")


class Network(nn.Module):
    """A network over examples. Settings are given to the constructor; `prepare` sees the training data once.

    A subclass makes its layers in `build`, which runs after `prepare` and again after loading.
    """

    def __init__(self, outputs: int, **settings: Any) -> None:
        super().__init__()
        self.outputs = outputs
        self.settings = settings

    @abstractmethod
    def prepare(self, examples: Sequence[Example], fitting: FitContext) -> None:
        """Learn vocabularies and read pretrained parts, then build the layers. Called once, before training."""

    @abstractmethod
    def encode(self, examples: Sequence[Example]) -> list[Item]:
        """Numbers for each example, on the CPU, unpadded; `truncated` says whether a part of it is not read."""

    @abstractmethod
    def collate(self, items: Sequence[Item]) -> Batch:
        """Pad items into a batch of tensors."""

    @abstractmethod
    def forward(self, batch: Batch) -> Tensor:
        """A score per example and output."""

    def length(self, item: Item) -> int:
        """How long an item is, so that batches hold items of like length."""
        del item
        return 1

    def parameter_groups(self, rate: float) -> list[dict[str, Any]]:
        """Parameters with their learning rates; one group unless layers learn at different rates."""
        return [{"params": [p for p in self.parameters() if p.requires_grad], "lr": rate}]

    def stages(self) -> list[list[nn.Parameter]]:
        """Groups of parameters from the output to the input, for gradual unfreezing; one if that is not meant."""
        return [list(self.parameters())]

    def export(self, exporter: "Exporter", labels: Sequence[str], questions: Sequence[Mapping[str, Any]]) -> "Exported":
        """The network as a graph with these labels, and coarser questions beside them."""
        del exporter, labels, questions
        raise EmoscopeError(f"cannot export {type(self).__name__}: it has no graph")

    @abstractmethod
    def save_assets(self, folder: Path) -> None:
        """Write what `prepare` learnt and the weights do not hold: vocabularies, tokenizers."""

    @abstractmethod
    def load_assets(self, folder: Path) -> None:
        """Read what `save_assets` wrote and build the layers."""


def batches_of_like_length(lengths: Sequence[int], size: int, generator: torch.Generator) -> Iterator[list[int]]:
    """Positions in random batches whose members are about as long as each other.

    >>> drawn = list(batches_of_like_length([5, 1, 5, 1], 2, torch.Generator().manual_seed(0)))
    >>> sorted(sorted(batch) for batch in drawn)
    [[0, 2], [1, 3]]
    """
    order = torch.randperm(len(lengths), generator=generator).tolist()
    pool = size * 50  # sorted within pools only, so that each epoch draws other batches
    batches = []
    for start in range(0, len(order), pool):
        part = sorted(order[start : start + pool], key=lambda position: lengths[position])
        batches += [part[first : first + size] for first in range(0, len(part), size)]
    for index in torch.randperm(len(batches), generator=generator).tolist():
        yield batches[index]


# One line per network that may be saved.
NETWORKS.add("recurrent", "emoscope.models.torch.recurrent:RecurrentNetwork")
NETWORKS.add("hierarchical", "emoscope.models.torch.recurrent:HierarchicalNetwork")
NETWORKS.add("semi-hierarchical", "emoscope.models.torch.recurrent:SemiHierarchicalNetwork")
NETWORKS.add("convolutional", "emoscope.models.torch.convolutional:ConvolutionalNetwork")
NETWORKS.add("ulmfit", "emoscope.models.torch.ulmfit:UlmFit")
NETWORKS.add("transformer", "emoscope.models.torch.transformer:Transformer")
NETWORKS.add("contextual", "emoscope.models.torch.contextual:Contextual")
NETWORKS.add("contextual-hierarchical", "emoscope.models.torch.contextual:ContextualHierarchical")
NETWORKS.add("tweet-recurrent", "emoscope.models.torch.word_models:TweetRecurrent")
