"""IIIDYT at IEST: contextual word vectors, a wide BiLSTM, max-pooling; six networks averaged."""

from typing import ClassVar

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.systems.base import System, SystemMetadata
from emoscope.systems.settings import TrainingSettings


class IiidytSettings(TrainingSettings):
    """The paper's values."""

    encoder: str = "bert-base-uncased"
    """Pretrained encoder of the word vectors: a name on the Hugging Face hub or a folder."""
    num_layers: int = 1
    """Last layers of the encoder that are averaged."""
    hidden_size: int = 2048
    """Units of the LSTM, in each direction."""
    dense_size: int = 512
    """Units of the layer before the output."""
    seeds: int = 6
    """Networks that are averaged."""
    epochs: int = 10
    dropout: float = 0.5
    """Share of units dropped of the word vectors."""
    output_dropout: float = 0.1
    """Share of units dropped before the output layer."""
    max_length: int = 128
    """Most tokens that are read."""


class Iiidyt(System):
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
    settings_class = IiidytSettings
    settings: IiidytSettings

    def build(self) -> Block:
        from emoscope.models.torch.classifier import NeuralClassifier

        get, labels = self.settings, self.task.labels
        names = ("encoder", "num_layers", "hidden_size", "dense_size", "dropout", "output_dropout", "max_length")
        network = {"reader": "lstm", "pooling": "max", **get.pick(*names)}
        training = get.training(schedule="slanted")
        return Mean([NeuralClassifier(labels, "contextual", network, training) for _ in range(get.seeds)])
