"""Train `large` on every task, and write down its scores, its blind predictions and what it can teach.

    python tools/train_large.py --data DATA --encoder FOLDER --out FOLDER [--tasks emocontext,iest] [--workers 8]

One task after the other, so that what is done is done. Each leaves in --out:

    TASK.json          scores on held-out folds and on EmoContext's dev, also of each member; weights, decision
    TASK.members.npz   the members' probabilities of dev and test, to try other blends with
    TASK.npz           answers for `emoscope distil student`
    TASK.answers.json  answers to what it has not met, for `python -m benchmarks.quality run --answers FILE`
    blind/TASK/large.txt

`python -m benchmarks.systems.large` keeps TASK.json among the results. A task that has its TASK.json is not done again,
nor are the folds that a killed run had finished. IEST learns from its trial set, too.
"""

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.files import atomic_write
from emoscope.core.fit_context import FitContext
from emoscope.distil.pool import own_examples, save_answers, teach
from emoscope.models.block import Floats, one_hot
from emoscope.models.ensembles.blend import Blend, blend_weights, blended, geometric_mean
from emoscope.runs.train import official_score
from emoscope.systems.base import parse_setting
from emoscope.systems.large import Large
from emoscope.tasks import TASKS, Task, get_task
from emoscope.tasks.data import read_split


def one_task(task: Task, options: argparse.Namespace) -> None:
    settings = {"encoder": options.encoder, "taught": str(options.out / "taught")}
    settings |= dict(parse_setting(text) for text in options.set)
    examples = own_examples(task.name, FitContext(resources=options.data))
    if options.dev and task.name == "emocontext":
        examples += read_split(task, "dev", options.data)
    begun = time.perf_counter()

    def tell(message: str, _: float) -> None:
        if "fold" in message:
            print(f"  {time.perf_counter() - begun:5.0f} s  {message}", flush=True)

    fit_context = FitContext(
        seed=options.seed,
        device=options.device,
        resources=options.data,
        workers=options.workers,
        checkpoints=options.out / "checkpoints" / task.name,
        progress=tell,
    )
    system = Large(task, seed=options.seed, settings=settings).fit(examples, fit_context)
    seconds = time.perf_counter() - begun
    assert isinstance(system.block, Blend)
    result: dict[str, Any] = {
        "system": "large",
        "task": task.name,
        "seed": options.seed,
        "examples": len(examples),
        "with_dev": options.dev and task.name == "emocontext",
        "seconds": round(seconds, 1),
        "settings": {**system.settings.model_dump(), "encoder": Path(system.settings.encoder).name, "taught": None},
        "held_out": scores(task, system, examples, system.block.held_out),
        "weights": system.block.weights.tolist(),
        "bias": system.block.bias.tolist(),
        "decision": None if system.decision is None else system.decision.tolist(),
    }
    answers: dict[str, Any] = {}
    for split in ("dev", "test"):
        if split in task.metadata.splits and (split == "test" or task.name == "emocontext"):
            asked = read_split(task, split, options.data)
            answers[split] = members(system.block, asked)
            if split == "dev" and not options.dev:
                result["dev"] = scores(task, system, asked, answers[split])
    (options.out / "blind" / task.name).mkdir(parents=True, exist_ok=True)
    labels = _decided(system, _corrected(system, answers["test"]))
    task.write_labels(options.out / "blind" / task.name / "large.txt", labels)
    np.savez_compressed(
        options.out / f"{task.name}.members.npz",
        held_out=system.block.held_out.astype(np.float16),
        fold=system.block.cut,
        **{name: table.astype(np.float16) for name, table in answers.items()},
    )
    print(f"{task.name}: {seconds:.0f} s, {json.dumps(result['held_out'])} {json.dumps(result.get('dev'))}", flush=True)
    if not options.dev and not options.scores_only:
        save_answers(options.out / f"{task.name}.npz", task.name, task.labels, teach(system.block, task, fit_context))
    (options.out / f"{task.name}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def write_answers(task: Task, out: Path, data: Path) -> None:
    """Answers to what was not learnt from: EmoContext's dev; of other tasks the held-out folds, each with a blend whose
    weights were found on the other folds."""
    result = json.loads((out / f"{task.name}.json").read_text(encoding="utf-8"))
    own = own_examples(task.name, FitContext(resources=data))
    gold = one_hot([str(example.label) for example in own], task.labels)
    content: dict[str, Any] = {"head": task.name.partition("-")[0], "task": task.name, "labels": task.labels}
    content |= {"seeds": [result["seed"]], "notes": ["one run; all-mpnet-base-v2 as the encoder"]}
    with np.load(out / f"{task.name}.members.npz", allow_pickle=False) as kept:
        if task.name == "emocontext":
            answers = blended(kept["dev"].astype(float), np.array(result["weights"]), np.array(result["bias"]))
            assert task.metadata.natural_prior is not None
            content |= {"splits": ["dev"], "split": "dev (Test1)", "prior": dict(task.metadata.natural_prior)}
            content["training_prior"] = dict(zip(task.labels, gold.mean(0).tolist(), strict=True))
            if result["decision"]:
                content["decision"] = dict(zip(task.labels, result["decision"], strict=True))
        else:
            held_out, answers = kept["held_out"].astype(float), np.zeros_like(gold)
            for fold in np.unique(kept["fold"]):
                there = kept["fold"] == fold
                answers[there] = blended(held_out[there], *blend_weights(held_out[~there], gold[~there]))
            splits = ["train", "dev"] if task.name == "iest" else ["train"]
            content |= {"splits": splits, "split": "five folds of the training data"}
    content["probabilities"] = np.round(answers, 6).tolist()
    with atomic_write(out / f"{task.name}.answers.json") as handle:
        json.dump(content, handle)


def members(blend: Blend, examples: list[Example]) -> Floats:
    """The probabilities of each member, its copies averaged."""
    return np.stack([geometric_mean([copy.predict_proba(examples) for copy in each]) for each in blend.fitted], axis=1)


def _corrected(system: Large, answers: Floats) -> Floats:
    assert isinstance(system.block, Blend)
    return system.detector().correct(blended(answers, system.block.weights, system.block.bias))


def _decided(system: Large, probabilities: Floats) -> list[str]:
    detector = system.detector()
    return [detector.labels[place] for place in detector.choose(probabilities)]


def scores(task: Task, system: Large, examples: list[Example], answers: Floats) -> dict[str, Any]:
    """The official score of the blend as it decides, of its most likely labels, and of each member alone."""
    whole = _corrected(system, answers)
    best = [task.labels[index] for index in whole.argmax(1)]
    alone = [
        official_score(
            task, examples, [task.labels[index] for index in system.detector().correct(answers[:, number]).argmax(1)]
        )
        for number in range(answers.shape[1])
    ]
    return {
        "score": round(official_score(task, examples, _decided(system, whole)), 4),
        "most_likely": round(official_score(task, examples, best), 4),
        "members": [round(value, 4) for value in alone],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("EMOSCOPE_DATA", "data")))
    parser.add_argument("--encoder", default="sentence-transformers/all-mpnet-base-v2")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--device", default="auto")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--dev", action="store_true", help="learn from EmoContext's dev set, too: for blind predictions"
    )
    parser.add_argument("--scores-only", action="store_true", help="try an idea: write no answers for a student")
    parser.add_argument("--set", action="append", default=[], help="change a setting, as in `emoscope train`")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.tasks.split(","):
        if not (options.out / f"{name}.json").exists():
            one_task(get_task(name), options)
        if not json.loads((options.out / f"{name}.json").read_text(encoding="utf-8"))["with_dev"]:
            write_answers(get_task(name), options.out, options.data)


if __name__ == "__main__":
    main()
