"""A network small enough to train in a moment."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from emoscope.core.dialogue import Example
from emoscope.core.fit_context import FitContext
from emoscope.models.torch.network import Batch, Item, Network


class Toy(Network):
    """Two numbers in, two scores out, with dropout so that random numbers matter."""

    def __init__(self) -> None:
        super().__init__(2)
        self.first = nn.Linear(2, 16)
        self.dropout = nn.Dropout(0.1)
        self.last = nn.Linear(16, 2)

    def prepare(self, examples: Sequence[Example], fit_context: FitContext) -> None: ...

    def encode(self, examples: Sequence[Example]) -> list[Item]:
        return []

    def collate(self, items: Sequence[Item]) -> Batch:
        return {"x": torch.tensor([item["x"] for item in items])}

    def forward(self, batch: Batch) -> Tensor:
        scores: Tensor = self.last(self.dropout(torch.relu(self.first(batch["x"]))))
        return scores

    def stages(self) -> list[list[nn.Parameter]]:
        return [list(self.last.parameters()), list(self.first.parameters())]

    def save_assets(self, folder: Path) -> None: ...

    def load_assets(self, folder: Path) -> None: ...


def toy() -> Toy:
    torch.manual_seed(0)
    return Toy()


def data() -> tuple[list[dict[str, Any]], Tensor]:
    points = torch.randn(200, 2, generator=torch.Generator().manual_seed(1))
    answers = (points[:, 0] * points[:, 1] > 0).long()  # not linear, so the hidden layer must learn
    return [{"x": point.tolist()} for point in points], torch.eye(2)[answers]


def weights(network: nn.Module) -> Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in network.parameters()])
