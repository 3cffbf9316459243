"""The processes that train one network together: each takes its share of every batch, and all make the same step."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, distributed, nn

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Team:
    """One of `size` processes. A process on its own is a team of one, for which nothing here does anything.

    Only the first process, the leader, reports and writes files.
    """

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this is the process that reports and writes."""
        return self.rank == 0

    def share(self, batch: Sequence[T]) -> Sequence[T]:
        """What of a batch this process works on; a batch is sorted by length, so shares take turns.

        >>> Team(rank=1, size=2).share([10, 11, 12, 13, 14])
        [11, 13]
        """
        return batch if self.size == 1 else batch[self.rank :: self.size]

    def whole(self, scores: Tensor, count: int) -> Tensor:
        """The scores of a whole batch of `count` rows, from this process's share of them and the others'.

        Gradients flow to this process's own rows. A loss over the whole batch, whatever it is, thus has in each process
        a part of its gradient, and their sum is the gradient that a process on its own would have.
        """
        if self.size == 1:
            return scores
        rows = torch.arange(self.rank, count, self.size, device=scores.device)
        every = scores.new_zeros(count, *scores.shape[1:]).index_copy(0, rows, scores.detach())
        distributed.all_reduce(every)
        return every.index_copy(0, rows, scores)

    def add_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Give every process the sum of all processes' gradients; what no process used keeps none.

        One message for all of them rather than DistributedDataParallel: what learns may change from epoch to epoch.
        """
        if self.size == 1:
            return
        learning = [parameter for parameter in parameters if parameter.requires_grad]
        # On the CPU, so that no GPU is waited for.
        users = torch.tensor([parameter.grad is not None for parameter in learning], dtype=torch.int32)
        distributed.all_reduce(users)
        used = [parameter for parameter, count in zip(learning, users.tolist(), strict=True) if count]
        if not used:
            return
        flat = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in used])
        distributed.all_reduce(flat)
        parts = torch.split(flat, [parameter.numel() for parameter in used])
        for parameter, part in zip(used, parts, strict=True):
            parameter.grad = part.view_as(parameter)

    def average_buffers(self, network: nn.Module) -> None:
        """Give every process the mean of what networks note beside learning, such as batch normalisation's averages."""
        if self.size == 1:
            return
        for buffer in network.buffers():
            if buffer.is_floating_point():
                distributed.all_reduce(buffer)
                buffer.div_(self.size)

    def agreed(self, value: float) -> float:
        """The leader's value: processes that decided by a last digit of their own could part ways."""
        if self.size == 1:
            return value
        told = torch.tensor(value, dtype=torch.float64)
        distributed.broadcast(told, 0)
        return float(told)
