"""What a teacher of `emoscope distil teach` is worth, fold by fold, and its labels for the blind sets.

    python -m benchmarks.quality.teacher FOLDER --folds 4 --name decoder

prints the official score of each fold on the examples it had not seen, their mean and spread, and writes the labels of
all folds' mean to benchmarks/blind/TASK/NAME.txt.
"""

import argparse
import os
from pathlib import Path

import numpy as np

from benchmarks.common import paths
from emoscope.core.files import atomic_write
from emoscope.core.fit_context import FitContext
from emoscope.distil.pool import own_examples
from emoscope.distil.teacher import SPLITS, TeacherPlan, fold_numbers, merged_probabilities
from emoscope.models.decision import choose_multipliers
from emoscope.models.label_shift import prior_vector, shift_prior
from emoscope.runs.train import official_score
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--name", required=True)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("EMOSCOPE_DATA", "data")))
    options = parser.parse_args()
    fit_context = FitContext(resources=options.data)
    plan = TeacherPlan(pretrained="", folds=options.folds)
    merged = merged_probabilities(options.folder, plan, fit_context)
    for name in SPLITS:
        task = get_task(name)
        examples = own_examples(name, fit_context, SPLITS[name])
        labels = [str(example.label) for example in examples]
        counts = np.array([labels.count(label) for label in task.labels], float)
        trained = counts / counts.sum()
        natural = task.metadata.natural_prior
        prior = trained if natural is None else prior_vector(natural, task.labels)
        own = shift_prior(merged[name]["own"], trained, prior)
        test = shift_prior(merged[name]["test"], trained, prior)
        decision = choose_multipliers(task.metric, task.labels, labels, own, prior)
        scored = np.arange(len(examples))
        data = "folds of the training data"
        if name == "emocontext":  # the training data are not sampled as real traffic is, dev is
            scored = scored[-len(read_split(task, "dev", options.data)) :]
            data = "dev"
        numbers = fold_numbers(examples, options.folds)

        def score(rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
            predicted = [task.labels[best] for best in own[rows].argmax(1)]  # noqa: B023
            return official_score(task, [examples[row] for row in rows], predicted)  # noqa: B023

        scores = [score(scored[numbers[scored] == fold]) for fold in range(options.folds)]
        spread = f"{np.mean(scores):.4f} ± {np.std(scores, ddof=1):.4f}"
        print(f"{name}, {data}: {spread} over {options.folds} folds, {score(scored):.4f} pooled")
        if len(test):
            factors = np.ones(len(task.labels)) if decision is None else decision
            with atomic_write(paths.ROOT / "benchmarks" / "blind" / name / f"{options.name}.txt") as handle:
                handle.writelines(f"{task.labels[best]}\n" for best in (test * factors).argmax(1))


if __name__ == "__main__":
    main()
