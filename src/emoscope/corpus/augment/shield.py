"""What no engine may touch: emoji, emoticons, links, user names and the masks that stand for people and places.

Emoji and links are no part of a sentence, so the text is cut there, and they go back where they were. A masked name is:
it becomes a made-up word, which engines carry over as they would a foreign name.
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


@dataclass(frozen=True, slots=True)
class Shielded:
    """A text in pieces, those to translate (which hold letters) and those to keep; and the words behind made-up names.

    >>> shield("hey person_3 😂 you ok? @bob").pieces
    ('hey Zqxa', ' 😂 ', 'you ok? Zqxb')
    """

    pieces: tuple[str, ...]
    to_translate: tuple[bool, ...]
    names: tuple[str, ...]

    @property
    def wanted(self) -> list[str]:
        """The pieces to translate."""
        return [piece for piece, wanted in zip(self.pieces, self.to_translate, strict=True) if wanted]

    def put_back(self, translated: Sequence[str]) -> str | None:
        """The whole text, from the translations of `wanted`; None if a name got lost, or was said twice.

        >>> shield("hey person_3 😂 you ok?").put_back(["hello Zqxa", "are you well?"])
        'hello person_3 😂 are you well?'
        """
        given = iter(translated)
        text = "".join(
            next(given).strip() if wanted else piece
            for piece, wanted in zip(self.pieces, self.to_translate, strict=True)
        )
        expected = [_word(number) for number in range(len(self.names))]
        if sorted(match.group(1).lower() for match in _MADE_UP.finditer(text)) != sorted(expected):
            return None
        name_of = dict(zip(expected, self.names, strict=True))
        return _MADE_UP.sub(lambda match: name_of[match.group(1).lower()], text)


def shield(text: str) -> Shielded:
    """Cut a text at what is no part of a sentence, and give names that are masked a made-up word each."""
    pieces: list[tuple[str, bool]] = []
    names: list[str] = []
    sentence, end, begun = "", 0, False
    for start, stop, apart in _kept_spans(text):
        sentence += text[end:start]
        begun = begun or _HAS_LETTER.search(sentence) is not None
        kept, end = text[start:stop], stop
        # A user name before all that is said is whom it is said to: "@bob how are you".
        if apart or (kept.startswith("@") and not begun):
            pieces += [*_trimmed(sentence), (kept, False)]
            sentence = ""
        else:
            sentence += _STEM + _word(len(names))
            names.append(kept)
    pieces += _trimmed(sentence + text[end:])
    merged = _merged(pieces)
    return Shielded(tuple(piece for piece, _ in merged), tuple(wanted for _, wanted in merged), tuple(names))


def _kept_spans(text: str) -> Iterator[tuple[int, int, bool]]:
    """Where something is to be kept, from left to right, and whether it stands apart from the sentence."""
    end = 0
    for match in _KEPT.finditer(text):
        yield from _emoticon_spans(text, end, match.start())
        yield match.start(), match.end(), match.lastgroup == "apart"
        end = match.end()
    yield from _emoticon_spans(text, end, len(text))


def _emoticon_spans(text: str, start: int, stop: int) -> Iterator[tuple[int, int, bool]]:
    for emoticon in emoticons_in(text[start:stop]):
        found = text.find(emoticon, start, stop)
        if found >= 0:
            start = found + len(emoticon)
            yield found, start, True


def _trimmed(sentence: str) -> list[tuple[str, bool]]:
    """A sentence with the white space around it as pieces to keep; all is kept if there is no word to translate."""
    if not _HAS_LETTER.search(_MADE_UP.sub("", sentence)):
        return [(sentence, False)]
    core = sentence.strip()
    before, _, after = sentence.partition(core)
    return [(before, False), (core, True), (after, False)]


def _merged(pieces: Sequence[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Neighbours that are kept as one piece, and none that is empty."""
    merged: list[tuple[str, bool]] = []
    for piece, wanted in pieces:
        if merged and not wanted and not merged[-1][1]:
            merged[-1] = merged[-1][0] + piece, False
        elif piece:
            merged.append((piece, wanted))
    return merged


def _word(number: int) -> str:
    """The ending of a made-up word: a, b, ..., z, za, zb, ..."""
    return "z" * (number // 25) + "abcdefghijklmnopqrstuvwxy"[number % 25]
