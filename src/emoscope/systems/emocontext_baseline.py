"""The baseline of EmoContext's starter kit: GloVe vectors and one LSTM over the three turns."""

from collections.abc import Mapping
from typing import Any, ClassVar

from emoscope.models.block import Block
from emoscope.systems.base import SystemMetadata
from emoscope.systems.recipe import Recipe


class EmoContextBaseline(Recipe):
    """Turns joined by `<eos>`, GloVe 100-d kept as it is, LSTM 128, softmax."""

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="emocontext-baseline",
        summary="starter kit: turns joined by <eos>, fixed GloVe 100-d, LSTM 128",
        tasks=("emocontext",),
        team="organisers",
        citation=(
            "Chatterjee, Narahari, Joshi, Agrawal (2019). SemEval-2019 Task 3: EmoContext, "
            "Contextual Emotion Detection in Text. SemEval-2019, 39-48."
        ),
        published={"emocontext": 0.5861},
    )
    defaults: ClassVar[Mapping[str, Any]] = {
        "epochs": 30,  # at most: a tenth of the training data says when to stop
        "patience": 3,
        "batch": 200,
        "rate": 0.003,
        "hidden": 128,
        "embedding": 100,
        "vectors": "glove",
        "dropout": 0.2,
        "min_count": 1,
        "max_features": 20_000,
        "max_length": 100,
    }

    def build(self) -> Block:
        """One recurrent network."""
        from emoscope.models.torch.classifier import NeuralClassifier
        from emoscope.models.torch.training import Training

        get = self.settings
        network = {
            "tokens": "starter",
            "bidirectional": False,
            "trainable": False,
            **{
                name: get[name]
                for name in ("hidden", "embedding", "vectors", "dropout", "min_count", "max_features", "max_length")
            },
        }
        training = Training(
            epochs=get["epochs"],
            batch=get["batch"],
            rate=get["rate"],
            schedule="constant",
            warmup=0.0,
            held_out=0.1,
            patience=get["patience"],
        )
        return NeuralClassifier(self.task.labels, "recurrent", network, training)
