"""Export a frozen encoder as a folder that computes word vectors without torch."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from emoscope.core.files import write_file
from emoscope.models.export.architecture import read_architecture
from emoscope.models.export.arithmetic import Plain
from emoscope.models.export.graph import EncoderLayers
from emoscope.models.export.writer import GraphWriter, Inputs, WeightFile
from emoscope.models.onnx.description import FLOAT, ROLES, TOKENIZER, WEIGHTS
from emoscope.models.onnx.token_vectors import ABOUT
from emoscope.models.torch.frozen import EncoderFeatures
from emoscope.models.torch.pretrained import Encoder, PretrainedTokenizer

# One row at a time: see `TokenVectors`.
ONE_ROW: Inputs = {"pieces": (np.int32, ["places", 1])}


def export_features(features: EncoderFeatures, folder: Path) -> None:
    """Write the graph, with half-precision weights like the frozen encoder's, and the tokenizer."""
    weights = WeightFile(WEIGHTS)
    graph = GraphWriter(weights)
    last = encoder_layers(features.frozen.encoder, graph, features.longest)[-features.layers :]
    mean = last[0]
    for each in last[1:]:
        mean = graph.node("Add", mean, each)
    if len(last) > 1:
        mean = graph.node("Mul", mean, graph.number(1 / len(last)))
    content = graph.model(ONE_ROW, [graph.cast(mean, np.float16)])
    write_graph(folder, content, weights, features.tokenizer, ABOUT, {"longest": features.longest})


def encoder_layers(encoder: Encoder, graph: GraphWriter, longest: int) -> list[str]:
    """Add an encoder to a graph that reads one row; the outputs of its embeddings and of each layer."""
    architecture = read_architecture(encoder, longest)
    return EncoderLayers(architecture, Plain(architecture.pieces, half=True), graph).layers()


def write_graph(
    folder: Path,
    content: bytes,
    weights: WeightFile,
    tokenizer: PretrainedTokenizer,
    about_file: str,
    about: Mapping[str, Any],
) -> None:
    """Write a graph with its weights, tokenizer and description."""
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / TOKENIZER, tokenizer.description())
    write_file(folder / FLOAT, content)
    weights.save(folder)
    special = {role: getattr(tokenizer, role) for role in ROLES}
    write_file(folder / about_file, json.dumps({"special": special, **about}))
