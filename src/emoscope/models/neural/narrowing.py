"""Fewer units in the middle of each of an encoder's layers: most of its products are there."""

import torch
from torch import nn

from emoscope.errors import EmoscopeError
from emoscope.models.neural.pretrained import Encoder


def narrow_middle(encoder: Encoder, units: int) -> None:
    """Keep, in place, the `units` of each layer's middle whose weights are the largest; what is lost must be relearnt.

    A unit matters as much as what goes in times what comes out: the product of both weights' lengths.
    """
    for layer in encoder.layers:
        inner = getattr(getattr(layer, "intermediate", None), "dense", None)
        outer = getattr(getattr(layer, "output", None), "dense", None)
        if not isinstance(inner, nn.Linear) or not isinstance(outer, nn.Linear):
            raise EmoscopeError("only encoders with BERT's layers can be narrowed")
        if not 0 < units <= inner.out_features:
            raise EmoscopeError(f"middle: expected 1 to {inner.out_features} units, found {units}")
        worth = inner.weight.norm(dim=1) * outer.weight.norm(dim=0)
        kept = worth.topk(units).indices.sort().values
        with torch.no_grad():
            inner.weight = nn.Parameter(inner.weight[kept].clone())
            inner.bias = nn.Parameter(inner.bias[kept].clone())
            outer.weight = nn.Parameter(outer.weight[:, kept].clone())
        inner.out_features = outer.in_features = units
    encoder.model.config.intermediate_size = units
