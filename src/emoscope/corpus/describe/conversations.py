"""What conversations look like: how long they are, who speaks, how many hold emoticons."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from emoscope.core.dialogue import Dialogue, Example
from emoscope.corpus.describe.distribution import Distribution


@dataclass(frozen=True, slots=True)
class Conversations:
    """The dialogues of a corpus.

    `turns` is the distribution of turns in a dialogue, `speakers` the turns of each speaker, most talkative first, and
    `cast` the distribution of speakers in a dialogue, over the dialogues whose speakers are known.
    """

    dialogues: int
    with_emoticons: int
    turns: Distribution
    speakers: Mapping[str, int]
    cast: Distribution

    @property
    def emoticon_share(self) -> float:
        """The share of dialogues with an emoticon in any turn."""
        return self.with_emoticons / self.dialogues if self.dialogues else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "dialogues": self.dialogues,
            "with_emoticons": self.with_emoticons,
            "emoticon_share": self.emoticon_share,
            "turns": self.turns.as_dict(),
            "speakers": dict(self.speakers),
            "cast": self.cast.as_dict(),
        }


class ConversationCounter:
    """Counts dialogues as their examples stream by; an example per turn still makes one dialogue."""

    def __init__(self) -> None:
        self._dialogue: Dialogue | None = None
        self._turn = -1
        self._turns: Counter[int] = Counter()
        self._cast: Counter[int] = Counter()
        self._speakers: Counter[str] = Counter()
        self._with_emoticons = 0

    def is_new(self, example: Example) -> bool:
        """Whether the example opens a dialogue: a later turn of the one before does not."""
        goes_on = example.turn > self._turn and example.dialogue == self._dialogue
        self._dialogue, self._turn = example.dialogue, example.turn
        return not goes_on

    def add(self, dialogue: Dialogue, *, has_emoticons: bool) -> None:
        """Count one dialogue."""
        speakers = [turn.speaker for turn in dialogue.turns if turn.speaker is not None]
        self._turns[len(dialogue)] += 1
        self._speakers.update(speakers)
        if speakers:
            self._cast[len(set(speakers))] += 1
        self._with_emoticons += has_emoticons

    def result(self) -> Conversations:
        """What was counted."""
        ranked = sorted(self._speakers.items(), key=lambda item: (-item[1], item[0]))
        return Conversations(
            dialogues=self._turns.total(),
            with_emoticons=self._with_emoticons,
            turns=Distribution(self._turns),
            speakers=MappingProxyType(dict(ranked)),
            cast=Distribution(self._cast),
        )
