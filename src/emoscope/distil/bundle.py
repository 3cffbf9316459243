"""The student as a model that runs without torch: its heads with their mixes, temperatures and decisions."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from emoscope.core.dialogue import Example
from emoscope.core.errors import InputError
from emoscope.core.files import whole_text
from emoscope.core.fit_context import FitContext
from emoscope.detector.bundle import Head
from emoscope.distil.pool import HEAD_OF, own_examples, pool_part
from emoscope.distil.student import HEADS
from emoscope.runs.export import export_bundle, spread
from emoscope.tasks import get_task
from emoscope.tasks.datasets.auxiliary import EKMAN, source_examples

CALIBRATION = 320  # dialogues of all kinds, from which the ranges of values are learnt
NAME = "default"


def student_bundle(student: Path, report: Path, folder: Path, fit_context: FitContext, *, force: bool = False) -> None:
    """Export a student; `report` is what `judge` found of one that was made in the same way but for the held-out part.

    Its pieces are those of all the text at hand; what is rarer is spelled with shorter ones.
    """
    from emoscope.models.torch.multitask import MultiTaskClassifier

    known, classifier = _known(fit_context), MultiTaskClassifier.load(student)
    export_bundle(
        classifier,
        folder,
        name=NAME,
        task="emocontext",
        heads=student_heads(_read(report), known),
        dialogues=[each.context for examples in known.values() for each in spread(examples, CALIBRATION // len(known))],
        learnt=classifier.learnt,
        vocabulary=[text for examples in known.values() for example in examples for text in example.dialogue.texts],
        force=force,
    )


def student_heads(report: Mapping[str, Any], known: Mapping[str, Sequence[Example]]) -> list[Head]:
    """What the detector must know of each head."""
    heads = []
    for name, labels in HEADS.items():
        counts = Counter(str(example.label) for example in known[name])
        total = sum(counts[label] for label in labels)
        about = report.get(name, {})
        decision = about.get("decision")
        task = get_task(name).metadata if name in HEAD_OF else None
        heads.append(
            Head(
                name=name,
                labels=labels,
                trained={label: counts[label] / total for label in labels},
                prior=task.natural_prior if task else None,
                prior_source=task.natural_prior_source if task else None,
                temperature=about.get("temperature", 1.0),
                decision=dict(zip(labels, decision, strict=True)) if decision else None,
            )
        )
    return heads


def _read(report: Path) -> dict[str, Any]:
    try:
        content = json.loads(whole_text(report))
    except json.JSONDecodeError as error:
        raise InputError(report, f"is not a student's report ({error})") from None
    if not isinstance(content, dict) or not set(HEADS) <= set(content):
        raise InputError(report, f"expected what was found of the heads {', '.join(HEADS)}")
    return content


def _known(fit_context: FitContext) -> dict[str, list[Example]]:
    known: dict[str, list[Example]] = {head: [] for head in HEADS}
    for task_name, head in HEAD_OF.items():
        known[head] += own_examples(task_name, fit_context)
    for name in ("goemotions-ekman", "meld"):
        known["ekman"] += source_examples(name, fit_context)
    for name in ("friends", "push"):
        known["ekman"] += [example for example in pool_part(name, fit_context) if example.label in EKMAN]
    return known
