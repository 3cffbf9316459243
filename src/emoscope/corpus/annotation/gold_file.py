"""The gold labels of a human study: from a CSV file with `task,label`, or from an official file of a task."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import csv_rows
from emoscope.corpus.annotation.csv_files import write_rows
from emoscope.corpus.annotation.task_items import example_names
from emoscope.corpus.annotation.workers import read_gold
from emoscope.evaluation.slices import SLICES
from emoscope.tasks import Task, get_task


@dataclass(frozen=True, slots=True)
class GoldFile:
    """A file of gold labels; `examples` are those of an official file, by name."""

    path: Path
    task: Task | None
    labels: Mapping[str, str]
    examples: Mapping[str, Example]

    @classmethod
    def read(cls, path: Path, task: str | None = None) -> "GoldFile":
        """Read a CSV file or, with the name of a task, one of its official files."""
        if task is None:
            return cls(path, None, read_gold(path), {})
        official = get_task(task)
        examples = example_names(path, official.read(path))
        labels = {name: example.label for name, example in examples.items() if example.label is not None}
        if not labels:
            raise InputError(path, "has no labels: a study needs a labelled file")
        return cls(path, official, labels, examples)

    def grouping(self, by: str) -> Callable[[str], str]:
        """The group of an item, by name; a CSV file needs a column `text` for that."""
        slices = SLICES[by]
        examples = dict(self.examples)
        if not examples:
            for _, cells in csv_rows(self.path, ("task", "label", "text")):
                examples[cells["task"].strip()] = Example(Dialogue.of([cells["text"]]), turn=0)
        return lambda name: slices.group_of(examples[name])

    def write_answers(self, path: Path, answers: Mapping[str, str]) -> None:
        """Write answers as a CSV file or, for an official file, as a submission, which needs one for every item."""
        if self.task is None:
            write_rows(path, ["task", "label"], answers.items())
            return
        missing = [name for name in self.examples if name not in answers]
        if missing:
            raise EmoscopeError(
                f"{path}: a submission needs every item, and {len(missing):,} of {len(self.examples):,} were not "
                f"judged (the first is {missing[0]!r}); `humans` of a challenge takes judgements of a part"
            )
        examples = list(self.examples.values())
        self.task.write_submission(path, examples, [answers[name] for name in self.examples])
