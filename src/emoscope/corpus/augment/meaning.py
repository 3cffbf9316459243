"""Whether a back-translation kept the meaning: text similarity and negation."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from typing import Protocol

import numpy as np

from emoscope.core.dialogue import Dialogue
from emoscope.corpus.mining.embedder import Embedder, unit_rows

_NEGATION = re.compile(
    r"\b(?:no|nope|nah|not|never|none|nobody|nothing|nowhere|neither|nor|without|cannot|\w+n't"
    r"|(?:do|does|did|ca|wo|is|are|was|were|have|has|had|would|could|should|ai)nt)\b"
)
_WORD = re.compile(r"[^\W_]+")


class Similarity(Protocol):
    """How similar each variant is to its original, from 0 to 1."""

    name: str
    threshold: float  # the default; variants below it are considered to have lost the meaning

    def __call__(self, originals: Sequence[str], variants: Sequence[str]) -> Sequence[float]: ...


class EmbeddingSimilarity:
    """The cosine of the two texts' vectors, clipped at 0.

    >>> class Length:
    ...     name = "length"
    ...     def vectors(self, dialogues):
    ...         return np.array([[len(dialogue.texts[0]), 1.0] for dialogue in dialogues])
    >>> EmbeddingSimilarity(Length())(["ab"], ["no"])
    [1.0]
    """

    threshold = 0.5

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self._embedder = embedder

    def __call__(self, originals: Sequence[str], variants: Sequence[str]) -> list[float]:
        if not originals:
            return []
        texts = [Dialogue.of([text]) for text in (*originals, *variants)]
        units = unit_rows(np.asarray(self._embedder.vectors(texts), np.float64))
        cosines = (units[: len(originals)] * units[len(originals) :]).sum(axis=1)
        return [round(float(value), 4) for value in np.clip(cosines, 0.0, 1.0)]


class OverlapSimilarity:
    """The cosine of the content words' character 3-grams, without a model.

    A synonym counts as a lost word, so this drops too much rather than too little.

    >>> OverlapSimilarity()(["I lost my keys", "I lost my keys"], ["I have lost my keys", "very good"])
    [1.0, 0.0]
    """

    name = "character overlap"
    threshold = 0.4

    def __call__(self, originals: Sequence[str], variants: Sequence[str]) -> list[float]:
        pairs = zip(originals, variants, strict=True)
        return [round(_cosine(_grams(one), _grams(other)), 4) for one, other in pairs]


def denies(text: str) -> bool:
    """Whether a text contains a negation.

    >>> denies("I don't know"), denies("dont know"), denies("I know a knot")
    (True, True, False)
    """
    return _NEGATION.search(text.lower()) is not None


def words_in(text: str) -> list[str]:
    """The runs of letters and digits, in lower case.

    >>> words_in("It's OK!")
    ['it', 's', 'ok']
    """
    return _WORD.findall(text.casefold())


def word_key(text: str) -> str:
    """Only the letters and digits: equal for texts that differ only in punctuation, case and spaces.

    >>> word_key("It's OK!") == word_key("its ok")
    True
    """
    return "".join(words_in(text))


# Function words except negations; translation often moves or changes them.
_FUNCTION_WORDS = set((files("emoscope.corpus.augment") / "function_words.txt").read_text(encoding="utf-8").split())


def _grams(text: str) -> Counter[str]:
    words = words_in(text)
    # If there are only function words, compare those.
    content = [word for word in words if word not in _FUNCTION_WORDS] or words
    return Counter(f" {word} "[start : start + 3] for word in content for start in range(len(word)))


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    shared = sum(count * other[gram] for gram, count in one.items())
    lengths = math.sqrt(sum(count * count for count in one.values()) * sum(count * count for count in other.values()))
    return min(shared / lengths, 1.0) if lengths else 0.0
