"""Folds cut between dialogues, the same for the same data: how tasks without a development set are judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from emoscope.evaluation.run import official_score
from emoscope.models.block import Fitting
from emoscope.systems import SYSTEMS
from emoscope.systems.folds import fold_numbers
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
        return {
            "metric": self.metric,
            "scores": list(self.scores),
            "mean": self.mean,
            "deviation": self.deviation,
            "pooled": self.pooled,
        }


def crossvalidate(
    system_name: str,
    task_name: str,
    *,
    folds: int = 5,
    splits: Sequence[str] | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    device: str = "auto",
    workers: int = 1,
    root: Path | None = None,
) -> CrossValidation:
    """Fit on all folds but one, score on that one, for each."""
    task = get_task(task_name)
    chosen_splits = splits or (SYSTEMS[system_name].metadata.learns_from,)
    examples = [example for split in chosen_splits for example in task.read(find_split(task, split, root).path)]
    numbers = np.array(fold_numbers(examples, folds))
    predicted = [""] * len(examples)
    scores = []
    for fold in range(folds):
        held_out = np.flatnonzero(numbers == fold)
        system = SYSTEMS[system_name](task, seed=seed, settings=settings)
        unseen = frozenset(examples[index].text for index in held_out)
        fitting = Fitting(seed=seed, device=device, resources=data_root(root), unseen=unseen, workers=workers)
        system.fit([examples[index] for index in np.flatnonzero(numbers != fold)], fitting)
        chosen = [examples[index] for index in held_out]
        answers = system.predict(chosen)
        scores.append(official_score(task, chosen, answers))
        for index, answer in zip(held_out, answers, strict=True):
            predicted[index] = answer
    return CrossValidation(task.metadata.metric.name, tuple(scores), official_score(task, examples, predicted))
