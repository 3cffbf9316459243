"""Blend several runs of `tools/train_large.py` with different seeds into one, and score each and the whole.

    python tools/merge_large.py RUN RUN... --data DATA --out FOLDER

Reads the members' answers (TASK.members.npz), finds the weights of all of them together, and leaves in --out what
`tools/train_large.py` leaves for one run: TASK.json, TASK.answers.json and blind/TASK/large.txt. Held-out scores are
those of blends whose weights were found on the other folds. A run that learnt from EmoContext's dev, too, is judged
there by the copies that had not met the dialogue, each alone; weights are found on the training data only. It is what
`emoscope train large --set repeats=3` trains, but for the training before it, which each run here did for itself.
"""

import argparse
import json
import os
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.files import atomic_write
from emoscope.core.fit_context import FitContext
from emoscope.distil.pool import own_examples
from emoscope.models.block import Floats, one_hot
from emoscope.models.decision import choose_multipliers
from emoscope.models.ensembles.blend import blend_weights, blended
from emoscope.models.label_shift import prior_vector, shift_prior
from emoscope.runs.train import official_score
from emoscope.tasks import TASKS, Task, get_task
from emoscope.tasks.data import read_split


class Judged:
    """Members' answers of one or more runs, as one blend."""

    def __init__(self, task: Task, own: Sequence[Example], tables: Sequence[dict[str, Floats]]) -> None:
        self.task = task
        self.own = own
        self.held_out = np.concatenate([table["held_out"].astype(float) for table in tables], axis=1)
        self.asked: dict[str, Floats] = {
            split: np.concatenate([table[split].astype(float) for table in tables], axis=1)
            for split in ("dev", "test")
            if split in tables[0]
        }
        self.fold = tables[0]["fold"]
        self.gold = one_hot([str(example.label) for example in own], task.labels)
        self.trained = self.gold.mean(0)
        natural = task.metadata.natural_prior
        self.prior = self.trained if natural is None else prior_vector(natural, task.labels)
        self.weights, self.bias = blend_weights(self.held_out, self.gold)
        labels = [str(example.label) for example in own]
        shifted = self.shifted(blended(self.held_out, self.weights, self.bias))
        self.decision = choose_multipliers(task.metric, task.labels, labels, shifted, self.prior)

    def shifted(self, answers: Floats) -> Floats:
        """Under the class prior of real traffic."""
        return shift_prior(answers, self.trained, self.prior)

    def honest(self) -> Floats:
        """Each fold's probabilities with weights found on the others."""
        answers = np.zeros_like(self.gold)
        for fold in np.unique(self.fold):
            there = self.fold == fold
            answers[there] = blended(self.held_out[there], *blend_weights(self.held_out[~there], self.gold[~there]))
        return answers

    def labels(self, split: str) -> list[str]:
        """The labels it answers with."""
        answers = self.shifted(blended(self.asked[split], self.weights, self.bias))
        if self.decision is not None:
            answers = answers * self.decision
        return [self.task.labels[best] for best in answers.argmax(1)]

    def score(self, data: Path) -> float:
        """The official score: EmoContext's on dev, of the others on held-out folds."""
        if self.task.name == "emocontext":
            return official_score(self.task, read_split(self.task, "dev", data), self.labels("dev"))
        best = self.honest().argmax(1)
        return official_score(self.task, self.own, [self.task.labels[index] for index in best])


def without_dev(table: dict[str, Floats], own: int) -> dict[str, Floats]:
    """The answers of a run that learnt from dev as if it had not: those of the copies that had not met a dialogue."""
    if len(table["held_out"]) == own:
        return table
    learnt = table["held_out"]
    return {**table, "held_out": learnt[:own], "dev": learnt[own:], "fold": table["fold"][:own]}


def merge(task: Task, runs: Sequence[Path], data: Path, out: Path) -> None:
    """Write the blend of all runs' members."""
    own = own_examples(task.name, FitContext(resources=data))
    found = []
    for run in runs:
        with np.load(run / f"{task.name}.members.npz", allow_pickle=False) as kept:
            found.append({name: kept[name] for name in kept.files})
    tables = [without_dev(table, len(own)) for table in found]
    seeds = [json.loads((run / f"{task.name}.json").read_text(encoding="utf-8"))["seed"] for run in runs]
    alone = [round(Judged(task, own, [table]).score(data), 4) for table in tables]
    whole = Judged(task, own, tables)
    result: dict[str, Any] = {"system": "large", "task": task.name, "seeds": seeds, "alone": alone}
    result |= {"mean": round(statistics.mean(alone), 4), "spread": round(statistics.stdev(alone), 4)}
    result |= {"blend": round(whole.score(data), 4), "weights": whole.weights.tolist(), "bias": whole.bias.tolist()}
    result["decision"] = None if whole.decision is None else whole.decision.tolist()
    content: dict[str, Any] = {"head": task.name.partition("-")[0], "task": task.name, "labels": task.labels}
    notes = [f"a blend of {len(runs)} runs; encoder: all-mpnet-base-v2"]
    if learnt := sum(len(table["held_out"]) > len(own) for table in found):
        notes.append(
            f"{learnt} of them was also trained on dev, in folds: each dev dialogue is predicted by a copy that was "
            "not trained on it"
        )
    content |= {"seeds": seeds, "seed_scores": alone, "notes": notes}
    if task.name == "emocontext":
        content |= {"splits": ["dev"], "split": "dev (Test1)", "prior": dict(task.metadata.natural_prior or {})}
        content["training_prior"] = dict(zip(task.labels, whole.trained.tolist(), strict=True))
        if whole.decision is not None:
            content["decision"] = dict(zip(task.labels, whole.decision.tolist(), strict=True))
        answers = blended(whole.asked["dev"], whole.weights, whole.bias)
    else:
        splits = ["train", "dev"] if task.name == "iest" else ["train"]
        content |= {"splits": splits, "split": "five folds of the training data"}
        answers = whole.honest()
    content["probabilities"] = np.round(answers, 6).tolist()
    (out / "blind" / task.name).mkdir(parents=True, exist_ok=True)
    task.write_labels(out / "blind" / task.name / "large.txt", whole.labels("test"))
    with atomic_write(out / f"{task.name}.answers.json") as handle:
        json.dump(content, handle)
    with atomic_write(out / f"{task.name}.json") as handle:
        json.dump(result, handle, indent=1)
    print(f"{task.name}: runs {alone}, mean {result['mean']}, spread {result['spread']}, blend {result['blend']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("EMOSCOPE_DATA", "data")))
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    if len(options.runs) < 2:
        parser.error("expected at least two runs")
    for run in options.runs:
        if not list(run.glob("*.members.npz")):
            parser.error(f"{run} holds no answers of tools/train_large.py")
    for name in TASKS:
        runs = [run for run in options.runs if (run / f"{name}.members.npz").is_file()]
        if len(runs) < 2:
            print(f"{name}: left out, {len(runs)} of the runs has it")
            continue
        merge(get_task(name), runs, options.data, options.out)


if __name__ == "__main__":
    main()
