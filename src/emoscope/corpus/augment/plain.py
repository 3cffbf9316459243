"""Back-translations as EmotionX has them: in ASCII, except for emoji and letters that have no ASCII form."""

import re
import unicodedata

from emoscope.core.text import repair_mojibake

_KEYBOARD = str.maketrans(
    {
        **dict.fromkeys("’‘‛ʼ`´", "'"),
        **dict.fromkeys("“”„‟«»", '"'),
        **dict.fromkeys("‐‑‒–—―", "-"),
        **dict.fromkeys("¿¡\u00ad\u200b\u2060\ufeff", None),
        "…": "...",
        "ß": "ss",
        "æ": "ae",
        "Æ": "Ae",
        "œ": "oe",
        "Œ": "Oe",
        "ø": "o",
        "Ø": "O",
        "ł": "l",
        "Ł": "L",
        "·": "",  # between the two l of Catalan "intel·ligent"
    }
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ue000-\uf8ff]")
_SPACE_BEFORE_MARK = re.compile(r"\s+([,.;!?]+)(?=\s|\Z)")


def ascii_text(text: str) -> str:
    r"""Mend encodings, write quotes, dashes and accents as a keyboard would, and fold white space; emoji stay.

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
    """A text whose marks stand at the words they belong to; engines like to leave a gap.

    >>> without_loose_marks("why not ? well , go")
    'why not? well, go'
    """
    return _SPACE_BEFORE_MARK.sub(r"\1", text)
