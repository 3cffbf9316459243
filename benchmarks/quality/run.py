"""Score a model on the data there are for it, and keep the results."""

import platform
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import emoscope
from benchmarks.common.provenance import keep, made
from benchmarks.quality import places
from benchmarks.quality.behaviour import checks_line, run_checks, suite_line
from benchmarks.quality.data_sets import DATA_SETS, DataSet, held_out_tenths
from benchmarks.quality.facts import about, keep_results, of_folder, speed
from benchmarks.quality.kept_answers import KeptAnswers
from benchmarks.quality.measure import answers_of, measure
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import read_json
from emoscope.core.learnt import LearntItems
from emoscope.detector.bundle import PRESETS, resolve
from emoscope.evaluation.behaviour import run_suite
from emoscope.evaluation.results import BehaviourFigures, CheckFigures, HeadResults, ModelResults, read_results

MOST_MET = 0.2  # of a test set: these are left out; with more there is no test left


def run(
    model: str,
    name: str,
    root: Path,
    answers: Sequence[Path],
    samples: int,
    held_out: Path | None = None,
    *,
    optimistic: bool = False,
) -> ModelResults:
    """Measure a model and keep the results; with `optimistic` also on what it learnt, with a note that says so."""
    measured: list[HeadResults] = []
    checks: list[CheckFigures] = []
    behaviour: list[BehaviourFigures] = []
    folder: Path | None = None
    if model in PRESETS or Path(model).is_dir():
        folder = resolve(model)
        for head in emoscope.load(model).heads:
            detector = emoscope.load(model, labels=head, for_metric=True)
            sets = [data for data in DATA_SETS if data.head == head]
            measured += [_measure(folder, detector, data, root, samples, optimistic) for data in sets]
        checks, behaviour = run_behaviour(model)
    elif not answers:
        raise EmoscopeError(f"{model}: is neither an embedded model nor a folder, and there are no --answers")
    if held_out is not None:
        heads = emoscope.load(held_out).heads
        for data in (each for each in held_out_tenths() if each.head in heads):
            detector = emoscope.load(held_out, labels=data.head, for_metric=True)
            measured.append(_measure(held_out, detector, data, root, samples, optimistic))
    for path in answers:
        measured.append(KeptAnswers.model_validate(read_json(path)).measured(root))
        print(f"{path}: {measured[-1].metric} {measured[-1].score:.4f}", flush=True)
    target = places.RESULTS / f"{name}.json"
    before = read_results(target) if target.exists() else None
    results = ModelResults(
        name=name,
        version=emoscope.__version__,
        measured_with=machine(),
        about=about(name),
        heads=tuple(_merged(before.heads if before else (), measured)),
        checks=tuple(checks or (before.checks if before else ())),
        behaviour=tuple(behaviour or (before.behaviour if before else ())),
        speed=speed(name),
        **of_folder(folder),
    )
    keep_results(results)
    files = [root / "emocontext" / "dev.txt", root / "auxiliary" / "goemotions" / "ekman" / "test.tsv", *answers]
    settings = {
        "model": Path(model).name,
        "samples": samples,
        "held_out": held_out.name if held_out else None,
        "optimistic": optimistic,
    }
    keep(target, made(0, settings, files))
    return results


def run_behaviour(model: str) -> tuple[list[CheckFigures], list[BehaviourFigures]]:
    """The 84 and the behaviour suite with every set of labels, the model's default first.

    The suite is answered as `emoscope detect` does, the 84 as the task's metric prefers.
    """
    detector = emoscope.load(model)
    checks: list[CheckFigures] = []
    behaviour: list[BehaviourFigures] = []
    for head in dict.fromkeys([detector.head, *detector.heads]):
        own = run_checks(detector.with_(labels=head, for_metric=True))
        figures = run_suite(detector.with_(labels=head)).figures()
        for line in [checks_line(own)] if own else []:
            print(f"{head} on {line}")
        print(f"{head} on {suite_line(figures)}", flush=True)
        checks += own
        behaviour += figures
    return checks, behaviour


def rerun_behaviour(model: str, name: str) -> ModelResults:
    """Measure the behaviour of a model alone, and keep its other results as they are."""
    target = places.RESULTS / f"{name}.json"
    if not target.exists():
        raise EmoscopeError(f"{target}: no results yet; make them with: python -m benchmarks.quality run")
    checks, behaviour = run_behaviour(model)
    results = read_results(target).model_copy(update={"checks": tuple(checks), "behaviour": tuple(behaviour)})
    keep_results(results)
    return results


def _measure(
    folder: Path, detector: emoscope.Detector, data: DataSet, root: Path, samples: int, optimistic: bool
) -> HeadResults:
    examples = data.read(root)
    notes = data.notes
    learnt = LearntItems.load(folder)
    if learnt is not None and (overlap := learnt.overlap(examples)).is_learnt:
        if overlap.items <= MOST_MET * overlap.of:
            examples = [e for e, met in zip(examples, learnt.known(examples), strict=True) if not met]
            print(f"{data.name}, {data.split}: without {overlap} that the model met elsewhere")
        elif optimistic:
            notes = (f"optimistic: its teachers, or versions that it continues, learnt {overlap}",)
        else:
            problem = f"the model learnt {overlap}; they are no test of it (--optimistic scores them, with a note)"
            raise EmoscopeError(f"{data.name}, {data.split}: {problem}")
    answers = answers_of(detector, examples)
    found = measure(
        answers,
        examples,
        data.metric,
        head=data.head,
        data=data.name,
        split=data.split,
        labels=data.labels,
        samples=samples,
        notes=notes,
    )
    print(f"{data.head} on {data.name} {data.split}: {found.metric} {found.score:.4f}", flush=True)
    return found


def _merged(before: Sequence[HeadResults], measured: Sequence[HeadResults]) -> list[HeadResults]:
    """The new results, and those of before that were not measured again."""
    found = {(head.head, head.data, head.split): head for head in (*before, *measured)}
    return list(found.values())


def machine() -> str:
    """Where this runs."""
    return (
        f"emoscope {emoscope.__version__}, Python {platform.python_version()}, numpy {np.__version__} on "
        f"{platform.system()} {platform.machine()}"
    )
