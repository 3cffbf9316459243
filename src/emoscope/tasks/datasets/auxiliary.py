"""Auxiliary labelled corpora, for training before a task."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeVar

import numpy as np

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.emotion_words import TRIGGERS
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.tasks.datasets.readers import (
    EKMAN,
    ISEAR,
    SENTIMENTS,
    read_goemotions,
    read_isear,
    read_meld,
    read_sentiment,
    read_tweeteval,
    tweeteval_texts,
)
from emoscope.tasks.datasets.triggers import masked_triggers

__all__ = ["AUXILIARY_CORPORA", "EKMAN", "AuxiliaryCorpus", "chosen", "source", "source_examples", "unlabelled_texts"]

T = TypeVar("T")
_TWITTER = "tweets, under Twitter's terms; research use"
_REDDIT = "Apache-2.0, texts CC BY 4.0"


@dataclass(frozen=True, slots=True)
class AuxiliaryCorpus:
    """A labelled corpus: its labels, its folder under the resources, its reader, and its terms."""

    labels: tuple[str, ...]
    folder: str
    read: Callable[[Path], Iterable[Example | tuple[str, str | None]]]
    licence: str

    def examples(self, folder: Path) -> Iterator[Example]:
        """The examples that have a label; a bare text is a dialogue of one turn."""
        for item in self.read(folder):
            example = item if isinstance(item, Example) else Example(Dialogue((Turn(item[0]),)), 0, item[1])
            if example.label is not None:
                yield example


def _tweeteval(name: str, classes: int) -> AuxiliaryCorpus:
    labels = tuple(map(str, range(classes)))
    return AuxiliaryCorpus(labels, f"auxiliary/tweeteval/{name}", partial(read_tweeteval, classes=classes), _TWITTER)


def tweets_and_comments(folder: Path) -> Iterator[str]:
    """All tweets, and comments with a single emotion, for language models and masked words.

    They include TweetEval's test tweets, because nothing is scored on them; `tweets` in `unlabelled.py` does not.
    """
    return chain(
        (text for text, _ in read_sentiment(folder / "semeval2017-4a")),
        tweeteval_texts(folder / "tweeteval", ["*"]),
        (text for text, label in read_goemotions(folder / "goemotions/ekman") if label is not None),
    )


def _masked_words(folder: Path) -> Iterator[tuple[str, str]]:
    return masked_triggers(tweets_and_comments(folder))


AUXILIARY_CORPORA = {
    "semeval2017-4a": AuxiliaryCorpus(SENTIMENTS, "auxiliary/semeval2017-4a", read_sentiment, _TWITTER),
    "goemotions-ekman": AuxiliaryCorpus(EKMAN, "auxiliary/goemotions/ekman", read_goemotions, _REDDIT),
    "meld": AuxiliaryCorpus(EKMAN, "auxiliary/meld", read_meld, "GPL-3.0"),
    "isear": AuxiliaryCorpus(ISEAR, "auxiliary/isear", read_isear, "research use"),
    # Tweets and comments with one of IEST's emotion words masked: more data like IEST's.
    "masked-words": AuxiliaryCorpus(tuple(TRIGGERS), "auxiliary", _masked_words, f"{_TWITTER}; {_REDDIT}"),
    "tweeteval-emotion": _tweeteval("emotion", 4),  # anger, joy, optimism, sadness
    "tweeteval-emoji": _tweeteval("emoji", 20),
    "tweeteval-offensive": _tweeteval("offensive", 2),  # no, yes
    "tweeteval-irony": _tweeteval("irony", 2),
}


def source(name: str) -> AuxiliaryCorpus:
    """An auxiliary corpus by name."""
    if name not in AUXILIARY_CORPORA:
        raise EmoscopeError(f"unknown auxiliary task {name!r}; expected one of {', '.join(AUXILIARY_CORPORA)}")
    return AUXILIARY_CORPORA[name]


def source_examples(name: str, fit_context: FitContext, limit: int | None = None) -> list[Example]:
    """The examples of an auxiliary corpus, or a fixed random sample of `limit` of them."""
    corpus = source(name)
    return chosen(list(corpus.examples(fit_context.resource(corpus.folder))), limit)


def unlabelled_texts(fit_context: FitContext, limit: int | None = None) -> list[str]:
    """Tweets and Reddit comments without duplicates, or a fixed random sample of `limit` of them."""
    return chosen(list(dict.fromkeys(tweets_and_comments(fit_context.resource("auxiliary")))), limit)


def chosen(items: Sequence[T], limit: int | None) -> list[T]:
    """A fixed random sample of at most `limit` items, in random order.

    >>> sorted(chosen([1, 2, 3], 5)), len(chosen([1, 2, 3], 2))
    ([1, 2, 3], 2)
    """
    order = np.random.default_rng(0).permutation(len(items))[:limit]
    return [items[number] for number in order.tolist()]
