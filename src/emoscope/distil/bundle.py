"""Export a student as a model that runs without torch, with the priors, temperatures and decisions of its heads."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import read_json
from emoscope.core.fit_context import FitContext
from emoscope.core.learnt import LearntItems
from emoscope.detector.bundle import Bundle, Head, resolve
from emoscope.detector.model import BLOCK
from emoscope.distil.judge import calibration
from emoscope.distil.pool import HEAD_OF, TASKS, own_examples, pool_part
from emoscope.distil.student import REPORT
from emoscope.models.block import Block
from emoscope.models.export.kept import KeptNetwork
from emoscope.models.onnx.exported_encoder import ExportedEncoder
from emoscope.runs.export import export_bundle, spread
from emoscope.tasks import get_task

if TYPE_CHECKING:
    from emoscope.models.torch.multitask import MultiTaskClassifier

CALIBRATION = 640  # dialogues that calibrate the 8-bit ranges
# Texts besides the tasks' own whose word pieces are kept, by whether the student has heads for the tasks.
VOCABULARY = {True: ("everyday", "comments", "meld", "tweets", "isear"), False: ("everyday", "comments")}


def student_bundle(
    students: Sequence[str | Path],
    folder: Path,
    fit_context: FitContext,
    *,
    report: Path | None = None,
    name: str = "default",
    force: bool = False,
) -> None:
    """Export a student, or several with different heads as one model; the first head is the default.

    A model instead of a student's folder contributes its network for the heads that the students before it lack; if it
    is taken whole, as it is, with the model's vocabulary. `report` is that of students trained in the same way but with
    a held-out part (`judge`), by default their own. Otherwise the vocabulary is that of all available text; rarer words
    are spelled with shorter pieces.
    """
    classifiers: list[MultiTaskClassifier | KeptNetwork] = []
    reports, records = [], []
    labels: dict[str, tuple[str, ...]] = {}
    for student in students:
        classifier, own, learnt = _student(student, labels)
        if not labels.keys().isdisjoint(classifier.heads):
            raise EmoscopeError("students of one model must have different heads")
        labels |= classifier.heads
        classifiers.append(classifier)
        reports.append(own)
        records += [learnt] if learnt else []
    mix = {head: shares for own in reports for head, shares in own["mix"].items()}
    judged = [_read(report)] if report else reports
    if report and records and "emocontext" in labels.keys() & judged[0]["heads"].keys():
        records.append(calibration(fit_context))
    heads = student_heads(
        labels, mix, {head: about for own in judged for head, about in own["heads"].items()}, fit_context
    )
    texts = [example for task in _tasks(labels) for example in own_examples(task, fit_context)]
    more = [example for part in VOCABULARY[bool(texts)] for example in pool_part(part, fit_context)]
    kinds = [part for part in (texts, more) if part]
    as_it_is = any(isinstance(each, KeptNetwork) for each in classifiers)
    vocabulary = None if as_it_is else [text for example in texts + more for text in example.dialogue.texts]
    export_bundle(
        classifiers,
        folder,
        name=name,
        task=next(iter(labels)),
        heads=heads,
        dialogues=[each.context for examples in kinds for each in spread(examples, CALIBRATION // len(kinds))],
        learnt=reduce(or_, records) if records else None,
        vocabulary=vocabulary,
        force=force,
    )


def _student(
    name: str | Path, taken: Collection[str]
) -> tuple["MultiTaskClassifier | KeptNetwork", dict[str, Any], LearntItems | None]:
    """A student, its report and what it learnt; of a model, its network for the heads that are not taken."""
    from emoscope.models.torch.multitask import CONFIG, MultiTaskClassifier
    from emoscope.models.torch.reopened import reopen

    folder = Path(name)
    if (folder / CONFIG).is_file():
        student = MultiTaskClassifier.load(folder)
        return student, _read(folder / REPORT), student.learnt
    model = resolve(str(name))
    heads = [head for head in Bundle.load(model).heads if head.name not in taken]
    if not heads:
        raise EmoscopeError(f"{name}: has no heads besides those of the students")
    network = reopen(model, heads[0].name)
    if missing := {head.name for head in heads} - set(network.heads):
        raise EmoscopeError(f"{name}: its heads {heads[0].name} and {missing.pop()} are in different networks")
    settings = {
        head.name: {
            "trained": dict(head.trained),
            "temperature": head.temperature,
            "decision": [head.decision[label] for label in head.labels] if head.decision else None,
        }
        for head in heads
    }
    report = {"mix": {head.name: dict(head.trained) for head in heads}, "heads": settings}
    exported = Block.load(model / BLOCK).of_head(heads[0].name)
    assert isinstance(exported, ExportedEncoder)  # else it could not be reopened
    if taken and list(exported.heads) == [head.name for head in heads]:
        return KeptNetwork(model / BLOCK, exported.network, exported.heads), report, network.learnt
    network.keep_heads([head.name for head in heads])
    return network, report, network.learnt


def student_heads(
    labels: Mapping[str, Sequence[str]],
    mix: Mapping[str, Mapping[str, float]],
    report: Mapping[str, Any],
    fit_context: FitContext,
) -> list[Head]:
    """The heads of the bundle; a task's mix of labels is that of its training data, or of the model it comes from."""
    heads = []
    for name in labels:
        even = dict.fromkeys(labels[name], 1 / len(labels[name]))  # for a head without training data
        counts = Counter(str(e.label) for task in _tasks([name]) for e in own_examples(task, fit_context))
        about = report.get(name, {})
        decision = about.get("decision")
        task = get_task(name).metadata if name in TASKS else None
        heads.append(
            Head(
                name=name,
                labels=tuple(labels[name]),
                trained=about.get("trained") or _shares(counts, labels[name]) or mix.get(name, even),
                prior=task.natural_prior if task else None,
                prior_source=task.natural_prior_source if task else None,
                temperature=about.get("temperature", 1.0),
                decision=dict(zip(labels[name], decision, strict=True)) if decision else None,
            )
        )
    return heads


def _shares(counts: Counter[str], labels: Sequence[str]) -> dict[str, float]:
    return {label: counts[label] / counts.total() for label in labels} if counts else {}


def _tasks(heads: Collection[str]) -> list[str]:
    return [name for name in TASKS if HEAD_OF[name] in heads]


def _read(report: Path) -> dict[str, Any]:
    content = read_json(report)
    if not isinstance(content, dict) or not {"mix", "heads"} <= set(content):
        raise InputError(
            report, "expected a student's report with 'mix' and 'heads', as `emoscope distil student` writes it"
        )
    return content
