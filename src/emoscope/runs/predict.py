"""Label a task's examples with any model: a run, or a bundle's head with the task's labels."""

from collections.abc import Callable, Sequence
from pathlib import Path

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.learnt import LearntItems, Overlap
from emoscope.detector.detector import Detector
from emoscope.detector.model import FittedModel
from emoscope.runs.record import FILE, read_record
from emoscope.tasks import TASKS, Task


def learnt_overlap(folder: Path, task: Task, examples: Sequence[Example]) -> Overlap | None:
    """How many of a task's scored examples the model in a folder learnt; None if it has no record.

    >>> from emoscope.detector.bundle import resolve
    >>> from emoscope.tasks import get_task
    >>> learnt_overlap(resolve("nano"), get_task("emocontext"), [])
    Overlap(items=0, of=0)
    """
    learnt = LearntItems.load(folder)
    if learnt is None:
        return None
    return learnt.overlap(example for example in examples if example.label is None or task.scored(example.label))


def predictor(folder: Path, task: Task) -> Callable[[Sequence[Example]], list[str]]:
    """A function that labels a task's examples with the model in a folder, optimised for the task's metric."""
    if (folder / FILE).is_file():
        record = read_record(folder)
        if record.task != task.reference:
            raise EmoscopeError(
                f"{folder.name} was trained for {record.task}, not {task.reference}; "
                f"train one with: emoscope train {record.system} --task {task.reference} -o RUN"
            )
        return Detector(FittedModel.load(folder), for_metric=True).label_examples
    model = FittedModel.load(folder)
    heads = model.bundle.heads
    # Friends and EmotionPush are two tasks with the same labels, so one head, `emotionx`, may serve both.
    head = next((head for head in heads if task.name == head.name or task.name.startswith(f"{head.name}-")), None)
    # For a custom corpus, any head with the same labels serves as a baseline.
    if head is None and task.reference not in TASKS:
        head = next((head for head in heads if set(head.labels) == set(task.labels)), None)
        if head is not None:
            return Detector(model, labels=head.name).label_examples
    if head is None:
        names = ", ".join(head.name for head in heads)
        raise EmoscopeError(
            f"model {model.bundle.name} does not answer {task.name}, whose labels are {', '.join(task.labels)}; "
            f"it has: {names}"
        )
    if set(head.labels) != set(task.labels):
        raise EmoscopeError(f"model {model.bundle.name} answers {head.name} with {', '.join(head.labels)}")
    return Detector(model, labels=head.name, for_metric=True).label_examples
