"""IIIDYT at IEST: contextual word vectors, a wide BiLSTM, max-pooling; six networks averaged."""

from collections.abc import Mapping
from typing import Any, ClassVar

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.systems.base import SystemMetadata
from emoscope.systems.recipe import Recipe


class Iiidyt(Recipe):
    """Frozen word vectors, BiLSTM of 2048 units each way, max-pooling, a layer of 512; the masked word is the mask."""

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="iiidyt",
        summary="contextual word vectors, BiLSTM 2048, max-pooling, dense 512, six seeds averaged",
        tasks=("iest",),
        team="IIIDYT",
        citation=(
            "Balazs, Marrese-Taylor, Matsuo (2018). IIIDYT at IEST 2018: Implicit Emotion Classification With Deep "
            "Contextualized Word Representations. WASSA-2018, 50-56."
        ),
        published={"iest": 0.7105},
        substitutions=("ELMo: bert-base-uncased, and all-mpnet-base-v2 in our measured runs (--set encoder=FOLDER)",),
    )
    defaults: ClassVar[Mapping[str, Any]] = {
        "encoder": "bert-base-uncased",
        "layers": 1,
        "hidden": 2048,
        "dense": 512,
        "seeds": 6,
        "epochs": 10,
        "batch": 64,
        "rate": 1e-3,
        "dropout": 0.5,
        "output_dropout": 0.1,
        "max_length": 128,
    }

    def build(self) -> Block:
        """The same network from several random starts."""
        from emoscope.models.torch.classifier import NeuralClassifier
        from emoscope.models.torch.training import Training

        get = self.settings
        names = ("encoder", "layers", "hidden", "dense", "dropout", "output_dropout", "max_length")
        network = {"reader": "lstm", "pooling": "max", **{name: get[name] for name in names}}
        training = Training(epochs=get["epochs"], batch=get["batch"], rate=get["rate"], schedule="slanted")
        labels = self.task.labels
        return Mean([NeuralClassifier(labels, "contextual", network, training) for _ in range(get["seeds"])])
