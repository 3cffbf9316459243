"""How networks over a frozen encoder's features read an example. Without torch, so exported networks use it too."""

from collections.abc import Sequence

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.models.text.frozen_words import FrozenFeatures
from emoscope.models.text.padding import padded
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

GROUP = 64  # turns that are padded to a common length


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
