"""THU-HCSI at EmoContext: three sets of convolutional networks, each with a question of its own, vote in steps."""

from collections.abc import Sequence
from typing import ClassVar

from emoscope.models.block import Block
from emoscope.models.ensembles.voting import MultiStepVote
from emoscope.systems.base import System, SystemMetadata
from emoscope.systems.settings import WordNetworkSettings


class ThuHcsiSettings(WordNetworkSettings):
    """The paper's values, and usual ones where it gives none."""

    seeds: int = 5
    """Networks for each of the three questions."""
    soft: bool = False
    """Whether probabilities are averaged rather than votes counted."""
    epochs: int = 4
    learning_rate: float = 0.002
    num_filters: int = 100
    """Filters of each size."""
    kernel_sizes: tuple[int, ...] = (1, 2, 3)
    """Words that a filter sees."""
    hidden_size: int = 128
    """Units of the layer before the output."""


class ThuHcsi(System):
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
    settings_class = ThuHcsiSettings
    settings: ThuHcsiSettings

    def build(self) -> Block:
        neutral = self.task.metadata.neutral_label
        assert neutral is not None
        emotions = [label for label in self.task.labels if label != neutral]
        return MultiStepVote(
            self.task.labels,
            neutral,
            every=self._networks(self.task.labels),
            others=self._networks(emotions),
            gates=self._networks([neutral, "emotion"]),
            soft=self.settings.soft,
        )

    def _networks(self, labels: Sequence[str]) -> list[Block]:
        from emoscope.models.torch.classifier import NeuralClassifier

        get = self.settings
        network = get.words(turns="separate", dense_size=get.hidden_size, **get.pick("num_filters", "kernel_sizes"))
        return [NeuralClassifier(labels, "convolutional", network, get.training()) for _ in range(get.seeds)]
