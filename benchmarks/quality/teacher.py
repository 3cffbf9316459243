"""What a teacher of `emoscope distil teach` is worth, fold by fold, and its labels for the blind sets.

    python -m benchmarks.quality.teacher FOLDER [FOLDER …] --folds 4 --name decoder

prints the official score of each fold on the examples it had not seen, their mean and spread, and writes the labels of
all folds' mean to benchmarks/blind/TASK/NAME.txt. Several teachers of the same folds are blended; the weights come from
what each fold had not seen.

Folds that are missing in a folder are left out of all figures; the blind labels are of the mean of the others.

`--members OUT` adds the members that `tools/train_large.py --out OUT` trained for single tasks, whose folds may be
others. With `--ngrams FOLDER`, n-grams in a linear classifier are fitted on the same folds (and kept in that folder)
and blended in, too. `--votes OTHER` (repeatable) lets the labels of benchmarks/blind/TASK/OTHER.txt, of which no
probabilities were kept, decide where the blend is unsure: a vote makes its label e^(1/3) times as likely. By the
likelihood of held-out folds a vote is worth e^0.3 on Friends and nothing on EmotionPush (labels of former language
models), and e^0.5 on IEST (labels of encoders against a language model).

`--favour 1.35` multiplies the probabilities of EmoContext's emotions. A micro-F1 of 0.8 is highest if an emotion is
chosen from a probability of 0.4 (half of the F1: Lipton et al. 2014), which is a factor of 1.5 against "others"; on
folds and on dev 1.2 to 1.5 are best. `--answers FOLDER` keeps what the folds had not seen for
`python -m benchmarks.quality run --answers`.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.options import command_line
from benchmarks.common.provenance import BLIND, Made, keep, made
from benchmarks.quality.kept_answers import KeptAnswers
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import atomic_write, write_file
from emoscope.core.fit_context import FitContext
from emoscope.distil.pool import own_examples
from emoscope.distil.teacher import SPLITS, TeacherPlan, fold_numbers, merged_probabilities, test_set
from emoscope.models.block import Floats, one_hot
from emoscope.models.decision import choose_multipliers
from emoscope.models.ensembles.blend import blend_weights, blended
from emoscope.models.label_shift import prior_vector, shift_prior
from emoscope.models.linear.ngram_block import NgramBlock
from emoscope.runs.train import official_score
from emoscope.tasks import Task, get_task
from emoscope.tasks.data import find_split, read_split

VOTE = 1 / 3


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


def task_members(task_name: str, folder: Path) -> list[dict[str, Floats]]:
    """The members that were trained for one task alone; none if there is no file of it."""
    path = folder / f"{task_name}.members.npz"
    if not path.is_file():
        return []
    with np.load(path) as kept:
        own, test = kept["held_out"].astype(float), kept["test"].astype(float)
    return [{"own": own[:, number], "test": test[:, number]} for number in range(own.shape[1])]


def answered(members: Sequence[dict[str, Floats]]) -> NDArray[np.bool_]:
    """The examples that all members have answered without having learnt them."""
    return np.asarray(~np.any([np.isnan(member["own"]).any(1) for member in members], axis=0))


def blend(
    members: Sequence[dict[str, Floats]], task: Task, labels: Sequence[str], numbers: NDArray[np.int64]
) -> dict[str, Floats]:
    """The members' probabilities as one; the weights for each fold are found on the others.

    Examples that some member has not answered have no probabilities.
    """
    if len(members) == 1:
        return members[0]
    own, test = (np.stack([member[part] for member in members], axis=1) for part in ("own", "test"))
    gold = one_hot(labels, task.labels)
    known = answered(members)
    if len(np.unique(numbers[known])) < 2:
        raise EmoscopeError("blending needs two folds at least that all members have answered")
    weights, bias = blend_weights(own[known], gold[known])
    print(f"{task.name}: weights {weights.round(3).tolist()}")
    held_out = np.full(gold.shape, np.nan)
    for fold in np.unique(numbers[known]):
        there, others = known & (numbers == fold), known & (numbers != fold)
        held_out[there] = blended(own[there], *blend_weights(own[others], gold[others]))
    return {"own": held_out, "test": blended(test, weights, bias)}


def factors_of(task: Task, labels: Sequence[str], own: Floats, prior: Floats, favour: float) -> Floats:
    """The labels' factors: `favour` for emotions that are rare in real traffic, else those fitted on folds."""
    if task.metadata.natural_prior is not None:
        return np.where([label != task.metadata.neutral_label for label in task.labels], favour, 1.0)
    fitted = choose_multipliers(task.metric, task.labels, labels, own, prior)
    return np.ones(len(task.labels)) if fitted is None else fitted


def kept_answers(task: Task, members: int, probabilities: Floats, trained: Floats, factors: Floats) -> str:
    """What the folds had not seen, as `benchmarks.quality run --answers` reads it."""
    natural = task.metadata.natural_prior
    there = np.flatnonzero(~np.isnan(probabilities).any(1))
    every = len(there) == len(probabilities)
    missing = (
        () if every else (f"of {len(there):,} of {len(probabilities):,} examples; the other folds were not trained",)
    )
    return KeptAnswers(
        rows=None if every else there.tolist(),
        head=task.name.partition("-")[0],
        task=task.name,
        splits=SPLITS[task.name][-1:] if natural else SPLITS[task.name],
        split="dev (Test1)" if natural else "folds of the training data",
        labels=task.labels,
        probabilities=probabilities[there].round(6).tolist(),
        training_prior=dict(zip(task.labels, trained.tolist(), strict=True)) if natural else None,
        prior=dict(natural) if natural else None,
        decision=dict(zip(task.labels, factors.tolist(), strict=True)),
        notes=(f"a blend of {members} members in folds, each trained without what it predicts", *missing),
    ).model_dump_json()


def write_blind(task: Task, name: str, test: Floats, voters: Sequence[str], record: Made) -> None:
    """The labels of a task's test set, with the votes of other labels for it."""
    for voter in voters:
        votes = (BLIND / task.name / f"{voter}.txt").read_text(encoding="utf-8").split()
        test = test * np.exp(VOTE * one_hot(votes, task.labels))
    path = BLIND / task.name / f"{name}.txt"
    with atomic_write(path) as handle:
        handle.writelines(f"{task.labels[best]}\n" for best in test.argmax(1))
    keep(path, record)


def one_task(name: str, teachers: Sequence[Mapping[str, dict[str, Floats]]], options: argparse.Namespace) -> None:
    """Print a task's figures, and write its answers and blind labels."""
    fit_context = FitContext(resources=options.data)
    task = get_task(name)
    examples = own_examples(name, fit_context, SPLITS[name])
    labels = [str(example.label) for example in examples]
    numbers = fold_numbers(examples, options.folds)
    counts = np.array([labels.count(label) for label in task.labels], float)
    trained = counts / counts.sum()
    natural = task.metadata.natural_prior
    prior = trained if natural is None else prior_vector(natural, task.labels)
    own_members = task_members(name, options.members) if options.members else []
    members = [*(teacher[name] for teacher in teachers), *own_members]
    if options.ngrams:
        members.append(ngrams(name, options.folds, options.ngrams, fit_context))
    tables = blend(members, task, labels, numbers)
    known = np.flatnonzero(answered([tables]))
    own = np.full(tables["own"].shape, np.nan)
    own[known] = shift_prior(tables["own"][known], trained, prior)
    factors = factors_of(task, [labels[row] for row in known.tolist()], own[known], prior, options.favour)
    asked = np.arange(len(examples))
    if name == "emocontext":  # the training data are not sampled as real traffic is, dev is
        asked = asked[-len(read_split(task, "dev", options.data)) :]
    scored = np.intersect1d(asked, known)

    def score(rows: NDArray[np.int64]) -> float:
        predicted = [task.labels[best] for best in (own[rows] * factors).argmax(1)]
        return official_score(task, [examples[row] for row in rows.tolist()], predicted)

    scores = [score(scored[numbers[scored] == fold]) for fold in np.unique(numbers[scored])]
    spread = f"{np.mean(scores):.4f} ± {np.std(scores, ddof=1):.4f}"
    data = "dev" if name == "emocontext" else "folds of the training data"
    print(f"{name}, {data}: {spread} over {len(scores)} folds, {score(scored):.4f} pooled")
    if options.answers:
        content = kept_answers(task, len(members), tables["own"][asked], trained, factors)
        write_file(options.answers / f"{name}.json", content)
    if len(tables["test"]):
        settings = {"teachers": [folder.name for folder in options.folders], "folds": options.folds}
        settings |= {"members": len(own_members), "ngrams": bool(options.ngrams), "votes": options.votes}
        settings |= {"factors": factors.round(3).tolist()}
        record = made(fit_context.seed, settings, [find_split(task, "test", options.data).path])
        write_blind(task, options.name, shift_prior(tables["test"], trained, prior) * factors, options.votes, record)


def main() -> None:
    parser = command_line(__doc__, "data")
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--name", required=True)
    parser.add_argument("--members", type=Path)
    parser.add_argument("--ngrams", type=Path)
    parser.add_argument("--votes", action="append", default=[])
    parser.add_argument("--favour", type=float, default=1.0)
    parser.add_argument("--answers", type=Path)
    options = parser.parse_args()
    if options.answers:
        options.answers.mkdir(parents=True, exist_ok=True)
    plan = TeacherPlan(pretrained="", folds=options.folds)
    fit_context = FitContext(resources=options.data)
    teachers = [merged_probabilities(folder, plan, fit_context) for folder in options.folders]
    for name in SPLITS:
        one_task(name, teachers, options)


if __name__ == "__main__":
    main()
