"""How networks over words read an example: as rows of token ids. Without torch, so exported networks use it too."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Example
from emoscope.models.text.padding import padded
from emoscope.models.text.vocabulary import Vocabulary, tokeniser

Item = dict[str, Any]
Arrays = dict[str, NDArray[Any]]
T = TypeVar("T")
VOCABULARY = "vocabulary.json"
CHARACTERS = "characters.json"


class Rows:
    """Turns examples into arrays; its settings are saved with the network."""

    kind: ClassVar[str]
    described: ClassVar[tuple[str, ...]]

    def description(self) -> dict[str, Any]:
        """The settings, for `from_description`."""
        return {"rows": self.kind, **{name: getattr(self, name) for name in self.described}}

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> Self:
        """Rows with the described settings; vocabularies are loaded later."""
        rows = cls()
        for name in rows.described:
            setattr(rows, name, description[name])
        return rows


class WordRows(Rows):
    """Each turn is a row of its own, unless `turns` is `joined`. Networks inherit from this and set the attributes.

    tokens: the tokeniser (`starter`, `chat` or `plain`). context: the number of turns read, 1 for the last alone.
    max_length: the number of tokens read of a row; the last ones are kept.
    """

    kind = "separate"
    described: ClassVar[tuple[str, ...]] = ("tokens", "context", "max_length")
    tokens: str
    vocabulary: Vocabulary
    context: int
    max_length: int
    turns: str = "separate"

    def cut(self, text: str) -> list[str]:
        """The tokens of a text."""
        return tokeniser(self.tokens)(text)

    def turn_texts(self, example: Example) -> list[str]:
        """The texts that are read: the turn to label, last, and those before it."""
        first = max(0, example.turn + 1 - self.context)
        return [turn.text for turn in example.dialogue.turns[first : example.turn + 1]]

    def by_text(self, compute: Callable[[str], T], examples: Iterable[Example]) -> dict[str, T]:
        """What `compute` returns for each distinct text of the examples."""
        return each_once(compute, (text for example in examples for text in self.turn_texts(example)))

    def encode(self, examples: Sequence[Example]) -> list[Item]:
        encoded = self.by_text(self._encode_text, examples)
        items = []
        for example in examples:
            turns, lengths = zip(*(encoded[text] for text in self.turn_texts(example)), strict=True)
            unread = len(turns) <= example.turn
            items.append({"turns": self.rows(turns), "truncated": unread or self.row_length(lengths) > self.max_length})
        return items

    def _encode_text(self, text: str) -> tuple[list[int], int]:
        """The ids of a text's last tokens, and its number of tokens; a text without any is one unknown token."""
        tokens = self.cut(text)
        return self.vocabulary.encode(tokens[-self.max_length :]) or [Vocabulary.unknown], len(tokens)

    def rows(self, turns: Sequence[list[int]]) -> list[list[int]]:
        """The rows of one example: its turns, or all of them as one row; a row that is too long loses its beginning."""
        return [joined(turns)[-self.max_length :]] if self.turns == "joined" else list(turns)

    def row_length(self, lengths: Sequence[int]) -> int:
        """The length that the longest row would need for turns of these lengths."""
        return sum(lengths) + len(lengths) - 1 if self.turns == "joined" else max(lengths)

    def length(self, item: Item) -> int:
        return max(map(len, item["turns"]))

    def arrays(self, items: Sequence[Item]) -> Arrays:
        """The rows of all examples, one below the other, their lengths, and the number of rows of each example."""
        rows = [row for item in items for row in item["turns"]]
        lengths, counts = ([len(each) for each in group] for group in (rows, [item["turns"] for item in items]))
        return {"words": padded(rows), "lengths": np.array(lengths, np.int64), "counts": np.array(counts, np.int64)}

    def save_words(self, folder: Path) -> None:
        self.vocabulary.save(folder / VOCABULARY)

    def load_words(self, folder: Path) -> None:
        self.vocabulary = Vocabulary.load(folder / VOCABULARY)


class JoinedRows(WordRows):
    """All turns in one row, with an end-of-turn token between them."""

    kind = "joined"
    turns = "joined"


class EitherRows(WordRows):
    """Rows by the setting `turns`: `separate` or `joined`."""

    kind = "either"
    described = (*WordRows.described, "turns")


class SpelledRows(WordRows):
    """Separate turns, and for every word also its first `max_characters` characters."""

    kind = "spelled"
    described = (*WordRows.described, "max_characters")
    alphabet: Vocabulary
    max_characters: int

    def encode(self, examples: Sequence[Example]) -> list[Item]:
        spellings = self.by_text(self._spellings, examples)
        items = super().encode(examples)
        for item, example in zip(items, examples, strict=True):
            item["spellings"] = [spellings[text] for text in self.turn_texts(example)]
        return items

    def _spellings(self, text: str) -> list[tuple[int, ...]]:
        tokens = self.cut(text)[-self.max_length :]
        return [tuple(self.alphabet.encode(token[: self.max_characters])) for token in tokens] or [
            (Vocabulary.unknown,)
        ]

    def arrays(self, items: Sequence[Item]) -> Arrays:
        """Each distinct spelling of a batch once, and the number of each word's spelling."""
        numbers: dict[tuple[int, ...], int] = {(Vocabulary.padding,): 0}
        turns = [
            [numbers.setdefault(spelling, len(numbers)) for spelling in turn]
            for item in items
            for turn in item["spellings"]
        ]
        return {
            **super().arrays(items),
            "spelt": padded(turns),
            "spellings": padded(list(numbers)),
            "spelling_lengths": np.array([len(spelling) for spelling in numbers], np.int64),
        }

    def save_words(self, folder: Path) -> None:
        super().save_words(folder)
        self.alphabet.save(folder / CHARACTERS)

    def load_words(self, folder: Path) -> None:
        super().load_words(folder)
        self.alphabet = Vocabulary.load(folder / CHARACTERS)


class LanguageRows(WordRows):
    """One row as a language model reads it, with end-of-turn tokens around each turn; reversed with `backward`."""

    kind = "language"
    described = (*WordRows.described, "backward")
    turns = "joined"
    backward: bool

    def row(self, turns: Sequence[Sequence[int]]) -> list[int]:
        """Turns as one row, with an end-of-turn token before the first one, too."""
        return [Vocabulary.end_of_turn, *(number for turn in turns for number in (*turn, Vocabulary.end_of_turn))]

    def directed(self, row: list[int]) -> list[int]:
        """A row in the order in which it is read."""
        return row[::-1] if self.backward else row

    def rows(self, turns: Sequence[list[int]]) -> list[list[int]]:
        return [self.directed(self.row(turns)[-self.max_length :])]

    def row_length(self, lengths: Sequence[int]) -> int:
        return super().row_length(lengths) + 1  # the end of the last turn is always read


def each_once(compute: Callable[[str], T], texts: Iterable[str]) -> dict[str, T]:
    """What `compute` returns for each distinct text.

    >>> each_once(len, ["so", "so", "sad"])
    {'so': 2, 'sad': 3}
    """
    return {text: compute(text) for text in dict.fromkeys(texts)}


def joined(turns: Sequence[Sequence[int]]) -> list[int]:
    """Turns as one row.

    >>> joined([[5, 6], [7]])
    [5, 6, 2, 7]
    """
    return [number for turn in turns for number in (*turn, Vocabulary.end_of_turn)][:-1]
