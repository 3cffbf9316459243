"""Dialogues about self-harm, sex, violence, drugs, hate, illness, or that give credentials away."""

import codecs
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import cache

from emoscope.core import word_lists
from emoscope.core.dialogue import Dialogue
from emoscope.core.plain_words import plain_words
from emoscope.core.word_lists import any_of, filled, words_in
from emoscope.corpus.filters.credentials import discloses_credentials
from emoscope.corpus.filters.review import Review, choose
from emoscope.corpus.filters.shipped import read_toml


class Topic(StrEnum):
    """Topics to keep out of a corpus."""

    SELF_HARM = "self-harm"
    SEXUAL = "sexual"
    VIOLENCE = "violence"
    DRUGS = "drugs"
    HATE = "hate"
    HEALTH = "health"
    CREDENTIALS = "credentials"


class SensitiveFilter:
    """Drops a dialogue if one of its turns is about one of the topics; the reason names them all.

    >>> said = [Dialogue.of(["i want to kill myself"]), Dialogue.of(["this traffic is killing me"])]
    >>> [review.reason for review in SensitiveFilter().review(said)]
    ['sensitive:self-harm', None]
    """

    name = "sensitive"

    def __init__(self, topics: Iterable[Topic | str] = tuple(Topic)) -> None:
        self.topics = choose(Topic, topics, "sensitive topic")
        self.settings = {"topics": [topic.value for topic in self.topics]}

    def review(self, dialogues: Sequence[Dialogue]) -> list[Review]:
        """One review for each dialogue; the details are the turns, counted from 1, of each topic."""
        return [self._review(dialogue) for dialogue in dialogues]

    def _review(self, dialogue: Dialogue) -> Review:
        turns: dict[Topic, list[int]] = {}
        for number, text in enumerate(dialogue.texts, start=1):
            for topic in topics_of(text):
                turns.setdefault(topic, []).append(number)
        wanted = {topic.value: turns[topic] for topic in self.topics if topic in turns}
        if not wanted:
            return Review(dialogue)
        return Review(dialogue, " and ".join(f"sensitive:{topic}" for topic in wanted), {"turns": wanted})


def topics_of(text: str) -> list[Topic]:
    """The sensitive topics of a text.

    >>> topics_of("my p1n is 4821, k i l l him"), topics_of("I'd kill for a pizza")
    ([<Topic.VIOLENCE: 'violence'>, <Topic.CREDENTIALS: 'credentials'>], [])
    """
    patterns, known = _lexicon()
    plain = plain_words(text, known)
    topics = [
        topic
        for topic, (sensitive, harmless) in patterns.items()
        if sensitive.search(plain) and sensitive.search(harmless.sub(",", plain))
    ]
    return [*topics, Topic.CREDENTIALS] if discloses_credentials(text) else topics


@cache
def _lexicon() -> tuple[dict[Topic, tuple[re.Pattern[str], re.Pattern[str]]], frozenset[str]]:
    """The sensitive and harmless patterns of each topic, and the words in them, which people may disguise.

    Harmless patterns are removed first. Slurs are in ROT13, to spare those who read the file.
    """
    patterns: dict[Topic, tuple[re.Pattern[str], re.Pattern[str]]] = {}
    known: set[str] = set()
    for topic in Topic:
        if topic is Topic.CREDENTIALS:
            continue
        # The detector has a use for self-harm, too.
        self_harm = topic is Topic.SELF_HARM
        file = word_lists.read_toml("self_harm.toml") if self_harm else read_toml(f"sensitive/{topic}.toml")
        parts = file.get("parts", {})
        coded = [codecs.decode(pattern, "rot13") for pattern in file.get("rot13", ())]
        sensitive = [filled(pattern, parts) for pattern in (*file["patterns"], *coded)]
        harmless = [filled(pattern, parts) for pattern in file["harmless"]]
        patterns[topic] = any_of(sensitive), any_of(harmless)
        known |= {word for pattern in sensitive for word in words_in(pattern)}
    return patterns, frozenset(known)
