"""The base class of tasks: read files, write and verify submissions, score them."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import ClassVar, Literal, Self

from emoscope.core.dialogue import Example
from emoscope.core.emotion_words import closest_label
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import atomic_write, existing_file, text_lines
from emoscope.core.metrics import Metric
from emoscope.tasks.metadata import TaskMetadata

# Enough to see what is wrong.
MAX_PROBLEMS = 20
_MAX_LABEL = 40  # characters
# A few labels outside the task's are a system's mistakes; more, or long ones, mean that it is another kind of file.
MAX_OUTSIDE = 20
MAX_OUTSIDE_LABEL = 100


@dataclass(frozen=True, slots=True)
class Submitted:
    """One item of a submission: its position, its label, and the item it answers."""

    where: str
    label: str | None
    content: tuple[str, ...] | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """What is wrong with a submission, one line each."""

    problems: list[str]  # with one, it cannot be scored
    warnings: list[str]  # labels that are scored as wrong


class Task(ABC):
    """A shared task; `emoscope.tasks.get_task` returns one by name.

    A new task is a subclass with `metadata`, a `sample`, and the four methods that know its file formats. It is
    registered with `TASKS.add("name", "module:Class")`, from within the package or from outside.
    """

    metadata: TaskMetadata
    sample: ClassVar[str] = ""  # a data file of three items without labels, for the contract tests
    # What the official scorer does with a label that the task does not have: it counts it as wrong, as it does none at
    # all, or ends with an error. Where no scorer is known, `verify` refuses such labels and `evaluate` counts them.
    foreign_labels: ClassVar[Literal["wrong", "refused"] | None] = None

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels a system may answer with."""
        return self.metadata.labels

    @property
    def metric(self) -> Metric:
        """The metric that submissions are ranked by."""
        return self.metadata.metric

    @property
    def form(self) -> str:
        """The shared task whose kind of dialogues this one has, by default itself."""
        return self.name

    @property
    def reference(self) -> str:
        """The name or folder that `get_task` accepts for it."""
        return self.name

    def with_metric(self, metric: Metric) -> Self:
        """The same task, ranked by another metric.

        >>> from emoscope.core.metrics import standard_metric
        >>> from emoscope.tasks import get_task
        >>> get_task("emocontext").with_metric(standard_metric("accuracy")).metric.name
        'accuracy'
        """
        task = copy(self)
        task.metadata = self.metadata.model_copy(update={"metric": metric})
        return task

    # The file formats

    @abstractmethod
    def read(self, path: str | Path) -> Iterator[Example]:
        """Stream the examples of an official file, labelled or not; the first bad row is an InputError."""

    @abstractmethod
    def submission(self, answers: Sequence[tuple[Example, str]], author: Mapping[str, str]) -> Iterable[str]:
        """The text of an official submission with these labels, in pieces."""

    @abstractmethod
    def submitted(self, path: str | Path) -> Iterator[Submitted]:
        """Stream the items of an official submission; a file in another format is an InputError."""

    @abstractmethod
    def content(self, example: Example) -> tuple[str, ...]:
        """What a submission repeats of an example, to be compared with `Submitted.content`."""

    # What follows from them

    def write_submission(
        self,
        path: str | Path,
        examples: Sequence[Example],
        labels: Sequence[str],
        author: Mapping[str, str] | None = None,
    ) -> None:
        """Write predictions in the official format, whole or not at all."""
        self.check_labels(labels, examples)
        with atomic_write(path) as handle:
            handle.writelines(self.submission(list(zip(examples, labels, strict=True)), author or {}))

    def scored(self, gold: str) -> bool:
        """Whether items with this gold label count at all."""
        return gold in self.labels

    def verify(self, submission: str | Path, unlabelled: str | Path) -> list[str]:
        """The problems of a submission, one line each; none if the official scorer would score it."""
        return self.check(submission, unlabelled).problems

    def check(self, submission: str | Path, unlabelled: str | Path) -> Findings:
        """The problems of a submission, and which of its labels are scored as wrong whatever the gold label is."""
        try:
            return _compare(self, submission, unlabelled)
        except InputError as error:
            if error.path == str(submission):
                return Findings([str(error)], [])
            raise

    def read_predictions(self, path: str | Path, examples: Sequence[Example] | None = None) -> list[str]:
        """The labels of a submission or of a plain file with one label per line, checked against `examples`.

        Labels outside the task's are kept, except on scored items of a task whose official scorer ends at them.
        """
        items = list(self._answers(path))
        if examples is not None and len(items) != len(examples):
            raise InputError(path, f"has {len(items):,} labels, expected {len(examples):,}")
        for item, example in zip(items, examples or (), strict=examples is not None):
            if item.content is not None and item.content != self.content(example):
                raise InputError(path, "is not the same item as in the gold file", row=item.where)
            if self.foreign_labels == "refused" and example.label and self.scored(example.label):
                self.check_label(item.label, path, item.where)
        for item in items:
            if not item.label and self.foreign_labels != "wrong":
                raise InputError(path, "label is missing", row=item.where)
        return [item.label or "" for item in items]

    def outside_problem(self, labels: Iterable[str | None]) -> str | None:
        """Why labels cannot be predictions for this task: too many, or too long ones, that it does not have."""
        outside = list(dict.fromkeys(label for label in labels if label and label not in self.labels))
        if len(outside) <= MAX_OUTSIDE and all(len(label) <= MAX_OUTSIDE_LABEL for label in outside):
            return None
        problem = f"has {len(outside):,} labels that {self.name} does not have, such as {outside[0][:40]!r}"
        return f"{problem}; expected predictions for {self.name}"

    def _answers(self, path: str | Path) -> Iterator[Submitted]:
        return label_lines(path) if is_label_list(path) else self.submitted(path)

    def write_labels(self, path: str | Path, labels: Sequence[str]) -> None:
        self.check_labels(labels)
        with atomic_write(path) as handle:
            handle.writelines(f"{label}\n" for label in labels)

    def check_labels(self, labels: Sequence[str], examples: Sequence[Example] | None = None) -> None:
        """Raise an error for labels the task does not have, or a wrong number of them."""
        if examples is not None and len(labels) != len(examples):
            raise EmoscopeError(f"{self.name}: {len(labels):,} labels for {len(examples):,} examples")
        for label in set(labels) - set(self.labels):
            raise EmoscopeError(f"{self.name}: {self.unknown_label(label)}")

    def check_label(self, label: str | None, path: str | Path, row: int | str) -> None:
        if label is not None and label not in self.labels:
            raise InputError(path, self.unknown_label(label), row=row)

    def unknown_label(self, label: str) -> str:
        close = closest_label(label, self.labels)
        hint = f"; did you mean {close!r}?" if close else ""
        shown = label if len(label) <= 40 else label[:37] + "..."
        return f"unknown label {shown!r}, expected one of {', '.join(self.labels)}{hint}"


def is_label_list(path: str | Path) -> bool:
    """Whether a file seems to have one label per line: its first line is one word."""
    with existing_file(path).open("rb") as handle:
        start = handle.readline(4 * _MAX_LABEL + 8)  # a JSON submission may be one line of any length
    line = start.decode("utf-8-sig", errors="replace").rstrip("\r\n")
    return 0 < len(line) <= _MAX_LABEL and line.isprintable() and not any(mark in line for mark in "\t[{ ")


def label_lines(path: str | Path) -> Iterator[Submitted]:
    """Stream a file with one label per line."""
    for row, line in text_lines(path):
        yield Submitted(f"row {row}", line.strip() or None)


def _compare(task: Task, submission: str | Path, unlabelled: str | Path) -> Findings:
    expected = list(task.read(unlabelled))
    positions = {task.content(example): index for index, example in enumerate(expected)}
    problems: list[str] = []
    wrong: list[str] = []
    labels: list[str | None] = []
    used_ids: dict[str, str] = {}
    count = 0
    for item, example in zip_longest(task.submitted(submission), expected):
        if item is None:
            continue
        count += 1
        labels.append(item.label)
        earlier = used_ids.setdefault(item.id, item.where) if item.id is not None else item.where
        if problem := _label_problem(task, item, count):
            (wrong if task.foreign_labels == "wrong" else problems).append(f"{submission}, {item.where}: {problem}")
        for problem in _problems(task, item, example, count, positions, earlier):
            problems.append(f"{submission}, {item.where}: {problem}")
    if wrong and (problem := task.outside_problem(labels)):
        problems.append(f"{submission}: {problem}")
    if count != len(expected):
        cut = "; the file seems cut off" if count < len(expected) else ""
        problems.insert(0, f"{submission}: has {count:,} labels, expected {len(expected):,}{cut}")
    return Findings(_first(problems, submission), _first(wrong, submission))


def _first(problems: list[str], submission: str | Path) -> list[str]:
    more = len(problems) - MAX_PROBLEMS
    return [*problems[:MAX_PROBLEMS], *([f"{submission}: and {more:,} more problems of this kind"] if more > 0 else [])]


def _label_problem(task: Task, item: Submitted, number: int) -> str | None:
    if not item.label:
        return "label is missing"
    if item.label in task.labels:
        return None
    is_header = item.label.lower() in {"label", "labels", "emotion", "id"} and item.content is None
    return "is a header, but this format has none" if number == 1 and is_header else task.unknown_label(item.label)


def _problems(
    task: Task,
    item: Submitted,
    example: Example | None,
    number: int,
    positions: Mapping[tuple[str, ...], int],
    same_id_at: str,
) -> Iterator[str]:
    if same_id_at != item.where:
        yield f"id {item.id!r} was used already at {same_id_at}"
    if example is None or item.content is None or item.content == task.content(example):
        return
    if item.content in positions:
        other = positions[item.content] + 1
        yield f"holds item {other:,} of the unlabelled file instead of item {number:,}: the order was changed"
    else:
        yield "differs from the unlabelled file: text was altered"
