"""The small model with a head for each label set, taught by large ones; what `default` is made from."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import check_installed
from emoscope.core.files import atomic_write
from emoscope.core.fit_context import FitContext
from emoscope.core.metrics import confusion_matrix
from emoscope.distil.context_cases import context_cases
from emoscope.distil.pool import HEAD_OF, load_answers, own_examples, pool_part
from emoscope.models.block import one_hot
from emoscope.models.ensembles.folds import fold_number
from emoscope.models.label_shift import prior_vector, shift_prior
from emoscope.models.probabilities import softmax, temperature_of
from emoscope.systems.base import PACKAGES
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split
from emoscope.tasks.datasets.affect import IN_DOMAIN, affect_examples, affect_labels, plain
from emoscope.tasks.datasets.auxiliary import EKMAN, source_examples
from emoscope.tasks.decision import choose_multipliers

if TYPE_CHECKING:
    from emoscope.models.torch.multitask import MultiTaskClassifier

Floats = NDArray[np.float64]
FOLDS = 10
REPORT = "student.json"
HEADS: Mapping[str, tuple[str, ...]] = {
    "emocontext": ("others", "happy", "sad", "angry"),
    "emotionx": ("neutral", "joy", "sadness", "anger"),
    "ekman": EKMAN,
    "iest": ("anger", "disgust", "fear", "joy", "sad", "surprise"),
}


@dataclass(frozen=True, slots=True)
class StudentPlan:
    """How a student is made; `default` was made with these settings.

    `hard` is the share of the annotators' labels in the targets of texts that have them. With `hold_out`, the tenth of
    each task's dialogues that falls into fold 0 is learnt from by no one, and the student is judged on it. `start` is
    the folder of a student to go on from, instead of the encoder and the mixture; `limit` bounds what is taken of each
    source. `misleading` is how often dialogues count whose last turn misleads on its own (see `context_cases`).
    `layers` keeps that many of the encoder's layers, `middle` that many units in the middle of each. `adaptation` names
    unlabelled text (see `models.unlabelled`) whose masked words the encoder learns to guess first. `prepared` is a
    folder to keep the encoder in once it has learnt the mixture; if it is there already, the student goes on from it.
    """

    encoder: str = "sentence-transformers/all-MiniLM-L6-v2"
    context: int = 3
    max_length: int = 96
    dropout: float = 0.1
    layers: int | None = None
    middle: int | None = 512
    adaptation: str | None = IN_DOMAIN
    adaptation_epochs: int = 2
    adaptation_rate: float = 3e-4
    prepared: str | None = None
    hard: float = 0.35
    mixture_epochs: int = 2
    mixture_batch: int = 128
    mixture_rate: float = 2e-4
    epochs: int = 10
    batch: int = 256
    rate: float = 3e-4
    hold_out: bool = False
    start: str | None = None
    misleading: int = 4
    limit: int | None = None
    shares: Mapping[str, float] = field(default_factory=dict)


class Targets:
    """Rows of examples with targets for one or more heads; the same text in the same surroundings is one row."""

    def __init__(self, context: int) -> None:
        self.context = context
        self.examples: list[Example] = []
        self.tables: dict[str, list[Floats | None]] = {head: [] for head in HEADS}
        self._told: Counter[tuple[str, int]] = Counter()
        self._row: dict[tuple[str, ...], int] = {}

    def repeat(self, head: str, examples: Sequence[Example], targets: Floats, times: int) -> None:
        """Add a head's targets as rows of their own, several times over."""
        for example, target in times * list(zip(examples, targets, strict=True)):
            self.examples.append(example)
            for name, table in self.tables.items():
                table.append(target if name == head else None)

    def add(self, head: str, examples: Sequence[Example], targets: Floats) -> None:
        """Add a head's targets; rows of not-a-numbers are left out."""
        for example, target in zip(examples, targets, strict=True):
            if np.isnan(target).any():
                continue
            key = example.context.texts[-self.context :]
            if key not in self._row:
                self._row[key] = len(self.examples)
                self.examples.append(example)
                for table in self.tables.values():
                    table.append(None)
            row = self._row[key]
            before = self.tables[head][row]
            self._told[head, row] += 1
            self.tables[head][row] = target if before is None else before + (target - before) / self._told[head, row]

    def table(self) -> Floats:
        """All heads side by side; what is not asked is not a number."""
        made = []
        for head, labels in HEADS.items():
            empty = np.full(len(labels), np.nan)
            made.append(np.stack([empty if row is None else row for row in self.tables[head]]))
        return np.concatenate(made, axis=1)


def gather(answers: Sequence[Path], plan: StudentPlan, fit_context: FitContext) -> Targets:
    """The pool with the targets of the teachers whose files are given, and the annotators' votes for `ekman`."""
    targets = Targets(plan.context)
    judged = held_out_lines(fit_context) if plan.hold_out else frozenset()

    def free(example: Example) -> bool:
        return not plan.hold_out or not (is_held_out(example) or plain(example.text) in judged)

    for path in answers:
        task_name, labels, tables = load_answers(path)
        head = HEAD_OF[task_name]
        order = [labels.index(label) for label in HEADS[head]]
        for name, table in tables.items():
            part = own_examples(task_name, fit_context) if name == "own" else pool_part(name, fit_context)
            wanted = table[:, order]
            if name == "own":
                certain = one_hot([str(example.label) for example in part], HEADS[head])
                wanted = plan.hard * certain + (1 - plan.hard) * wanted
            allowed = (lambda e: not (plan.hold_out and is_held_out(e))) if name == "own" else free
            kept = [number for number, example in enumerate(part) if allowed(example)][: plan.limit]
            targets.add(head, [part[n] for n in kept], wanted[kept])
    for name in ("friends", "push"):
        found = [e for e in pool_part(name, fit_context) if e.votes and not (plan.hold_out and is_held_out(e))]
        found = found[: plan.limit]
        targets.add("ekman", found, vote_shares(found))
    cases = context_cases()
    certain = one_hot([str(example.label) for example in cases], HEADS["emocontext"])
    targets.repeat("emocontext", cases, certain, plan.misleading)
    return targets


def add_single_labels(
    targets: Targets, teacher: "MultiTaskClassifier | None", plan: StudentPlan, fit_context: FitContext
) -> None:
    """Add the texts to which someone gave one of the `ekman` labels, softened by what the teacher says.

    A label alone says nothing of what else it might have been; a student taught with it would be too sure of itself.
    """
    judged = held_out_lines(fit_context) if plan.hold_out else frozenset()
    for name in ("goemotions-ekman", "meld"):
        found = source_examples(name, fit_context)
        if plan.hold_out:
            found = [e for e in found if not is_held_out(e) and plain(e.text) not in judged]
        found = found[: plan.limit]
        wanted = one_hot([str(example.label) for example in found], EKMAN)
        if teacher is not None:
            wanted = plan.hard * wanted + (1 - plan.hard) * teacher.predict_proba(found, "ekman")
        targets.add("ekman", found, wanted)


def vote_shares(examples: Sequence[Example]) -> Floats:
    """The annotators' votes as probabilities of the six emotions and neutral."""
    counts = np.array([[example.votes.get(label, 0) for label in EKMAN] for example in examples], float)
    counts = counts.reshape(len(examples), len(EKMAN))
    with np.errstate(invalid="ignore"):
        return np.asarray(counts / counts.sum(1, keepdims=True))


def is_held_out(example: Example) -> bool:
    """Whether a dialogue belongs to the tenth on which the student is judged."""
    return fold_number(example.family, FOLDS) == 0


def held_out_lines(fit_context: FitContext) -> frozenset[str]:
    """The lines of the dialogues on which the student is judged, by which they are known in other collections."""
    lines = (e.text for name in HEAD_OF for e in own_examples(name, fit_context) if is_held_out(e))
    return frozenset(map(plain, lines)) - {""}


def fit_student(answers: Sequence[Path], plan: StudentPlan, fit_context: FitContext) -> "MultiTaskClassifier":
    """Teach the encoder the mixture of all tasks, then what the teachers say."""
    check_installed(*PACKAGES, extra="train")
    from emoscope.models.torch.multitask import MultiTaskClassifier
    from emoscope.models.torch.training import seed_everything

    network: dict[str, Any] = {
        "encoder": plan.encoder,
        "pooling": "mean+focus",
        "context": plan.context,
        "max_length": plan.max_length,
        "dropout": plan.dropout,
        "layers": plan.layers,
        "middle": plan.middle,
    }
    if plan.adaptation:
        network |= {
            "pretraining": "masked",
            "pretraining_source": plan.adaptation,
            "lm_epochs": plan.adaptation_epochs,
            "lm_batch": plan.mixture_batch,
            "lm_rate": plan.adaptation_rate,
        }
    gathered = gather(answers, plan, fit_context)  # first: a file that is wrong must not be found out after an hour
    start = teacher = None
    if plan.start is not None:
        teacher = MultiTaskClassifier.load(Path(plan.start))
        if teacher.heads != dict(HEADS):
            raise EmoscopeError(f"{plan.start}: is not a student with the heads {', '.join(HEADS)}")
    elif plan.prepared is not None and (Path(plan.prepared) / REPORT).is_file():
        teacher = MultiTaskClassifier.load(Path(plan.prepared))
    elif plan.mixture_epochs:
        keep = (lambda example: not is_held_out(example)) if plan.hold_out else None
        mixture = affect_examples(fit_context, limit=plan.limit, keep=keep)
        teacher = MultiTaskClassifier(
            {head: labels for head, labels in affect_labels().items() if head in mixture},
            "transformer",
            network,
            {"epochs": plan.mixture_epochs, "batch": plan.mixture_batch, "rate": plan.mixture_rate},
        )
        teacher.fit(*teacher.targets(mixture), fit_context.part("mixture"))
        if plan.prepared is not None:
            teacher.save(Path(plan.prepared))
            save_report(Path(plan.prepared), {})
    add_single_labels(gathered, teacher, plan, fit_context)
    if teacher is not None:
        start = teacher.network
        assert start is not None
        if plan.start is None:
            seed_everything(
                fit_context.seed
            )  # the same student from an encoder just prepared and from one that was kept
            start.replace_head(sum(len(labels) for labels in HEADS.values()))
    student = MultiTaskClassifier(
        HEADS,
        "transformer",
        network,
        {"epochs": plan.epochs, "batch": plan.batch, "rate": plan.rate},
        shares=plan.shares,
    )
    return student.fit(gathered.examples, gathered.table(), fit_context.part("student"), start=start)


def judge(student: "MultiTaskClassifier", fit_context: FitContext) -> dict[str, Any]:
    """Scores on the held-out tenth of every task and on EmoContext's dev; temperatures and decisions from the tenth."""
    report: dict[str, Any] = {}
    for head in HEADS:
        tasks = [name for name, of in HEAD_OF.items() if of == head]
        found = {name: [e for e in own_examples(name, fit_context) if is_held_out(e)] for name in tasks}
        if head == "ekman":
            votes = [e for name in ("friends", "push") for e in pool_part(name, fit_context) if is_held_out(e)]
            found = {"emotionx": [e for e in votes if e.label in EKMAN]}
        every = [example for examples in found.values() for example in examples]
        scores = student.scores(every)[:, student.columns(head)]
        temperature = temperature_of(scores, np.array([HEADS[head].index(str(example.label)) for example in every]))
        report[head] = {"temperature": temperature, "examples": len(every), "scores": {}}
        for name, examples in found.items():
            answers = _probabilities(student, examples, head, temperature)
            report[head]["scores"][name] = _score(name, examples, answers, HEADS[head])
        if head == "emocontext":
            report[head] |= _emocontext(student, every, temperature, fit_context)
    return report


def _emocontext(
    student: "MultiTaskClassifier", held_out: Sequence[Example], temperature: float, fit_context: FitContext
) -> dict[str, Any]:
    """The decision under real traffic, chosen on the held-out tenth, and both scores on dev."""
    task = get_task("emocontext")
    assert task.metadata.natural_prior is not None
    natural = prior_vector(task.metadata.natural_prior, task.labels)
    train = [str(example.label) for example in own_examples("emocontext", fit_context)]
    prior = np.array([train.count(label) for label in task.labels], float) / len(train)
    shifted = shift_prior(_probabilities(student, held_out, "emocontext", temperature), prior, natural)
    decision = choose_multipliers(task, [str(e.label) for e in held_out], shifted, natural)
    dev = read_split(task, "dev", fit_context.resources)
    answers = shift_prior(_probabilities(student, dev, "emocontext", temperature), prior, natural)
    made = {"dev": _score("emocontext", dev, answers, task.labels), "decision": None}
    if decision is not None:
        made["decision"] = decision.tolist()
        made["dev_decided"] = _score("emocontext", dev, answers * decision, task.labels)
    return made


def _probabilities(
    student: "MultiTaskClassifier", examples: Sequence[Example], head: str, temperature: float
) -> Floats:
    return softmax(student.scores(examples)[:, student.columns(head)] / temperature)


def _score(task_name: str, examples: Sequence[Example], answers: Floats, labels: Sequence[str]) -> float:
    gold = [str(example.label) for example in examples]
    said = [labels[best] for best in answers.argmax(1)]
    confusion = confusion_matrix(gold, said, labels)
    if task_name == "emotionx":  # the seven emotions of EmotionX's annotators are not a task of their own
        return float(np.trace(confusion) / confusion.sum())
    return float(get_task(task_name).metric(confusion, labels))


def save_report(folder: Path, report: Mapping[str, Any]) -> None:
    """Write what `judge` found beside the student."""
    with atomic_write(folder / REPORT) as handle:
        json.dump(report, handle, indent=2)
