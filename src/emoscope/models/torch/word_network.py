"""What all networks over words share: tokens, vocabulary, embeddings, the turns of an example, and the output layer."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.text.vocabulary import Vocabulary, tokeniser
from emoscope.models.text.word_rows import JoinedRows, WordRows, each_once
from emoscope.models.torch.network import Batch, Item, Network
from emoscope.models.torch.vectors import (
    EMOJI2VEC,
    GLOVE,
    WordVectors,
    embedding_matrix,
    named_emoji,
    read_vectors,
    reduced,
    scaled_like,
    train_word2vec,
)

if TYPE_CHECKING:
    from emoscope.models.export.exporter import Exporter
    from emoscope.models.onnx.exported import Exported


class WordNetwork(WordRows, Network):
    """Embedding, then a subclass's layers, then dropout and one dense layer.

    tokens: how texts are cut (`starter`, `chat` or `plain`). context: how many turns are read, 1 for the last alone.
    vectors: `glove`, `glove+emoji`, `word2vec` (trained on the examples), `random`, or a file; `trainable` says whether
    they learn. min_count and max_features limit the vocabulary, max_length the tokens of a row. word_dropout is the
    share of words hidden in training, so that the network learns what to make of unknown ones.

    A subclass gives `make_layers` and `features`; how it reads an example, if not turn by turn, comes from one of the
    classes in `word_rows`.
    """

    def __init__(
        self,
        outputs: int,
        *,
        tokens: str = "chat",
        context: int = 3,
        vectors: str = "glove",
        embedding: int = 100,
        trainable: bool = True,
        min_count: int = 2,
        max_features: int = 20_000,
        max_length: int = 100,
        dropout: float = 0.3,
        word_dropout: float = 0.0,
        **own: Any,
    ) -> None:
        super().__init__(outputs, **own)
        if context < 1 or max_length < 1:
            raise EmoscopeError("context and max_length must be at least 1")
        self.tokens = tokens
        self.cut = tokeniser(tokens)
        self.context = context
        self.vectors = vectors
        self.size = embedding
        self.trainable = trainable
        self.min_count = min_count
        self.max_features = max_features
        self.max_length = max_length
        self.word_dropout = word_dropout
        self.dropout = nn.Dropout(dropout)
        self.vocabulary = Vocabulary.of([])

    # Layers

    def prepare(self, examples: Sequence[Example], fitting: FitContext) -> None:
        """Learn the vocabulary, find the words' vectors, make the layers."""
        texts = each_once(self.cut, (text for example in examples for text in self.turn_texts(example)))
        turns = [texts[text] for example in examples for text in self.turn_texts(example)]
        self.learn_vocabulary(turns)
        self.build()
        table = embedding_matrix(self.vocabulary, self.word_vectors(turns, fitting), self.size, fitting.seed)
        with torch.no_grad():
            self.embedding.weight.copy_(table)

    def learn_vocabulary(self, turns: Sequence[Sequence[str]]) -> None:
        """Number the tokens of the training data."""
        self.vocabulary = Vocabulary.of(turns, min_count=self.min_count, max_features=self.max_features)

    def word_vectors(self, turns: Sequence[Sequence[str]], fitting: FitContext) -> WordVectors | None:
        """The vectors the setting names, None for random ones."""
        match self.vectors:
            case "random":
                return None
            case "word2vec":
                return train_word2vec(turns, self.size, seed=fitting.seed, min_count=self.min_count)
            case "glove":
                return read_vectors(fitting.resource(GLOVE))
            case "glove+emoji":
                glove = read_vectors(fitting.resource(GLOVE))
                emoji = named_emoji(read_vectors(fitting.resource(EMOJI2VEC)))
                return scaled_like(reduced(emoji, glove.size), glove).joined(glove)
            case _:
                if not Path(self.vectors).is_file():
                    known = "glove, glove+emoji, word2vec, random or a file"
                    raise EmoscopeError(f"vectors: expected {known}, found {self.vectors!r}")
                return read_vectors(Path(self.vectors))

    def build(self) -> None:
        """Make all layers; their sizes follow from the settings and the vocabulary."""
        self.embedding = nn.Embedding(len(self.vocabulary), self.size, padding_idx=Vocabulary.padding)
        self.embedding.weight.requires_grad_(self.trainable)
        self.head = nn.Linear(self.make_layers(), self.outputs)

    @abstractmethod
    def make_layers(self) -> int:
        """Make the layers between the embedding and the output; return the width of what they give."""

    @abstractmethod
    def features(self, batch: Batch) -> Tensor:
        """A row for each example of a batch."""

    def forward(self, batch: Batch) -> Tensor:
        """A score per example and output."""
        return cast(Tensor, self.head(self.dropout(self.features(batch))))

    def embed(self, words: Tensor) -> Tensor:
        """Vectors of words, some of them hidden in training."""
        if self.training and self.word_dropout:
            hidden = (torch.rand(words.shape, device=words.device) < self.word_dropout) & (
                words > Vocabulary.end_of_turn
            )
            words = words.masked_fill(hidden, Vocabulary.unknown)
        return cast(Tensor, self.dropout(self.embedding(words)))

    def replace_head(self, outputs: int) -> None:
        """A new output layer for other labels, the rest as it was: transfer from one task to another."""
        self.outputs = outputs
        self.head = nn.Linear(self.head.in_features, outputs).to(self.head.weight.device)

    def stages(self) -> list[list[nn.Parameter]]:
        """The output layer, the layers below, the embedding if it learns at all."""
        edges = {"head", "embedding"}
        between = [p for name, child in self.named_children() if name not in edges for p in child.parameters()]
        stages = [list(self.head.parameters()), between]
        return [*stages, list(self.embedding.parameters())] if self.trainable else stages

    # Examples into numbers: see `WordRows`

    def collate(self, items: Sequence[Item]) -> Batch:
        """The rows of several examples as tensors."""
        return {name: torch.from_numpy(table) for name, table in self.arrays(items).items()}

    def export(self, exporter: "Exporter", labels: Sequence[str], questions: Sequence[Mapping[str, Any]]) -> "Exported":
        return exporter.words(self, labels, questions)

    def save_assets(self, folder: Path) -> None:
        """Write the vocabulary."""
        self.save_words(folder)

    def load_assets(self, folder: Path) -> None:
        """Read the vocabulary and make the layers."""
        self.load_words(folder)
        self.build()


class JoinedTurns(JoinedRows, WordNetwork):
    """Networks that read the turns as one row, an end-of-turn token between them."""


def by_example(rows: Tensor, counts: Tensor) -> Tensor:
    """Rows of all examples, one below the other, as (examples, rows, width), the missing ones zero.

    >>> by_example(torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([1, 2])).squeeze(-1).tolist()
    [[1.0, 0.0], [2.0, 3.0]]
    """
    if len(counts) == 1:
        return rows.float()[None]
    example = torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)
    place = torch.arange(len(rows), device=rows.device) - (counts.cumsum(0) - counts)[example]
    rows = rows.float()  # a recurrent layer answers in half precision on a GPU, which index_put does not mix
    table = rows.new_zeros(len(counts), int(counts.max()), rows.shape[-1])
    return table.index_put((example, place), rows)
