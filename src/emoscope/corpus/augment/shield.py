"""Shield emoji, emoticons, links, user names, and masks for people and places from translation.

Emoji and links are not part of a sentence, so the text is split there and they are put back afterwards. A masked name
is part of the sentence, so it becomes a made-up word, which engines copy like a foreign name.
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
_JOINED = re.compile(r"[^\W\d_]|[\[<@#]")  # after a name, these would run into its made-up word


@dataclass(frozen=True, slots=True)
class Shielded:
    """A text split into pieces to translate or keep, and the names behind its made-up words.

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
        """Rebuild the text from the translations of `translatable`; None if a name was lost or repeated.

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
    """Split a text at what is not part of a sentence, and replace masked names with made-up words."""
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
    merged: list[tuple[str, bool]] = []  # no empty pieces, and adjacent kept pieces joined
    for piece, translate in pieces:
        if merged and not translate and not merged[-1][1]:
            merged[-1] = merged[-1][0] + piece, False
        elif piece:
            merged.append((piece, translate))
    return Shielded(tuple(piece for piece, _ in merged), tuple(translate for _, translate in merged), tuple(names))


def _kept_spans(text: str) -> Iterator[tuple[int, int, bool]]:
    """The spans to keep, from left to right, and whether each is outside the sentence."""
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
    """Split off the white space around a sentence; text without any word is kept whole."""
    if not _HAS_LETTER.search(_MADE_UP.sub("", sentence)):
        return [(sentence, False)]
    core = sentence.strip()
    before, _, after = sentence.partition(core)
    return [(before, False), (core, True), (after, False)]


def _word(number: int) -> str:
    """The ending of a made-up word: a, b, ..., z, za, zb, ..."""
    return "z" * (number // 25) + "abcdefghijklmnopqrstuvwxy"[number % 25]
