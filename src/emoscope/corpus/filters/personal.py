"""Personal data in dialogues: dropped with the dialogue, or masked by their kind."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from emoscope.core.dialogue import Dialogue
from emoscope.corpus.filters.chat_writing import handles, spelled_emails
from emoscope.corpus.filters.choice import choose
from emoscope.corpus.filters.person_names import person_names
from emoscope.corpus.filters.presidio import PresidioFinder
from emoscope.corpus.filters.review import Review
from emoscope.corpus.filters.spans import Kind, Span, masked_text, without_overlaps
from emoscope.corpus.filters.street_addresses import street_addresses

# Longer turns are looked at in pieces; patterns take time that grows faster than the text.
_PIECE = 1_000


class PersonalFilter:
    """Finds e-mail, links, IBAN, card, IP and phone numbers, street addresses, accounts and names of people.

    Without `mask`, a dialogue that holds any is dropped; with it, `<EMAIL>`, `<NAME>` and so on are put in their place.
    Who said a turn is no reason to drop a dialogue: speakers who are called by a phone number or the like become
    `speaker1`, `speaker2`, either way.

    >>> PersonalFilter(mask=True).review([Dialogue.of(["my name is Ann, ann@example.com"])])[0].dialogue.texts
    ('my name is <NAME>, <EMAIL>',)
    """

    name = "personal"

    def __init__(self, *, mask: bool, kinds: Iterable[Kind | str] = tuple(Kind)) -> None:
        self.mask = mask
        self.kinds = choose(Kind, kinds, "kind of personal data")
        self._presidio = PresidioFinder()

    @property
    def settings(self) -> Mapping[str, Any]:
        """Plain values for the report."""
        return {"mode": "mask" if self.mask else "drop", "kinds": [kind.value for kind in self.kinds]}

    def find(self, text: str) -> list[Span]:
        """What is personal in a text, in order, nothing twice."""
        found = [span for start, piece in _pieces(text) for span in self._find(start, piece)]
        return [span for span in found if span.kind in self.kinds]

    def _find(self, start: int, text: str) -> list[Span]:
        finders = (spelled_emails, handles, street_addresses, person_names, self._presidio.find)
        spans = without_overlaps(span for finder in finders for span in finder(text))
        return [Span(span.start + start, span.end + start, span.kind) for span in spans]

    def review(self, dialogues: Sequence[Dialogue]) -> list[Review]:
        """One review for each dialogue; its details are the kinds found and the turns, counted from 1."""
        return [self._review(self._without_speakers(dialogue)) for dialogue in dialogues]

    def _review(self, dialogue: Dialogue) -> Review:
        found = [self.find(text) for text in dialogue.texts]
        counts = Counter(span.kind.value for spans in found for span in spans)
        if not counts:
            return Review(dialogue)
        if self.mask:
            turns = tuple(
                replace(turn, text=masked_text(turn.text, spans)) if spans else turn
                for turn, spans in zip(dialogue.turns, found, strict=True)
            )
            return Review(Dialogue(turns, dialogue.id), masked=counts)
        where = [number for number, spans in enumerate(found, start=1) if spans]
        return Review(dialogue, "personal data", {"kinds": dict(sorted(counts.items())), "turns": where})

    def _without_speakers(self, dialogue: Dialogue) -> Dialogue:
        known = list(dict.fromkeys(turn.speaker for turn in dialogue.turns if turn.speaker))
        renamed = {who: f"speaker{place}" for place, who in enumerate(known, start=1) if self.find(who)}
        if not renamed:
            return dialogue
        turns = (replace(turn, speaker=renamed.get(turn.speaker or "", turn.speaker)) for turn in dialogue.turns)
        return Dialogue(tuple(turns), dialogue.id)


def _pieces(text: str) -> list[tuple[int, str]]:
    """A long text in pieces that end between words."""
    pieces, start = [], 0
    while len(text) - start > _PIECE:
        end = text.rfind(" ", start, start + _PIECE) + 1
        end = end if end > start else start + _PIECE
        pieces.append((start, text[start:end]))
        start = end
    return [*pieces, (start, text[start:])]
