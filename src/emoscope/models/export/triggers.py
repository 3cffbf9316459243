"""Export a language model that guesses IEST's trigger words, for `ExportedTriggerWords`."""

from pathlib import Path

import numpy as np
from torch import Tensor

from emoscope.core.errors import EmoscopeError
from emoscope.models.export.features import ONE_ROW, encoder_layers, write_graph
from emoscope.models.export.writer import GraphWriter, WeightFile
from emoscope.models.onnx.description import WEIGHTS
from emoscope.models.onnx.trigger_words import ABOUT
from emoscope.models.torch.trigger_lm import TriggerWords


def export_triggers(extractor: TriggerWords, folder: Path) -> None:
    """Write the graph: from the tokens of one row and the positions of its masks to a row of guesses for each mask."""
    model = extractor.model
    if model is None:
        raise EmoscopeError("this language model has not been trained")
    weights = WeightFile(WEIGHTS)
    graph = GraphWriter(weights)

    def table(name: str, value: Tensor) -> str:
        return graph.constant(f"guess.{name}", value.detach().float().cpu().numpy())

    vectors = encoder_layers(model.encoder, graph, extractor.window.length)[-1]
    masked = graph.node("Gather", vectors, "masks")
    hidden = graph.node(
        "Gemm", masked, table("transform", model.transform.weight.T), table("bias", model.transform.bias)
    )
    hidden = graph.node(
        "LayerNormalization",
        graph.node("Gelu", hidden, own=True),
        table("scale", model.scale.weight),
        table("shift", model.scale.bias),
        axis=-1,
        epsilon=model.scale.eps,
    )
    words = table("words", model.encoder.embeddings.weight[model.candidates].T)
    scores = graph.node("Gemm", hidden, words, table("words.bias", model.bias[model.candidates]))
    content = graph.model({**ONE_ROW, "masks": (np.int64, ["masks"])}, [graph.node("LogSoftmax", scores, axis=-1)])
    words_of = {emotion: len(words) for emotion, words in model.words.items()}
    about = {"max_length": extractor.window.length, "words": words_of}
    write_graph(folder, content, weights, model.tokenizer, ABOUT, about)
