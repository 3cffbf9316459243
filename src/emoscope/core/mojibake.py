"""Repair text that was clearly decoded with the wrong encoding."""

import html
import re

# Windows-1252 as browsers decode it: the five undefined bytes map to themselves.
_CP1252 = {
    byte: bytes([byte]).decode("cp1252") if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else chr(byte)
    for byte in range(0x80, 0x100)
}
_BYTES = {character: byte for byte, character in _CP1252.items()}
_C1 = {byte: character for byte, character in _CP1252.items() if byte < 0xA0 and ord(character) > 0xFF}
_FOLLOWING = "".join(_CP1252[byte] for byte in range(0x80, 0xC0))

_BROKEN = re.compile(rf"[\x80-\x9f]|[Â-ô][{_FOLLOWING}]")
_ONE_C1 = re.compile(f"[{''.join(map(chr, _C1))}]")
_UTF8_AS_CP1252 = re.compile(
    rf"[ð-ô][{_FOLLOWING}]{{3}}|[à-ï][{_FOLLOWING}]{{2}}|(?:[Â-ß][{_FOLLOWING}]){{2,}}|[ÂÃ][{_FOLLOWING}]"
)
# Entities are often escaped more than once: "&amp;amp;lt;" is one "<".
_ENTITY = re.compile(
    r"&(?:amp;|#38;|#[xX]26;)*+((?:lt|gt|quot|apos|nbsp|#[1-9]\d{0,6}|#[xX][1-9a-fA-F][0-9a-fA-F]{0,5});)?"
)
# Marks that may follow an accented letter: "désolé…”" must not turn into a Chinese character.
_PUNCTUATION = frozenset("…’”‘“–—»›™•\xa0")
_PUNCTUATION_OR_PRICE = _PUNCTUATION | frozenset("€£¥")


def repair_mojibake(text: str) -> str:
    r"""Repair wrongly decoded text and leftover HTML entities.

    Repairs Windows-1252 decoded as Latin-1 (`\x92` for an apostrophe), UTF-8 decoded as Windows-1252, and entities such
    as `&apos;`. Characters that may be intended are left alone.

    >>> repair_mojibake("I\x92m, itâ€™s, don&apos;t"), repair_mojibake("“désolé…”")
    ("I’m, it’s, don't", '“désolé…”')
    """
    return repair_and_count(text)[0]


def may_be_broken(text: str) -> bool:
    """Whether a text shows traces of a wrong encoding, not counting HTML entities.

    >>> may_be_broken("I’m fine"), may_be_broken("Iâ€™m fine")
    (False, True)
    """
    return _BROKEN.search(text) is not None


def repair_and_count(text: str) -> tuple[str, int]:
    r"""The repaired text and the number of repairs.

    >>> repair_and_count("don\x92t")
    ('don’t', 1)
    """
    repaired = 0

    def entity(match: re.Match[str]) -> str:
        nonlocal repaired
        name = match.group(1)
        character = html.unescape(f"&{name}") if name else "&"
        if (character.isascii() and character.isalnum()) or character in "#;":
            return match.group()  # these are only ever escaped to mislead
        repaired += match.group() != "&"
        return character

    def c1(match: re.Match[str]) -> str:
        nonlocal repaired
        repaired += 1
        return _C1[ord(match.group())]

    def utf8(match: re.Match[str]) -> str:
        nonlocal repaired
        decoded = _decoded(match)
        repaired += decoded != match.group()
        return decoded

    while True:
        before = text
        if "&" in text:
            text = _ENTITY.sub(entity, text)
        if not text.isascii() and _BROKEN.search(text):
            text = _UTF8_AS_CP1252.sub(utf8, _ONE_C1.sub(c1, text))
        if text == before:
            return text, repaired


def _decoded(match: re.Match[str]) -> str:
    sequence = match.group()
    try:
        decoded = bytes(_BYTES[character] for character in sequence).decode("utf-8")
    except UnicodeDecodeError:
        return sequence
    following = {character for character in sequence if character in _FOLLOWING}
    match sequence[0]:
        case "Â":
            meant = False  # hardly any word ends in it
        case "â" if sequence[1] in "€™":
            meant = False  # quotes, dashes and hearts
        case "Ã" if len(sequence) == 2:
            meant = following <= _PUNCTUATION and not match.string[match.end() : match.end() + 1].isalpha()
        case _:
            meant = following <= _PUNCTUATION_OR_PRICE
    return sequence if meant else decoded
