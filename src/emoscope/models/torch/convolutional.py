"""Convolutions over words (Kim 2014), of all turns in one row or of each turn separately."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from emoscope.core.errors import EmoscopeError
from emoscope.models.text.word_rows import EitherRows
from emoscope.models.torch.layers import mask_of
from emoscope.models.torch.network import Batch
from emoscope.models.torch.word_network import WordNetwork, by_example


class Convolutions(nn.Module):
    """Filters of several sizes, max-pooled over the row.

    Rows are padded at both ends, since they may be shorter than a filter.
    """

    def __init__(self, input_size: int, num_filters: int, kernel_sizes: Sequence[int]) -> None:
        super().__init__()
        self.kernel_sizes = tuple(kernel_sizes)
        self.width = num_filters * len(self.kernel_sizes)
        self.filters = nn.ModuleList(nn.Linear(input_size * size, num_filters) for size in self.kernel_sizes)

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Shape (rows, filters of all sizes)."""
        states = states.masked_fill(~mask_of(lengths, states.shape[1])[..., None], 0)
        maxima = []
        for width, weights in zip(self.kernel_sizes, self.filters, strict=True):
            # Neighbours side by side and one product: on a CPU a quarter faster than nn.Conv1d for narrow filters,
            # and as fast for wide ones.
            positions = states.shape[1] + width - 1
            wide = functional.pad(states, (0, 0, width - 1, width - 1))
            heights = weights(torch.cat([wide[:, first : first + positions] for first in range(width)], dim=-1))
            outside = ~mask_of(lengths + width - 1, positions)
            maxima.append(heights.masked_fill(outside[..., None], float("-inf")).amax(1))
        return torch.cat(maxima, dim=-1).relu()


@dataclass(eq=False, repr=False, kw_only=True)
class ConvolutionalNetwork(EitherRows, WordNetwork):
    """Convolutions of several sizes, max-pooled, then optionally a dense layer of `dense_size`.

    turns: `joined` reads all turns as one row; `separate` reads each as its own row, with the same filters, and puts
    the results side by side, the last turn's last.
    """

    num_filters: int = 100
    kernel_sizes: Sequence[int] = (3, 4, 5)
    turns: str = "joined"
    dense_size: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.turns not in ("joined", "separate"):
            raise EmoscopeError(f"turns: expected joined or separate, found {self.turns!r}")

    def make_layers(self) -> int:
        self.convolutions = Convolutions(self.embedding_size, self.num_filters, self.kernel_sizes)
        width = self.convolutions.width * (self.context if self.turns == "separate" else 1)
        return self.dense_layer(width, self.dense_size)

    def features(self, batch: Batch) -> Tensor:
        maxima = self.convolutions(self.embed(batch["words"]), batch["lengths"])
        if self.turns == "separate":
            maxima = self._side_by_side(maxima, batch["counts"])
        return cast(Tensor, self.between(maxima))

    def _side_by_side(self, rows: Tensor, counts: Tensor) -> Tensor:
        """Each example's turns in one long row, padded with zeros in front where turns are missing."""
        table = by_example(rows, counts)
        missing = self.context - counts[:, None]
        source = torch.arange(self.context, device=rows.device)[None, :] - missing
        shifted = table.gather(1, source.clamp_min(0)[..., None].expand(-1, -1, rows.shape[-1]))
        return (shifted * (source >= 0)[..., None]).flatten(1)
