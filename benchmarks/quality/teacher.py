"""What a teacher of `emoscope distil teach` is worth, fold by fold, and its labels for the blind sets.

    python -m benchmarks.quality.teacher FOLDER [FOLDER …] --folds 4 --name decoder

prints the official score of each fold on the examples it had not seen, their mean and spread, and writes the labels of
all folds' mean to benchmarks/blind/TASK/NAME.txt. Several teachers of the same folds are blended; the weights come from
what each fold had not seen.

With `--ngrams FOLDER`, n-grams in a linear classifier are fitted on the same folds (and kept in that folder) and
blended in, too. `--votes OTHER` (repeatable) lets the labels of
benchmarks/blind/TASK/OTHER.txt, of which no probabilities were kept, decide where the blend is unsure: a vote makes its
label e^0.5 times as likely, a weight that was set beforehand. On the folds of EmotionX, where former labels were kept,
weights from 0.25 to 1 gain the same.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.options import command_line
from benchmarks.common.provenance import BLIND, keep, made
from emoscope.core.files import atomic_write
from emoscope.core.fit_context import FitContext
from emoscope.distil.pool import own_examples
from emoscope.distil.teacher import SPLITS, TeacherPlan, fold_numbers, merged_probabilities, test_set
from emoscope.models.block import Floats, one_hot
from emoscope.models.decision import choose_multipliers
from emoscope.models.ensembles.blend import blend_weights, blended
from emoscope.models.label_shift import prior_vector, shift_prior
from emoscope.models.linear.ngram_block import NgramBlock
from emoscope.runs.train import official_score
from emoscope.tasks import get_task
from emoscope.tasks.data import find_split, read_split

VOTE = 0.5


def ngrams(task_name: str, folds: int, folder: Path, fit_context: FitContext) -> dict[str, Floats]:
    """The probabilities of n-grams fitted on the same folds."""
    path = folder / f"{task_name}.npz"
    if not path.is_file():
        examples = own_examples(task_name, fit_context, SPLITS[task_name])
        labels = [str(example.label) for example in examples]
        names = get_task(task_name).labels
        tests = test_set(task_name, fit_context)
        own, test = np.zeros((len(examples), len(names))), np.zeros((len(tests), len(names)))
        numbers = fold_numbers(examples, folds)
        for fold in range(folds):
            rows = np.flatnonzero(numbers != fold)
            block = NgramBlock(names).fit([examples[r] for r in rows], [labels[r] for r in rows], fit_context)
            own[numbers == fold] = block.predict_proba([examples[r] for r in np.flatnonzero(numbers == fold)])
            test += block.predict_proba(tests) / folds
        folder.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, own=own, test=test)
    with np.load(path) as kept:
        return {part: kept[part] for part in ("own", "test")}


def blend(members: Sequence[dict[str, Floats]], task_name: str, fit_context: FitContext) -> dict[str, Floats]:
    """The members' probabilities as one, with weights found on what each fold had not seen."""
    if len(members) == 1:
        return members[0]
    labels = [str(example.label) for example in own_examples(task_name, fit_context, SPLITS[task_name])]
    all_of = {part: np.stack([member[part] for member in members], axis=1) for part in ("own", "test")}
    weights, bias = blend_weights(all_of["own"], one_hot(labels, get_task(task_name).labels))
    print(f"{task_name}: weights {weights.round(3).tolist()}")
    return {part: blended(each, weights, bias) for part, each in all_of.items()}


def main() -> None:
    parser = command_line(__doc__, "data")
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--name", required=True)
    parser.add_argument("--ngrams", type=Path)
    parser.add_argument("--votes", action="append", default=[])
    options = parser.parse_args()
    fit_context = FitContext(resources=options.data)
    plan = TeacherPlan(pretrained="", folds=options.folds)
    teachers = [merged_probabilities(folder, plan, fit_context) for folder in options.folders]
    for name in SPLITS:
        task = get_task(name)
        examples = own_examples(name, fit_context, SPLITS[name])
        labels = [str(example.label) for example in examples]
        counts = np.array([labels.count(label) for label in task.labels], float)
        trained = counts / counts.sum()
        natural = task.metadata.natural_prior
        prior = trained if natural is None else prior_vector(natural, task.labels)
        members = [teacher[name] for teacher in teachers]
        if options.ngrams:
            members.append(ngrams(name, options.folds, options.ngrams, fit_context))
        tables = blend(members, name, fit_context)
        own = shift_prior(tables["own"], trained, prior)
        test = shift_prior(tables["test"], trained, prior)
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
        for voter in options.votes if len(test) else ():
            votes = (BLIND / name / f"{voter}.txt").read_text(encoding="utf-8").split()
            test = test * np.exp(VOTE * one_hot(votes, task.labels))
        if len(test):
            factors = np.ones(len(task.labels)) if decision is None else decision
            with atomic_write(BLIND / name / f"{options.name}.txt") as handle:
                handle.writelines(f"{task.labels[best]}\n" for best in (test * factors).argmax(1))
            settings: dict[str, Any] = {"teachers": [folder.name for folder in options.folders], "folds": options.folds}
            if options.ngrams:
                settings["ngrams"] = True
            if options.votes:
                settings |= {"votes": options.votes, "vote": VOTE}
            read = [find_split(task, "test", options.data).path]
            keep(BLIND / name / f"{options.name}.txt", made(fit_context.seed, settings, read))


if __name__ == "__main__":
    main()
