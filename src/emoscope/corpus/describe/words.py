"""Statistics of utterances: length in words, frequent words and emoticons."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from emoscope.corpus.describe.distribution import Distribution

# A word that occurs in only one utterance says nothing about its class.
FEWEST = 2
EMOTICONS = 5  # shown


@dataclass(frozen=True, slots=True)
class Term:
    """A word or emoticon, how often it occurs, and in how many utterances."""

    text: str
    count: int
    utterances: int


@dataclass(frozen=True, slots=True)
class UtteranceStatistics:
    """Statistics of the utterances of one class, or of all."""

    utterances: int
    words: Distribution  # per utterance, without emoticons; 0 if there are only emoticons
    with_emoticons: int
    only_emoticons: int
    emoticon_share: float  # share of utterances with an emoticon
    emoticons: tuple[Term, ...]  # ranked by utterances, since people repeat them within one
    unigrams: tuple[Term, ...]  # most frequent words, without common words, numbers and words of a single utterance


class TermCounter:
    """Counts terms and the utterances that contain them."""

    def __init__(self) -> None:
        self.count: Counter[str] = Counter()
        self.utterances: Counter[str] = Counter()

    def add(self, terms: Collection[str]) -> None:
        """Count the terms of one utterance."""
        self.count.update(terms)
        self.utterances.update(set(terms))

    def top(self, number: int, by: Mapping[str, int]) -> tuple[Term, ...]:
        """The terms with the highest counts in `by`, ties in alphabetical order."""
        ranked = sorted(by.items(), key=lambda item: (-item[1], item[0]))[:number]
        return tuple(Term(text, self.count[text], self.utterances[text]) for text, _ in ranked)


class UtteranceCounter:
    """Counts the utterances of a stream, such as those of one class."""

    def __init__(self) -> None:
        self.lengths: Counter[int] = Counter()
        self.words = TermCounter()
        self.emoticons = TermCounter()
        self.with_emoticons = 0
        self.only_emoticons = 0

    def add(self, words: Collection[str], emoticons: Collection[str]) -> None:
        """Count one utterance: its words without emoticons, and its emoticons."""
        self.lengths[len(words)] += 1
        self.words.add(words)
        if emoticons:
            self.emoticons.add(emoticons)
            self.with_emoticons += 1
            self.only_emoticons += not words

    def result(self, common: Collection[str], unigrams: int) -> UtteranceStatistics:
        utterances = self.lengths.total()
        uncommon = {
            word: self.words.count[word]
            for word, holding in self.words.utterances.items()
            if holding >= FEWEST and word not in common and any(map(str.isalpha, word))
        }
        return UtteranceStatistics(
            utterances=utterances,
            words=Distribution.of(self.lengths),
            with_emoticons=self.with_emoticons,
            only_emoticons=self.only_emoticons,
            emoticon_share=self.with_emoticons / max(utterances, 1),
            emoticons=self.emoticons.top(EMOTICONS, self.emoticons.utterances),
            unigrams=self.words.top(unigrams, uncommon),
        )
