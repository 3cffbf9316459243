"""Statistics of whole dialogues: length, speakers, and emoticons."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.text import emoticons_in
from emoscope.corpus.describe.distribution import Distribution


@dataclass(frozen=True, slots=True)
class Conversations:
    """Statistics of a corpus's dialogues."""

    dialogues: int
    with_emoticons: int
    emoticon_share: float  # share of dialogues with an emoticon
    turns: Distribution  # per dialogue
    speakers: Mapping[str, int]  # turns per speaker, most first
    cast: Distribution  # speakers per dialogue, where known


class ConversationCounter:
    """Counts the dialogues in a stream of examples; the examples of one dialogue count once."""

    def __init__(self) -> None:
        self._dialogue: Dialogue | None = None
        self._turn = -1
        self._turns: Counter[int] = Counter()
        self._cast: Counter[int] = Counter()
        self._speakers: Counter[str] = Counter()
        self._with_emoticons = 0

    def add(self, example: Example) -> None:
        """Count the example's dialogue, unless the previous example had the same one."""
        same = example.turn > self._turn and example.dialogue == self._dialogue
        self._dialogue, self._turn = example.dialogue, example.turn
        if same:
            return
        turns = example.dialogue.turns
        speakers = [turn.speaker for turn in turns if turn.speaker is not None]
        self._turns[len(turns)] += 1
        self._speakers.update(speakers)
        if speakers:
            self._cast[len(set(speakers))] += 1
        self._with_emoticons += any(emoticons_in(turn.text) for turn in turns)

    def result(self) -> Conversations:
        dialogues = self._turns.total()
        return Conversations(
            dialogues=dialogues,
            with_emoticons=self._with_emoticons,
            emoticon_share=self._with_emoticons / max(dialogues, 1),
            turns=Distribution.of(self._turns),
            speakers=dict(sorted(self._speakers.items(), key=lambda item: (-item[1], item[0]))),
            cast=Distribution.of(self._cast),
        )
