"""SemEval-2019 Task 3, EmoContext: the emotion of the last of three turns between a user and an agent."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import text_lines
from emoscope.tasks.base import Submitted, Task
from emoscope.tasks.metadata import load_metadata

_COLUMNS = ("id", "turn1", "turn2", "turn3")
_SPEAKERS = ("user", "agent", "user")


class EmoContext(Task):
    """Four classes, one of them "others"; scored by micro-F1 over the other three."""

    metadata = load_metadata("emocontext")
    sample = 'id\tturn1\tturn2\tturn3\n0\thi\thello\tI am sad\n1\tno\twhy\t"quoted\n2\ta\tb\tc 😂\n'

    def read(self, path: str | Path) -> Iterator[Example]:
        labelled: bool | None = None
        seen: set[str] = set()
        row = 0
        for row, line in text_lines(path):
            cells = line.split("\t")
            if labelled is None:
                labelled = _has_labels(path, cells)
                continue
            example = _example(path, row, cells, labelled)
            if labelled:
                if example.label is None:
                    raise InputError(path, "label is missing", row=row)
                self.check_label(example.label, path, row)
            identity = str(example.dialogue.id)
            if identity in seen:
                raise InputError(path, f"id {identity!r} was used already", row=row)
            seen.add(identity)
            yield example
        if row < 2:
            raise InputError(path, "has a header but no rows")

    def submission(self, answers: Sequence[tuple[Example, str]], _author: Mapping[str, str]) -> Iterator[str]:
        yield "\t".join((*_COLUMNS, "label")) + "\n"
        for example, label in answers:
            if any("\t" in text or "\n" in text for text in example.dialogue.texts):
                raise EmoscopeError(
                    f"dialogue {example.dialogue.id}: a turn holds a tab or line break; this format cannot"
                )
            yield "\t".join((*self.content(example), label)) + "\n"

    def submitted(self, path: str | Path) -> Iterator[Submitted]:
        for row, line in text_lines(path):
            cells = line.split("\t")
            if row > 1:
                example = _example(path, row, cells, labelled=True)
                yield Submitted(f"row {row}", example.label, self.content(example), example.dialogue.id)
            elif not _has_labels(path, cells):
                raise InputError(path, "has no 'label' column; a submission is the test file with one", row=row)

    def content(self, example: Example) -> tuple[str, ...]:
        return (str(example.dialogue.id), *example.dialogue.texts)


def _has_labels(path: str | Path, header: Sequence[str]) -> bool:
    """Whether the header names a label column; anything but an official header is an error."""
    names = tuple(cell.strip() for cell in header)
    if names == (*_COLUMNS, "label"):
        return True
    if names == _COLUMNS:
        return False
    shown = " ".join(names)[:60]
    raise InputError(
        path, f"expected the header 'id turn1 turn2 turn3 [label]' (tab-separated), found {shown!r}", row=1
    )


def _example(path: str | Path, row: int, cells: Sequence[str], labelled: bool) -> Example:
    width = 5 if labelled else 4
    if len(cells) != width:
        raise InputError(path, f"expected {width} tab-separated columns, found {len(cells)}", row=row)
    if not cells[0].strip():
        raise InputError(path, "id is missing", row=row)
    turns = tuple(Turn(text, speaker) for text, speaker in zip(cells[1:4], _SPEAKERS, strict=True))
    label = (cells[4].strip() or None) if labelled else None
    return Example(Dialogue(turns, cells[0]), turn=2, label=label)
