"""How networks over words read an example: rows of numbers. Needs no torch, so that exported networks read alike."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
W = TypeVar("W", bound="WordRows")
VOCABULARY = "vocabulary.json"
CHARACTERS = "characters.json"


class Rows:
    """How examples become arrays, by settings that are saved with a network."""

    kind: ClassVar[str]
    described: ClassVar[tuple[str, ...]]

    def description(self) -> dict[str, Any]:
        """The settings, as `from_description` needs them."""
        return {"rows": self.kind, **{name: getattr(self, name) for name in self.described}}

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> Self:
        """Rows with the described settings, before anything is loaded."""
        rows = cls()
        for name in rows.described:
            setattr(rows, name, description[name])
        return rows


class WordRows(Rows):
    """Each turn is a row of its own. Networks inherit from it, and say what the attributes are.

    tokens: how texts are cut (`starter`, `chat` or `plain`). context: how many turns are read, 1 for the last alone.
    max_length: how many tokens of a row are read, the last ones.
    """

    kind = "separate"
    described: ClassVar[tuple[str, ...]] = ("tokens", "context", "max_length")
    tokens: str
    cut: Callable[[str], list[str]]
    vocabulary: Vocabulary
    context: int
    max_length: int

    def turn_texts(self, example: Example) -> list[str]:
        """The texts that are read: the turn to be labelled, last, and those before it."""
        first = max(0, example.turn + 1 - self.context)
        return [turn.text for turn in example.dialogue.turns[first : example.turn + 1]]

    def encode_text(self, text: str) -> tuple[list[int], int]:
        """The numbers of a text's last tokens, and how many it has; a text without any is one unknown token."""
        tokens = self.cut(text)
        return self.vocabulary.encode(tokens[-self.max_length :]) or [Vocabulary.unknown], len(tokens)

    def encode_turns(self, examples: Sequence[Example]) -> Iterator[tuple[list[list[int]], bool]]:
        """The numbers of each example's turns, and whether something was cut."""
        rows = each_once(self.encode_text, (text for example in examples for text in self.turn_texts(example)))
        for example in examples:
            turns, lengths = zip(*(rows[text] for text in self.turn_texts(example)), strict=True)
            yield list(turns), self.truncated(example, lengths)

    def truncated(self, example: Example, lengths: Sequence[int]) -> bool:
        """Whether turns, or some of the tokens of those that are read, have no room."""
        return len(lengths) <= example.turn or any(length > self.max_length for length in lengths)

    def encode(self, examples: Sequence[Example]) -> list[Item]:
        return [{"turns": turns, "truncated": truncated} for turns, truncated in self.encode_turns(examples)]

    def length(self, item: Item) -> int:
        return max(map(len, item["turns"]))

    def arrays(self, items: Sequence[Item]) -> Arrays:
        """All turns of all examples, one below the other, and how many belong to each example."""
        counts = np.array([len(item["turns"]) for item in items], np.int64)
        return {**filled_rows([turn for item in items for turn in item["turns"]]), "counts": counts}

    def save_words(self, folder: Path) -> None:
        self.vocabulary.save(folder / VOCABULARY)

    def load_words(self, folder: Path) -> None:
        self.vocabulary = Vocabulary.load(folder / VOCABULARY)


class JoinedRows(WordRows):
    """All turns in one row, an end-of-turn token between them; a row that is too long loses its beginning."""

    kind = "joined"

    def encode(self, examples: Sequence[Example]) -> list[Item]:
        return [
            {"words": joined(turns)[-self.max_length :], "truncated": truncated}
            for turns, truncated in self.encode_turns(examples)
        ]

    def length(self, item: Item) -> int:
        return len(item["words"])

    def arrays(self, items: Sequence[Item]) -> Arrays:
        return filled_rows([item["words"] for item in items])

    def truncated(self, example: Example, lengths: Sequence[int]) -> bool:
        return len(lengths) <= example.turn or sum(length + 1 for length in lengths) - 1 > self.max_length


class EitherRows(WordRows):
    """Turns apart or in one row, whichever `turns` says: `separate` or `joined`."""

    kind = "either"
    described = (*WordRows.described, "turns")
    turns: str

    def encode(self, examples: Sequence[Example]) -> list[Item]:
        items = super().encode(examples)
        if self.turns == "separate":
            return items
        return [{**item, "turns": [joined(item["turns"])[-self.max_length :]]} for item in items]


class SpelledRows(WordRows):
    """Turns apart, and of every word also its characters, up to `max_characters` of them."""

    kind = "spelled"
    described = (*WordRows.described, "max_characters")
    alphabet: Vocabulary
    max_characters: int

    def encode(self, examples: Sequence[Example]) -> list[Item]:
        rows = each_once(self._spelled_row, (text for example in examples for text in self.turn_texts(example)))
        items = []
        for example in examples:
            chosen = [rows[text] for text in self.turn_texts(example)]
            words, spellings, lengths = (list(column) for column in zip(*chosen, strict=True))
            items.append({"turns": words, "spellings": spellings, "truncated": self.truncated(example, lengths)})
        return items

    def _spelled_row(self, text: str) -> tuple[list[int], list[tuple[int, ...]], int]:
        tokens = self.cut(text)
        if not tokens:
            return [Vocabulary.unknown], [(Vocabulary.unknown,)], 0
        read = tokens[-self.max_length :]
        spellings = [tuple(self.alphabet.encode(token[: self.max_characters])) for token in read]
        return self.vocabulary.encode(read), spellings, len(tokens)

    def arrays(self, items: Sequence[Item]) -> Arrays:
        """Each different spelling of a batch is kept once; words point at it."""
        place: dict[tuple[int, ...], int] = {(Vocabulary.padding,): 0}
        turns = [
            [place.setdefault(spelling, len(place)) for spelling in turn]
            for item in items
            for turn in item["spellings"]
        ]
        spellings = list(place)
        return {
            **super().arrays(items),
            "spelt": padded(turns),
            "spellings": padded(spellings),
            "spelling_lengths": np.array([len(spelling) for spelling in spellings], np.int64),
        }

    def save_words(self, folder: Path) -> None:
        super().save_words(folder)
        self.alphabet.save(folder / CHARACTERS)

    def load_words(self, folder: Path) -> None:
        super().load_words(folder)
        self.alphabet = Vocabulary.load(folder / CHARACTERS)


class LanguageRows(JoinedRows):
    """One row as a language model reads it: each turn is ended, and with `backward` all is read from its end."""

    kind = "language"
    described = (*WordRows.described, "backward")
    backward: bool

    def row(self, turns: Sequence[Sequence[int]]) -> list[int]:
        """Turns as the language model reads them: each is ended, and what comes before the first was ended too."""
        return [Vocabulary.end_of_turn, *(number for turn in turns for number in (*turn, Vocabulary.end_of_turn))]

    def directed(self, row: list[int]) -> list[int]:
        """A row in the order in which it is read."""
        return row[::-1] if self.backward else row

    def encode(self, examples: Sequence[Example]) -> list[Item]:
        """Each example as one row of numbers; a row that is too long loses its beginning."""
        return [
            {"words": self.directed(self.row(turns)[-self.max_length :]), "truncated": truncated}
            for turns, truncated in self.encode_turns(examples)
        ]


KINDS = {kind.kind: kind for kind in (WordRows, JoinedRows, EitherRows, SpelledRows, LanguageRows)}


def restored(description: Mapping[str, Any], folder: Path, kind: type[W]) -> W:
    """The rows of a network that was written with `description` and `save_words`."""
    rows = kind.from_description(description)
    rows.cut = tokeniser(rows.tokens)
    rows.load_words(folder)
    return rows


def each_once(make: Callable[[str], T], texts: Iterable[str]) -> dict[str, T]:
    """What `make` makes of each different text.

    >>> each_once(len, ["so", "so", "sad"])
    {'so': 2, 'sad': 3}
    """
    return {text: make(text) for text in dict.fromkeys(texts)}


def joined(turns: Sequence[Sequence[int]]) -> list[int]:
    """Turns as one row.

    >>> joined([[5, 6], [7]])
    [5, 6, 2, 7]
    """
    row = [number for turn in turns for number in (*turn, Vocabulary.end_of_turn)]
    return row[:-1]


def filled_rows(rows: Sequence[Sequence[int]]) -> Arrays:
    """Rows of numbers with their lengths."""
    return {"words": padded(rows), "lengths": np.array([len(row) for row in rows], np.int64)}
