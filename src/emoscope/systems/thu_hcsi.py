"""THU-HCSI at EmoContext: three sets of convolutional networks, each with a question of its own, vote in steps."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from emoscope.models.block import Block
from emoscope.models.ensembles.voting import MultiStepVote
from emoscope.systems.base import SystemMetadata
from emoscope.systems.recipe import Recipe

_EMOTION = "emotion"


class ThuHcsi(Recipe):
    """Four emotions; angry, happy or sad; others or not. `seeds` networks for each question."""

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="thu-hcsi",
        summary="convolutional networks for three questions, combined by voting in steps",
        tasks=("emocontext",),
        team="THU-HCSI",
        citation=(
            "Liang, Ma, Xu (2019). THU-HCSI at SemEval-2019 Task 3: Hierarchical Ensemble Classification of "
            "Contextual Emotion in Conversation. SemEval-2019, 345-349."
        ),
        published={"emocontext": 0.7616},
        substitutions=("word vectors from tweets: GloVe 6B 100-d and emoji2vec",),
    )
    defaults: ClassVar[Mapping[str, Any]] = {
        "seeds": 5,
        "soft": False,
        "epochs": 4,
        "batch": 64,
        "rate": 0.002,
        "filters": 100,
        "widths": [1, 2, 3],
        "hidden": 128,
        "embedding": 100,
        "vectors": "glove+emoji",
        "dropout": 0.4,
        "min_count": 2,
        "max_features": 20_000,
        "max_length": 60,
    }

    def build(self) -> Block:
        """The vote of all networks."""
        neutral = self.task.metadata.neutral_label
        assert neutral is not None
        emotions = [label for label in self.task.labels if label != neutral]
        return MultiStepVote(
            self.task.labels,
            neutral,
            every=self._networks(self.task.labels),
            others=self._networks(emotions),
            gates=self._networks([neutral, _EMOTION]),
            soft=self.settings["soft"],
        )

    def _networks(self, labels: Sequence[str]) -> list[Block]:
        from emoscope.models.torch.classifier import NeuralClassifier
        from emoscope.models.torch.training import Training

        get = self.settings
        names = ("filters", "widths", "embedding", "vectors", "dropout", "min_count", "max_features", "max_length")
        network = {"turns": "separate", "dense": get["hidden"], **{name: get[name] for name in names}}
        training = Training(epochs=get["epochs"], batch=get["batch"], rate=get["rate"])
        return [NeuralClassifier(labels, "convolutional", network, training) for _ in range(get["seeds"])]
