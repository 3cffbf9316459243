"""Resizing an encoder: fewer layers, smaller or larger feed-forward networks."""

from collections.abc import Iterator

import torch
from torch import nn

from emoscope.core.errors import EmoscopeError
from emoscope.models.torch.pretrained import Encoder


def prune_layers(encoder: Encoder, count: int) -> None:
    """Keep, in place, `count` evenly spaced layers, including the first and the last."""
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
    for inner, outer in _feed_forward(encoder):
        if not 0 < size <= inner.out_features:
            raise EmoscopeError(f"ffn_size: expected 1 to {inner.out_features}, found {size}")
        importance = inner.weight.norm(dim=1) * outer.weight.norm(dim=0)
        kept = importance.topk(size).indices.sort().values
        with torch.no_grad():
            _set_units(inner, outer, inner.weight[kept], inner.bias[kept], outer.weight[:, kept])
    encoder.model.config.intermediate_size = size


def widen_ffn(encoder: Encoder, size: int) -> None:
    """Widen, in place, each feed-forward network to `size` units, without changing the encoder's output.

    The incoming weights of new units are drawn like the existing ones, the outgoing ones are zero (as in Net2Net, Chen
    et al. 2016).
    """
    for inner, outer in _feed_forward(encoder):
        more = size - inner.out_features
        if more < 0:
            raise EmoscopeError(f"ffn_size: expected {inner.out_features} or more, found {size}")
        with torch.no_grad():
            drawn = torch.randn(more, inner.in_features) * inner.weight.std()
            _set_units(
                inner,
                outer,
                torch.cat([inner.weight, drawn]),
                torch.cat([inner.bias, torch.zeros(more)]),
                torch.cat([outer.weight, torch.zeros(outer.out_features, more)], 1),
            )
    encoder.model.config.intermediate_size = size


def _feed_forward(encoder: Encoder) -> Iterator[tuple[nn.Linear, nn.Linear]]:
    """The two layers of each feed-forward network."""
    for layer in encoder.layers:
        inner = getattr(getattr(layer, "intermediate", None), "dense", None)
        outer = getattr(getattr(layer, "output", None), "dense", None)
        if not isinstance(inner, nn.Linear) or not isinstance(outer, nn.Linear):
            raise EmoscopeError("only encoders with BERT's layers can be resized")
        yield inner, outer


def _set_units(
    inner: nn.Linear, outer: nn.Linear, incoming: torch.Tensor, bias: torch.Tensor, outgoing: torch.Tensor
) -> None:
    inner.weight, inner.bias = nn.Parameter(incoming.clone()), nn.Parameter(bias.clone())
    outer.weight = nn.Parameter(outgoing.clone())
    inner.out_features = outer.in_features = len(bias)
