"""A smaller encoder out of a large one: fewer layers, and smaller feed-forward networks."""

import torch
from torch import nn

from emoscope.core.errors import EmoscopeError
from emoscope.models.torch.pretrained import Encoder


def prune_layers(encoder: Encoder, count: int) -> None:
    """Keep, in place, `count` evenly spaced layers, the first and the last among them."""
    layers = encoder.layers
    if not 0 < count <= len(layers):
        raise EmoscopeError(f"num_layers: expected 1 to {len(layers)}, found {count}")
    last = len(layers) - 1
    kept = {round(number * last / (count - 1)) for number in range(count)} if count > 1 else {last}
    for number in reversed(range(len(layers))):
        if number not in kept:
            del layers[number]
    encoder.model.config.num_hidden_layers = count


def prune_ffn(encoder: Encoder, size: int) -> None:
    """Keep, in place, the `size` hidden units of each feed-forward network with the largest weights.

    A unit's importance is the product of the norms of its incoming and outgoing weights.
    """
    for layer in encoder.layers:
        inner = getattr(getattr(layer, "intermediate", None), "dense", None)
        outer = getattr(getattr(layer, "output", None), "dense", None)
        if not isinstance(inner, nn.Linear) or not isinstance(outer, nn.Linear):
            raise EmoscopeError("only encoders with BERT's layers can be pruned")
        if not 0 < size <= inner.out_features:
            raise EmoscopeError(f"ffn_size: expected 1 to {inner.out_features}, found {size}")
        importance = inner.weight.norm(dim=1) * outer.weight.norm(dim=0)
        kept = importance.topk(size).indices.sort().values
        with torch.no_grad():
            inner.weight = nn.Parameter(inner.weight[kept].clone())
            inner.bias = nn.Parameter(inner.bias[kept].clone())
            outer.weight = nn.Parameter(outer.weight[:, kept].clone())
        inner.out_features = outer.in_features = size
    encoder.model.config.intermediate_size = size
