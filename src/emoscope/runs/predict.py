"""A model of any kind as an answerer of a task: a run's own system, or a bundle's head with the task's labels."""

from collections.abc import Callable, Sequence
from pathlib import Path

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.detector.bundle import Bundle
from emoscope.detector.detector import load
from emoscope.runs.record import FILE, load_run
from emoscope.tasks import get_task

Answerer = Callable[[Sequence[Example]], list[str]]


def answerer(folder: Path, task_name: str) -> Answerer:
    """What labels a task's examples with the model in a folder, decided as serves the task's metric best."""
    if (folder / FILE).is_file():
        return load_run(folder, task_name).predict
    task = get_task(task_name)
    bundle = Bundle.load(folder)
    heads = bundle.heads or (bundle.head(),)
    # Friends and EmotionPush are two tasks with one set of labels: a head may be named for both.
    named = [head.name for head in heads if task.name == head.name or task.name.startswith(f"{head.name}-")]
    if not named:
        raise EmoscopeError(
            f"model {bundle.name} does not answer {task_name}; it has: {', '.join(head.name for head in heads)}"
        )
    detector = load(folder, labels=named[0], for_metric=True)
    if set(detector.labels) != set(task.labels):
        raise EmoscopeError(f"model {bundle.name} answers {named[0]} with {', '.join(detector.labels)}")

    def answer(examples: Sequence[Example]) -> list[str]:
        found = detector.predict_proba(example.context for example in examples)
        return [detector.labels[place] for place in detector.choose(found)]

    return answer
