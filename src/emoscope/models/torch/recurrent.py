"""Recurrent networks over words: one row of turns, a hierarchy over turns, and something between the two."""

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from emoscope.models.text.vocabulary import Vocabulary
from emoscope.models.text.word_rows import SpelledRows
from emoscope.models.torch.layers import Pooling, Recurrent, mask_of, pooled_recurrent
from emoscope.models.torch.network import Batch
from emoscope.models.torch.word_network import JoinedTurns, WordNetwork, by_example


class RecurrentNetwork(JoinedTurns):
    """All turns in one row (`context=1`: the last turn alone), recurrent layers, pooling, a dense layer.

    `dense` is the width of a layer between pooling and output, 0 for none. The other settings are those of
    `WordNetwork`.
    """

    def __init__(
        self,
        outputs: int,
        *,
        hidden: int = 128,
        cell: str = "lstm",
        layers: int = 1,
        bidirectional: bool = True,
        pooling: str = "last",
        dense: int = 0,
        **shared: Any,
    ) -> None:
        super().__init__(outputs, **shared)
        self.hidden = hidden
        self.cell = cell
        self.depth = layers
        self.bidirectional = bidirectional
        self.pooling = pooling
        self.dense = dense

    def make_layers(self) -> int:
        """One recurrent reader and its pooling."""
        self.reader = Recurrent(
            self.size,
            self.hidden,
            cell=self.cell,
            layers=self.depth,
            bidirectional=self.bidirectional,
            dropout=self.dropout.p,
        )
        self.pool = pooled_recurrent(self.reader, self.pooling)
        if not self.dense:
            self.between: nn.Module = nn.Identity()
            return self.pool.width
        self.between = nn.Sequential(nn.Dropout(self.dropout.p), nn.Linear(self.pool.width, self.dense), nn.ReLU())
        return self.dense

    def features(self, batch: Batch) -> Tensor:
        """What the pooling makes of the row's states."""
        states = self.reader(self.embed(batch["words"]), batch["lengths"])
        return cast(Tensor, self.between(self.pool(states, batch["lengths"])))


class HierarchicalNetwork(WordNetwork):
    """A reader of words makes a vector of each turn; a second one reads those vectors in order.

    With `skip` the last turn's own vector stands beside what the second reader makes of the dialogue.
    """

    def __init__(
        self,
        outputs: int,
        *,
        hidden: int = 128,
        cell: str = "lstm",
        layers: int = 1,
        bidirectional: bool = True,
        pooling: str = "max",
        context_hidden: int | None = None,
        context_bidirectional: bool = False,
        context_pooling: str = "last",
        skip: bool = False,
        **shared: Any,
    ) -> None:
        super().__init__(outputs, **shared)
        self.hidden = hidden
        self.cell = cell
        self.depth = layers
        self.bidirectional = bidirectional
        self.pooling = pooling
        self.context_hidden = context_hidden or hidden
        self.context_bidirectional = context_bidirectional
        self.context_pooling = context_pooling
        self.skip = skip

    @property
    def input_size(self) -> int:
        """The width of what `embed` gives for a word; a subclass that adds to it says so here."""
        return self.size

    def make_layers(self) -> int:
        """The reader of words, the reader of turns, and their poolings."""
        self.reader = Recurrent(
            self.input_size,
            self.hidden,
            cell=self.cell,
            layers=self.depth,
            bidirectional=self.bidirectional,
            dropout=self.dropout.p,
        )
        self.pool = pooled_recurrent(self.reader, self.pooling)
        self.context_reader = Recurrent(
            self.pool.width, self.context_hidden, cell=self.cell, bidirectional=self.context_bidirectional
        )
        self.context_pool = pooled_recurrent(self.context_reader, self.context_pooling)
        return self.context_pool.width + (self.pool.width if self.skip else 0)

    def turn_vectors(self, batch: Batch) -> Tensor:
        """A vector for each turn of each example, one below the other."""
        states = self.reader(self.embed(batch["words"]), batch["lengths"])
        return cast(Tensor, self.pool(states, batch["lengths"]))

    def features(self, batch: Batch) -> Tensor:
        """What the second reader makes of the turns."""
        counts = batch["counts"]
        turns = self.turn_vectors(batch)
        states = self.context_reader(self.dropout(by_example(turns, counts)), counts)
        whole = self.context_pool(states, counts)
        return torch.cat([whole, turns[counts.cumsum(0) - 1]], dim=-1) if self.skip else cast(Tensor, whole)


class SpellingEncoder(nn.Module):
    """A vector of a word from its characters: convolution and maximum."""

    def __init__(self, characters: int, embedding: int, filters: int, width: int = 3) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, embedding, padding_idx=Vocabulary.padding)
        self.convolution = nn.Conv1d(embedding, filters, width, padding=width // 2)

    def forward(self, spellings: Tensor, lengths: Tensor) -> Tensor:
        """Shape (words, filters)."""
        found = torch.relu(self.convolution(self.embedding(spellings).transpose(1, 2)))
        return found.masked_fill(~mask_of(lengths, spellings.shape[1])[:, None, :], 0).amax(-1)


class SemiHierarchicalNetwork(SpelledRows, WordNetwork):
    """Words and their spellings; the last turn is read a second time, now knowing what was said before.

    A first reader makes states of every turn. The previous turns are pooled and summed up by a GRU; the summary joins
    each state of the last turn, and a second reader goes over them.
    """

    def __init__(
        self,
        outputs: int,
        *,
        hidden: int = 128,
        cell: str = "lstm",
        pooling: str = "max",
        characters: int = 25,
        filters: int = 50,
        max_characters: int = 20,
        **shared: Any,
    ) -> None:
        super().__init__(outputs, **shared)
        self.hidden = hidden
        self.cell = cell
        self.pooling = pooling
        self.characters = characters
        self.filters = filters
        self.max_characters = max_characters
        self.alphabet = Vocabulary.of([])

    def learn_vocabulary(self, turns: Sequence[Sequence[str]]) -> None:
        """Number the words, and the characters they are made of."""
        super().learn_vocabulary(turns)
        self.alphabet = Vocabulary.of((token for turn in turns for token in turn), min_count=self.min_count)

    def make_layers(self) -> int:
        """The readers of spellings, of turns, of the previous turns' vectors, and again of the last turn."""
        self.speller = SpellingEncoder(len(self.alphabet), self.characters, self.filters)
        self.reader = Recurrent(self.size + self.filters, self.hidden, cell=self.cell)
        self.pool = pooled_recurrent(self.reader, self.pooling)
        self.context_reader = Recurrent(self.pool.width, self.hidden, cell="gru", bidirectional=False)
        self.context_pool = Pooling("last", self.hidden)
        self.second_reader = Recurrent(self.reader.width + self.hidden, self.hidden, cell=self.cell)
        self.second_pool = pooled_recurrent(self.second_reader, self.pooling)
        return self.second_pool.width + self.hidden

    def features(self, batch: Batch) -> Tensor:
        """The last turn read in the light of the others, and the summary of the others."""
        counts, lengths = batch["counts"], batch["lengths"]
        spellings = self.speller(batch["spellings"], batch["spelling_lengths"])[batch["spelt"]]
        words = torch.cat([self.embed(batch["words"]), self.dropout(spellings)], dim=-1)
        states = self.reader(words, lengths)
        before = self._summary(by_example(self.pool(states, lengths), counts), counts - 1)
        last = counts.cumsum(0) - 1
        wide = before[:, None, :].expand(-1, states.shape[1], -1)
        again = self.second_reader(self.dropout(torch.cat([states[last], wide], dim=-1)), lengths[last])
        return torch.cat([self.second_pool(again, lengths[last]), before], dim=-1)

    def _summary(self, turns: Tensor, counts: Tensor) -> Tensor:
        """The previous turns' vectors summed up; zeros where nothing was said before."""
        at_least_one = counts.clamp_min(1)
        read: Tensor = self.context_pool(self.context_reader(turns, at_least_one), at_least_one)
        return read * (counts > 0)[:, None]
