"""Pieces of texts seen a moment ago: chat repeats itself, and a dialogue that was answered may be looked at again."""

from collections.abc import Sequence
from typing import Any

from emoscope.models.text.tokenizer import Pieces

# As many texts as a chunk of a large run holds turns; longer texts are rare and would take the room of many.
TEXTS = 16_384
LONGEST = 200


class RememberedPieces(Pieces):
    """A tokenizer that keeps the pieces of the last short texts: at least `TEXTS` of them, at most about twice as many.

    Threads may share it. They take no lock: when two of them change it at once, at worst a text is cut again.
    """

    def __init__(self, tokenizer: Any, *, start: int, end: int, mask: int, padding: int) -> None:
        super().__init__(tokenizer, start=start, end=end, mask=mask, padding=padding)
        self._new: dict[str, list[int]] = {}
        self._old: dict[str, list[int]] = {}

    def numbers(self, texts: Sequence[str]) -> list[list[int]]:
        """As `Pieces.numbers`; the lists are shared and must not be changed."""
        new, old = self._new, self._old
        known = {text: row for text in texts if (row := new.get(text) or old.get(text))}
        unknown = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(unknown, super().numbers(unknown), strict=True))
        new.update((text, row) for text, row in known.items() if row and len(text) <= LONGEST)
        if len(new) >= TEXTS:
            self._new, self._old = {}, new
        return [known[text] for text in texts]
