"""Export a student as a model that runs without torch, with the priors, temperatures and decisions of its heads."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from emoscope.core.errors import InputError
from emoscope.core.files import read_json
from emoscope.core.fit_context import FitContext
from emoscope.detector.bundle import Head
from emoscope.distil.pool import HEAD_OF, TASKS, own_examples, pool_part
from emoscope.distil.student import REPORT
from emoscope.runs.export import export_bundle, spread
from emoscope.tasks import get_task

CALIBRATION = 320  # dialogues that calibrate the 8-bit ranges
# Texts besides the tasks' own whose word pieces are kept, by whether the student has heads for the tasks.
VOCABULARY = {True: ("everyday", "comments", "meld", "tweets", "isear"), False: ("everyday", "comments")}


def student_bundle(
    student: Path, report: Path, folder: Path, fit_context: FitContext, *, name: str = "default", force: bool = False
) -> None:
    """Export a student; `report` is that of a student trained in the same way but with a held-out part (`judge`).

    The vocabulary is that of all available text; rarer words are spelled with shorter pieces.
    """
    from emoscope.models.torch.multitask import MultiTaskClassifier

    classifier = MultiTaskClassifier.load(student)
    heads = student_heads(classifier.heads, _read(student / REPORT)["mix"], _read(report)["heads"], fit_context)
    texts = [example for task in _tasks(classifier.heads) for example in own_examples(task, fit_context)]
    more = [example for part in VOCABULARY[bool(texts)] for example in pool_part(part, fit_context)]
    kinds = [part for part in (texts, more) if part]
    export_bundle(
        classifier,
        folder,
        name=name,
        task="emocontext",
        heads=heads,
        dialogues=[each.context for examples in kinds for each in spread(examples, CALIBRATION // len(kinds))],
        learnt=classifier.learnt,
        vocabulary=[text for example in texts + more for text in example.dialogue.texts],
        force=force,
    )


def student_heads(
    labels: Mapping[str, Sequence[str]],
    mix: Mapping[str, Mapping[str, float]],
    report: Mapping[str, Any],
    fit_context: FitContext,
) -> list[Head]:
    """The heads of the bundle; a task's mix of labels is that of its training data."""
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
                trained={label: counts[label] / counts.total() for label in labels[name]}
                if counts
                else mix.get(name, even),
                prior=task.natural_prior if task else None,
                prior_source=task.natural_prior_source if task else None,
                temperature=about.get("temperature", 1.0),
                decision=dict(zip(labels[name], decision, strict=True)) if decision else None,
            )
        )
    return heads


def _tasks(heads: Collection[str]) -> list[str]:
    return [name for name in TASKS if HEAD_OF[name] in heads]


def _read(report: Path) -> dict[str, Any]:
    content = read_json(report)
    if not isinstance(content, dict) or not {"mix", "heads"} <= set(content):
        raise InputError(
            report, "expected a student's report with 'mix' and 'heads', as `emoscope distil student` writes it"
        )
    return content
