"""The commands as functions, which take names of tasks, splits and files and return results."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from emoscope.core.errors import EmoscopeError

if TYPE_CHECKING:
    from emoscope.evaluation.compare import Comparison
    from emoscope.evaluation.score import Evaluation
    from emoscope.tasks import Task
    from emoscope.tasks.data import Located


def tasks() -> list[str]:
    """The names of the shared tasks; `emoscope.get_task` returns one of them.

    >>> "iest" in tasks()
    True
    """
    from emoscope.tasks import TASKS

    return list(TASKS)


def systems(task: str | None = None) -> list[str]:
    """The names of the systems that can be trained; with `task`, those made for it.

    >>> "nano" in systems(), "amobee" in systems("emocontext")
    (True, False)
    """
    from emoscope.systems import SYSTEMS
    from emoscope.tasks import get_task

    form = None if task is None else get_task(task).form
    return [name for name in SYSTEMS if form is None or form in SYSTEMS[name].metadata.tasks]


def predict(
    model: str | Path,
    task: str,
    source: str | Path | None = None,
    *,
    split: str | None = None,
    data: Path | None = None,
) -> list[str]:
    """Predict labels for an official file or a split of the data with a run or an embedded model.

    Warns if the model learnt the items; `evaluate` gives no rank to such labels.

    >>> predict("runs/mine", "emocontext", split="dev")  # doctest: +SKIP
    ['others', 'angry', ...]
    """
    from emoscope.detector.bundle import resolve
    from emoscope.evaluation.provenance import PredictedLabels, learnt_note
    from emoscope.runs.predict import learnt_overlap, predictor

    chosen, path = task_and_path(task, source, split, data, option="source")
    folder, examples = resolve(model), list(chosen.read(path))
    labels = predictor(folder, chosen)(examples)
    learnt = learnt_overlap(folder, chosen, examples)
    if learnt is not None and learnt.is_learnt:
        warnings.warn(str(learnt_note(learnt)), stacklevel=2)
    return PredictedLabels(labels, learnt)


def evaluate(
    predictions: str | Path | Sequence[str],
    task: str,
    gold: str | Path | None = None,
    *,
    split: str | None = None,
    samples: int = 10_000,
    seed: int = 0,
    data: Path | None = None,
) -> "Evaluation":
    """Score predictions (a file, or labels in order) with the official metric against a labelled file or a split.

    >>> evaluate("predictions.txt", "emocontext", split="dev").score  # doctest: +SKIP
    0.7304
    """
    from emoscope.evaluation.score import evaluate as evaluate_file

    chosen, reference = task_and_file(task, gold, split, data, option="gold")
    return evaluate_file(chosen, reference, predictions, samples=samples, seed=seed)


def compare(
    predictions: Sequence[str | Path],
    task: str,
    gold: str | Path | None = None,
    *,
    split: str | None = None,
    level: float = 0.99,
    samples: int = 10_000,
    seed: int = 0,
    data: Path | None = None,
) -> "Comparison":
    """Compare prediction files: which differ significantly, and which form a cluster.

    >>> compare(["a.txt", "b.txt"], "emocontext", split="dev").rows[0].name  # doctest: +SKIP
    'b'
    """
    from emoscope.evaluation.compare import compare as compare_files

    chosen, reference = task_and_file(task, gold, split, data, option="gold")
    return compare_files(chosen, reference, predictions, level=level, samples=samples, seed=seed)


def task_and_file(
    name: str, path: str | Path | None, split: str | None, data: Path | None, *, option: str
) -> "tuple[Task, Path | Located]":
    """A task and the file or split to read; `option` is the name of the file's parameter in messages."""
    from emoscope.tasks import get_task
    from emoscope.tasks.data import find_split

    task = get_task(name)
    if (path is None) == (split is None):
        file, part = (f"{option} FILE", "--split NAME") if option.startswith("--") else (option, "split")
        raise EmoscopeError(f"give either {file} or {part}")
    return task, Path(path) if path is not None else find_split(task, str(split), data)


def task_and_path(
    name: str, path: str | Path | None, split: str | None, data: Path | None, *, option: str
) -> "tuple[Task, Path]":
    """Like `task_and_file`, with the path of the split's file."""
    task, file = task_and_file(name, path, split, data, option=option)
    return task, file if isinstance(file, Path) else file.path
