"""Training one network in several processes: each takes a share of every batch, and all take the same step.

We do not use DistributedDataParallel, which averages the gradients of losses that each process computes alone. Here the
loss is that of the whole batch (a weighted mean is not the mean of the shares' weighted means), so N devices learn the
same as one; a process may have no row of a batch; and with gradual unfreezing the trained parameters change.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, distributed, nn

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Replica:
    """One of `world_size` processes with a copy of the network; with a single one, all methods are no-ops."""

    rank: int = 0
    world_size: int = 1

    @property
    def is_main(self) -> bool:
        """Whether this is the process that reports progress and writes files."""
        return self.rank == 0

    def share(self, batch: Sequence[T]) -> Sequence[T]:
        """This process's part of a batch: every `world_size`-th row, since batches are sorted by length.

        >>> Replica(rank=1, world_size=2).share([10, 11, 12, 13, 14])
        [11, 13]
        """
        return batch if self.world_size == 1 else batch[self.rank :: self.world_size]

    def gather(self, logits: Tensor, count: int) -> Tensor:
        """The logits of a whole batch of `count` rows, from this process's share of them and the others'.

        Gradients flow to this process's own rows only; their sum over all processes is the gradient of one process.
        """
        if self.world_size == 1:
            return logits
        rows = torch.arange(self.rank, count, self.world_size, device=logits.device)
        gathered = logits.new_zeros(count, *logits.shape[1:]).index_copy(0, rows, logits.detach())
        distributed.all_reduce(gathered)
        return gathered.index_copy(0, rows, logits)

    def sum_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Give every process the sum of all processes' gradients, in one message; unused parameters keep none."""
        if self.world_size == 1:
            return
        learning = [parameter for parameter in parameters if parameter.requires_grad]
        # On the CPU, so as not to wait for a GPU.
        users = torch.tensor([parameter.grad is not None for parameter in learning], dtype=torch.int32)
        distributed.all_reduce(users)
        used = [parameter for parameter, count in zip(learning, users.tolist(), strict=True) if count]
        if not used:
            return
        flat = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in used])
        distributed.all_reduce(flat)
        for parameter, part in zip(used, torch.split(flat, [p.numel() for p in used]), strict=True):
            parameter.grad = part.view_as(parameter)

    def average_buffers(self, network: nn.Module) -> None:
        """Give every process the mean of the buffers, such as batch normalisation's running averages."""
        if self.world_size == 1:
            return
        for buffer in network.buffers():
            if buffer.is_floating_point():
                distributed.all_reduce(buffer)
                buffer.div_(self.world_size)

    def broadcast(self, value: float) -> float:
        """The main process's value: rounding differences must not lead to different decisions."""
        if self.world_size == 1:
            return value
        sent = torch.tensor(value, dtype=torch.float64)
        distributed.broadcast(sent, 0)
        return float(sent)


ALONE = Replica()
