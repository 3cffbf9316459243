"""Folds cut between dialogues, the same for the same data: how tasks without a development set are judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Example
from emoscope.core.fit_context import FitContext
from emoscope.models.ensembles.folds import fold_numbers
from emoscope.parallel import SERIAL, Executor
from emoscope.runs.train import official_score
from emoscope.systems import SYSTEMS
from emoscope.tasks import get_task
from emoscope.tasks.data import data_root, find_split


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """The official score of each fold, and of all folds' predictions taken together."""

    metric: str
    scores: tuple[float, ...]
    pooled: float

    @property
    def mean(self) -> float:
        """The folds' mean score."""
        return float(np.mean(self.scores))

    @property
    def deviation(self) -> float:
        """The folds' standard deviation."""
        return float(np.std(self.scores, ddof=1))

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        own = {"metric": self.metric, "scores": list(self.scores)}
        return {**own, "mean": self.mean, "deviation": self.deviation, "pooled": self.pooled}


def crossvalidate(
    system_name: str,
    task_name: str,
    *,
    seeds: Sequence[int] = (0,),
    folds: int = 5,
    splits: Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    device: str = "auto",
    workers: int = 1,
    root: Path | None = None,
) -> list[CrossValidation]:
    """Cross-validate with each seed on the same folds; `workers` folds at a time, of whichever seed.

    Workers that no fold needs fit members of ensembles. The scores do not depend on their number.
    """
    task = get_task(task_name)
    chosen_splits = splits or (SYSTEMS[system_name].metadata.learns_from,)
    examples = [example for split in chosen_splits for example in task.read(find_split(task, split, root).path)]
    numbers = np.array(fold_numbers(examples, folds))
    jobs = [(seed, fold) for seed in seeds for fold in range(folds)]
    at_once = min(workers, len(jobs))
    executor = SERIAL if at_once == 1 else Executor(workers=at_once, single_core=False)
    predict = _FoldPredictor(
        system_name, task_name, examples, numbers, settings, device, max(1, workers // at_once), root
    )
    predicted = {seed: [""] * len(examples) for seed in seeds}
    scores: dict[int, list[float]] = {seed: [] for seed in seeds}
    for (seed, fold), labels in zip(jobs, executor.map(predict, jobs), strict=True):
        held_out = np.flatnonzero(numbers == fold)
        scores[seed].append(official_score(task, [examples[index] for index in held_out], labels))
        for index, label in zip(held_out, labels, strict=True):
            predicted[seed][index] = label
    return [
        CrossValidation(task.metadata.metric.name, tuple(scores[seed]), official_score(task, examples, predicted[seed]))
        for seed in seeds
    ]


@dataclass(frozen=True, slots=True)
class _FoldPredictor:
    """Fits on all folds but one, and predicts that one; called with a seed and the number of the fold."""

    system: str
    task: str
    examples: Sequence[Example]
    numbers: NDArray[np.int64]
    settings: Mapping[str, Any] | None
    device: str
    workers: int
    root: Path | None

    def __call__(self, job: tuple[int, int]) -> list[str]:
        seed, fold = job
        held_out = [example for example, number in zip(self.examples, self.numbers, strict=True) if number == fold]
        rest = [example for example, number in zip(self.examples, self.numbers, strict=True) if number != fold]
        system = SYSTEMS[self.system](get_task(self.task), seed=seed, settings=self.settings)
        context = FitContext(
            seed=seed,
            device=self.device,
            resources=data_root(self.root),
            unseen=frozenset(example.text for example in held_out),
            workers=self.workers,
        )
        system.fit(rest, context)
        return list(system.predict(held_out))
