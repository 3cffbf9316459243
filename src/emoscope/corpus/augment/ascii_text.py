"""Text as in EmotionX's back-translations: ASCII, except emoji and letters without an ASCII form."""

import re
import unicodedata

from emoscope.core.mojibake import repair_mojibake

_KEYBOARD = str.maketrans(
    {
        **dict.fromkeys("’‘‛ʼ`´", "'"),
        **dict.fromkeys("“”„‟«»", '"'),
        **dict.fromkeys("‐‑‒–—―", "-"),
        **dict.fromkeys("¿¡\u00ad\u200b\u2060\ufeff", None),
        "…": "...",
        **dict(zip("ßæÆœŒøØłŁ", ("ss", "ae", "Ae", "oe", "Oe", *"oOlL"), strict=True)),
        "·": "",  # as in Catalan "intel·ligent"
    }
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ue000-\uf8ff]")
_SPACE_BEFORE_MARK = re.compile(r"\s+([,.;!?]+)(?=\s|\Z)")


def ascii_text(text: str) -> str:
    r"""Repair encodings, convert quotes, dashes and accents to ASCII, and collapse white space; keep emoji.

    >>> ascii_text("I\x92d love that cliché … “really” 😂 ")
    'I\'d love that cliche ... "really" 😂'
    """
    text = _CONTROL.sub(" ", repair_mojibake(text))
    if not text.isascii():
        text = "".join(map(_ascii, text.translate(_KEYBOARD)))
    return " ".join(text.split())


def _ascii(character: str) -> str:
    if character.isascii():
        return character
    bare = "".join(part for part in unicodedata.normalize("NFKD", character) if not unicodedata.combining(part))
    return bare if bare.isascii() and bare else character


def without_loose_marks(text: str) -> str:
    """Remove the spaces that engines leave before punctuation.

    >>> without_loose_marks("why not ? well , go")
    'why not? well, go'
    """
    return _SPACE_BEFORE_MARK.sub(r"\1", text)
