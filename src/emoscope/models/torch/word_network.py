"""The base class of networks over words: vocabulary, embedding, and output layer."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import torch
from torch import Tensor, nn

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.text.vocabulary import Vocabulary, tokeniser
from emoscope.models.text.word_rows import WordRows
from emoscope.models.torch.network import Batch, Network
from emoscope.models.torch.vectors import WordVectors, embedding_matrix, pretrained_vectors


@dataclass(eq=False, repr=False, kw_only=True)
class WordNetwork(WordRows, Network):
    """Embedding, then a subclass's layers, then dropout and the output layer.

    tokens: the tokeniser (`starter`, `chat` or `plain`). context: the number of turns read, 1 for the last alone.
    vectors: `glove`, `glove+emoji`, `word2vec` (trained on the examples), `random`, or a file; `trainable` says
    whether they are trained. min_count and max_features limit the vocabulary, max_length the tokens of a row.
    word_dropout is the share of words replaced by the unknown token in training.

    A subclass defines `make_layers` and `features`; one that does not read turn by turn also inherits from another
    class in `word_rows`.
    """

    graph = "words"
    tokens: str = "chat"
    context: int = 3
    vectors: str = "glove"
    embedding_size: int = 100
    trainable: bool = True
    min_count: int = 2
    max_features: int = 20_000
    max_length: int = 100
    dropout: float = 0.3
    word_dropout: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.context < 1 or self.max_length < 1:
            raise EmoscopeError("context and max_length must be at least 1")
        tokeniser(self.tokens)  # an unknown one is an error now

    def prepare(self, examples: Sequence[Example], fit_context: FitContext) -> None:
        texts = self.by_text(self.cut, examples)
        turns = [texts[text] for example in examples for text in self.turn_texts(example)]
        self.learn_vocabulary(turns)
        self.build()
        table = embedding_matrix(
            self.vocabulary, self.word_vectors(turns, fit_context), self.embedding_size, fit_context.seed
        )
        with torch.no_grad():
            self.embedding.weight.copy_(table)

    def learn_vocabulary(self, turns: Sequence[Sequence[str]]) -> None:
        self.vocabulary = Vocabulary.of(turns, min_count=self.min_count, max_features=self.max_features)

    def word_vectors(self, turns: Sequence[Sequence[str]], fit_context: FitContext) -> WordVectors | None:
        """The pretrained vectors that the setting names; None for random ones."""
        return pretrained_vectors(self.vectors, turns, self.embedding_size, self.min_count, fit_context)

    def build(self) -> None:
        """Build all layers from the settings and the vocabulary."""
        self.embedding = nn.Embedding(len(self.vocabulary), self.embedding_size, padding_idx=Vocabulary.padding)
        self.embedding.weight.requires_grad_(self.trainable)
        self.drop = nn.Dropout(self.dropout)
        self.head = nn.Linear(self.make_layers(), self.outputs)

    @abstractmethod
    def make_layers(self) -> int:
        """Build the layers between embedding and output; return their output width."""

    @abstractmethod
    def features(self, batch: Batch) -> Tensor:
        """A vector for each example of a batch."""

    def dense_layer(self, width: int, dense_size: int) -> int:
        """Build `self.between`, a dense layer before the output, or none for size 0; return its output width."""
        self.between: nn.Module = nn.Identity()
        if dense_size:
            self.between = nn.Sequential(nn.Dropout(self.dropout), nn.Linear(width, dense_size), nn.ReLU())
        return dense_size or width

    def forward(self, batch: Batch) -> Tensor:
        return cast(Tensor, self.head(self.drop(self.features(batch))))

    def embed(self, words: Tensor) -> Tensor:
        """Vectors of words, in training with word dropout."""
        if self.training and self.word_dropout:
            chance = torch.rand(words.shape, device=words.device)
            dropped = (chance < self.word_dropout) & (words > Vocabulary.end_of_turn)
            words = words.masked_fill(dropped, Vocabulary.unknown)
        return cast(Tensor, self.drop(self.embedding(words)))

    def replace_head(self, outputs: int) -> None:
        self.outputs = outputs
        self.head = nn.Linear(self.head.in_features, outputs).to(self.head.weight.device)

    def stages(self) -> list[list[nn.Parameter]]:
        """The output layer, the layers below it, and the embedding if it is trained."""
        edges = {"head", "embedding"}
        between = [p for name, child in self.named_children() if name not in edges for p in child.parameters()]
        stages = [list(self.head.parameters()), between]
        return [*stages, list(self.embedding.parameters())] if self.trainable else stages

    def save_assets(self, folder: Path) -> None:
        self.save_words(folder)

    def load_assets(self, folder: Path) -> None:
        self.load_words(folder)
        self.build()


def by_example(rows: Tensor, counts: Tensor) -> Tensor:
    """The rows of all examples as a table (examples, rows, width), with zeros for missing rows.

    >>> by_example(torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([1, 2])).squeeze(-1).tolist()
    [[1.0, 0.0], [2.0, 3.0]]
    """
    if len(counts) == 1:
        return rows.float()[None]
    example = torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)
    place = torch.arange(len(rows), device=rows.device) - (counts.cumsum(0) - counts)[example]
    rows = rows.float()  # recurrent layers may return half precision on a GPU, which index_put cannot mix
    table = rows.new_zeros(len(counts), int(counts.max()), rows.shape[-1])
    return table.index_put((example, place), rows)
