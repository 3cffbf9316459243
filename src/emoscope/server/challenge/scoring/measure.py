"""The metric a challenge ranks by: the task's official one, or another that its file names."""

from emoscope.core.errors import EmoscopeError
from emoscope.core.metrics import MetricName, standard_metric
from emoscope.tasks import Task, get_task

_OTHERS: tuple[MetricName, ...] = ("accuracy", "macro-f1")


def measured(task_name: str, metric: str | None = None) -> Task:
    """A task scored by a metric; without one by its official metric.

    >>> measured("emocontext").metadata.metric.name, measured("emocontext", "accuracy").metadata.metric.name
    ('micro-f1', 'accuracy')
    >>> measured("emocontext", "luck")
    Traceback (most recent call last):
    emoscope.core.errors.EmoscopeError: unknown metric 'luck', expected one of: micro-f1 (official), accuracy, macro-f1
    """
    task = get_task(task_name)
    official = task.metric.name
    if metric is None or metric == official:
        return task
    for name in _OTHERS:
        if name == metric:
            return task.with_metric(standard_metric(name))
    known = [f"{official} (official)", *(name for name in _OTHERS if name != official)]
    raise EmoscopeError(f"unknown metric {metric!r}, expected one of: {', '.join(known)}")


def is_official(task: Task) -> bool:
    """Whether a task is scored by its official metric, so that published figures are comparable.

    >>> is_official(measured("iest")), is_official(measured("iest", "accuracy"))
    (True, False)
    """
    return task.metric == get_task(task.name).metric
