"""Drop dialogues with personal data, or mask the data."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from emoscope.core.dialogue import Dialogue
from emoscope.corpus.filters.accounts import handles, spelled_emails
from emoscope.corpus.filters.numbers import birthdates, chat_phones, identity_numbers
from emoscope.corpus.filters.person_names import is_persons_name, names_of_speakers, person_names
from emoscope.corpus.filters.presidio import PresidioFinder
from emoscope.corpus.filters.review import DialogueFilter, Review, choose
from emoscope.corpus.filters.spans import Kind, Span, masked_text, spans_of, without_overlaps
from emoscope.corpus.filters.street_addresses import street_addresses

# Longer turns are searched in pieces: the patterns' run time grows faster than the length of the text.
_PIECE = 1_000


class PersonalFilter(DialogueFilter):
    """Finds e-mail, links, IBAN, card, IP, ID and phone numbers, days of birth, addresses, accounts and names.

    A dialogue with any of these is dropped or, with `mask`, gets `<EMAIL>`, `<NAME>` and so on in their place. Speakers
    whose names are personal data become `speaker1`, `speaker2` either way. Speakers' names in turns are always found.

    >>> PersonalFilter(mask=True).review([Dialogue.of(["my name is Ann, ann@example.com"])])[0].dialogue.texts
    ('my name is <NAME>, <EMAIL>',)
    """

    name = "personal"

    def __init__(self, *, mask: bool, kinds: Iterable[Kind | str] = tuple(Kind)) -> None:
        self.mask = mask
        self.kinds = choose(Kind, kinds, "kind of personal data")
        self._presidio = PresidioFinder()
        self.settings = {"mode": "mask" if mask else "drop", "kinds": [kind.value for kind in self.kinds]}

    def find(self, text: str, speakers: re.Pattern[str] | None = None) -> list[Span]:
        """The personal data in a text, in order and without overlaps; `speakers` matches the speakers' names."""
        finders: list[Callable[[str], Iterable[Span]]] = [
            spelled_emails,
            handles,
            street_addresses,
            identity_numbers,
            birthdates,
            chat_phones,
            person_names,
            self._presidio.find,
        ]
        if speakers is not None:
            finders.append(lambda piece: list(spans_of(speakers.finditer(piece), Kind.NAME)))
        return [
            Span(span.start + start, span.end + start, span.kind)
            for start, piece in _pieces(text)
            for span in without_overlaps(span for finder in finders for span in finder(piece))
            if span.kind in self.kinds
        ]

    def review_one(self, dialogue: Dialogue) -> Review:
        """The details are the kinds and the turns, counted from 1."""
        speakers = names_of_speakers(turn.speaker for turn in dialogue.turns)
        dialogue = self._with_safe_speakers(dialogue)
        spans_by_turn = [self.find(text, speakers) for text in dialogue.texts]
        counts = Counter(span.kind.value for spans in spans_by_turn for span in spans)
        if not counts:
            return Review(dialogue)
        if self.mask:
            turns = tuple(
                replace(turn, text=masked_text(turn.text, spans)) if spans else turn
                for turn, spans in zip(dialogue.turns, spans_by_turn, strict=True)
            )
            return Review(Dialogue(turns, dialogue.id), masked=counts)
        where = [number for number, spans in enumerate(spans_by_turn, start=1) if spans]
        return Review(dialogue, "personal data", {"kinds": dict(sorted(counts.items())), "turns": where})

    def _with_safe_speakers(self, dialogue: Dialogue) -> Dialogue:
        speakers = dict.fromkeys(turn.speaker for turn in dialogue.turns if turn.speaker)
        renamed = {
            speaker: f"speaker{number}"
            for number, speaker in enumerate(speakers, start=1)
            if (Kind.NAME in self.kinds and is_persons_name(speaker)) or self.find(speaker)
        }
        if not renamed:
            return dialogue
        turns = (replace(turn, speaker=renamed.get(turn.speaker or "", turn.speaker)) for turn in dialogue.turns)
        return Dialogue(tuple(turns), dialogue.id)


def _pieces(text: str) -> list[tuple[int, str]]:
    """Split a long text into pieces at spaces."""
    pieces, start = [], 0
    while len(text) - start > _PIECE:
        end = text.rfind(" ", start, start + _PIECE) + 1
        end = end if end > start else start + _PIECE
        pieces.append((start, text[start:end]))
        start = end
    return [*pieces, (start, text[start:])]
