"""One column for each word that ranks high for a label: team Podlab's features."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import Self

from emoscope.core.dialogue import Example
from emoscope.core.files import read_json, write_file
from emoscope.core.fit_context import FitContext
from emoscope.models.features.base import Matrix, TurnExtractor, column_counts, turn_texts
from emoscope.models.features.tokens import chat_tokens

FILE = "words.json"


@dataclass(eq=False, repr=False, kw_only=True)
class RankedWords(TurnExtractor):
    """The `top` words of each label by TF-IDF, all texts of a label taken as one document; one-hot, per turn.

    >>> from emoscope.core.dialogue import Dialogue
    >>> examples = [Example(Dialogue.of([text]), 0) for text in ("what joy joy", "what a pity")]
    >>> words = RankedWords(top=1, turns=(0,)).fit(examples, ["joy", "sadness"], FitContext())
    >>> words.words, words.transform(examples).toarray().tolist()
    (['a', 'joy'], [[0.0, 1.0], [1.0, 0.0]])
    """

    top: int = 1000
    turns: Sequence[int] = (0,)
    words: list[str] = field(init=False, default_factory=list)

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        """Rank the words of the turns to label; the turns before them get the same columns."""
        del fit_context
        counts: dict[str, Counter[str]] = {label: Counter() for label in sorted(set(labels))}
        for text, label in zip(turn_texts(examples, 0), labels, strict=True):
            counts[label].update(chat_tokens(text))
        words: set[str] = set()
        for scores in label_scores(counts).values():
            words.update(sorted(scores, key=lambda word: (-scores[word], word))[: self.top])
        self.words = sorted(words)
        return self

    def transform_turn(self, texts: Sequence[str], _: int) -> Matrix:
        column_of = {word: column for column, word in enumerate(self.words)}
        tokens = (set(chat_tokens(text)) for text in texts)
        rows = (sorted(column_of[token] for token in words if token in column_of) for words in tokens)
        return column_counts(rows, len(self.words))

    def save_weights(self, folder: Path) -> None:
        write_file(folder / FILE, json.dumps(self.words))

    def load_weights(self, folder: Path) -> None:
        self.words = read_json(folder / FILE)


def label_scores(counts: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, float]]:
    """Each word's TF-IDF in each label's document: its share of the words there, times log((1 + n) / (1 + m)) + 1,
    where m of the n labels have the word.

    >>> scores = label_scores({"joy": {"yay": 1, "oh": 1}, "anger": {"oh": 2}})
    >>> round(scores["joy"]["yay"], 4), scores["anger"]["oh"]
    (0.7027, 1.0)
    """
    labels_with = Counter(word for words in counts.values() for word in words)
    rarity = {word: log((1 + len(counts)) / (1 + count)) + 1 for word, count in labels_with.items()}
    scores = {}
    for label, words in counts.items():
        total = sum(words.values())
        scores[label] = {word: count / total * rarity[word] for word, count in words.items()}
    return scores
