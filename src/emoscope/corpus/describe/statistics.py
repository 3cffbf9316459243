"""The statistics of a labelled corpus, in one pass over it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from emoscope.core.dialogue import Example
from emoscope.core.text import emoticons_in, strip_emoticons, words
from emoscope.corpus.annotation.votes import VoteCounter, Votes
from emoscope.corpus.describe.conversations import ConversationCounter, Conversations
from emoscope.corpus.describe.words import UtteranceCounter, UtteranceStatistics

COMMON = 500
UNIGRAMS = 25


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """The statistics of a split."""

    examples: int
    unlabelled: int
    labels: Mapping[str, int]  # the task's labels in order, then any others
    label_shares: Mapping[str, float]  # shares of the labelled examples
    conversations: Conversations
    common_words: str  # which words `unigrams` leaves out
    wording: Mapping[str, UtteranceStatistics]
    overall: UtteranceStatistics
    votes: Votes | None

    @property
    def labelled(self) -> int:
        return self.examples - self.unlabelled

    def share(self, label: str) -> float:
        return self.label_shares.get(label, 0.0)


def describe(
    examples: Iterable[Example],
    labels: Sequence[str],
    *,
    neutral: str | None = None,
    common: int = COMMON,
) -> CorpusStatistics:
    """Describe a stream of examples; the most frequent words of the `neutral` label count as common words.

    >>> from emoscope.core.dialogue import Dialogue, Example
    >>> examples = [Example(Dialogue.of(["hi", "so happy for you 😂"]), 1, "happy")]
    >>> statistics = describe(examples, ["others", "happy"])
    >>> statistics.labels, statistics.wording["happy"].words.mean, statistics.overall.emoticons[0].text
    ({'others': 0, 'happy': 1}, 4.0, '😂')
    """
    wording: defaultdict[str | None, UtteranceCounter] = defaultdict(UtteranceCounter)
    overall = UtteranceCounter()
    conversations = ConversationCounter()
    votes = VoteCounter()
    for example in examples:
        text = example.text
        smileys = emoticons_in(text)
        spoken = words(strip_emoticons(text) if smileys else text)
        for counter in (wording[example.label], overall):
            counter.add(spoken, smileys)
        conversations.add(example)
        votes.add(example.label, example.votes)

    counts = Counter({label: counter.lengths.total() for label, counter in wording.items() if label is not None})
    unlabelled = wording[None].lengths.total() if None in wording else 0
    names = (*labels, *sorted(set(counts) - set(labels), key=lambda name: (-counts[name], name)))
    neutral = neutral if neutral is not None and counts[neutral] else None
    frequent = (wording[neutral] if neutral else overall).words
    common_words = {term.text for term in frequent.top(common, frequent.count)}
    whose = f"'{neutral}'" if neutral else "all utterances"
    return CorpusStatistics(
        examples=counts.total() + unlabelled,
        unlabelled=unlabelled,
        labels={name: counts[name] for name in names},
        label_shares={name: counts[name] / max(counts.total(), 1) for name in names},
        conversations=conversations.result(),
        common_words=f"the {common:,} most frequent words of {whose}",
        wording={
            # The neutral class defines the common words, so it has no uncommon ones.
            name: wording[name].result(common_words, 0 if name == neutral else UNIGRAMS)
            for name in names
            if name in wording
        },
        overall=overall.result(common_words, 0),
        votes=votes.result(),
    )
