"""How networks over a frozen encoder's features read an example. Without torch, so exported networks use it too."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Example
from emoscope.models.text.padding import padded
from emoscope.models.text.tokenizer import Tokenizer
from emoscope.models.text.word_rows import (
    Arrays,
    EitherRows,
    Item,
    JoinedRows,
    LanguageRows,
    Rows,
    SpelledRows,
    WordRows,
)

HalfFloats = NDArray[np.float16]
Words = Sequence[Sequence[int]]  # token ids, grouped by word
GROUP = 64  # turns that are padded to a common length


class TurnFeatures(NamedTuple):
    """The features of a turn: a vector for each word, and one for the whole turn."""

    words: HalfFloats
    sentence: HalfFloats


class FrozenFeatures(ABC):
    """A frozen encoder that computes vectors of words; `longest` is the number of tokens it can read."""

    tokenizer: Tokenizer
    longest: int

    @abstractmethod
    def vectors(self, rows: Sequence[NDArray[np.int32]]) -> list[HalfFloats]:
        """The vectors of each row's tokens."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the encoder."""

    def words(self, rows: Sequence[Words], *, length: int) -> list[TurnFeatures]:
        """A vector for each word of a row, the mean of its tokens', and one for the whole row.

        Of a row with more than `length` tokens only the last words are read; the others get zeros. A row without words
        gets one, that of the whole row.
        """
        read = [_last_words(row, length - 2) for row in rows]
        start, end = self.tokenizer.start, self.tokenizer.end
        token_rows = [np.array([start, *(token for word in row for token in word), end], np.int32) for row in read]
        features = []
        for vectors, words, row in zip(self.vectors(token_rows), read, rows, strict=True):
            sentence = np.asarray(vectors.astype(np.float32).mean(0), np.float16)
            means = _word_means(vectors[1:-1], [len(word) for word in words], len(row))
            features.append(TurnFeatures(means if len(means) else sentence[None], sentence))
        return features


def _last_words(row: Words, room: int) -> list[Sequence[int]]:
    kept: list[Sequence[int]] = []
    for word in reversed(row):
        room -= len(word)
        if room < 0:
            break
        kept.append(word)
    return kept[::-1]


def _word_means(vectors: HalfFloats, lengths: Sequence[int], words: int) -> HalfFloats:
    """The mean of each word's token vectors; zeros for words without tokens and for those that were not read.

    >>> _word_means(np.array([[1.0], [3.0], [5.0]], np.float16), [2, 0, 1], 4).ravel().tolist()
    [0.0, 2.0, 0.0, 5.0]
    """
    means = np.zeros((words, vectors.shape[1]), np.float16)
    filled = [number for number, length in enumerate(lengths) if length]
    if filled:
        sizes = np.array([lengths[number] for number in filled])
        sums = np.add.reduceat(vectors.astype(np.float32), np.cumsum(sizes) - sizes, axis=0)
        means[np.array(filled) + words - len(lengths)] = sums / sizes[:, None]
    return means


class TurnRows(Rows):
    """Turns as features alone: `context` of them up to and including the one to label, and `future` after it.

    max_length: the number of tokens read of a turn; the last ones are kept.
    """

    kind = "turns"
    described = ("context", "future", "max_length")
    context: int
    future: int
    max_length: int
    frozen_features: FrozenFeatures

    def encode(self, examples: Sequence[Example]) -> list[Item]:
        """The features of each example's turns, and which turn is to be labelled; equal texts share their features."""
        ranges = [(max(0, e.turn + 1 - self.context), e.turn + 1 + self.future) for e in examples]
        texts = [example.dialogue.texts[first:last] for example, (first, last) in zip(examples, ranges, strict=True)]
        distinct = list(dict.fromkeys(text for turns in texts for text in turns))
        words = self.frozen_features.tokenizer.words(distinct)
        too_long = {text for text, row in zip(distinct, words, strict=True) if sum(map(len, row)) > self.max_length - 2}
        features = dict(zip(distinct, self.frozen_features.words(words, length=self.max_length), strict=True))
        return [
            {
                "turns": [features[text] for text in turns],
                "labelled": example.turn - first,
                "truncated": first > 0 or not too_long.isdisjoint(turns[: example.turn + 1 - first]),
            }
            for example, turns, (first, _) in zip(examples, texts, ranges, strict=True)
        ]

    def length(self, item: Item) -> int:
        return max(len(turn.words) for turn in item["turns"])

    def arrays(self, items: Sequence[Item]) -> Arrays:
        """Each distinct turn of the batch once, and the places of each example's turns among them."""
        distinct = {id(turn): turn for item in items for turn in item["turns"]}
        turns = sorted(distinct.values(), key=lambda turn: len(turn.words))
        places = {id(turn): place for place, turn in enumerate(turns)}
        # Most turns are short: in groups of similar length they need not be padded to the longest.
        groups = [turns[start : start + GROUP] for start in range(0, len(turns), GROUP)]
        arrays: Arrays = {}
        for number, group in enumerate(groups):
            arrays[f"words{number}"] = padded([turn.words for turn in group], dtype=np.float16)
            arrays[f"lengths{number}"] = np.array([len(turn.words) for turn in group], np.int64)
        return {
            **arrays,
            "sentences": np.stack([turn.sentence for turn in turns]),
            "order": padded([[places[id(turn)] for turn in item["turns"]] for item in items]),
            "counts": np.array([len(item["turns"]) for item in items], np.int64),
            "labelled": np.array([item["labelled"] for item in items], np.int64),
        }


class WordAndVectorRows(WordRows):
    """Turns as token ids, and for each word its vector."""

    kind = "words and vectors"
    frozen_features: FrozenFeatures

    def encode(self, examples: Sequence[Example]) -> list[Item]:
        items = super().encode(examples)
        tokens = self.by_text(lambda text: self.cut(text)[-self.max_length :], examples)
        words = list(dict.fromkeys(token for row in tokens.values() for token in row))
        token_ids = dict(zip(words, self.frozen_features.tokenizer.spelled(words), strict=True))
        longest = min(4 * self.max_length, self.frozen_features.longest)
        rows = [[token_ids[token] for token in row] for row in tokens.values()]
        vectors = dict(zip(tokens, self.frozen_features.words(rows, length=longest), strict=True))
        for item, example in zip(items, examples, strict=True):
            item["contextual"] = [vectors[text].words for text in self.turn_texts(example)]
        return items

    def arrays(self, items: Sequence[Item]) -> Arrays:
        rows = [row for item in items for row in item["contextual"]]
        return {**super().arrays(items), "contextual": padded(rows, dtype=np.float16)}


KINDS: dict[str, type[Rows]] = {
    rows.kind: rows
    for rows in (WordRows, JoinedRows, EitherRows, SpelledRows, LanguageRows, TurnRows, WordAndVectorRows)
}
