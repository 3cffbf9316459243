"""Cross-validation for tasks without a development set; folds never split a dialogue and are deterministic."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Example
from emoscope.core.fit_context import FitContext
from emoscope.models.ensembles.folds import fold_numbers
from emoscope.parallel import SERIAL, Executor
from emoscope.runs.train import learnt_items, official_score
from emoscope.systems import SYSTEMS
from emoscope.tasks import get_task
from emoscope.tasks.data import data_root, find_split


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """The official score of each fold, and of the pooled predictions of all folds."""

    metric: str
    scores: tuple[float, ...]
    mean: float
    deviation: float
    pooled: float
    learnt: int = 0  # held-out items that were learnt anyway, as duplicates in the data or in other corpora


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
    """Cross-validate with each seed on the same folds, `workers` folds at a time.

    Spare workers fit members of ensembles. The scores do not depend on the number of workers.

    >>> crossvalidate("nano", "emotionx-friends", folds=5)[0].mean  # doctest: +SKIP
    0.7001
    """
    task = get_task(task_name)
    chosen_splits = splits or (SYSTEMS[system_name].metadata.learns_from,)
    examples = [example for split in chosen_splits for example in task.read(find_split(task, split, root).path)]
    numbers = np.array(fold_numbers(examples, folds))
    jobs = [(seed, fold) for seed in seeds for fold in range(folds)]
    at_once = min(workers, len(jobs))
    executor = SERIAL if at_once == 1 else Executor(workers=at_once, single_core=False)
    context = FitContext(device=device, resources=data_root(root), workers=max(1, workers // at_once))
    predict = partial(_predict_fold, system_name, task_name, settings, examples, numbers, context)
    predicted = {seed: [""] * len(examples) for seed in seeds}
    scores: dict[int, list[float]] = {seed: [] for seed in seeds}
    learnt: Counter[int] = Counter()
    for (seed, fold), (labels, repeated) in zip(jobs, executor.map(predict, jobs), strict=True):
        learnt[seed] += repeated
        held_out = np.flatnonzero(numbers == fold)
        scores[seed].append(official_score(task, [examples[index] for index in held_out], labels))
        for index, label in zip(held_out, labels, strict=True):
            predicted[seed][index] = label
    return [
        CrossValidation(
            metric=task.metadata.metric.name,
            scores=tuple(scores[seed]),
            mean=float(np.mean(scores[seed])),
            deviation=float(np.std(scores[seed], ddof=1)),
            pooled=official_score(task, examples, predicted[seed]),
            learnt=learnt[seed],
        )
        for seed in seeds
    ]


def _predict_fold(
    system_name: str,
    task_name: str,
    settings: Mapping[str, Any] | None,
    examples: Sequence[Example],
    numbers: NDArray[np.int64],
    context: FitContext,
    job: tuple[int, int],
) -> tuple[list[str], int]:
    """Fit on all folds but one; return the labels for that fold, and how many of its items were learnt anyway."""
    seed, fold = job
    held_out, rest = (list(compress(examples, chosen)) for chosen in (numbers == fold, numbers != fold))
    system = SYSTEMS[system_name](get_task(task_name), seed=seed, settings=settings)
    fit_context = replace(context, seed=seed, unseen=frozenset(example.text for example in held_out))
    system.fit(rest, fit_context)
    learnt = learnt_items(system, {task_name: rest}, fit_context)
    return list(system.predict(held_out)), learnt.overlap(held_out).items
