"""Statistics of utterances: their number of words, frequent words and emoticons."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from emoscope.corpus.describe.distribution import Distribution

# A word of a single utterance says nothing about its class.
FEWEST = 2


@dataclass(frozen=True, slots=True)
class Term:
    """A word or emoticon: how often it occurs, and in how many utterances."""

    text: str
    count: int
    utterances: int


@dataclass(frozen=True, slots=True)
class UtteranceStatistics:
    """The utterances of one class, or of all."""

    utterances: int
    words: Distribution  # without emoticons; an utterance of only emoticons has 0
    with_emoticons: int
    only_emoticons: int
    emoticon_share: float  # of utterances with an emoticon
    emoticons: tuple[Term, ...]  # in the most utterances, since people repeat them within one
    unigrams: tuple[Term, ...]  # the most frequent words, without common ones, numbers, and words of one utterance


class TermCounter:
    """Counts terms and the utterances that hold them."""

    def __init__(self) -> None:
        self.count: Counter[str] = Counter()
        self.utterances: Counter[str] = Counter()

    def add(self, terms: Collection[str]) -> None:
        self.count.update(terms)
        self.utterances.update(set(terms))

    def merge(self, other: "TermCounter") -> None:
        self.count.update(other.count)
        self.utterances.update(other.utterances)

    def most_frequent(self, number: int) -> tuple[Term, ...]:
        return self._top(number, self.count)

    def most_widespread(self, number: int) -> tuple[Term, ...]:
        return self._top(number, self.utterances)

    def _top(self, number: int, by: Mapping[str, int]) -> tuple[Term, ...]:
        ranked = sorted(by.items(), key=lambda item: (-item[1], item[0]))[:number]
        return tuple(Term(text, self.count[text], self.utterances[text]) for text, _ in ranked)

    def without(self, terms: Collection[str], fewest: int) -> "TermCounter":
        """The words that are not among `terms` and occur in at least `fewest` utterances."""
        kept = TermCounter()
        for text, utterances in self.utterances.items():
            if utterances >= fewest and text not in terms and any(map(str.isalpha, text)):
                kept.count[text], kept.utterances[text] = self.count[text], utterances
        return kept


class UtteranceCounter:
    """Counts a stream of utterances of one class."""

    def __init__(self) -> None:
        self.lengths: Counter[int] = Counter()
        self.words = TermCounter()
        self.emoticons = TermCounter()
        self.with_emoticons = 0
        self.only_emoticons = 0

    def add(self, words: Collection[str], emoticons: Collection[str]) -> None:
        self.lengths[len(words)] += 1
        self.words.add(words)
        if emoticons:
            self.emoticons.add(emoticons)
            self.with_emoticons += 1
            self.only_emoticons += not words

    def result(self, common: Collection[str], unigrams: int, emoticons: int) -> UtteranceStatistics:
        utterances = self.lengths.total()
        return UtteranceStatistics(
            utterances=utterances,
            words=Distribution.of(self.lengths),
            with_emoticons=self.with_emoticons,
            only_emoticons=self.only_emoticons,
            emoticon_share=self.with_emoticons / max(utterances, 1),
            emoticons=self.emoticons.most_widespread(emoticons),
            unigrams=self.words.without(common, FEWEST).most_frequent(unigrams),
        )


def merged(counters: Iterable[UtteranceCounter]) -> UtteranceCounter:
    """The sum of several counters."""
    total = UtteranceCounter()
    for counter in counters:
        total.lengths.update(counter.lengths)
        total.words.merge(counter.words)
        total.emoticons.merge(counter.emoticons)
        total.with_emoticons += counter.with_emoticons
        total.only_emoticons += counter.only_emoticons
    return total
