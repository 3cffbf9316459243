"""Our measured scores of the systems, from `python -m benchmarks.systems`; docs/results/systems.md has the table."""

import json
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

FILE = "measured.json"


class Measured(BaseModel):
    """The mean of a task's official metric over several runs, and its spread."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    score: float
    spread: float | None = None  # the standard deviation, where there are several runs
    runs: int
    data: str  # what was scored

    def __str__(self) -> str:
        return f"{self.score:.4f}" + (f" ± {self.spread:.4f}" if self.spread is not None else "")


@cache
def measured_scores() -> dict[str, dict[str, Measured]]:
    """System to task to what our runs scored.

    >>> measured_scores()["podlab"]["emotionx-friends"].runs
    5
    """
    kept = json.loads(files("emoscope.evaluation").joinpath("assets", FILE).read_text(encoding="utf-8"))
    return {name: {task: Measured(**found) for task, found in tasks.items()} for name, tasks in kept.items()}
