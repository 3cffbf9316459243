"""Score a student on held-out data, and choose its temperatures and decisions by them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.fit_context import FitContext
from emoscope.core.learnt import LearntItems
from emoscope.core.metrics import confusion_matrix
from emoscope.distil.everyday import everyday_examples
from emoscope.distil.pool import CALIBRATION, HEAD_OF, TASKS, own_examples
from emoscope.distil.student import HEADS, is_held_out
from emoscope.models.block import Floats
from emoscope.models.decision import choose_multipliers
from emoscope.models.label_shift import prior_vector, shift_prior
from emoscope.models.probabilities import softmax, temperature_of
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split

if TYPE_CHECKING:
    from emoscope.models.torch.multitask import MultiTaskClassifier


def judge(student: "MultiTaskClassifier", fit_context: FitContext) -> dict[str, Any]:
    """Score a student on held-out data, and fit temperatures and decisions on them.

    These are a tenth of every task, the held-out everyday situations, and EmoContext's development set, on which its
    head's temperature is fitted, because it is sampled like real traffic. Its record says so.
    """
    report: dict[str, Any] = {}
    for head in student.heads:
        sets = {
            name: [e for e in own_examples(name, fit_context) if is_held_out(e)]
            for name in TASKS
            if HEAD_OF[name] == head
        }
        if head == "general":
            situations = everyday_examples(held_out=True)
            sets = {
                "messages": [example for example in situations if example.turn == 0],
                "dialogues": [example for example in situations if example.turn > 0],
            }
        every = [example for examples in sets.values() for example in examples]
        natural, offsets = every, np.zeros(len(HEADS[head]))
        if head == "emocontext":
            natural = read_split(get_task("emocontext"), "dev", fit_context.resources)
            offsets = np.log(np.divide(*_emocontext_priors(fit_context)))
        gold = np.array([HEADS[head].index(str(example.label)) for example in natural])
        temperature = temperature_of(student.scores(natural)[:, student.columns(head)], gold, offsets=offsets)
        scores = {
            name: score(name, examples, _probabilities(student, examples, head, temperature), HEADS[head])
            for name, examples in sets.items()
        }
        report[head] = {"temperature": temperature, "examples": len(every), "scores": scores}
        if head == "emocontext":
            report[head] |= _emocontext(student, every, temperature, fit_context)
            if student.learnt is not None:
                student.learnt |= calibration(fit_context)
    return report


def calibration(fit_context: FitContext) -> LearntItems:
    """What `judge` chooses EmoContext's labels by; a temperature alone, as of the other heads, changes no label."""
    sources = {
        "emocontext/dev": read_split(get_task("emocontext"), "dev", fit_context.resources),
        "emocontext": [e for e in own_examples("emocontext", fit_context) if is_held_out(e)],
    }
    return LearntItems.of({f"{CALIBRATION}{name}": examples for name, examples in sources.items()})


def _emocontext_priors(fit_context: FitContext) -> tuple[Floats, Floats]:
    """How frequent each label is in real traffic, and in the training data."""
    task = get_task("emocontext")
    assert task.metadata.natural_prior is not None
    train = [str(example.label) for example in own_examples("emocontext", fit_context)]
    prior = np.array([train.count(label) for label in task.labels], float) / len(train)
    return prior_vector(task.metadata.natural_prior, task.labels), prior


def _emocontext(
    student: "MultiTaskClassifier", held_out: Sequence[Example], temperature: float, fit_context: FitContext
) -> dict[str, Any]:
    """The decision under the natural prior, chosen on the held-out tenth, and the scores on dev with and without it."""
    task = get_task("emocontext")
    natural, prior = _emocontext_priors(fit_context)
    shifted = shift_prior(_probabilities(student, held_out, "emocontext", temperature), prior, natural)
    decision = choose_multipliers(task.metric, task.labels, [str(e.label) for e in held_out], shifted, natural)
    dev = read_split(task, "dev", fit_context.resources)
    answers = shift_prior(_probabilities(student, dev, "emocontext", temperature), prior, natural)
    report = {"dev": score("emocontext", dev, answers, task.labels), "decision": None}
    if decision is not None:
        report["decision"] = decision.tolist()
        report["dev_decided"] = score("emocontext", dev, answers * decision, task.labels)
    return report


def _probabilities(
    student: "MultiTaskClassifier", examples: Sequence[Example], head: str, temperature: float
) -> Floats:
    return softmax(student.scores(examples)[:, student.columns(head)] / temperature)


def score(name: str, examples: Sequence[Example], answers: Floats, labels: Sequence[str]) -> float:
    """A task's official score, or the share of everyday dialogues with an accepted emotion."""
    best = [labels[place] for place in answers.argmax(1)]
    if name not in TASKS:
        return float(np.mean([label in example.votes for label, example in zip(best, examples, strict=True)]))
    return float(get_task(name).metric(confusion_matrix([str(e.label) for e in examples], best, labels), labels))
