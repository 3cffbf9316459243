"""The interface of networks: examples to tensors, and tensors to logits."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.core.registry import Registry
from emoscope.models.export.exporter import Exporter
from emoscope.models.onnx.exported import Exported
from emoscope.models.onnx.exported_encoder import ExportedEncoder

Item = dict[str, Any]
Batch = dict[str, Tensor]

NETWORKS: Registry[type["Network"]] = Registry("network")


@dataclass(eq=False, repr=False)
class Trainable(nn.Module):
    """A network over items, as the training loop needs it."""

    outputs: int

    def __post_init__(self) -> None:
        super().__init__()

    @abstractmethod
    def arrays(self, items: Sequence[Item]) -> dict[str, NDArray[Any]]:
        """Items padded into arrays."""

    def collate(self, items: Sequence[Item]) -> Batch:
        """Items padded into a batch of tensors."""
        return {name: torch.from_numpy(table) for name, table in self.arrays(items).items()}

    @abstractmethod
    def forward(self, batch: Batch) -> Tensor:
        """The logits of each example."""

    def length(self, item: Item) -> int:
        """The length of an item, by which batches are formed."""
        del item
        return 1

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        """The optimiser's parameter groups; one, unless layers learn at different rates."""
        return [{"params": [p for p in self.parameters() if p.requires_grad], "lr": learning_rate}]

    def stages(self) -> list[list[nn.Parameter]]:
        """Groups of parameters from the output to the input, for gradual unfreezing."""
        return [list(self.parameters())]


class Network(Trainable):
    """A network over examples; its fields are its settings."""

    graph: ClassVar[Literal["words", "encoder"] | None] = None  # the kind of graph it is exported as

    @abstractmethod
    def prepare(self, examples: Sequence[Example], fit_context: FitContext) -> None:
        """Learn vocabularies, load pretrained weights and build the layers; called once, before training."""

    @abstractmethod
    def encode(self, examples: Sequence[Example]) -> list[Item]:
        """Each example as an unpadded item, on the CPU; `truncated` says whether it was cut."""

    def encode_for(self, examples: Sequence[Example], heads: Sequence[str]) -> list[Item]:
        """`encode` for one head per example; most networks predict all heads at once and ignore it."""
        del heads
        return self.encode(examples)

    def export(self, exporter: Exporter, labels: Sequence[str], questions: Sequence[Mapping[str, Any]]) -> Exported:
        """The network as a graph with these labels and coarser auxiliary questions."""
        match self.graph:
            case "words":
                return exporter.words(self, labels, questions)
            case "encoder":
                return exporter.encoder(self, ExportedEncoder(labels, questions))
        raise EmoscopeError(f"cannot export {type(self).__name__}: it has no graph")

    def replace_head(self, outputs: int) -> None:
        """Replace the output layer by one for other labels, and keep the rest."""
        del outputs
        raise EmoscopeError(f"{type(self).__name__} cannot learn another task: it has no head to replace")

    @abstractmethod
    def save_assets(self, folder: Path) -> None:
        """Write what `prepare` learnt beside the weights: vocabularies, tokenizers."""

    @abstractmethod
    def load_assets(self, folder: Path) -> None:
        """Read what `save_assets` wrote and build the layers."""


def without_decay_of_vectors(stages: Sequence[tuple[Sequence[nn.Parameter], float]]) -> list[dict[str, Any]]:
    """Parameter groups of stages and their learning rates, without weight decay for biases and normalisation."""
    groups = []
    for parameters, rate in stages:
        groups.append({"params": [p for p in parameters if p.ndim > 1], "lr": rate})
        groups.append({"params": [p for p in parameters if p.ndim <= 1], "lr": rate, "weight_decay": 0.0})
    return [group for group in groups if group["params"]]


def batches_of_like_length(
    lengths: Sequence[int], batch_size: int, generator: torch.Generator, batch_tokens: int = 0
) -> Iterator[list[int]]:
    """Random batches of positions of items of similar length.

    With `batch_tokens` a batch holds as many items as fit into that many tokens, padding included.

    >>> drawn = list(batches_of_like_length([5, 1, 5, 1], 2, torch.Generator().manual_seed(0)))
    >>> sorted(sorted(batch) for batch in drawn)
    [[0, 2], [1, 3]]
    """
    order = torch.randperm(len(lengths), generator=generator).tolist()
    if batch_tokens:
        batch_size = max(1, batch_tokens * len(lengths) // max(1, sum(lengths)))
    pool = batch_size * 50  # sorted within pools only, so that batches differ between epochs
    batches: list[list[int]] = []
    for start in range(0, len(order), pool):
        part = sorted(order[start : start + pool], key=lambda position: lengths[position])
        if batch_tokens:
            batches += _batches_of_tokens(part, lengths, batch_tokens)
        else:
            batches += [part[first : first + batch_size] for first in range(0, len(part), batch_size)]
    for index in torch.randperm(len(batches), generator=generator).tolist():
        yield batches[index]


def sorted_batches(lengths: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """All positions, those of short items first, in batches.

    >>> list(sorted_batches([5, 1, 3], 2))
    [[1, 2], [0]]
    """
    order = sorted(range(len(lengths)), key=lambda position: lengths[position])
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]


def _batches_of_tokens(positions: Sequence[int], lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    batch: list[int] = []
    for position in positions:  # sorted by length, so the last one of a batch sets its width
        if batch and (len(batch) + 1) * lengths[position] > batch_tokens:
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch


# One line per network that may be saved.
NETWORKS.add("recurrent", "emoscope.models.torch.recurrent:RecurrentNetwork")
NETWORKS.add("hierarchical", "emoscope.models.torch.recurrent:HierarchicalNetwork")
NETWORKS.add("semi-hierarchical", "emoscope.models.torch.recurrent:SemiHierarchicalNetwork")
NETWORKS.add("convolutional", "emoscope.models.torch.convolutional:ConvolutionalNetwork")
NETWORKS.add("ulmfit", "emoscope.models.torch.ulmfit:UlmFit")
NETWORKS.add("transformer", "emoscope.models.torch.transformer:Transformer")
NETWORKS.add("decoder", "emoscope.models.torch.decoder:Decoder")
NETWORKS.add("contextual", "emoscope.models.torch.contextual:Contextual")
NETWORKS.add("contextual-hierarchical", "emoscope.models.torch.contextual:ContextualHierarchical")
NETWORKS.add("tweet-recurrent", "emoscope.models.torch.recurrent:TweetRecurrentNetwork")
