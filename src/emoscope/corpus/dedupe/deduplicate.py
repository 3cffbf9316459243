"""Remove duplicate rows within a file, across files, and among back-translations."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.core.files import atomic_folder, check_other_file
from emoscope.corpus.dedupe.duplicates import THRESHOLD, DuplicateFinder
from emoscope.corpus.progress import ShowProgress, no_progress
from emoscope.parallel import SERIAL, Executor
from emoscope.tables import PIPE, Record, open_writer, read_records, turn_columns
from emoscope.tables.turns import translated_columns


@dataclass(slots=True)
class FileCounts:
    """Rows read from a file, and rows dropped, by reason."""

    read: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    @property
    def kept(self) -> int:
        return self.read - self.dropped.total()

    def as_dict(self) -> dict[str, Any]:
        return {"read": self.read, "kept": self.kept, "dropped": {reason: self.dropped[reason] for reason in REASONS}}


REASONS = ("exact copy", "near copy", "exact copy of an earlier file", "near copy of an earlier file")


def deduplicate(
    paths: Sequence[str],
    output: str | Path,
    *,
    threshold: float = THRESHOLD,
    column: str | None = None,
    group: str | None = None,
    format: str | None = None,
    progress: ShowProgress = no_progress,
    executor: Executor = SERIAL,
) -> dict[str, FileCounts]:
    """Write the files without duplicates of earlier rows in the same or earlier files.

    A row and its back-translations are kept or dropped together, whether in columns such as `turn1_de` or in rows of
    the same file with the same value in column `group`. One input gives a file; several give a folder, complete or
    absent.
    """
    _check(paths, output)
    finder = DuplicateFinder(threshold=threshold, executor=executor)
    # The item of each row, per file, and the file of each item.
    items: list[list[int]] = []
    file_of: list[int] = []
    for number, path in enumerate(paths):
        groups: dict[str, int] = {}
        items.append([])
        for record in progress(f"reading {Path(path).name}", read_records(path, format, column=column)):
            key = _group(record, path, group)
            item = len(file_of) if key is None else groups.setdefault(key, len(file_of))
            if item == len(file_of):
                file_of.append(number)
            items[number].append(item)
            for text in texts_of(record, column):
                finder.add(item, text)
    reasons = {
        copy.item: REASONS[(not copy.exact) + 2 * (file_of[copy.item] != file_of[copy.of])]
        for copy in finder.duplicates()
    }
    counts = {path: FileCounts() for path in paths}
    with ExitStack() as stack:
        folder = stack.enter_context(atomic_folder(output)) if len(paths) > 1 else None
        for path, rows in zip(paths, items, strict=True):
            target = str(output if folder is None else folder / Path(path).name)
            records = progress(f"writing {Path(path).name}", read_records(path, format, column=column))
            counts[path].read = len(rows)
            counts[path].dropped.update(reasons[item] for item in rows if item in reasons)
            kept = (record for record, item in zip(records, rows, strict=True) if item not in reasons)
            _write(kept, target, format if folder is not None else None)
    return counts


def texts_of(record: Record, column: str | None = None) -> Iterator[str]:
    """The texts of a row and its back-translations.

    >>> from emoscope.core.dialogue import Dialogue
    >>> columns = {"turn1": "hi", "turn2": "you?", "turn1_de": "hello", "turn2_de": "and you?"}
    >>> list(texts_of(Record(1, Dialogue.of(["hi", "you?"]), columns)))
    ['hi\\nyou?', 'hello\\nand you?']
    """
    yield "\n".join(record.dialogue.texts)
    names = [column] if column is not None else turn_columns(record.columns)
    for language in dict.fromkeys(translated_columns(record.columns, names).values()):
        turns = [record.columns.get(f"{name}_{language}") or record.columns.get(name) for name in names]
        texts = [text for turn in turns for text in (turn if isinstance(turn, list) else [turn]) if text]
        yield "\n".join(text["text"] if isinstance(text, Mapping) else str(text) for text in texts)


def _check(paths: Sequence[str], output: str | Path) -> None:
    if PIPE in paths:
        raise EmoscopeError("copies are found by reading twice, which a pipe does not allow; give a file")
    if len({Path(path).name for path in paths}) < len(paths):
        raise EmoscopeError("two of the files have the same name; their results would overwrite each other")
    check_other_file(output, *paths)


def _group(record: Record, path: str, group: str | None) -> str | None:
    if group is None:
        return None
    if group not in record.columns:
        raise EmoscopeError(f"{path}, row {record.row}: has no column {group!r}, which --group names")
    value = record.columns[group]
    return None if value in (None, "") else str(value)


def _write(records: Iterator[Record], target: str, format: str | None) -> None:
    first = next(records, None)
    # A .txt file is a table with a header, or plain lines.
    table_as_text = first is not None and Path(target).suffix == ".txt" and set(first.columns) != {"turns"}
    with open_writer(target, "tsv" if table_as_text else format) as writer:
        for record in () if first is None else chain([first], records):
            writer.write(record.columns)
