"""Label a task's examples with any model: a run, or a head of a bundle that has the task's labels."""

from collections.abc import Callable, Sequence
from pathlib import Path

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.detector.bundle import Head
from emoscope.detector.detector import Detector
from emoscope.detector.model import FittedModel
from emoscope.runs.record import FILE, load_run
from emoscope.tasks import Task, get_task


def predictor(folder: Path, task_name: str) -> Callable[[Sequence[Example]], list[str]]:
    """What labels a task's examples with the model in a folder, decided as serves the task's metric best."""
    task = get_task(task_name)
    if (folder / FILE).is_file():
        return Detector(load_run(folder, task_name), for_metric=True).label_examples
    model = FittedModel.load(folder)
    return Detector(model, labels=_head(model, task).name, for_metric=True).label_examples


def _head(model: FittedModel, task: Task) -> Head:
    name, heads = model.bundle.name, model.bundle.heads
    # Friends and EmotionPush are two tasks with one set of labels: a head may be named for both.
    named = [head for head in heads if task.name == head.name or task.name.startswith(f"{head.name}-")]
    if not named:
        raise EmoscopeError(
            f"model {name} does not answer {task.name}; it has: {', '.join(head.name for head in heads)}"
        )
    if set(named[0].labels) != set(task.labels):
        raise EmoscopeError(f"model {name} answers {named[0].name} with {', '.join(named[0].labels)}")
    return named[0]
