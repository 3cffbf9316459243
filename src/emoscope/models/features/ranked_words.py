"""One column for each word that ranks high for some label: team Podlab's features."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any, Self

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.extras import require
from emoscope.core.fit_context import FitContext
from emoscope.models.features.base import Extractor, Matrix, load_json, save_json, turn_texts
from emoscope.models.features.tokens import chat_tokens

FILE = "words.json"


class RankedWords(Extractor):
    """The `top` words of each label by TF-IDF, all texts of a label taken as one document; one-hot, per turn.

    >>> from emoscope.core.dialogue import Dialogue
    >>> said = [Example(Dialogue.of([text]), 0) for text in ("what joy joy", "what a pity")]
    >>> words = RankedWords(top=1, turns=(0,)).fit(said, ["joy", "sadness"], FitContext())
    >>> words.words, words.transform(said).toarray().tolist()
    (['a', 'joy'], [[0.0, 1.0], [1.0, 0.0]])
    """

    def __init__(self, *, top: int = 1000, turns: Sequence[int] = (0,)) -> None:
        self.top = top
        self.turns = tuple(turns)
        self.words: list[str] = []

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        """Rank the words of the turns to be labelled; turns before them are described by the same words."""
        del fit_context
        counts: dict[str, Counter[str]] = {label: Counter() for label in sorted(set(labels))}
        for text, label in zip(turn_texts(examples, 0), labels, strict=True):
            counts[label].update(chat_tokens(text))
        ranked = label_scores(counts)
        self.words = sorted({word for scores in ranked.values() for word in _best(scores, self.top)})
        return self

    def transform(self, examples: Sequence[Example]) -> Matrix:
        """1 where a turn holds a word."""
        sparse = require("scipy.sparse", extra="features")
        column_of = {word: column for column, word in enumerate(self.words)}
        parts = []
        for back in self.turns:
            found = [
                sorted({column_of[token] for token in chat_tokens(text) if token in column_of})
                for text in turn_texts(examples, back)
            ]
            ends = np.cumsum([0, *map(len, found)])
            columns = np.array([column for row in found for column in row], np.int32)
            shape = (len(examples), len(self.words))
            parts.append(sparse.csr_matrix((np.ones(len(columns), np.float32), columns, ends), shape=shape))
        return sparse.hstack(parts, format="csr", dtype=np.float32)

    def config(self) -> dict[str, Any]:
        return {"top": self.top, "turns": list(self.turns)}

    def save_weights(self, folder: Path) -> None:
        """The chosen words."""
        save_json(folder / FILE, self.words)

    def load_weights(self, folder: Path) -> None:
        self.words = load_json(folder / FILE)


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


def _best(scores: Mapping[str, float], top: int) -> list[str]:
    return sorted(scores, key=lambda word: (-scores[word], word))[:top]
