"""Shield from translation: emoji, emoticons, links, user names, and masks that stand for people and places.

Emoji and links are not part of a sentence, so the text is cut there and they go back where they were. A masked name is
part of it: it becomes a made-up word, which engines carry over like a foreign name.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from emoscope.core.text import emoticons_in

_KEPT = re.compile(
    r"(?P<apart><url>|\[newline\]|(?:https?://|www\.)\S+)"
    r"|(?P<named>(?<!\w)[@#](?=_*[^\W\d_])\w+|\[#?\w+#?\]|<\w+>|(?<!\w)[^\W\d_]+_\d+(?!\w))",
    re.IGNORECASE,
)
_STEM = "Zqx"
_MADE_UP = re.compile(rf"{_STEM}([a-z]+)", re.IGNORECASE)
_HAS_LETTER = re.compile(r"[^\W\d_]")
_JOINED = re.compile(r"[^\W\d_]|[\[<@#]")  # right after a name: its made-up word would not end there


@dataclass(frozen=True, slots=True)
class Shielded:
    """A text in pieces, to translate or to keep, and the names behind its made-up words.

    >>> shield("hey person_3 😂 you ok? @bob").pieces
    ('hey Zqxa', ' 😂 ', 'you ok? Zqxb')
    """

    pieces: tuple[str, ...]
    to_translate: tuple[bool, ...]
    names: tuple[str, ...]

    @property
    def translatable(self) -> list[str]:
        """The pieces to translate."""
        return [piece for piece, translate in zip(self.pieces, self.to_translate, strict=True) if translate]

    def put_back(self, translated: Sequence[str]) -> str | None:
        """The whole text from the translations of `translatable`; None if a name was lost or doubled.

        >>> shield("hey person_3 😂 you ok?").put_back(["hello Zqxa", "are you well?"])
        'hello person_3 😂 are you well?'
        """
        translations = iter(translated)
        text = "".join(
            next(translations).strip() if translate else piece
            for piece, translate in zip(self.pieces, self.to_translate, strict=True)
        )
        expected = [_word(number) for number in range(len(self.names))]
        if sorted(match.group(1).lower() for match in _MADE_UP.finditer(text)) != sorted(expected):
            return None
        name_of = dict(zip(expected, self.names, strict=True))
        return _MADE_UP.sub(lambda match: name_of[match.group(1).lower()], text)


def shield(text: str) -> Shielded:
    """Cut a text at what is not part of a sentence, and replace masked names by made-up words."""
    pieces: list[tuple[str, bool]] = []
    names: list[str] = []
    sentence, end, begun = "", 0, False
    for start, stop, apart in _kept_spans(text):
        sentence += text[end:start]
        begun = begun or _HAS_LETTER.search(sentence) is not None
        kept, end = text[start:stop], stop
        # A user name at the start is the addressee: "@bob how are you".
        if apart or (kept.startswith("@") and not begun) or _JOINED.match(text, stop):
            pieces += [*_trimmed(sentence), (kept, False)]
            sentence = ""
        else:
            sentence += _STEM + _word(len(names))
            names.append(kept)
    pieces += _trimmed(sentence + text[end:])
    merged: list[tuple[str, bool]] = []  # without empty pieces, and with neighbours to keep joined
    for piece, translate in pieces:
        if merged and not translate and not merged[-1][1]:
            merged[-1] = merged[-1][0] + piece, False
        elif piece:
            merged.append((piece, translate))
    return Shielded(tuple(piece for piece, _ in merged), tuple(translate for _, translate in merged), tuple(names))


def _kept_spans(text: str) -> Iterator[tuple[int, int, bool]]:
    """The spans to keep, from left to right, and whether each stands apart from the sentence."""
    end = 0
    for match in _KEPT.finditer(text):
        yield from _emoticon_spans(text, end, match.start())
        yield match.start(), match.end(), match.lastgroup == "apart"
        end = match.end()
    yield from _emoticon_spans(text, end, len(text))


def _emoticon_spans(text: str, start: int, stop: int) -> Iterator[tuple[int, int, bool]]:
    for emoticon in emoticons_in(text[start:stop]):
        place = text.find(emoticon, start, stop)
        if place >= 0:
            start = place + len(emoticon)
            yield place, start, True


def _trimmed(sentence: str) -> list[tuple[str, bool]]:
    """A sentence to translate, with the white space around it to keep; without a word, all of it is kept."""
    if not _HAS_LETTER.search(_MADE_UP.sub("", sentence)):
        return [(sentence, False)]
    core = sentence.strip()
    before, _, after = sentence.partition(core)
    return [(before, False), (core, True), (after, False)]


def _word(number: int) -> str:
    """The ending of a made-up word: a, b, ..., z, za, zb, ..."""
    return "z" * (number // 25) + "abcdefghijklmnopqrstuvwxy"[number % 25]
