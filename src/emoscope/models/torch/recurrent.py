"""Recurrent networks over words: joined turns, hierarchical, and semi-hierarchical."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from emoscope.core.dialogue import Example
from emoscope.core.fit_context import FitContext
from emoscope.models.text.vocabulary import Vocabulary
from emoscope.models.text.word_rows import JoinedRows, SpelledRows
from emoscope.models.torch.layers import Pooling, Recurrent, mask_of, pooled_recurrent
from emoscope.models.torch.network import Batch
from emoscope.models.torch.vectors import WordVectors
from emoscope.models.torch.word_network import WordNetwork, by_example
from emoscope.tasks.datasets.auxiliary import unlabelled_texts


@dataclass(eq=False, repr=False, kw_only=True)
class ReaderNetwork(WordNetwork):
    """A network whose first layers are recurrent ones over words, pooled to a vector for each row."""

    hidden_size: int = 128
    cell: str = "lstm"
    num_layers: int = 1
    bidirectional: bool = True
    pooling: str = "max"

    @property
    def input_size(self) -> int:
        """The width of a word's vector from `embed`."""
        return self.embedding_size

    def make_layers(self) -> int:
        self.reader = Recurrent(
            self.input_size,
            self.hidden_size,
            cell=self.cell,
            num_layers=self.num_layers,
            bidirectional=self.bidirectional,
            dropout=self.dropout,
        )
        self.pool = pooled_recurrent(self.reader, self.pooling)
        return self.pool.width

    def read_rows(self, batch: Batch) -> Tensor:
        """A vector for each row of words."""
        states = self.reader(self.embed(batch["words"]), batch["lengths"])
        return cast(Tensor, self.pool(states, batch["lengths"]))


@dataclass(eq=False, repr=False, kw_only=True)
class RecurrentNetwork(JoinedRows, ReaderNetwork):
    """All turns in one row (`context=1`: the last turn alone), and optionally a dense layer of `dense_size`."""

    pooling: str = "last"
    dense_size: int = 0

    def make_layers(self) -> int:
        return self.dense_layer(super().make_layers(), self.dense_size)

    def features(self, batch: Batch) -> Tensor:
        return cast(Tensor, self.between(self.read_rows(batch)))


@dataclass(eq=False, repr=False, kw_only=True)
class TweetRecurrentNetwork(RecurrentNetwork):
    """A `RecurrentNetwork` whose vocabulary includes the words of `pretraining_text` tweets and comments.

    With `vectors="word2vec"` the vectors are trained on them and on the examples (0: on the examples alone; None: on
    all tweets); with other vectors the tweets are not read.
    """

    vectors: str = "word2vec"
    pretraining_text: int | None = None

    def prepare(self, examples: Sequence[Example], fit_context: FitContext) -> None:
        self._tweets: list[list[str]] = []
        if self.vectors == "word2vec" and self.pretraining_text != 0:
            fit_context.progress("training word vectors", 0.0)
            self._tweets = [self.cut(text) for text in unlabelled_texts(fit_context, self.pretraining_text)]
        super().prepare(examples, fit_context)
        self._tweets = []

    def learn_vocabulary(self, turns: Sequence[Sequence[str]]) -> None:
        super().learn_vocabulary([*turns, *self._tweets])

    def word_vectors(self, turns: Sequence[Sequence[str]], fit_context: FitContext) -> WordVectors | None:
        return super().word_vectors([*turns, *self._tweets], fit_context)


@dataclass(eq=False, repr=False, kw_only=True)
class HierarchicalNetwork(ReaderNetwork):
    """One recurrent layer reads the words of each turn, a second one the resulting vectors of the turns.

    With `skip` the last turn's own vector is appended to the second layer's.
    """

    context_hidden_size: int | None = None
    context_bidirectional: bool = False
    context_pooling: str = "last"
    skip: bool = False

    def make_layers(self) -> int:
        width = super().make_layers()
        size = self.context_hidden_size or self.hidden_size
        self.context_reader = Recurrent(width, size, cell=self.cell, bidirectional=self.context_bidirectional)
        self.context_pool = pooled_recurrent(self.context_reader, self.context_pooling)
        return self.context_pool.width + (width if self.skip else 0)

    def features(self, batch: Batch) -> Tensor:
        counts = batch["counts"]
        turns = self.read_rows(batch)
        states = self.context_reader(self.drop(by_example(turns, counts)), counts)
        whole = self.context_pool(states, counts)
        return torch.cat([whole, turns[counts.cumsum(0) - 1]], dim=-1) if self.skip else cast(Tensor, whole)


class SpellingEncoder(nn.Module):
    """A vector of a word from its characters: convolution and maximum."""

    def __init__(self, characters: int, embedding_size: int, num_filters: int, kernel_size: int = 3) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, embedding_size, padding_idx=Vocabulary.padding)
        self.convolution = nn.Conv1d(embedding_size, num_filters, kernel_size, padding=kernel_size // 2)

    def forward(self, spellings: Tensor, lengths: Tensor) -> Tensor:
        """Shape (words, filters)."""
        states = torch.relu(self.convolution(self.embedding(spellings).transpose(1, 2)))
        return states.masked_fill(~mask_of(lengths, spellings.shape[1])[:, None, :], 0).amax(-1)


@dataclass(eq=False, repr=False, kw_only=True)
class SemiHierarchicalNetwork(SpelledRows, WordNetwork):
    """Words and their spellings; the last turn is read a second time, with a summary of the turns before it.

    A first reader computes states of every turn. A GRU summarises the pooled previous turns; the summary is joined to
    each state of the last turn, and a second reader goes over them.
    """

    hidden_size: int = 128
    cell: str = "lstm"
    pooling: str = "max"
    char_embedding_size: int = 25
    num_filters: int = 50
    max_characters: int = 20

    def learn_vocabulary(self, turns: Sequence[Sequence[str]]) -> None:
        super().learn_vocabulary(turns)
        self.alphabet = Vocabulary.of((token for turn in turns for token in turn), min_count=self.min_count)

    def make_layers(self) -> int:
        hidden_size = self.hidden_size
        self.speller = SpellingEncoder(len(self.alphabet), self.char_embedding_size, self.num_filters)
        self.reader = Recurrent(self.embedding_size + self.num_filters, hidden_size, cell=self.cell)
        self.pool = pooled_recurrent(self.reader, self.pooling)
        self.context_reader = Recurrent(self.pool.width, hidden_size, cell="gru", bidirectional=False)
        self.context_pool = Pooling("last", hidden_size)
        self.second_reader = Recurrent(self.reader.width + hidden_size, hidden_size, cell=self.cell)
        self.second_pool = pooled_recurrent(self.second_reader, self.pooling)
        return self.second_pool.width + hidden_size

    def features(self, batch: Batch) -> Tensor:
        counts, lengths = batch["counts"], batch["lengths"]
        spellings = self.speller(batch["spellings"], batch["spelling_lengths"])[batch["spelt"]]
        words = torch.cat([self.embed(batch["words"]), self.drop(spellings)], dim=-1)
        states = self.reader(words, lengths)
        before = self._summary(by_example(self.pool(states, lengths), counts), counts - 1)
        last = counts.cumsum(0) - 1
        wide = before[:, None, :].expand(-1, states.shape[1], -1)
        again = self.second_reader(self.drop(torch.cat([states[last], wide], dim=-1)), lengths[last])
        return torch.cat([self.second_pool(again, lengths[last]), before], dim=-1)

    def _summary(self, turns: Tensor, counts: Tensor) -> Tensor:
        """A summary of the previous turns' vectors; zeros if there are none."""
        at_least_one = counts.clamp_min(1)
        read: Tensor = self.context_pool(self.context_reader(turns, at_least_one), at_least_one)
        return read * (counts > 0)[:, None]
