"""Where mixed precision would cost more than it saves."""

from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor


def full_precision(states: Tensor) -> AbstractContextManager[Any]:
    """Compute in full what stands inside, whatever autocast is on around it.

    For recurrent layers, which autocast sends to half precision, too coarse for gradients; and for the last layer,
    whose scores would be rounded to three digits.
    """
    return torch.autocast(states.device.type, enabled=False)
