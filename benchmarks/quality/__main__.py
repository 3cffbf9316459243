"""Measure a model's quality and write docs/results/quality.md and the model cards.

    python -m benchmarks.quality run --model default --data DATA [--held-out FOLDER] [--answers FILE ...]
    python -m benchmarks.quality behaviour --model default
    python -m benchmarks.quality render

`run` scores every set of labels of the model on the data there are for it: EmoContext's development set and GoEmotions'
test set; and on the hand-written checks ("the 84") and the behaviour suite, which `behaviour` does alone. MELD's test
set is not among them: 274 of its 280 dialogues are scenes of EmotionX's training data. EmotionX and IEST have no
labelled set that the model has not learnt from: their scores come from `--held-out`, a copy of the model made from a
student with hold_out=true, on the tenth that it has not learnt; or from `--answers`, files of out-of-fold probabilities
(see `Kept`). Results go to benchmarks/results/models/NAME.json; a set of labels and data that is not measured again
stays as it was. What people say of the model (use, limits, training data) is in benchmarks/models/NAME.toml, its speed
in benchmarks/results/speed.csv, its size and what it learnt in its folder: each figure has one source, from which
`render` renews the results before it writes the tables of docs/results/quality.md, docs/results/card-NAME.md and the
card inside the package. Nothing is scored that the model learnt. The log of what was tried is
benchmarks/results/tried.csv, kept by hand (see `Trial`).
"""

import argparse
import json
import os
import platform
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

import emoscope
from benchmarks.common import paths
from benchmarks.common.pages import write_section
from benchmarks.common.provenance import keep, made
from benchmarks.common.tables import Row, read_rows
from benchmarks.quality.behaviour import checks_line, run_checks, suite_line
from benchmarks.quality.card_numbers import unsupported_numbers
from benchmarks.quality.measure import MIN_SLICE, Answers, answers_of, measure
from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import atomic_write, whole_text
from emoscope.core.fit_context import FitContext
from emoscope.core.frozen import FrozenModel
from emoscope.core.learnt import LearntItems
from emoscope.core.metrics import Metric, standard_metric
from emoscope.detector.bundle import FILE, PRESETS, resolve
from emoscope.distil.everyday import GENERAL, everyday_examples
from emoscope.distil.pool import HEAD_OF, TASKS, own_examples, pool_part
from emoscope.distil.student import is_held_out
from emoscope.evaluation.behaviour import run_suite
from emoscope.evaluation.card import CARD, CARD_JSON, bullets, card_text, four, markdown_table, span
from emoscope.evaluation.results import (
    AboutModel,
    BehaviourFigures,
    CheckFigures,
    HeadResults,
    LearntFigures,
    ModelResults,
    Speed,
    read_results,
)
from emoscope.models.label_shift import prior_vector, shift_prior
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split
from emoscope.tasks.datasets.readers import read_goemotions

TABLES = paths.RESULTS  # speed.csv, quantisation.csv and tried.csv
RESULTS = TABLES / "models"
MOST_MET = 0.2  # of a test set: these are left out; with more there is no test left
ABOUT = paths.ROOT / "benchmarks" / "models"
PAGES = paths.PAGES
ASSETS = paths.PACKAGE / "detector" / "assets"


# Data


@dataclass(frozen=True, slots=True)
class DataSet:
    """Labelled data that a set of labels is scored on."""

    head: str
    name: str
    split: str
    read: Callable[[Path], list[Example]]
    metric: Metric
    notes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()  # the order to show them in


def goemotions_test(root: Path) -> list[Example]:
    """Reddit comments; one that was given several emotions has no single right answer and is left out."""
    comments = read_goemotions(root / "auxiliary" / "goemotions" / "ekman", "test")
    return [Example(Dialogue.of([text]), 0, label) for text, label in comments if label is not None]


def _everyday(label: str, alone: bool) -> DataSet:
    def read(root: Path) -> list[Example]:
        del root
        return [e for e in everyday_examples(held_out=True) if (e.turn == 0) == alone]

    note = "of dialogues with two accepted emotions the likelier one counts"
    return DataSet("general", label, "situations taught to no model", read, standard_metric("macro-f1"), (note,))


DATA_SETS = (
    _everyday("Everyday messages", alone=True),
    _everyday("Everyday dialogues", alone=False),
    DataSet(
        "emocontext",
        "EmoContext",
        "dev (Test1)",
        lambda root: read_split(get_task("emocontext"), "dev", root),
        get_task("emocontext").metric,
        labels=get_task("emocontext").labels,
    ),
    DataSet(
        "general",
        "GoEmotions",
        "test",
        goemotions_test,
        standard_metric("macro-f1"),
        ("comments with more than one emotion are left out",),
    ),
)


class Kept(BaseModel):
    """Probabilities that a model gave to examples it had not learnt from, such as out of fold.

    One row for each example of the task's splits, one split after the other, that has a label the task scores. With
    both priors given, the probabilities are those under the training prior, and are shifted here.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    head: str
    task: str
    splits: tuple[str, ...]
    split: str  # how to call it: "train, out of fold"
    labels: tuple[str, ...]
    probabilities: list[list[float]]
    training_prior: dict[str, float] | None = None
    prior: dict[str, float] | None = None
    decision: dict[str, float] | None = None
    seeds: tuple[int, ...] = ()
    seed_scores: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()

    def measured(self, root: Path) -> HeadResults:
        """Score them."""
        task = get_task(self.task)
        examples = [example for split in self.splits for example in read_split(task, split, root)]
        examples = [example for example in examples if example.label is not None and task.scored(example.label)]
        given = np.array(self.probabilities)
        training = None
        if self.training_prior is not None and self.prior is not None:
            source, target = (prior_vector(prior, self.labels) for prior in (self.training_prior, self.prior))
            training, given = given, shift_prior(given, source, target)
        factors = np.array([(self.decision or {}).get(label, 1.0) for label in self.labels])
        answers = Answers(self.labels, given, (given * factors).argmax(1), training)
        title = task.metadata.title
        found = measure(
            answers,
            examples,
            task.metric,
            head=self.head,
            data=title,
            split=self.split,
            labels=task.labels,
            notes=self.notes,
        )
        return found.model_copy(update={"seeds": self.seeds, "seed_scores": self.seed_scores})


# Measuring


def held_out_tenths() -> list[DataSet]:
    """The tenth of each task that a student made with hold_out=true has not learnt."""
    note = "answered by the one of the students behind the model that has not learnt this tenth"

    def tenth(name: str) -> Callable[[Path], list[Example]]:
        return lambda root: [e for e in own_examples(name, FitContext(resources=root)) if is_held_out(e)]

    def seven(root: Path) -> list[Example]:
        found = [
            e for name in ("friends", "push") for e in pool_part(name, FitContext(resources=root)) if is_held_out(e)
        ]
        return [example for example in found if example.label in GENERAL]

    tasks = [get_task(name) for name in TASKS if name != "emocontext"]
    return [
        DataSet(
            "general",
            "EmotionX, its six emotions and neutral",
            "held-out tenth",
            seven,
            standard_metric("macro-f1"),
            (note,),
        ),
        *(
            DataSet(
                HEAD_OF[task.name],
                task.metadata.title,
                "held-out tenth",
                tenth(task.name),
                task.metric,
                (note,),
                task.labels,
            )
            for task in tasks
        ),
    ]


def run(
    model: str, name: str, root: Path, answers: Sequence[Path], samples: int, held_out: Path | None = None
) -> ModelResults:
    """Measure a model and keep the results."""
    measured: list[HeadResults] = []
    checks: list[CheckFigures] = []
    behaviour: list[BehaviourFigures] = []
    folder: Path | None = None
    if model in PRESETS or Path(model).is_dir():
        folder = resolve(model)
        for head in emoscope.load(model).heads:
            detector = emoscope.load(model, labels=head, for_metric=True)
            sets = [data for data in DATA_SETS if data.head == head]
            measured += [_measure(folder, detector, data, root, samples) for data in sets]
        checks, behaviour = run_behaviour(model)
    elif not answers:
        raise EmoscopeError(f"{model}: is neither an embedded model nor a folder, and there are no --answers")
    if held_out is not None:
        for data in held_out_tenths():
            detector = emoscope.load(held_out, labels=data.head, for_metric=True)
            measured.append(_measure(held_out, detector, data, root, samples))
    for path in answers:
        measured.append(Kept.model_validate(json.loads(whole_text(path))).measured(root))
        print(f"{path}: {measured[-1].metric} {measured[-1].score:.4f}", flush=True)
    target = RESULTS / f"{name}.json"
    before = read_results(target) if target.exists() else None
    results = ModelResults(
        name=name,
        version=emoscope.__version__,
        measured_with=machine(),
        about=_about(name),
        heads=tuple(_merged(before.heads if before else (), measured)),
        checks=tuple(checks or (before.checks if before else ())),
        behaviour=tuple(behaviour or (before.behaviour if before else ())),
        speed=_speed(name),
        **_of_folder(folder),
    )
    _keep(results)
    files = [root / "emocontext" / "dev.txt", root / "auxiliary" / "goemotions" / "ekman" / "test.tsv", *answers]
    settings = {"model": Path(model).name, "samples": samples, "held_out": held_out.name if held_out else None}
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
    target = RESULTS / f"{name}.json"
    if not target.exists():
        raise EmoscopeError(f"{target}: no results yet; make them with: python -m benchmarks.quality run")
    checks, behaviour = run_behaviour(model)
    results = read_results(target).model_copy(update={"checks": tuple(checks), "behaviour": tuple(behaviour)})
    _keep(results)
    return results


def renewed(results: ModelResults) -> ModelResults:
    """Results with what other files say of the model as it is now: words, speed, and size and record if embedded."""
    folder = ASSETS / results.name
    update: dict[str, Any] = {"about": _about(results.name), "speed": _speed(results.name)}
    if (folder / FILE).is_file():
        update |= _of_folder(folder)
    return results.model_copy(update=update)


def _keep(results: ModelResults) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    with atomic_write(RESULTS / f"{results.name}.json") as handle:
        handle.write(results.model_dump_json(indent=1) + "\n")


def _about(name: str) -> AboutModel:
    return AboutModel.model_validate(tomllib.loads(whole_text(ABOUT / f"{name}.toml")))


def _of_folder(folder: Path | None) -> dict[str, Any]:
    """The size of a model's files, without its card, and what it learnt."""
    if folder is None:
        return {}
    size = sum(
        file.stat().st_size for file in folder.rglob("*") if file.is_file() and file.name not in (CARD, CARD_JSON)
    )
    learnt = LearntItems.load(folder)
    figures = LearntFigures(items=len(learnt), sources=dict(learnt.sources)) if learnt else None
    return {"size_bytes": size, "learnt": figures}


def _measure(folder: Path, detector: emoscope.Detector, data: DataSet, root: Path, samples: int) -> HeadResults:
    examples = data.read(root)
    learnt = LearntItems.load(folder)
    if learnt is not None and (overlap := learnt.overlap(examples)).is_learnt:
        if overlap.items > MOST_MET * overlap.of:
            raise EmoscopeError(f"{data.name}, {data.split}: the model learnt {overlap}; they are no test of it")
        examples = [e for e, met in zip(examples, learnt.known(examples), strict=True) if not met]
        print(f"{data.name}, {data.split}: without {overlap} that the model met elsewhere")
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
        notes=data.notes,
    )
    print(f"{data.head} on {data.name} {data.split}: {found.metric} {found.score:.4f}", flush=True)
    return found


def _merged(before: Sequence[HeadResults], measured: Sequence[HeadResults]) -> list[HeadResults]:
    """The new results, and those of before that were not measured again."""
    found = {(head.head, head.data, head.split): head for head in (*before, *measured)}
    return list(found.values())


def _speed(name: str) -> Speed | None:
    rows = [row for row in read_rows(TABLES / "speed.csv") if row["model"] == name]
    if not rows:
        return None
    figures = [{"name": row["figure"], "value": row["value"], "unit": row["unit"]} for row in rows]
    return Speed.model_validate({"machine": rows[0]["machine"], "figures": figures})


def machine() -> str:
    """Where this runs."""
    return (
        f"emoscope {emoscope.__version__}, Python {platform.python_version()}, numpy {np.__version__} on "
        f"{platform.system()} {platform.machine()}"
    )


# Showing


def render() -> None:
    """Write the tables of docs/results/quality.md, and the cards."""
    models = [read_results(path) for path in sorted(RESULTS.glob("*.json"))]
    if not models:
        raise EmoscopeError(f"{RESULTS}: no results yet; make some with: python -m benchmarks.quality run")
    models = [renewed(results) for results in models]
    for results in models:
        _keep(results)
        text = card_text(results)
        if wrong := unsupported_numbers(text, results):
            raise EmoscopeError(f"the card of {results.name} states numbers that were not measured: {', '.join(wrong)}")
        targets = [PAGES / f"card-{results.name}.md"]
        if (ASSETS / results.name).is_dir():
            targets.append(ASSETS / results.name / CARD)
            _write(ASSETS / results.name / CARD_JSON, results.model_dump_json(exclude_none=True) + "\n")
        for target in targets:
            _write(target, text)
    log = [Trial.model_validate(row) for row in read_rows(TABLES / "tried.csv")]
    sections = {
        "cards": "Model cards: " + ", ".join(f"[{each.name}](card-{each.name}.md)" for each in models) + ".",
        "scores": "\n\n".join([overview(models), *_notes(models)]),
        "slices": f"{slices(models)}\n\nParts of fewer than {MIN_SLICE} items are not scored.",
        "checks": checks(models),
        "behaviour": behaviour(models),
        "quantisation": quantisation(read_rows(TABLES / "quantisation.csv")),
        "tried": trials(log),
    }
    for name, text in sections.items():
        write_section(PAGES / "quality.md", name, text)


def _write(target: Path, text: str) -> None:
    with atomic_write(target) as handle:
        handle.write(text)
    print(target)


def overview(found: Sequence[ModelResults]) -> str:
    """Models side by side, grouped by data."""
    rows = [
        (
            (head.head, head.data, head.split),
            [
                head.head,
                f"{head.data}, {head.split}",
                results.name,
                f"{head.n:,}",
                head.metric,
                four(head.score),
                span(head.interval),
                four(head.accuracy),
                four(head.macro_f1),
                four(head.ece),
            ],
        )
        for results in found
        for head in results.heads
    ]
    rows.sort(key=lambda row: row[0])
    columns = ["labels", "data", "model", "items", "metric", "score", "interval", "accuracy", "macro-F1", "ECE"]
    return markdown_table(columns, [cells for _, cells in rows], left=3)


def _notes(found: Sequence[ModelResults]) -> list[str]:
    """The data's notes, each once."""
    lines = dict.fromkeys(
        f"{head.data}, {head.split}: {note}." for each in found for head in each.heads for note in head.notes
    )
    return [bullets(list(lines))] if lines else []


def slices(found: Sequence[ModelResults]) -> str:
    """Scores on parts of the data, a column for each part."""
    names = list(dict.fromkeys(part.name for each in found for head in each.heads for part in head.slices))
    rows = []
    for each in found:
        for head in each.heads:
            parts = {part.name: part for part in head.slices}
            cells = [
                "-"
                if name not in parts
                else f"{four(score)} (n={parts[name].n:,})"
                if (score := parts[name].score) is not None
                else f"(n={parts[name].n:,})"
                for name in names
            ]
            rows.append([head.head, f"{head.data}, {head.split}", each.name, four(head.score), *cells])
    return markdown_table(["labels", "data", "model", "all", *names], sorted(rows), left=3)


def checks(found: Sequence[ModelResults]) -> str:
    """Right answers to the hand-written checks."""
    kinds = list(dict.fromkeys(check.kind for each in found for check in each.checks))
    rows = []
    for each in found:
        for head in dict.fromkeys(check.head for check in each.checks):
            mine = {check.kind: check for check in each.checks if check.head == head}
            total = f"{sum(check.right for check in mine.values())} of {sum(check.n for check in mine.values())}"
            cells = [f"{mine[kind].right} of {mine[kind].n}" if kind in mine else "-" for kind in kinds]
            rows.append([each.name, head, total, *cells])
    return markdown_table(["model", "labels", "all", *kinds], rows, left=2)


def behaviour(found: Sequence[ModelResults]) -> str:
    """What passed of the behaviour suite, a column for each model and set of labels."""
    columns: dict[str, dict[tuple[str, str], str]] = {}
    for each in found:
        for figure in each.behaviour:
            passed = f"{figure.passed} of {figure.n}" if figure.n else "-"
            columns.setdefault(f"{each.name}, {figure.head}", {})[figure.type, figure.kind] = passed
    rows = list(dict.fromkeys(row for cells in columns.values() for row in cells))
    cells = [[*row, *(column.get(row, "-") for column in columns.values())] for row in rows]
    return markdown_table(["type", "kind", *columns], cells, left=2)


def quantisation(measured: Sequence[Row]) -> str:
    """Both precisions side by side."""
    rows = [
        [
            row["task"],
            row["data"],
            f"{row['items']:,}",
            four(row["single"]),
            four(row["int8"]),
            f"{100 * (row['int8'] - row['single']):+.2f}",
            f"{row['same_labels']:.2%}",
        ]
        for row in measured
    ]
    columns = ["task", "data", "items", "single precision", "int8", "points", "same labels"]
    return markdown_table(columns, rows, left=2)


class Trial(FrozenModel):
    """An idea that was tried while making a model: what it changed, and whether it stayed."""

    idea: str
    task: str
    metric: str
    before: float
    after: float
    runs: int
    kept: bool
    spread: float | None = None  # the standard deviation over the runs
    note: str = ""


def trials(log: Sequence[Trial]) -> str:
    """What was tried, the gain and the spread."""
    rows = [
        [
            trial.idea,
            trial.task,
            trial.metric,
            four(trial.before),
            four(trial.after),
            f"{trial.after - trial.before:+.4f}",
            "-" if trial.spread is None else four(trial.spread),
            f"{trial.runs:,}",
            "yes" if trial.kept else "no",
            trial.note or "-",
        ]
        for trial in log
    ]
    columns = ["idea", "task", "metric", "before", "after", "gain", "spread", "runs", "kept", "note"]
    return markdown_table(columns, rows, left=3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "behaviour", "render"])
    parser.add_argument("--model", default="default", help="an embedded model or a folder; with --answers, any name")
    parser.add_argument("--name", help="the name to keep its results under; the model's own if not given")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("EMOSCOPE_DATA", "data")))
    parser.add_argument("--held-out", type=Path, help="a copy of the model that has not learnt the tenth of each task")
    parser.add_argument("--answers", type=Path, action="append", default=[])
    parser.add_argument("--samples", type=int, default=10_000, help="draws of each bootstrap")
    options = parser.parse_args()
    try:
        name = options.name or Path(options.model).name
        if options.what == "render":
            render()
        elif options.what == "behaviour":
            rerun_behaviour(options.model, name)
        else:
            run(options.model, name, options.data, options.answers, options.samples, options.held_out)
    except EmoscopeError as error:
        parser.exit(2, f"benchmarks.quality: {error}\n")


if __name__ == "__main__":
    main()
