"""Convolutions over words (Kim 2014), of all turns in one row or of each turn apart."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from emoscope.core.errors import EmoscopeError
from emoscope.models.text.word_rows import EitherRows
from emoscope.models.torch.layers import mask_of
from emoscope.models.torch.network import Batch
from emoscope.models.torch.word_network import WordNetwork, by_example


class Convolutions(nn.Module):
    """Filters of several widths, each with its maximum over the row.

    A filter also sees the row's edges, half outside: a row may be shorter than a filter.
    """

    def __init__(self, inputs: int, filters: int, widths: Sequence[int]) -> None:
        super().__init__()
        self.widths = tuple(widths)
        self.width = filters * len(self.widths)
        self.filters = nn.ModuleList(nn.Linear(inputs * width, filters) for width in self.widths)

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Shape (rows, filters times widths)."""
        states = states.masked_fill(~mask_of(lengths, states.shape[1])[..., None], 0)
        found = []
        for width, weights in zip(self.widths, self.filters, strict=True):
            # Neighbours side by side and one product: on a CPU a quarter faster than nn.Conv1d for narrow filters, and
            # as fast for wide ones.
            positions = states.shape[1] + width - 1
            wide = functional.pad(states, (0, 0, width - 1, width - 1))
            heights = weights(torch.cat([wide[:, first : first + positions] for first in range(width)], dim=-1))
            outside = ~mask_of(lengths + width - 1, positions)
            found.append(heights.masked_fill(outside[..., None], float("-inf")).amax(1))
        return torch.cat(found, dim=-1).relu()


class ConvolutionalNetwork(EitherRows, WordNetwork):
    """Convolutions of several widths, pooled by their maximum, then a dense layer.

    turns: `joined` reads all turns as one row; `separate` reads each as its own row, with the same filters, and puts
    the results side by side, the last turn's last. `dense` is the width of a layer before the output, 0 for none.
    """

    def __init__(
        self,
        outputs: int,
        *,
        filters: int = 100,
        widths: Sequence[int] = (3, 4, 5),
        turns: str = "joined",
        dense: int = 0,
        **shared: Any,
    ) -> None:
        super().__init__(outputs, **shared)
        if turns not in ("joined", "separate"):
            raise EmoscopeError(f"turns: expected joined or separate, found {turns!r}")
        self.filters = filters
        self.widths = tuple(widths)
        self.turns = turns
        self.dense = dense

    def make_layers(self) -> int:
        """The filters, and the layer after them if there is one."""
        self.convolutions = Convolutions(self.size, self.filters, self.widths)
        width = self.convolutions.width * (self.context if self.turns == "separate" else 1)
        if not self.dense:
            self.between: nn.Module = nn.Identity()
            return width
        self.between = nn.Sequential(nn.Dropout(self.dropout.p), nn.Linear(width, self.dense), nn.ReLU())
        return self.dense

    def features(self, batch: Batch) -> Tensor:
        """The filters' maxima."""
        found = self.convolutions(self.embed(batch["words"]), batch["lengths"])
        if self.turns == "separate":
            found = self._side_by_side(found, batch["counts"])
        made: Tensor = self.between(found)
        return made

    def _side_by_side(self, rows: Tensor, counts: Tensor) -> Tensor:
        """Each example's turns in one long row, filled up with zeros in front, where turns are missing."""
        table = by_example(rows, counts)
        missing = self.context - counts[:, None]
        source = torch.arange(self.context, device=rows.device)[None, :] - missing
        taken = table.gather(1, source.clamp_min(0)[..., None].expand(-1, -1, rows.shape[-1]))
        return (taken * (source >= 0)[..., None]).flatten(1)
