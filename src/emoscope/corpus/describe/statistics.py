"""The statistics of a labelled corpus, in one pass over it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from emoscope.core.dialogue import Example
from emoscope.core.text import emoticons_in, strip_emoticons, words
from emoscope.corpus.annotation.votes import VoteCounter, Votes
from emoscope.corpus.describe.conversations import ConversationCounter, Conversations
from emoscope.corpus.describe.words import Wording, WordingCounter, merged

COMMON = 500
UNIGRAMS = 25
EMOTICONS = 5


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """What a split is made of.

    `labels` counts the examples of each label: the task's own in their order, then any other the data hold. Words
    are common, and left out of `unigrams`, if among the `common` most frequent ones of the label `common_in`, or of all
    utterances where that is None.
    """

    examples: int
    unlabelled: int
    labels: Mapping[str, int]
    conversations: Conversations
    wording: Mapping[str, Wording]
    overall: Wording
    common: int
    common_in: str | None
    votes: Votes | None

    @property
    def labelled(self) -> int:
        """The number of examples that have a label."""
        return self.examples - self.unlabelled

    def share(self, label: str) -> float:
        """The share of a label among the labelled examples."""
        return self.labels.get(label, 0) / self.labelled if self.labelled else 0.0

    @property
    def common_words(self) -> str:
        """Which words are left out as common, in words."""
        whose = "all utterances" if self.common_in is None else f"'{self.common_in}'"
        return f"the {self.common:,} most frequent words of {whose}"

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "examples": self.examples,
            "unlabelled": self.unlabelled,
            "labels": dict(self.labels),
            "label_shares": {label: self.share(label) for label in self.labels},
            "conversations": self.conversations.as_dict(),
            "common_words": self.common_words,
            "wording": {label: wording.as_dict() for label, wording in self.wording.items()},
            "overall": self.overall.as_dict(),
            "votes": None if self.votes is None else self.votes.as_dict(),
        }


def describe(
    examples: Iterable[Example],
    labels: Sequence[str],
    *,
    neutral: str | None = None,
    common: int = COMMON,
    unigrams: int = UNIGRAMS,
    emoticons: int = EMOTICONS,
) -> CorpusStatistics:
    """Everything we count about a corpus, whose examples may be any stream.

    `neutral` is the label of "no emotion": its most frequent words say nothing about the others.

    >>> from emoscope.core.dialogue import Dialogue, Example
    >>> found = describe([Example(Dialogue.of(["hi", "so happy for you 😂"]), 1, "happy")], ["others", "happy"])
    >>> dict(found.labels), found.wording["happy"].words.mean, found.overall.emoticons[0].text
    ({'others': 0, 'happy': 1}, 4.0, '😂')
    """
    wording: defaultdict[str | None, WordingCounter] = defaultdict(WordingCounter)
    conversations = ConversationCounter()
    votes = VoteCounter()
    for example in examples:
        said = example.text
        found = emoticons_in(said)
        wording[example.label].add(words(strip_emoticons(said) if found else said), found)
        if conversations.is_new(example):
            turns = example.dialogue.turns
            others = (turn.text for position, turn in enumerate(turns) if position != example.turn)
            conversations.add(example.dialogue, has_emoticons=bool(found) or any(map(emoticons_in, others)))
        votes.add(example.label, example.votes)

    counts = Counter({label: counter.lengths.total() for label, counter in wording.items() if label is not None})
    unlabelled = wording[None].lengths.total() if None in wording else 0
    names = (*labels, *sorted(set(counts) - set(labels), key=lambda name: (-counts[name], name)))
    overall = merged(wording.values())
    common_in = neutral if neutral is not None and counts[neutral] else None
    source = overall if common_in is None else wording[common_in]
    usual = {term.text for term in source.words.most_frequent(common)}
    return CorpusStatistics(
        examples=counts.total() + unlabelled,
        unlabelled=unlabelled,
        labels=MappingProxyType({name: counts[name] for name in names}),
        conversations=conversations.result(),
        wording=MappingProxyType(
            {
                # What sets the neutral class apart from itself is no question.
                name: wording[name].result(usual, 0 if name == neutral else unigrams, emoticons)
                for name in names
                if name in wording
            }
        ),
        overall=overall.result(usual, 0, emoticons),
        common=common,
        common_in=common_in,
        votes=votes.result(),
    )
