"""The metric a challenge ranks by: the task's official one, or another that its file names."""

from collections.abc import Callable, Sequence
from copy import copy

from emoscope.core.errors import EmoscopeError
from emoscope.core.metrics import Counts, Floats, accuracy, macro_f1
from emoscope.tasks import Task, get_task
from emoscope.tasks.metadata import Metric

_OTHERS: dict[str, tuple[str, Callable[[Counts], Floats]]] = {
    "accuracy": ("share of items that are right", accuracy),
    "macro-f1": ("F1 averaged over all labels", macro_f1),
}


def measured(task_name: str, metric: str | None = None) -> Task:
    """A task scored by a metric; without one by its official metric.

    >>> measured("emocontext").metadata.metric.name, measured("emocontext", "accuracy").metadata.metric.name
    ('micro-f1', 'accuracy')
    >>> measured("emocontext", "luck")
    Traceback (most recent call last):
    emoscope.core.errors.EmoscopeError: unknown metric 'luck', expected one of: micro-f1 (official), accuracy, macro-f1
    """
    task = get_task(task_name)
    official = task.metadata.metric.name
    if metric is None or metric == official:
        return task
    if metric not in _OTHERS:
        known = [f"{official} (official)", *(name for name in _OTHERS if name != official)]
        raise EmoscopeError(f"unknown metric {metric!r}, expected one of: {', '.join(known)}")
    return _with_metric(task, metric)


def is_official(task: Task) -> bool:
    """Whether a task is scored by its official metric, so that published figures are comparable.

    >>> is_official(measured("iest")), is_official(measured("iest", "accuracy"))
    (True, False)
    """
    return task.metadata.metric == get_task(task.name).metadata.metric


def _with_metric(task: Task, metric: str) -> Task:
    """The same task in everything but its score."""
    description, compute = _OTHERS[metric]

    def official(self: Task, confusion: Counts, names: Sequence[str]) -> Floats:  # noqa: ARG001
        return compute(confusion)

    metadata = task.metadata.model_copy(update={"metric": Metric(name=metric, description=description)})
    variant = copy(task)
    variant.__class__ = type(type(task).__name__, (type(task),), {"metadata": metadata, "official": official})
    return variant
