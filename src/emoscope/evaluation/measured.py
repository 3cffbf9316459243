"""Our measured scores of the systems, from `python -m benchmarks.systems`; docs/results/systems.md has the table."""

import json
from functools import cache
from importlib.resources import files

from emoscope.core.frozen import FrozenModel


class MeasuredScore(FrozenModel):
    """The mean of a task's official metric over several runs, and its spread."""

    score: float
    spread: float | None = None  # the standard deviation, where there are several runs
    runs: int
    data: str  # what was scored

    def __str__(self) -> str:
        return f"{self.score:.4f}" + (f" ± {self.spread:.4f}" if self.spread is not None else "")


@cache
def measured_scores() -> dict[str, dict[str, MeasuredScore]]:
    """Our scores by system and task.

    >>> measured_scores()["podlab"]["emotionx-friends"].runs
    5
    """
    document = json.loads(files("emoscope.evaluation").joinpath("assets", "measured.json").read_text(encoding="utf-8"))
    return {name: {task: MeasuredScore(**entry) for task, entry in tasks.items()} for name, tasks in document.items()}
