"""The grammar every task speaks: read, write a submission, verify it, score it."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import zip_longest
from pathlib import Path
from typing import ClassVar

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import atomic_write, text_lines
from emoscope.core.metrics import Counts, Floats
from emoscope.tasks.metadata import TaskMetadata

# A verifier that lists a thousand alike rows helps nobody.
MAX_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Submitted:
    """One labelled item of a submission: where it stands, its label, and what it says it is a label of."""

    where: str
    label: str | None
    content: tuple[str, ...] | None = None
    id: str | None = None


class Task(ABC):
    """A shared task. One instance per registered name; see `emoscope.tasks.get_task`."""

    metadata: ClassVar[TaskMetadata]

    @property
    def name(self) -> str:
        """The registered name."""
        return self.metadata.name

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels a system may answer with."""
        return self.metadata.labels

    @property
    def form(self) -> str:
        """The shared task whose form this one has: itself, unless it was made to be like another."""
        return self.name

    @property
    def reference(self) -> str:
        """What `emoscope.tasks.get_task` finds it by: its name, or its folder."""
        return self.name

    # Reading

    @abstractmethod
    def read(self, path: str | Path) -> Iterator[Example]:
        """Stream the examples of an official file, labelled or not; the first bad row is an InputError."""

    # The official submission, both ways

    @abstractmethod
    def write_submission(
        self,
        path: str | Path,
        examples: Sequence[Example],
        labels: Sequence[str],
        author: Mapping[str, str] | None = None,
    ) -> None:
        """Write predictions in the official format, whole or not at all."""

    @abstractmethod
    def submitted(self, path: str | Path) -> Iterator[Submitted]:
        """Stream the items of an official submission; a file that is not of the format is an InputError."""

    @abstractmethod
    def content(self, example: Example) -> tuple[str, ...]:
        """What a submission repeats of an example, to be compared with `Submitted.content`."""

    # Scoring

    @abstractmethod
    def official(self, confusion: Counts, names: Sequence[str]) -> Floats:
        """The official metric of a confusion matrix, or of each in a stack of them."""

    def scored(self, gold: str) -> bool:
        """Whether items with this gold label count at all."""
        return gold in self.labels

    # What follows from the above

    def verify(self, submission: str | Path, unlabelled: str | Path) -> list[str]:
        """Everything that is wrong with a submission, one line each; an empty list means it would be accepted."""
        try:
            return _compare(self, submission, unlabelled)
        except InputError as error:
            if error.path == str(submission):
                return [str(error)]
            raise

    def read_predictions(self, path: str | Path, examples: Sequence[Example] | None = None) -> list[str]:
        """The labels of a submission, or of a plain file with one label a line, checked against `examples`.

        Labels outside the task's are kept: the official scorers count them as errors rather than refuse them.
        """
        items = list(label_lines(path) if is_label_list(path) else self.submitted(path))
        if examples is not None:
            _check_alignment(self, path, items, examples)
        for item in items:
            if not item.label:
                raise InputError(path, "label is missing", row=item.where)
        return [item.label for item in items if item.label]

    def write_labels(self, path: str | Path, labels: Sequence[str]) -> None:
        """Write one label a line, in input order."""
        self.check_labels(labels)
        with atomic_write(path) as handle:
            handle.writelines(f"{label}\n" for label in labels)

    def check_labels(self, labels: Sequence[str], examples: Sequence[Example] | None = None) -> None:
        """Refuse to write labels the task does not have, or fewer than there are examples."""
        if examples is not None and len(labels) != len(examples):
            raise EmoscopeError(f"{self.name}: {len(labels):,} labels for {len(examples):,} examples")
        for label in set(labels) - set(self.labels):
            raise EmoscopeError(f"{self.name}: {self.unknown_label(label)}")

    def unknown_label(self, label: str) -> str:
        """The sentence for a label that is not the task's."""
        close = get_close_matches(label.strip().lower(), self.labels, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        return f"unknown label {_short(label)!r}, expected one of {', '.join(self.labels)}{hint}"


def is_label_list(path: str | Path) -> bool:
    """Whether a file looks like one label a line: its first line is one word."""
    for _, line in text_lines(path):
        return bool(line) and len(line) <= 40 and line.isprintable() and not any(mark in line for mark in "\t[{ ")
    return False


def label_lines(path: str | Path) -> Iterator[Submitted]:
    """Stream a file of one label a line."""
    for row, line in text_lines(path):
        yield Submitted(f"row {row}", line.strip() or None)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def _check_alignment(task: Task, path: str | Path, items: Sequence[Submitted], examples: Sequence[Example]) -> None:
    if len(items) != len(examples):
        raise InputError(path, f"has {len(items):,} labels, expected {len(examples):,}")
    for item, example in zip(items, examples, strict=True):
        if item.content is not None and item.content != task.content(example):
            raise InputError(path, "is not the same item as in the gold file", row=item.where)


def _compare(task: Task, submission: str | Path, unlabelled: str | Path) -> list[str]:
    """Walk a submission beside the file it answers."""
    expected = list(task.read(unlabelled))
    positions = {task.content(example): index for index, example in enumerate(expected)}
    problems: list[str] = []
    used_ids: dict[str, str] = {}
    count = 0

    def note(where: str, problem: str) -> None:
        problems.append(f"{submission}, {where}: {problem}")

    for item, example in zip_longest(task.submitted(submission), expected):
        if item is None:
            continue
        count += 1
        if not item.label:
            note(item.where, "label is missing")
        elif item.label not in task.labels:
            header = count == 1 and item.content is None and item.label.lower() in {"label", "labels", "emotion", "id"}
            note(
                item.where,
                "is a header, but this format has none" if header else task.unknown_label(item.label),
            )
        if item.id is not None:
            if item.id in used_ids:
                note(item.where, f"id {item.id!r} was used already at {used_ids[item.id]}")
            used_ids.setdefault(item.id, item.where)
        if example is not None and item.content is not None and item.content != task.content(example):
            other = positions.get(item.content)
            moved = (
                None if other is None else f"holds item {other + 1:,} of the unlabelled file instead of item {count:,}"
            )
            altered = "differs from the unlabelled file: text was altered"
            note(item.where, altered if moved is None else f"{moved}: the order was changed")
    if count != len(expected):
        cut = "; the file seems cut off" if count < len(expected) else ""
        problems.insert(0, f"{submission}: has {count:,} labels, expected {len(expected):,}{cut}")
    if len(problems) > MAX_PROBLEMS:
        more = len(problems) - MAX_PROBLEMS
        problems = [*problems[:MAX_PROBLEMS], f"{submission}: and {more:,} more problems of this kind"]
    return problems
