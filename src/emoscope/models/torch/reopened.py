"""Reopen an exported model as a network, to train it further without the network it was exported from."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.core.learnt import LearntItems
from emoscope.models.block import Block
from emoscope.models.export.architecture import FAMILIES
from emoscope.models.native.graph_file import GraphFile
from emoscope.models.onnx.description import FLOAT, TOKENIZER, Description, named
from emoscope.models.onnx.exported_encoder import ExportedEncoder
from emoscope.models.onnx.layout import Layout
from emoscope.models.torch.multitask import MultiTaskClassifier
from emoscope.models.torch.pretrained import Encoder, PretrainedTokenizer, quiet
from emoscope.models.torch.transformer import Transformer

_PREFIX, _PARTS = FAMILIES["bert"]
_ROLES = {"start": "cls_token", "end": "sep_token", "mask": "mask_token", "padding": "pad_token"}


def reopen(folder: Path, head: str) -> MultiTaskClassifier:
    """The classifier that a bundle was exported from, with the bundle's weights; 8-bit weights stay rounded.

    If the bundle has several networks, the one with `head` is reopened.

    >>> reopen(Path("src/emoscope/detector/assets/default"), "emotionx").heads["emotionx"]  # doctest: +SKIP
    ('neutral', 'joy', 'sadness', 'anger')
    """
    model = folder / "model"
    block = Block.load(model).of_head(head)
    unfit = EmoscopeError(f"{folder}: cannot be trained further; only an exported student with a BERT encoder can")
    if not isinstance(block, ExportedEncoder) or not block.heads:
        raise unfit
    graph, layout = GraphFile.read(model / named(FLOAT, block.network)), Description.load(model, block.network).layout
    if "relative" in graph.constants or "Relu" in {node.kind for node in graph.nodes} or layout.window.special:
        raise unfit
    encoder = _encoder(graph, layout)
    settings = {
        "pooling": layout.pooling,
        "context": layout.window.context,
        "max_length": layout.window.length,
        "segments": layout.segments,
    }
    classifier = MultiTaskClassifier(block.heads, "transformer", settings)
    network = Transformer(classifier.outputs, **settings)
    network._build(encoder, _tokenizer(model / TOKENIZER, layout))
    last: Any = network.head[-1]
    _set(last.weight, graph.constants["head.0.weight"].T)
    _set(last.bias, graph.constants["head.0.bias"])
    classifier.network = network.eval()
    classifier.learnt = LearntItems.load(folder)
    return classifier


def _encoder(graph: GraphFile, layout: Layout) -> Encoder:
    transformers = require("transformers", extra="train")
    constants = graph.constants
    width = len(constants["norm.weight"])
    layers = sum(name.endswith("query.bias") for name in constants)
    config = transformers.BertConfig(
        vocab_size=len(constants["pieces.numbers"]),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=_attention_heads(graph),
        intermediate_size=len(constants["0.wide.bias"]),
        max_position_embeddings=layout.window.length + 2,  # see `Encoder.longest`
        layer_norm_eps=next(node for node in graph.nodes if node.kind == "LayerNormalization").number("epsilon"),
    )
    encoder = Encoder(transformers.BertModel(config, add_pooling_layer=False).float())
    weights = encoder.model.state_dict()
    for table in ("position", "token_type"):
        weights[f"embeddings.{table}_embeddings.weight"].zero_()
    _set(weights["embeddings.word_embeddings.weight"], constants["pieces.numbers"] * constants["pieces.scales"])
    _set(weights["embeddings.position_embeddings.weight"][: layout.window.length], constants["positions"][:, 0])
    if "segments.second" in constants:
        _set(weights["embeddings.token_type_embeddings.weight"][1], constants["segments.second"][0, 0])
    names = {"norm": "embeddings.LayerNorm"}
    parts = ("query", "key", "value", "output", "output_norm", "wide", "narrow", "narrow_norm")
    for number in range(layers):
        theirs = (f"{_PREFIX}.{number}.{part}" for part in _PARTS.split())
        names |= {f"{number}.{ours}": name for ours, name in zip(parts, theirs, strict=True)}
    for ours, name in names.items():
        _set(weights[f"{name}.bias"], constants[f"{ours}.bias"])
        _set(weights[f"{name}.weight"], constants[f"{ours}.weight"] if "norm" in ours else _plain(graph, ours).T)
    return encoder


def _plain(graph: GraphFile, name: str) -> NDArray[Any]:
    """A table of bytes, dequantised as in the graph."""
    constants = graph.constants
    weight: NDArray[Any] = constants[f"{name}.numbers"] * constants[f"{name}.scales"]
    layer, part = name.split(".")
    site = "attention" if part in ("query", "key", "value") else part
    smoothing = constants.get(f"{layer}.{site}.smoothing")
    return weight if smoothing is None else np.asarray(weight * smoothing[:, None])


def _attention_heads(graph: GraphFile) -> int:
    """The number of attention heads, from the shape to which the graph reshapes its input."""
    appended = next(node for node in graph.nodes if node.kind == "Concat").inputs[1]
    heads, _ = graph.constants[appended]
    return int(heads)


def _tokenizer(path: Path, layout: Layout) -> PretrainedTokenizer:
    from tokenizers import Tokenizer

    transformers = require("transformers", extra="train")
    backend = Tokenizer.from_file(str(path))
    roles = {_ROLES[role]: backend.id_to_token(number) for role, number in layout.special.items()}
    unknown = json.loads(path.read_text(encoding="utf-8"))["model"]["unk_token"]
    with quiet():
        return PretrainedTokenizer(
            transformers.PreTrainedTokenizerFast(tokenizer_object=backend, unk_token=unknown, **roles)
        )


def _set(parameter: torch.Tensor, values: NDArray[Any]) -> None:
    with torch.no_grad():
        parameter.copy_(torch.from_numpy(np.array(values, np.float32)))
