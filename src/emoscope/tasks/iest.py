"""WASSA-2018 IEST: the emotion of a word that was masked in a tweet."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.errors import InputError
from emoscope.core.files import byte_lines, text_lines
from emoscope.tasks.base import Submitted, Task
from emoscope.tasks.metadata import load_metadata

_TRIGGER = re.compile(r"\[#(?:trigger|target)word#\]", re.IGNORECASE)
# Values of the label column in files whose labels are withheld.
_WITHHELD = {"", "unknown", "unk", "?", "-", "none"}
# The official scorer works on bytes, where no other character is a blank.
_BLANKS = b" \t\r\n\v\f"


class Iest(Task):
    """Six emotions, nearly balanced; scored by macro-F1 over every label that occurs."""

    metadata = load_metadata("iest")
    foreign_labels = "wrong"
    sample = (
        "unknown\tI am [#TRIGGERWORD#] that you came\n"
        "unknown\tso [#TRIGGERWORD#] because it rains\n"
        "unknown\tun[#TRIGGERWORD#] when late\n"
    )

    def read(self, path: str | Path) -> Iterator[Example]:
        labels_file = Path(path).with_suffix(".labels")
        labels = _read_labels(self, labels_file) if labels_file.is_file() and labels_file != Path(path) else None
        columns = row = 0
        for row, line in text_lines(path):
            cells = line.split("\t", 1)
            columns = columns or len(cells)
            if len(cells) != columns:
                raise InputError(path, f"expected {columns} tab-separated columns, found {len(cells)}", row=row)
            label, tweet = (cells[0].strip(), cells[1]) if columns == 2 else ("", cells[0])
            if not _TRIGGER.search(tweet):
                raise InputError(path, "has no [#TRIGGERWORD#] in its tweet", row=row)
            if labels is not None:
                label = next(labels, "")
                if not label:
                    problem = f"has only {row - 1:,} labels, expected one for each row of {Path(path).name}"
                    raise InputError(labels_file, problem)
            elif label.lower() not in _WITHHELD:
                self.check_label(label, path, row)
            known = label if label in self.labels else None
            yield Example(Dialogue((Turn(tweet),), str(row - 1)), turn=0, label=known)
        if labels is not None and next(labels, None) is not None:
            problem = f"has more than {row:,} labels, expected one for each row of {Path(path).name}"
            raise InputError(labels_file, problem)

    def submission(self, answers: Sequence[tuple[Example, str]], _author: Mapping[str, str]) -> Iterator[str]:
        return (f"{label}\n" for _, label in answers)

    def submitted(self, path: str | Path) -> Iterator[Submitted]:
        """The labels as the official scorer reads them: the first column of each line, without blanks after it.

        A byte-order mark or a blank before a label is part of it there, which makes it a different label, and so do
        bytes that are no text; those after a tab are not read.
        """
        for row, line in byte_lines(path):
            label = line.split(b"\t", 1)[0].rstrip(_BLANKS).decode("utf-8", "backslashreplace")
            yield Submitted(f"row {row}", label or None)

    _answers = submitted  # a submission is a list of labels

    def content(self, example: Example) -> tuple[str, ...]:  # noqa: ARG002
        """Nothing: submissions have only labels."""
        return ()


def _read_labels(task: Task, path: Path) -> Iterator[str]:
    for row, line in text_lines(path):
        task.check_label(line.strip(), path, row)
        yield line.strip()
