"""Whether back-translations help on EmotionX: the provided ones, ours through Apertium or Marian, both, or neither.

    python -m benchmarks.corpus.augmentation --data DATA --work FOLDER [--parts files,speed,similarity,effect]
        [--systems podlab,nano,cyut] [--rows 4] [--write] [--model 'opus/{source}-{target}' --via fr]

FOLDER gets our augmented files if it does not have them, and what Apertium needed for them; then every system is fitted
on all folds but one and judged on the original wordings of that one. A dialogue and all its variants are on one side.
"""

import argparse
import json
import random
import resource
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.pages import printed_section
from emoscope.core.dialogue import Example
from emoscope.core.files import atomic_write
from emoscope.core.fit_context import FitContext
from emoscope.core.significance import difference, resampled_scores
from emoscope.corpus.augment.apertium import Apertium
from emoscope.corpus.augment.ascii_text import ascii_text
from emoscope.corpus.augment.augment import augment_file
from emoscope.corpus.augment.engines import Engine, open_engine
from emoscope.corpus.augment.meaning import EmbeddingSimilarity, OverlapSimilarity, Similarity, word_key
from emoscope.corpus.mining.embedder import open_embedder
from emoscope.models.ensembles.folds import fold_numbers
from emoscope.models.linear.ngram_block import NgramBlock
from emoscope.models.linear.ngram_linear import NgramLinear
from emoscope.runs.train import official_score
from emoscope.systems import SYSTEMS
from emoscope.systems.podlab import PodlabSettings
from emoscope.tasks import Task, get_task
from emoscope.tasks.datasets.augmentation import with_variants

FILES = {"emotionx-friends": "friends", "emotionx-push": "emotionpush"}
STRENGTH = {"podlab": PodlabSettings().C, "nano": NgramLinear().strength}
EMOTIONS = ("joy", "sadness", "anger")
Variants = Mapping[tuple[str, int], Mapping[str, str]]


def place(example: Example) -> tuple[str, int]:
    """A turn, whatever the file: the published augmented files have other quotation marks and another order."""
    return word_key("|".join(example.dialogue.texts)), example.turn


def variants_of(task: Task, path: Path) -> Variants:
    return {place(example): example.variants for example in task.read(path)}


def make_ours(data: Path, work: Path, engine: Engine, via: Sequence[str]) -> None:
    """Our augmented files, timed, with what was dropped."""
    columns: dict[str, dict[str, str]] = {}
    for stem in FILES.values():
        record = work / f"{stem}.counts.json"
        if not record.is_file():
            begun = time.perf_counter()
            counts = augment_file(
                str(data / "emotionx" / f"{stem}.json"), work / f"{stem}.json", engine=engine, via=via
            )
            seconds = time.perf_counter() - begun
            record.write_text(json.dumps({"engine": engine.name, "seconds": seconds, **asdict(counts)}))
        found = json.loads(record.read_text())
        for language, own in found["via"].items():
            shares = {"kept": own["kept"], **own["dropped"]}
            shown = {reason: f"{count:,} ({count / found['turns']:.1%})" for reason, count in shares.items()}
            rate = f"{found['turns'] / found['seconds']:.0f}"
            columns[f"{stem}, {language}"] = {
                "turns": f"{found['turns']:,}",
                **shown,
                "turns/s, both ways": rate,
            }
    print("| | " + " | ".join(columns) + " |\n|---" + "|---:" * len(columns) + "|")
    for row in next(iter(columns.values())):
        print(f"| {row} | " + " | ".join(column[row] for column in columns.values()) + " |")


def processor_seconds() -> float:
    """What the processes of Apertium have used, which a busy machine does not change."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def speed(data: Path, sizes: Sequence[int] = (1, 100, 1000)) -> None:
    """Apertium alone, one direction, by how many texts a pipeline gets."""
    task = get_task("emotionx-friends")
    texts = list(dict.fromkeys(ascii_text(example.text) for example in task.read(data / "emotionx" / "friends.json")))
    print("\n| direction | texts per batch | texts/s | texts per CPU second |\n|---" + "|---:" * 3 + "|")
    for source, target in (("en", "es"), ("es", "en"), ("en", "ca"), ("ca", "en")):
        given = texts[:3000] if source == "en" else Apertium().translator("en", source)(texts[:3000])
        translate = Apertium().translator(source, target)
        for size in sizes:
            some = given[: min(len(given), 20 * size)]
            begun, used = time.perf_counter(), processor_seconds()
            for start in range(0, len(some), size):
                translate(some[start : start + size])
            rates = (len(some) / (time.perf_counter() - begun), len(some) / (processor_seconds() - used))
            print(f"| {source}-{target} | {size:,} | {rates[0]:,.0f} | {rates[1]:,.0f} |", flush=True)


def similarity(data: Path, encoder: str | None, chance: random.Random) -> None:
    """How many variants, and how many pairs of unlike turns, each threshold drops."""
    thresholds = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    head = " | ".join(f"under {value}" for value in thresholds)
    print(f"\n| measure | pairs | {head} |\n|---|---" + "|---:" * len(thresholds) + "|")
    task = get_task("emotionx-friends")
    published: list[tuple[str, str]] = []
    for stem in FILES.values():
        for example in task.read(data / "emotionx" / f"{stem}.augmented.json"):
            published += [(ascii_text(example.text), ascii_text(text)) for text in example.variants.values()]
    published = [pair for pair in published if word_key(pair[1]) and word_key(pair[0]) != word_key(pair[1])]
    published = chance.sample(published, 5000)
    strangers = [other for _, other in published]
    chance.shuffle(strangers)
    unlike = [(one, other) for (one, _), other in zip(published, strangers, strict=True)]
    measures: list[Similarity] = [OverlapSimilarity()]
    if encoder is not None:
        measures.append(EmbeddingSimilarity(open_embedder(encoder)))
    for measure in measures:
        for name, pairs in (("published variants that differ", published), ("a turn and a variant of another", unlike)):
            values = np.array(measure(*zip(*pairs, strict=True)))
            shares = " | ".join(f"{(values < value).mean():.1%}" for value in thresholds)
            print(f"| {measure.name} | {name} | {shares} |", flush=True)


def arms(examples: Sequence[Example], provided: Variants, ours: Variants) -> Iterator[tuple[str, list[Example]]]:
    """The examples, each with the variants that a comparison gives them."""

    def holding(*sources: Variants) -> list[Example]:
        return [
            replace(
                example, variants={name: text for source in sources for name, text in source[place(example)].items()}
            )
            for example in examples
        ]

    yield "none", holding()
    yield "provided", holding(provided)
    yield "ours", holding(ours)
    yield "both", holding(provided, ours)


def learnt_from(examples: Sequence[Example], labels: Collection[str], *, repeat: bool) -> list[Example]:
    """The examples and their variants; with `repeat`, each original again in place of a variant."""
    made = with_variants(examples, labels)
    if not repeat:
        return made
    return [example if example.origin is None else replace(example, dialogue=example.origin) for example in made]


def predictions(
    system: str, task: Task, learn: list[Example], judge: list[Example], data: Path, seed: int, proportion: float
) -> list[str]:
    """Answers of a system whose penalty on large weights is that of so many times fewer examples."""
    if system == "nano":  # without the calibration, which changes no label and takes three times as long
        model = NgramBlock(task.labels, calibration_folds=0, strength=STRENGTH[system] / proportion)
        return model.fit(learn, [str(example.label) for example in learn], FitContext(seed=seed)).predict(judge)
    settings: dict[str, Any] = {"C": STRENGTH[system] / proportion} if system in STRENGTH else {}
    if system == "cyut":  # on what the comparison gives it, and all of that
        settings["neutral_share"] = 1.0
        learn = [replace(example, variants={}) for example in learn]
    fitted = SYSTEMS[system](task, seed=seed, settings=settings)
    return fitted.fit(learn, FitContext(seed=seed, device="cpu", resources=data)).predict(judge)


@dataclass(frozen=True)
class Trial:
    """One row of the comparison."""

    name: str
    examples: list[Example]
    labels: tuple[str, ...]
    repeat: bool = False  # originals in the place of their variants
    in_proportion: bool = False  # the penalty as without variants


def trials(task: Task, examples: list[Example], provided: Variants, ours: Variants) -> Iterator[Trial]:
    given = dict(arms(examples, provided, ours))
    for name, holding in given.items():
        yield Trial(name, holding, task.labels)
    yield Trial("originals repeated, as often as both", given["both"], task.labels, repeat=True)
    for name in ("provided", "ours", "both"):
        yield Trial(f"{name}, penalty in proportion", given[name], task.labels, in_proportion=True)
    for name in ("provided", "ours", "both"):
        yield Trial(f"{name}, of joy, sadness and anger only", given[name], EMOTIONS)


def answered(trial: Trial, system: str, task: Task, data: Path, numbers: Sequence[int], seed: int) -> dict[str, Any]:
    """The answers for all folds, each by a system that had not seen it; the folds' scores and sizes."""
    examples = trial.examples
    answers, scores, sizes = [""] * len(examples), [], []
    for fold in range(max(numbers) + 1):
        inside = [index for index, number in enumerate(numbers) if number == fold]
        outside = [examples[index] for index, number in enumerate(numbers) if number != fold]
        kept = [example for example in outside if example.label in task.labels]
        learn = learnt_from(kept, trial.labels, repeat=trial.repeat)
        judge = [replace(examples[index], variants={}) for index in inside]
        families = {word_key("|".join(example.family)) for example in learn}
        assert not families & {word_key("|".join(example.family)) for example in judge}
        proportion = len(learn) / len(kept) if trial.in_proportion else 1.0
        found = predictions(system, task, learn, judge, data, seed, proportion)
        scores.append(official_score(task, judge, found))
        sizes.append(len(learn))
        for index, answer in zip(inside, found, strict=True):
            answers[index] = answer
    return {"answers": answers, "scores": scores, "sizes": sizes}


def effect(system: str, task: Task, data: Path, work: Path, folds: int, seed: int, rows: int | None) -> None:
    """Print a row for each trial, or for the first so many.

    What was answered is kept in the work folder: a killed run goes on.
    """
    stem = FILES[task.name]
    examples = list(task.read(data / "emotionx" / f"{stem}.json"))
    provided = variants_of(task, data / "emotionx" / f"{stem}.augmented.json")
    ours = variants_of(task, work / f"{stem}.json")
    numbers = fold_numbers(examples, folds)
    scored = [index for index, example in enumerate(examples) if task.scored(str(example.label))]
    codes = {label: code for code, label in enumerate(task.labels)}

    def coded(labels: Sequence[str | None]) -> Any:
        return np.array([codes[str(labels[index])] for index in scored])

    gold, base = coded([example.label for example in examples]), None
    for trial in islice(trials(task, examples, provided, ours), rows):
        record = work / f"{system}-{stem}-{folds}-{seed}-{trial.name.replace(' ', '-')}.json"
        if not record.is_file():
            made = answered(trial, system, task, data, numbers, seed)
            with atomic_write(record) as handle:
                json.dump(made, handle)
        found = json.loads(record.read_text())
        mine, size = coded(found["answers"]), len(codes)
        told = ""
        if base is not None:
            drawn = resampled_scores(
                gold,
                [mine, base],
                classes=len(codes),
                metric=lambda tables: task.metric(tables, task.labels),
                seed=seed,
            )
            observed = [
                float(
                    task.metric(np.bincount(gold * size + answers, minlength=size**2).reshape(size, size), task.labels)
                )
                for answers in (mine, base)
            ]
            gain = difference(observed[0] - observed[1], drawn[0] - drawn[1])
            told = f"{gain.observed:+.4f} ({gain.interval.low:+.4f} to {gain.interval.high:+.4f})"
        base = mine if base is None else base
        print(
            f"| {system} | {stem} | {trial.name} | {np.mean(found['sizes']):,.0f} | {np.mean(found['scores']):.4f} | "
            f"{np.std(found['scores'], ddof=1):.4f} | {told} | {np.mean(mine != codes['neutral']):.1%} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--parts", default="files,speed,similarity,effect")
    parser.add_argument("--systems", default="podlab,nano")
    parser.add_argument("--model", help="translate with these Marian models instead of Apertium")
    parser.add_argument("--beam-size", type=int, help="of Marian")
    parser.add_argument("--via", default="es,ca", help="the languages of our variants")
    parser.add_argument("--encoder", help="a folder of `emoscope corpus encoder`, to measure its similarity, too")
    parser.add_argument("--rows", type=int, help="only the first so many rows of each system and dataset")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/results/augmentation.md")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    parts = options.parts.split(",")
    if "files" in parts or "effect" in parts:  # the second needs them
        with section("files", options):
            engine = open_engine("marian" if options.model else "apertium", options.model, options.beam_size)
            make_ours(options.data, options.work, engine, options.via.split(","))
    if "speed" in parts:
        with section("speed", options):
            speed(options.data)
    if "similarity" in parts:
        with section("similarity", options):
            similarity(options.data, options.encoder, random.Random(options.seed))
    if "effect" in parts:
        with section("effect", options):
            effects(options)


def section(name: str, options: argparse.Namespace) -> AbstractContextManager[None]:
    return printed_section("augmentation", f"{name}-marian" if options.model else name, write=options.write)


def effects(options: argparse.Namespace) -> None:
    print(
        "\n| system | data | variants | training examples | mean micro-F1 | sd over folds | difference to none (95 %) "
        "| "
        "emotions predicted |\n|---|---|---|" + "---:|" * 5
    )
    for system in options.systems.split(","):
        for task in FILES:
            effect(system, get_task(task), options.data, options.work, options.folds, options.seed, options.rows)


if __name__ == "__main__":
    main()
