"""Train a student: a small model with a head for each label set, from which `default` is made."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field, field_validator

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.extras import check_installed
from emoscope.core.files import read_json, write_json
from emoscope.core.fit_context import FitContext
from emoscope.core.frozen import FrozenModel
from emoscope.core.learnt import LearntItems
from emoscope.distil.everyday import (
    EXCLAIMED,
    GENERAL,
    JOINED,
    SURROUNDED,
    everyday_examples,
    exclaimed_examples,
    joined_examples,
    surrounded_examples,
    vote_shares,
)
from emoscope.distil.pool import (
    CALIBRATION,
    HEAD_OF,
    HELD_OUT,
    TASKS,
    TEACHER,
    corpus_of,
    load_answers,
    own_examples,
    pool_part,
)
from emoscope.models.block import Floats, one_hot
from emoscope.models.ensembles.folds import fold_number
from emoscope.systems.base import NETWORK_PACKAGES
from emoscope.tasks.datasets.affect import IN_DOMAIN, affect_corpora, affect_labels, by_head, plain, unknown_examples
from emoscope.tasks.datasets.unlabelled import unlabelled_dialogues

if TYPE_CHECKING:
    from emoscope.models.torch.multitask import MultiTaskClassifier

FOLDS = 10
REPORT = "student.json"
UNNAMED = "not named"  # an unknown source: the record is incomplete
HEADS: Mapping[str, tuple[str, ...]] = {  # the first is the default
    "general": GENERAL,
    "emocontext": ("others", "happy", "sad", "angry"),
    "emotionx": ("neutral", "joy", "sadness", "anger"),
    "iest": ("anger", "disgust", "fear", "joy", "sad", "surprise"),
}


class StudentPlan(FrozenModel):
    """How a student is trained; the defaults made `default`."""

    encoder: str = "sentence-transformers/all-MiniLM-L6-v2"
    """A hub name or a folder."""
    context: int = Field(default=3, ge=1)
    """Turns that are read, the labelled one included."""
    max_length: int = Field(default=96, ge=1)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    word_dropout: float = Field(default=0.0, ge=0, lt=1)
    """Share of the words that are masked in each training step."""
    layers: int | None = Field(default=None, ge=1)
    """Layers of the encoder that are kept."""
    middle: int | None = Field(default=512, ge=1)
    """Units in the feed-forward network of each layer; a student that continues from `start` is widened if it has
    fewer, and otherwise keeps its own."""
    adaptation: str | None = IN_DOMAIN
    """Unlabelled text for masked-language-model training before anything else (`tasks/datasets/unlabelled`)."""
    adaptation_epochs: int = Field(default=2, ge=0)
    adaptation_rate: float = Field(default=3e-4, gt=0)
    prepared: str | None = None
    """Folder for the encoder once it has learnt the mixture of corpora; if it exists, training continues from it."""
    hard: float = Field(default=0.35, ge=0, le=1)
    """Weight of the annotators' labels in the targets, where there are any; the rest is the teacher's."""
    mixture_epochs: int = Field(default=2, ge=0)
    mixture_batch: int = Field(default=128, ge=1)
    mixture_rate: float = Field(default=2e-4, gt=0)
    epochs: int = Field(default=10, ge=1)
    batch: int = Field(default=256, ge=1)
    rate: float = Field(default=3e-4, gt=0)
    precision: Literal["auto", "full", "bfloat16"] = "auto"
    hold_out: bool = False
    """Leave out fold 0 of 10 of each task's dialogues, and score the student on it."""
    start: str | None = None
    """A student to continue from, instead of the encoder and the mixture: its folder, or a model made from one."""
    freeze_embeddings: bool = False
    """Keep the word embeddings as they are, so that another student of the same model can share them."""
    heads: tuple[str, ...] = tuple(HEADS)
    """The label sets it answers with; one that continues from `start` has some or all of its."""
    everyday: int = Field(default=3, ge=0)
    """How often each everyday dialogue counts."""
    joined: int = Field(default=JOINED, ge=0)
    """Number of longer messages joined from everyday ones."""
    exclaimed: int = Field(default=EXCLAIMED, ge=0)
    """Number of everyday messages without joy that are repeated with exclamation marks."""
    surrounded: int = Field(default=SURROUNDED, ge=0)
    """Number of everyday messages that are repeated after turns of other dialogues."""
    limit: int | None = Field(default=None, ge=1)
    """Examples of each source, for a trial."""
    share: float = Field(default=1.0, gt=0, le=1)
    """Share of the pool to learn from, drawn with the seed; everyday dialogues are always all used."""
    parts: tuple[str, ...] | None = None
    """Parts of the pool to learn from, such as `comments`; by default all that the teachers labelled. The tasks' own
    examples are always used."""
    shares: Mapping[str, Annotated[float, Field(ge=0)]] = Field(default_factory=dict)
    """Weight of each head's loss."""

    @field_validator("heads")
    @classmethod
    def _known(cls, heads: tuple[str, ...]) -> tuple[str, ...]:
        if not heads or set(heads) - set(HEADS):
            raise ValueError(f"expected some of {', '.join(HEADS)}")
        return heads

    @field_validator("shares")
    @classmethod
    def _of_known(cls, shares: Mapping[str, float]) -> Mapping[str, float]:
        if set(shares) - set(HEADS):
            raise ValueError(f"expected weights of some of {', '.join(HEADS)}")
        return shares


class Targets:
    """Examples with targets for one or more heads; the same text in the same context is one row."""

    def __init__(self, context: int, heads: Sequence[str] = tuple(HEADS)) -> None:
        self.context = context
        self.heads = {head: HEADS[head] for head in heads}
        self.examples: list[Example] = []
        self.tables: dict[str, list[Floats | None]] = {head: [] for head in heads}
        self._told: Counter[tuple[str, int]] = Counter()
        self._row: dict[tuple[str, ...], int] = {}
        self.sources: dict[str, list[Example]] = {}  # the examples by corpus
        self.teachers = LearntItems()  # what the teachers learnt, if their files say so

    def repeat(
        self, head: str, examples: Sequence[Example], targets: Floats, times: int, *, source: str = UNNAMED
    ) -> None:
        """Add a head's targets as separate rows, `times` times."""
        if times:
            self.sources.setdefault(source, []).extend(examples)
        for example, target in times * list(zip(examples, targets, strict=True)):
            self.examples.append(example)
            for name, table in self.tables.items():
                table.append(target if name == head else None)

    def add(self, head: str, examples: Sequence[Example], targets: Floats, *, source: str = UNNAMED) -> None:
        """Add a head's targets; rows with NaN are left out, and several targets of one row are averaged."""
        taught = self.sources.setdefault(source, [])
        for example, target in zip(examples, targets, strict=True):
            if np.isnan(target).any():
                continue
            taught.append(example)
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

    def mix(self) -> dict[str, dict[str, float]]:
        """The mean target of each label, head by head."""
        rows = {head: [row for row in table if row is not None] for head, table in self.tables.items()}
        return {
            head: dict(zip(labels, np.mean(rows[head], axis=0).tolist(), strict=True))
            for head, labels in self.heads.items()
            if rows[head]
        }

    def table(self) -> Floats:
        """The targets of all heads side by side; NaN where there is none."""
        columns = []
        for head, labels in self.heads.items():
            empty = np.full(len(labels), np.nan)
            columns.append(np.stack([empty if row is None else row for row in self.tables[head]]))
        return np.concatenate(columns, axis=1)


def gather(answers: Sequence[Path], plan: StudentPlan, fit_context: FitContext) -> Targets:
    """The pool with targets from the teachers' files, mixed with labels where there are any."""
    targets = Targets(plan.context, plan.heads)
    own_allowed, allowed_elsewhere = learnable(plan, fit_context)

    @cache  # several teachers may label the same part
    def part_of(name: str, task_name: str | None) -> tuple[list[Example], list[int]]:
        """A part of the pool or a task's own examples, and the positions of those that may be learnt."""
        part = pool_part(name, fit_context) if task_name is None else own_examples(task_name, fit_context)
        may = allowed_elsewhere if task_name is None else own_allowed
        drawn = np.random.default_rng(fit_context.seed).random(len(part)) < plan.share
        return part, [number for number, example in enumerate(part) if drawn[number] and may(example)]

    for path in answers:
        task_name, labels, tables, learnt = load_answers(path)
        sources = {_of_teacher(name): count for name, count in (learnt.sources or {UNNAMED: 0}).items()}
        targets.teachers |= LearntItems(sources, learnt.fingerprints)
        head = HEAD_OF[task_name]
        if head not in targets.heads:
            raise EmoscopeError(f"{path}: answers for {head}, which is not among the student's heads")
        order = [labels.index(label) for label in HEADS[head]]
        for name, table in tables.items():
            own = name == "own"
            if name == HELD_OUT or not (own or plan.parts is None or name in plan.parts):
                continue
            part, allowed = part_of(name, task_name if own else None)
            if plan.limit is not None:
                part, allowed = part[: len(table)], [number for number in allowed if number < len(table)]
            if len(part) != len(table):
                raise InputError(path, f"has {len(table):,} answers to {name}, which has {len(part):,} texts here")
            soft = table[:, order]
            if own:
                certain = one_hot([str(example.label) for example in part], HEADS[head])
                soft = plan.hard * certain + (1 - plan.hard) * soft
            elif (head, name) == ("general", "everyday"):
                certain = vote_shares(part)
                soft = np.where(np.isnan(soft), certain, plan.hard * certain + (1 - plan.hard) * soft)
                targets.repeat(head, part[: plan.limit], soft[: plan.limit], plan.everyday, source=corpus_of(name))
                continue
            allowed = allowed[: plan.limit]
            corpus = task_name if own else corpus_of(name)
            targets.add(head, [part[number] for number in allowed], soft[allowed], source=corpus)
    everyday = corpus_of("everyday")
    if "general" in targets.heads and everyday not in targets.sources:  # without a teacher: our labels alone
        examples = everyday_examples()[: plan.limit]
        targets.repeat("general", examples, vote_shares(examples), plan.everyday, source=everyday)
    if "general" in targets.heads and plan.everyday:
        varied = (
            joined_examples(plan.joined),
            exclaimed_examples(plan.exclaimed),
            surrounded_examples(plan.surrounded),
        )
        for made in varied:
            targets.repeat("general", made[: plan.limit], vote_shares(made[: plan.limit]), 1, source=everyday)
    return targets


def _of_teacher(source: str) -> str:
    """The name of a teacher's source in the record; names that already have a prefix stay as they are.

    >>> _of_teacher("meld"), _of_teacher("teacher: meld"), _of_teacher("text: tweets")
    ('teacher: meld', 'teacher: meld', 'text: tweets')
    """
    return source if source.startswith((TEACHER, "text: ")) else f"{TEACHER}{source.removeprefix(CALIBRATION)}"


def learnable(
    plan: StudentPlan, fit_context: FitContext
) -> tuple[Callable[[Example], bool], Callable[[Example], bool]]:
    """Two filters: whether to learn from an example of a task's own data, and from one of another corpus.

    With `hold_out`, held-out dialogues are excluded, and in other corpora also lines that are scored: MELD has many of
    EmotionX's scenes.
    """
    if not plan.hold_out:
        return (lambda _: True), (lambda _: True)
    judged = [e for name in TASKS for e in own_examples(name, fit_context) if is_held_out(e)]
    lines = frozenset(plain(example.text) for example in judged) - {""}
    items = LearntItems.of({"judged": judged})

    def own(example: Example) -> bool:
        return not is_held_out(example)

    def elsewhere(example: Example) -> bool:
        return own(example) and bool(unknown_examples([example], lines)) and not items.known([example])[0]

    return own, elsewhere


def is_held_out(example: Example) -> bool:
    """Whether a dialogue is in the tenth that the student is scored on."""
    return fold_number(example.family, FOLDS) == 0


def fit_student(targets: Targets, plan: StudentPlan, fit_context: FitContext) -> "MultiTaskClassifier":
    """Train the encoder on the mixture of all corpora, then on the targets from `gather`."""
    check_installed(*NETWORK_PACKAGES, extra="train")
    from emoscope.models.torch.multitask import MultiTaskClassifier
    from emoscope.models.torch.training import seed_everything
    from emoscope.models.torch.transformer import Transformer

    settings = ("encoder", "context", "max_length", "dropout", "word_dropout", "layers", "middle")
    network: dict[str, Any] = {"pooling": "mean+focus", **{name: getattr(plan, name) for name in settings}}
    if plan.adaptation:
        network |= {
            "pretraining": "masked",
            "pretraining_source": plan.adaptation,
            "lm_epochs": plan.adaptation_epochs,
            "lm_batch": plan.mixture_batch,
            "lm_rate": plan.adaptation_rate,
        }
    start = teacher = None
    if plan.start is not None:
        teacher = _student(plan.start, plan.heads[0])
        if not targets.heads.items() <= teacher.heads.items():
            has, wanted = (", ".join(heads) for heads in (teacher.heads, targets.heads))
            raise EmoscopeError(
                f"{plan.start}: its network has the heads {has}, not {wanted}; choose with --set heads="
            )
        teacher.keep_heads(list(targets.heads))
        _widen(teacher, plan, fit_context)
        assert isinstance(teacher.network, Transformer)
        teacher.network.settings = replace(teacher.network.settings, word_dropout=plan.word_dropout)
    elif plan.prepared is not None and (Path(plan.prepared) / REPORT).is_file():
        teacher = MultiTaskClassifier.load(Path(plan.prepared))
    elif plan.mixture_epochs:
        own, elsewhere = learnable(plan, fit_context)
        every = affect_corpora(fit_context, limit=plan.limit, keep=own)
        corpora = {name: rows if name in TASKS else list(filter(elsewhere, rows)) for name, rows in every.items()}
        mixture = by_head(corpora)
        teacher = MultiTaskClassifier(
            {head: labels for head, labels in affect_labels().items() if head in mixture},
            "transformer",
            network,
            {"epochs": plan.mixture_epochs, "batch": plan.mixture_batch, "rate": plan.mixture_rate},
        )
        teacher.fit(*teacher.targets(mixture), fit_context.part("mixture"))
        teacher.learnt = LearntItems.of(corpora) | _read_text(plan, fit_context)
        if plan.prepared is not None:
            teacher.save(Path(plan.prepared))
            save_report(Path(plan.prepared), {})
    if teacher is not None:
        start = teacher.network
        assert start is not None
        if plan.start is None:
            # A prepared encoder that is loaded must give the same student as one just trained.
            seed_everything(fit_context.seed)
            start.replace_head(sum(map(len, targets.heads.values())))
    if plan.freeze_embeddings:
        if not isinstance(start, Transformer):
            raise EmoscopeError("freeze_embeddings: needs a student to continue from (start)")
        start.encoder.model.get_input_embeddings().requires_grad_(False)
    training = {"epochs": plan.epochs, "batch": plan.batch, "rate": plan.rate, "precision": plan.precision}
    student = MultiTaskClassifier(targets.heads, "transformer", network, training, shares=plan.shares)
    student.fit(targets.examples, targets.table(), fit_context.part("student"), start=start)
    student.learnt = LearntItems.of(targets.sources) | targets.teachers
    if teacher is None:
        student.learnt |= _read_text(plan, fit_context)
    else:
        student.learnt |= LearntItems({UNNAMED: 0}) if teacher.learnt is None else teacher.learnt
    return student


def _widen(student: "MultiTaskClassifier", plan: StudentPlan, fit_context: FitContext) -> None:
    """Widen the feed-forward networks if the plan asks for more units than the student has."""
    from emoscope.models.torch.pruning import widen_ffn
    from emoscope.models.torch.training import seed_everything
    from emoscope.models.torch.transformer import Transformer

    network = student.network
    assert isinstance(network, Transformer)
    if plan.middle is not None and plan.middle > network.encoder.model.config.intermediate_size:
        seed_everything(fit_context.seed)
        widen_ffn(network.encoder, plan.middle)


def _student(name: str, head: str) -> "MultiTaskClassifier":
    """A student from its own folder, or from the model that was made from it; there, the network with `head`."""
    from emoscope.detector.bundle import resolve
    from emoscope.models.torch.multitask import CONFIG, MultiTaskClassifier
    from emoscope.models.torch.reopened import reopen

    folder = Path(name)
    return MultiTaskClassifier.load(folder) if (folder / CONFIG).is_file() else reopen(resolve(name), head)


def mean_of(students: Sequence[str], shares: Sequence[float] | None = None) -> "MultiTaskClassifier":
    """A student with the mean weights of several, such as the same student after each of its last passes, or a student
    and the model that it continued from; `shares` says how much each counts.
    """
    from emoscope.models.torch.multitask import MultiTaskClassifier

    shares = shares or [1.0] * len(students)
    if len(shares) != len(students) or min(shares) < 0 or sum(shares) <= 0:
        raise EmoscopeError(f"expected {len(students)} shares, one for each student, not below 0 and not all 0")
    mean = MultiTaskClassifier.load(Path(students[0]))
    weights, done = mean.fitted().state_dict(), shares[0]
    for name, share in zip(students[1:], shares[1:], strict=True):
        other = _student(name, next(iter(mean.heads)))
        if mean.heads.items() <= other.heads.items():
            other.keep_heads(list(mean.heads))
        theirs = other.fitted().state_dict()
        shapes, expected = ({key: weight.shape for key, weight in each.items()} for each in (theirs, weights))
        if other.heads != mean.heads or shapes != expected:
            raise EmoscopeError(f"{name}: has other heads or layers than {students[0]}")
        done += share
        for key, weight in weights.items():
            weight.lerp_(theirs[key], share / done if done else 0.0)  # what is equal stays exactly equal
        if mean.learnt is not None:
            mean.learnt |= LearntItems({UNNAMED: 0}) if other.learnt is None else other.learnt
    return mean


def mix_of(targets: Targets, plan: StudentPlan) -> dict[str, dict[str, float]]:
    """The mix of labels that a student learnt, by head.

    A student that continues from another keeps that one's mix, because its further data were selected.
    """
    if plan.start is None:
        return targets.mix()
    from emoscope.detector.bundle import Bundle, resolve

    report = Path(plan.start) / REPORT
    if report.is_file():
        former: dict[str, dict[str, float]] = read_json(report)["mix"]
        return former
    return {head.name: dict(head.trained) for head in Bundle.load(resolve(plan.start)).heads}


def _read_text(plan: StudentPlan, fit_context: FitContext) -> LearntItems:
    """The unlabelled text it reads: sources without items."""
    names = plan.adaptation.split("+") if plan.adaptation else []
    return LearntItems({f"text: {name}": len(unlabelled_dialogues(name, [], fit_context)) for name in names})


def save_report(folder: Path, report: Mapping[str, Any]) -> None:
    """Write the report beside the student."""
    write_json(folder / REPORT, report)
