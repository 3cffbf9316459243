"""How networks over a frozen encoder's features read an example. Needs no torch, so that exported ones read alike."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.models.text.frozen_words import Features, HalfFloats
from emoscope.models.text.padding import padded
from emoscope.models.text.word_rows import Arrays, Item, Rows, WordRows

GROUP = 64  # turns that are filled up to a common length


class TurnFeatures(NamedTuple):
    """A turn as features: a vector for each word, and one for the whole."""

    words: HalfFloats
    sentence: HalfFloats


class TurnRows(Rows):
    """Turns as features alone: `context` of them up to the one to be labelled, that one included, and `future` after.

    max_length: how many tokens of a turn are read, the last ones.
    """

    kind = "turns"
    described = ("context", "future", "max_length")
    context: int
    future: int
    max_length: int
    frozen_features: Features

    def encode(self, examples: Sequence[Example]) -> list[Item]:
        """The turns of each example as features, and which of them is to be labelled; a text's features are shared."""
        ranges = [(max(0, e.turn + 1 - self.context), e.turn + 1 + self.future) for e in examples]
        texts = [example.dialogue.texts[first:last] for example, (first, last) in zip(examples, ranges, strict=True)]
        different = list(dict.fromkeys(text for turns in texts for text in turns))
        words = self.frozen_features.tokenizer.words(different)
        too_long = {
            text for text, row in zip(different, words, strict=True) if sum(map(len, row)) > self.max_length - 2
        }
        features = self.frozen_features.words(words, length=self.max_length)
        # A turn without words is still a turn: its whole stands for one.
        known = {
            text: TurnFeatures(words if len(words) else whole[None], whole)
            for text, (words, whole) in zip(different, features, strict=True)
        }
        return [
            {
                "turns": [known[text] for text in turns],
                "labelled": example.turn - first,
                "truncated": first > 0 or not too_long.isdisjoint(turns[: example.turn + 1 - first]),
            }
            for example, turns, (first, _) in zip(examples, texts, ranges, strict=True)
        ]

    def length(self, item: Item) -> int:
        return max(len(turn.words) for turn in item["turns"])

    def arrays(self, items: Sequence[Item]) -> Arrays:
        """Each different turn of the batch once, and the places of the turns in each example."""
        different = {id(turn): turn for item in items for turn in item["turns"]}
        turns = sorted(different.values(), key=lambda turn: len(turn.words))
        places = {id(turn): place for place, turn in enumerate(turns)}
        counts = [len(item["turns"]) for item in items]
        order = np.zeros((len(items), max(counts)), np.int64)
        for number, item in enumerate(items):
            order[number, : counts[number]] = [places[id(turn)] for turn in item["turns"]]
        # Most turns are short: in groups of like length they need not be filled up to the longest.
        groups = [turns[start : start + GROUP] for start in range(0, len(turns), GROUP)]
        made: Arrays = {}
        for number, group in enumerate(groups):
            made[f"words{number}"] = padded([turn.words for turn in group], dtype=np.float16)
            made[f"lengths{number}"] = np.array([len(turn.words) for turn in group], np.int64)
        return {
            **made,
            "sentences": np.stack([turn.sentence for turn in turns]),
            "order": order,
            "counts": np.array(counts, np.int64),
            "labelled": np.array([item["labelled"] for item in items], np.int64),
        }


class WordAndVectorRows(WordRows):
    """Turns as numbers of words, and beside each word its vector."""

    kind = "words and vectors"
    frozen_features: Features

    def encode(self, examples: Sequence[Example]) -> list[Item]:
        items = super().encode(examples)
        different = list(dict.fromkeys(text for example in examples for text in self.turn_texts(example)))
        tokens = [self.cut(text)[-self.max_length :] for text in different]
        words = list(dict.fromkeys(token for row in tokens for token in row))
        pieces = dict(zip(words, self.frozen_features.tokenizer.spelled(words), strict=True))
        longest = min(4 * self.max_length, self.frozen_features.longest)
        found = self.frozen_features.words([[pieces[token] for token in row] for row in tokens], length=longest)
        known = {
            text: words if len(words) else whole[None] for text, (words, whole) in zip(different, found, strict=True)
        }
        for item, example in zip(items, examples, strict=True):
            item["contextual"] = [known[text] for text in self.turn_texts(example)]
        return items

    def arrays(self, items: Sequence[Item]) -> Arrays:
        rows = [row for item in items for row in item["contextual"]]
        return {**super().arrays(items), "contextual": padded(rows, dtype=np.float16)}
