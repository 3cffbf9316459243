"""A smaller encoder out of a large one: fewer layers, and fewer units in the middle of each."""

import torch
from torch import nn

from emoscope.core.errors import EmoscopeError
from emoscope.models.torch.pretrained import Encoder


def thin_layers(encoder: Encoder, count: int) -> None:
    """Keep, in place, `count` of an encoder's layers, the first and the last among them, evenly spaced."""
    layers = encoder.layers
    if not 0 < count <= len(layers):
        raise EmoscopeError(f"layers: expected 1 to {len(layers)}, found {count}")
    last = len(layers) - 1
    kept = {round(number * last / (count - 1)) for number in range(count)} if count > 1 else {last}
    for number in reversed(range(len(layers))):
        if number not in kept:
            del layers[number]
    encoder.model.config.num_hidden_layers = count


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
