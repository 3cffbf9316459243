"""Train on one corpus, evaluate on another: how well a system generalises."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.emotion_words import closest_label
from emoscope.core.errors import EmoscopeError, InputError, did_you_mean
from emoscope.core.files import whole_text
from emoscope.core.fit_context import FitContext
from emoscope.core.metrics import Floats, confusion_matrix, macro_f1
from emoscope.models.ensembles.folds import fold_numbers
from emoscope.systems import SYSTEMS, System
from emoscope.tasks import TASKS, Task, get_task
from emoscope.tasks.corpus_task import is_corpus
from emoscope.tasks.data import data_root, read_split
from emoscope.tasks.datasets.affect import plain
from emoscope.tasks.datasets.auxiliary import AUXILIARY_CORPORA, chosen, source_examples

EMOTIONS = ("neutral", "joy", "sadness", "anger", "fear", "disgust", "surprise")
SENTIMENTS = ("negative", "neutral", "positive")
FOLDS = 5


@dataclass(frozen=True, slots=True)
class LabelMapping:
    """Maps the labels of each corpus to shared emotions or sentiments, and emotions to sentiments."""

    labels: Mapping[str, Mapping[str, str]]
    polarity: Mapping[str, str]

    def of(self, corpus: str, labels: Sequence[str]) -> dict[str, str]:
        """The mapping for one corpus with these labels; without a stated one, labels are mapped by name."""
        if corpus in self.labels:
            for label in self.labels[corpus]:
                if label not in labels:
                    raise EmoscopeError(f"the mapping of {corpus}: no label {label!r}; {did_you_mean(label, labels)}")
            return dict(self.labels[corpus])
        return {label: emotion for label in labels if (emotion := closest_label(label, EMOTIONS)) is not None}


def read_mapping(path: str | Path | None = None) -> LabelMapping:
    """Read the shipped mapping, or a TOML file with the tables `labels.CORPUS` and `polarity`.

    >>> read_mapping().labels["isear"]["sadness"], read_mapping().of("mine", ["mad", "glad", "odd"])
    ('sadness', {'mad': 'anger', 'glad': 'joy'})
    """
    shipped = files("emoscope.runs").joinpath("transfer_labels.toml")
    text = shipped.read_text(encoding="utf-8") if path is None else whole_text(path)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(path or str(shipped), f"is not a mapping in TOML ({error})") from None
    targets = {*EMOTIONS, *SENTIMENTS}
    tables = {**content.get("labels", {}), "polarity": content.get("polarity", {})}
    for corpus, table in tables.items():
        for label, meaning in table.items() if isinstance(table, dict) else [("", table)]:
            if meaning not in targets:
                problem = f"{corpus}: {label!r} is mapped to {meaning!r}, expected one of {', '.join(sorted(targets))}"
                raise InputError(path or str(shipped), problem)
    ours = LabelMapping({}, {}) if path is None else read_mapping()
    return LabelMapping({**ours.labels, **content.get("labels", {})}, {**ours.polarity, **tables["polarity"]})


@dataclass(frozen=True, slots=True)
class Cell:
    """The score of a system trained on one corpus and tested on another.

    Scores are macro-F1 over the shared labels. `within` is the score of the same system on the same items when trained
    on the rest of the test corpus; `majority` is the score of the most frequent label. All are None if the corpora
    share fewer than two labels.
    """

    trained_on: str
    evaluated_on: str
    labels: tuple[str, ...]
    items: int
    score: float | None
    within: float | None
    majority: float | None


@dataclass(frozen=True, slots=True)
class TransferMatrix:
    """All pairs of corpora, the number of examples from each, and the mapping used."""

    system: str
    seed: int
    limit: int | None
    corpora: tuple[str, ...]
    trained: Mapping[str, int]
    held_out: Mapping[str, int]
    mapping: Mapping[str, Mapping[str, str]]
    cells: tuple[Cell, ...]

    def cell(self, trained_on: str, evaluated_on: str) -> Cell:
        return next(c for c in self.cells if (c.trained_on, c.evaluated_on) == (trained_on, evaluated_on))


def transfer(
    system_name: str = "nano",
    corpora: Sequence[str] = (),
    *,
    limit: int | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    mapping: LabelMapping | None = None,
    device: str = "auto",
    root: Path | None = None,
    report: Callable[[str, float], None] | None = None,
) -> TransferMatrix:
    """Train a system on each corpus and score it on all of them, using a mapping between labels.

    Corpora are tasks, auxiliary sets or corpus folders; by default all that the mapping names. The test set is the
    task's dev split, or else a fifth of the dialogues. Test texts are removed from the training data of every corpus,
    since some share scenes or tweets. `limit` caps the training and the test examples of each corpus.

    >>> transfer("nano", ["emocontext", "isear"], limit=2000).cells[1].score  # doctest: +SKIP
    0.41
    """
    stated = mapping or read_mapping()
    names = tuple(dict.fromkeys(corpora or stated.labels))
    if len(names) < 2:
        raise EmoscopeError("name at least two corpora: tasks, auxiliary sets or folders of corpora")
    context = FitContext(seed=seed, device=device, resources=data_root(root))
    parts = {name: _parts(name, stated, context) for name in names}
    tests = {name: chosen(held_out, limit) for name, (_, held_out, _) in parts.items()}
    unseen = {plain(example.text) for examples in tests.values() for example in examples} - {""}
    answers: dict[str, dict[str, Floats]] = {}
    trained, systems = {}, {}
    for number, (name, (learn, _, mapped)) in enumerate(parts.items()):
        if report is not None:
            report(f"training on {name}", number / len(parts))
        training = chosen([example for example in learn if plain(example.text) not in unseen], limit)
        systems[name] = SYSTEMS[system_name](_relabelled(name, mapped), seed=seed, settings=settings)
        systems[name].fit(training, context)
        trained[name] = len(training)
        answers[name] = {other: systems[name].predict_proba(tests[other]) for other in names}
    cells = [
        _cell(one, other, systems[one], systems[other], answers, tests[other], stated.polarity)
        for one in names
        for other in names
    ]
    held_out = {name: len(examples) for name, examples in tests.items()}
    used = {name: mapped for name, (_, _, mapped) in parts.items()}
    return TransferMatrix(system_name, seed, limit, names, trained, held_out, used, tuple(cells))


Parts = tuple[list[Example], list[Example], dict[str, str]]


def _parts(name: str, stated: LabelMapping, context: FitContext) -> Parts:
    """The training and test examples of a corpus with the shared labels, and the mapping used."""
    if name in TASKS or is_corpus(name):
        task = get_task(name)
        mapped = stated.of(name, task.labels)
        learn = _mapped(read_split(task, "train", context.resources), mapped)
        if "dev" in task.metadata.splits:
            return learn, _mapped(read_split(task, "dev", context.resources), mapped), mapped
    elif name not in AUXILIARY_CORPORA:
        known = did_you_mean(name, [*TASKS, *AUXILIARY_CORPORA])
        raise EmoscopeError(f"no task, auxiliary set or folder of a corpus {name!r}; {known}")
    else:
        mapped = stated.of(name, AUXILIARY_CORPORA[name].labels)
        learn = _mapped(source_examples(name, context), mapped)
    if len(set(mapped.values())) < 2:
        raise EmoscopeError(
            f"{name}: fewer than two of its labels are emotions; state what they mean with --mapping FILE"
        )
    folds = fold_numbers(learn, FOLDS)
    return (
        [example for example, fold in zip(learn, folds, strict=True) if fold],
        [example for example, fold in zip(learn, folds, strict=True) if not fold],
        mapped,
    )


def _mapped(examples: Sequence[Example], mapped: Mapping[str, str]) -> list[Example]:
    return [
        Example(example.dialogue, example.turn, mapped[str(example.label)])
        for example in examples
        if example.label in mapped
    ]


def _relabelled(name: str, mapped: Mapping[str, str]) -> Task:
    """The task with the shared labels; a corpus that is not a task is read as dialogues, like Friends."""
    task = copy(get_task(name if name in TASKS or is_corpus(name) else "emotionx-friends"))
    labels = tuple(label for label in (*EMOTIONS, "negative", "positive") if label in mapped.values())
    neutral = "neutral" if "neutral" in labels else None
    changed = {"labels": labels, "neutral_label": neutral, "natural_prior": None, "natural_prior_source": None}
    task.metadata = task.metadata.model_copy(update=changed)
    return task


def _cell(
    one: str,
    other: str,
    trained: System,
    own: System,
    answers: Mapping[str, Mapping[str, Floats]],
    asked: Sequence[Example],
    polarity: Mapping[str, str],
) -> Cell:
    mine, theirs = trained.task.labels, own.task.labels
    # If either corpus has sentiments, emotions are mapped to sentiments too.
    names = EMOTIONS if {*mine, *theirs} <= set(EMOTIONS) else SENTIMENTS
    meaning = {label: label for label in EMOTIONS} if names is EMOTIONS else {**polarity, **{s: s for s in SENTIMENTS}}
    shared = tuple(name for name in names if all(name in map(meaning.get, labels) for labels in (mine, theirs)))
    gold = [meaning.get(str(example.label)) for example in asked]
    places = [place for place, label in enumerate(gold) if label in shared]
    if len(shared) < 2 or not places:
        return Cell(one, other, shared, 0, None, None, None)
    right = [str(gold[place]) for place in places]

    def score(probabilities: Floats, labels: Sequence[str]) -> float:
        columns = np.stack(
            [probabilities[places][:, [meaning.get(label) == name for label in labels]].sum(1) for name in shared],
            axis=1,
        )
        return float(macro_f1(confusion_matrix(right, [shared[best] for best in columns.argmax(1)], shared)))

    most = max(shared, key=right.count)
    majority = float(macro_f1(confusion_matrix(right, [most] * len(right), shared), range(len(shared))))
    within = score(answers[other][other], theirs)
    return Cell(one, other, shared, len(places), score(answers[one][other], mine), within, majority)


def transfer_chart(matrix: TransferMatrix) -> Any:
    """A chart of the matrix: macro-F1 in each cell, shaded by its ratio to the within-corpus score."""
    from emoscope.core.plots import heatmap, titled

    names = [Path(name).name for name in matrix.corpora]
    values = [
        {
            "trained on": Path(cell.trained_on).name,
            "evaluated on": Path(cell.evaluated_on).name,
            "text": "" if cell.score is None else f"{cell.score:.2f}",
            "share": 0.0 if not cell.score or not cell.within else min(1.0, cell.score / cell.within),
        }
        for cell in matrix.cells
    ]
    chart = heatmap(values, names, "evaluated on", "trained on", turned=True, size=12)
    size = 52 * len(names)
    return titled(
        chart.properties(width=size, height=size * 0.7),
        f"Transfer of {matrix.system}",
        "Macro-F1 over the labels both corpora have; the darker, the closer to training within the corpus",
    )
