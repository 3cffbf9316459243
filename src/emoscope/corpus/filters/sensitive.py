"""Drop dialogues about sensitive topics such as self-harm, violence or health, or with disclosed credentials."""

import codecs
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from emoscope.core import word_lists
from emoscope.core.dialogue import Dialogue
from emoscope.core.plain_words import plain_words
from emoscope.core.word_lists import any_of, filled, words_in
from emoscope.corpus.filters.credentials import discloses_credentials
from emoscope.corpus.filters.review import DialogueFilter, Review, choose
from emoscope.corpus.filters.shipped import read_toml

_SELF_HARM = "self_harm.toml"


class Topic(StrEnum):
    """Topics to keep out of a corpus."""

    SELF_HARM = "self-harm"
    SEXUAL = "sexual"
    VIOLENCE = "violence"
    DRUGS = "drugs"
    HATE = "hate"
    HEALTH = "health"
    CREDENTIALS = "credentials"
    POLITICS = "politics"
    ETHNICITY = "ethnicity"  # and religion
    CRIME = "crime"


# Dropped by default. Politics, ethnicity and crime do not harm readers.
STANDARD = (
    Topic.SELF_HARM,
    Topic.SEXUAL,
    Topic.VIOLENCE,
    Topic.DRUGS,
    Topic.HATE,
    Topic.HEALTH,
    Topic.CREDENTIALS,
)
_SETS = {"standard": STANDARD, "all": tuple(Topic)}


def expanded(names: Iterable[str]) -> list[str]:
    """The names of topics, with those that `standard` and `all` stand for in their place.

    >>> expanded(["crime", "standard"]) == ["crime", *STANDARD]
    True
    """
    return [topic for name in names for topic in _SETS.get(name, (name,))]


class SensitiveFilter(DialogueFilter):
    """Drops a dialogue if a turn is about one of the topics; the reason names all topics found.

    `standard` and `all` stand for several topics.

    >>> dialogues = [Dialogue.of(["i want to kill myself"]), Dialogue.of(["this traffic is killing me"])]
    >>> [review.reason for review in SensitiveFilter().review(dialogues)]
    ['sensitive:self-harm', None]
    """

    name = "sensitive"

    def __init__(self, topics: Iterable[Topic | str] = STANDARD) -> None:
        self.topics = choose(Topic, expanded(topics), "sensitive topic")
        self.settings = {"topics": [topic.value for topic in self.topics]}

    def review_one(self, dialogue: Dialogue) -> Review:
        """The details are the turns, counted from 1, of each topic."""
        turns: dict[Topic, list[int]] = {}
        for number, text in enumerate(dialogue.texts, start=1):
            for topic in topics_of(text, self.topics):
                turns.setdefault(topic, []).append(number)
        wanted = {topic.value: turns[topic] for topic in self.topics if topic in turns}
        if not wanted:
            return Review(dialogue)
        return Review(dialogue, " and ".join(f"sensitive:{topic}" for topic in wanted), {"turns": wanted})


def topics_of(text: str, topics: Sequence[Topic] = STANDARD) -> list[Topic]:
    """The topics that a text is about.

    >>> topics_of("my p1n is 4821, k i l l him"), topics_of("I'd kill for a pizza")
    ([<Topic.VIOLENCE: 'violence'>, <Topic.CREDENTIALS: 'credentials'>], [])
    """
    patterns, known = _lexicon()
    plain = plain_words(text, known)
    return [
        topic
        for topic in topics
        if (discloses_credentials(text) if topic is Topic.CREDENTIALS else patterns[topic].finds(plain))
    ]


@dataclass(frozen=True, slots=True)
class LexiconPattern:
    """A pattern to find in a text of `plain_words`, and look-alikes that are removed first."""

    sought: re.Pattern[str]
    harmless: re.Pattern[str]

    def finds(self, plain: str) -> bool:
        """Whether the text contains the pattern outside look-alikes."""
        return bool(self.sought.search(plain) and self.sought.search(self.harmless.sub(",", plain)))


@cache
def read_lexicon(name: str) -> tuple[LexiconPattern, frozenset[str]]:
    """A shipped file of patterns, and the words in it, for undoing disguised spellings.

    Slurs are in ROT13, to spare those who read the file.
    """
    # The detector needs self-harm, too, so that file is in core.
    file = word_lists.read_toml(name) if name == _SELF_HARM else read_toml(name)
    parts = file.get("parts", {})
    coded = [codecs.decode(pattern, "rot13") for pattern in file.get("rot13", ())]
    sought = [filled(pattern, parts) for pattern in (*file["patterns"], *coded)]
    harmless = [filled(pattern, parts) for pattern in file["harmless"]]
    known = frozenset(word for pattern in sought for word in words_in(pattern))
    return LexiconPattern(any_of(sought), any_of(harmless)), known


@cache
def _lexicon() -> tuple[dict[Topic, LexiconPattern], frozenset[str]]:
    """The patterns of each topic, and the words of all."""
    names = {topic: f"sensitive/{topic}.toml" for topic in Topic if topic is not Topic.CREDENTIALS}
    files = {topic: read_lexicon(name) for topic, name in {**names, Topic.SELF_HARM: _SELF_HARM}.items()}
    words = frozenset(word for _, known in files.values() for word in known)
    return {topic: pattern for topic, (pattern, _) in files.items()}, words
