"""The weights of BERT-like encoders under common names, as numpy arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.core.errors import EmoscopeError
from emoscope.models.torch.pretrained import Encoder

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Linear:
    """`x @ weight + bias`, or the scale and shift of a layer normalisation."""

    weight: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Layer:
    """Attention and the two linear layers after it, each followed by a normalisation."""

    query: Linear
    key: Linear
    value: Linear
    output: Linear
    output_norm: Linear
    wide: Linear
    narrow: Linear
    narrow_norm: Linear


# The inputs of a layer's linear layers, and the layers that read them: the layer's input, the attention's output, the
# output of the first normalisation, and the activations.
SITES = {"attention": ("query", "key", "value"), "output": ("output",), "wide": ("wide",), "narrow": ("narrow",)}


@dataclass(frozen=True, slots=True)
class Architecture:
    """An encoder. `positions` start at the first one used; `relative` is added to attention scores."""

    pieces: Floats
    positions: Floats
    segments: Floats | None
    norm: Linear
    layers: tuple[Layer, ...]
    heads: int
    epsilon: float
    activation: str
    relative: Floats | None = None

    @property
    def width(self) -> int:
        """The size of a token's vector."""
        return int(self.pieces.shape[1])


# Model type to the prefix of its layers and the names of a layer's parts, in the order of `Layer`.
_BERT = (
    "encoder.layer",
    "attention.self.query attention.self.key attention.self.value attention.output.dense attention.output.LayerNorm "
    "intermediate.dense output.dense output.LayerNorm",
)
_MPNET = (
    "encoder.layer",
    "attention.attn.q attention.attn.k attention.attn.v attention.attn.o attention.LayerNorm "
    "intermediate.dense output.dense output.LayerNorm",
)
_DISTILBERT = (
    "transformer.layer",
    "attention.q_lin attention.k_lin attention.v_lin attention.out_lin sa_layer_norm "
    "ffn.lin1 ffn.lin2 output_layer_norm",
)
FAMILIES = {"bert": _BERT, "roberta": _BERT, "xlm-roberta": _BERT, "mpnet": _MPNET, "distilbert": _DISTILBERT}
_COUNTS_FROM_PADDING = ("roberta", "xlm-roberta", "mpnet")
_ACTIVATIONS = ("gelu", "relu")


def read_architecture(encoder: Encoder, longest: int) -> Architecture:
    """An encoder's weights, for rows of at most `longest` tokens; an EmoscopeError if it cannot be exported."""
    config = encoder.model.config
    if config.model_type not in FAMILIES:
        raise EmoscopeError(f"cannot export an encoder of type {config.model_type}: expected {', '.join(FAMILIES)}")
    prefix, parts = FAMILIES[config.model_type]
    activation = getattr(config, "hidden_act", None) or config.activation
    if activation not in _ACTIVATIONS:
        raise EmoscopeError(f"cannot export an encoder with activation {activation}: expected gelu or relu")
    if getattr(config, "position_embedding_type", "absolute") != "absolute":
        raise EmoscopeError(f"cannot export an encoder with positions {config.position_embedding_type}")
    weights = arrays_of(encoder.model)
    segments = weights.get("embeddings.token_type_embeddings.weight")
    table = encoder.model.embeddings.position_embeddings
    first = table.padding_idx + 1 if config.model_type in _COUNTS_FROM_PADDING else 0
    positions = weights["embeddings.position_embeddings.weight"][first : first + longest]
    if segments is not None:  # the positions include the vector of the first segment
        positions = positions + segments[0]
        segments = segments[1] - segments[0] if len(segments) > 1 else None
    return Architecture(
        pieces=weights["embeddings.word_embeddings.weight"],
        positions=positions,
        segments=segments,
        norm=linear(weights, "embeddings.LayerNorm"),
        layers=tuple(
            Layer(*(linear(weights, f"{prefix}.{number}.{part}") for part in parts.split()))
            for number in range(len(encoder.layers))
        ),
        heads=int(getattr(config, "num_attention_heads", 0) or config.n_heads),
        epsilon=float(getattr(config, "layer_norm_eps", 1e-12)),
        activation=activation,
        relative=_relative(encoder.model, longest) if config.model_type == "mpnet" else None,
    )


def arrays_of(module: Any) -> dict[str, Floats]:
    """The weights of a module in single precision, by name."""
    return {name: np.asarray(value.float().cpu().numpy()) for name, value in module.state_dict().items()}


def linear(weights: Mapping[str, Floats], name: str) -> Linear:
    """A linear layer, or a normalisation, of a module's weights."""
    return Linear(np.ascontiguousarray(weights[f"{name}.weight"].T), weights[f"{name}.bias"])


def _relative(model: Any, longest: int) -> Floats:
    """MPNet's relative attention bias: a number for each head and pair of positions."""
    import torch

    with torch.no_grad():
        there = next(model.parameters()).device
        bias = model.encoder.compute_position_bias(torch.zeros(1, longest, 1, device=there))
    return np.asarray(bias[0].float().cpu().numpy())
