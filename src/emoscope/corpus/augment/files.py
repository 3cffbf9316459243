"""Files of dialogues to augment: EmotionX's JSON (`utterance_es`) and tables (`turn1_es`)."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import atomic_write
from emoscope.corpus.augment.backtranslation import Variant
from emoscope.tables import PIPE, Record, open_writer, read_records, turn_columns
from emoscope.tables.formats import suffix_format
from emoscope.tables.json_stream import array_elements

Variants = Sequence[Mapping[str, Variant]]
Write = Callable[[Any], None]


class DialogueFile(Protocol):
    """A file whose dialogues can get variants."""

    path: str

    def check_output(self, output: str) -> None:
        """Raise an error if dialogues cannot be written to a file of this name."""

    def items(self, languages: Sequence[str]) -> Iterator[Any]:
        """Stream the dialogues from the start; it is an error if one already has variants in these languages."""

    def texts(self, item: Any) -> Sequence[str]:
        """The turns of a dialogue."""

    def reworded(self, item: Any, variants: Variants) -> Any:
        """The dialogue to write, with the variants of each turn."""

    def writer(self, output: str) -> AbstractContextManager[Write]:
        """A context manager that gives a function to write dialogues; the file is complete or absent."""


class EmotionXFile:
    """EmotionX's format: a list of dialogues, each a list of objects with an `utterance`; other keys are kept."""

    def __init__(self, path: str) -> None:
        self.path = path

    def check_output(self, output: str) -> None:
        if Path(output).suffix.lower() != ".json":
            raise EmoscopeError(f"{output}: expected a name that ends in .json, as the input's does")

    def items(self, languages: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
        added = [f"utterance_{language}" for language in languages]
        number = 0
        for number, dialogue in enumerate(array_elements(self.path), start=1):
            where = f"dialogue {number:,}"
            if not isinstance(dialogue, list) or not dialogue:
                raise InputError(self.path, "expected a list of utterances", row=where)
            for line, entry in enumerate(dialogue, start=1):
                place = f"{where}, line {line:,}"
                if not isinstance(entry, dict) or not isinstance(entry.get("utterance"), str):
                    raise InputError(self.path, "expected an object with an 'utterance'", row=place)
                _check_free(self.path, place, entry, added)
            yield dialogue
        if not number:
            raise InputError(self.path, "holds no dialogues")

    def texts(self, item: list[dict[str, Any]]) -> list[str]:
        return [entry["utterance"] for entry in item]

    def reworded(self, item: list[dict[str, Any]], variants: Variants) -> list[dict[str, Any]]:
        return [
            entry | {f"utterance_{via}": variant.text for via, variant in own.items() if variant.text is not None}
            for entry, own in zip(item, variants, strict=True)
        ]

    @contextmanager
    def writer(self, output: str) -> Iterator[Write]:
        """Write in the layout of the published files."""
        with atomic_write(output) as handle:
            before = "[\n    "

            def write(dialogue: Any) -> None:
                nonlocal before
                handle.write(before + json.dumps(dialogue, indent=4).replace("\n", "\n    "))
                before = ",\n    "

            yield write
            handle.write("\n]\n")


class TableFile:
    """A table with columns `turn1`, `turn2`, ..., `turns` or `text`; other columns are kept."""

    def __init__(self, path: str, *, format: str | None = None, column: str | None = None) -> None:
        if path == PIPE:
            raise EmoscopeError(
                "the input is read again when a run is resumed, which a pipe does not allow; give a file"
            )
        self.path = path
        self._format = format
        self._column = column

    def check_output(self, output: str) -> None:
        if output == PIPE or suffix_format(output) in (None, "text"):
            raise EmoscopeError(f"{output}: expected a file that has columns: .csv, .tsv, .jsonl or .parquet")

    def items(self, languages: Sequence[str]) -> Iterator[Record]:
        for record in read_records(self.path, self._format, column=self._column):
            added = (f"{name}_{language}" for language in languages for name in self._columns(record))
            _check_free(self.path, record.row, record.columns, added)
            yield record

    def _columns(self, record: Record) -> list[str]:
        return turn_columns(record.columns) if self._column is None else [self._column]

    def texts(self, item: Record) -> tuple[str, ...]:
        return item.dialogue.texts

    def reworded(self, item: Record, variants: Variants) -> dict[str, Any]:
        """The row with a column per turn and language, empty where the variant was dropped."""
        names = self._columns(item)
        added: dict[str, Any] = {}
        for language in variants[0]:
            texts = [own[language].text for own in variants]
            if names == ["turns"]:  # in a list, the original turn replaces a dropped variant
                whole = [text or turn for text, turn in zip(texts, item.dialogue.texts, strict=True)]
                added[f"turns_{language}"] = whole if any(texts) else None
            else:
                texts += [None] * (len(names) - len(texts))
                added |= {f"{name}_{language}": text for name, text in zip(names, texts, strict=True)}
        return {**item.columns, **added}

    @contextmanager
    def writer(self, output: str) -> Iterator[Write]:
        with open_writer(output) as writer:
            yield writer.write


def open_dialogue_file(path: str, *, column: str | None = None, format: str | None = None) -> DialogueFile:
    """Open EmotionX's JSON or a table, by the file's suffix."""
    if Path(path).suffix.lower() != ".json":
        return TableFile(path, column=column, format=format)
    if column or format:
        raise EmoscopeError(f"{path}: --column and --format are for tables, not for EmotionX's JSON")
    return EmotionXFile(path)


def _check_free(path: str, row: int | str, taken: Iterable[str], added: Iterable[str]) -> None:
    for name in added:
        if name in taken:
            raise InputError(path, f"has {name!r} already", row=row)
