"""THU-HCSI at EmoContext: a vote in steps by three sets of convolutional networks with different questions."""

from collections.abc import Sequence

from emoscope.models.block import Block
from emoscope.models.ensembles.voting import MultiStepVote
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import WordNetworkSettings


class ThuHcsiSettings(WordNetworkSettings):
    """The paper's values, or common ones if it gives none."""

    seeds: int = 5
    """Number of networks for each of the three questions."""
    soft: bool = False
    """Whether to average probabilities instead of counting votes."""
    epochs: int = 4
    learning_rate: float = 0.002
    num_filters: int = 100
    """Filters per size."""
    kernel_sizes: tuple[int, ...] = (1, 2, 3)
    """Filter sizes, in words."""
    hidden_size: int = 128
    """Units of the layer before the output."""


class ThuHcsi(System):
    """`seeds` networks for each question: all four labels; angry, happy or sad; others or not."""

    metadata = PUBLISHED["thu-hcsi"]
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
        settings = self.settings
        network = settings.words(
            turns="separate", dense_size=settings.hidden_size, **settings.pick("num_filters", "kernel_sizes")
        )
        return [settings.classifier(labels, "convolutional", network) for _ in range(settings.seeds)]
