"""A large pretrained model as a teacher: one network for all tasks, fitted fold by fold.

The networks are too large to keep, so each fold answers as soon as it is fitted and leaves its probabilities.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import atomic_folder, atomic_write, read_json, write_file
from emoscope.core.fit_context import FitContext
from emoscope.core.frozen import FrozenModel
from emoscope.core.learnt import LearntItems
from emoscope.distil.pool import own_examples, vote_shares
from emoscope.models.block import Floats, one_hot
from emoscope.models.ensembles.folds import fold_number
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split
from emoscope.tasks.datasets.affect import auxiliary_corpora, auxiliary_examples, plain
from emoscope.tasks.datasets.auxiliary import chosen, source, source_examples

if TYPE_CHECKING:
    from emoscope.models.torch.multitask import MultiTaskClassifier

SPLITS: Mapping[str, tuple[str, ...]] = {
    "emocontext": ("train", "dev"),
    "emotionx-friends": ("train",),
    "emotionx-push": ("train",),
    "iest": ("train", "dev"),
}
# Corpora whose files have numbers for labels.
NAMED_LABELS = {"tweet-emotion": ("anger", "joy", "optimism", "sadness"), "irony": ("sincere", "ironic")}
PRETAUGHT, PLAN = "taught", "plan.json"


class TeacherPlan(FrozenModel):
    """How a teacher is made: it learns the auxiliary corpora first, then the tasks' own data but for one fold."""

    pretrained: str
    """A hub name or a folder."""
    network: Literal["decoder", "transformer"] = "decoder"
    """A causal language model that reads prompts, or an encoder."""
    context: int = 4
    """Turns that are read, the labelled one included."""
    max_length: int = 192
    folds: int = Field(default=5, ge=2)
    auxiliary_share: float = Field(default=0.4, ge=0, le=1)
    """Share of the auxiliary corpora that is learnt first."""
    rehearsal_share: float = Field(default=0.05, ge=0, le=1)
    """Share of them that is mixed into the tasks' data, so that they are not forgotten."""
    epochs: int = Field(default=1, ge=1)
    learning_rate: float = 1e-5
    batch_tokens: int = 4096
    label_smoothing: float = 0.02
    votes: float = 0.3
    """Weight of the annotators' votes in EmotionX's targets."""
    lora_rank: int = 0
    """Rank of low-rank adapters; 0 trains all weights."""
    gradient_checkpointing: bool = False
    limit: int | None = None
    """Examples of each source, for a trial."""


Lessons = dict[str, tuple[Sequence[Example], Floats]]  # by head: examples and their targets


def teacher_heads() -> dict[str, tuple[str, ...]]:
    """The label sets a teacher answers with.

    >>> teacher_heads()["irony"]
    ('sincere', 'ironic')
    """
    corpora = {"meld": "meld", "goemotions": "goemotions-ekman", "sentiment": "semeval2017-4a"}
    corpora |= {"emoji": "tweeteval-emoji", "isear": "isear"}
    tasks = {name: get_task(name).labels for name in SPLITS}
    return {**tasks, **{head: source(name).labels for head, name in corpora.items()}, **NAMED_LABELS}


def test_set(task_name: str, fit_context: FitContext) -> list[Example]:
    """The examples of a task's test set, none where its file is not at hand."""
    try:
        return read_split(get_task(task_name), "test", fit_context.resources)
    except EmoscopeError:
        return []


def fold_numbers(examples: Sequence[Example], folds: int) -> NDArray[np.int64]:
    """The fold of each example, which follows from its dialogue alone."""
    return np.array([fold_number(example.family, folds) for example in examples])


def teach_by_folds(
    plan: TeacherPlan,
    folder: Path,
    fit_context: FitContext,
    *,
    only: Sequence[int] | None = None,
    keep: Path | None = None,
) -> None:
    """Fit a network for each fold, and write its probabilities of the held-out examples and of the test sets at hand.

    A fold that is there already is left alone; a folder of another plan is refused. A number that is no fold's holds
    out nothing. `keep` is a folder to leave the networks in.
    """
    folder.mkdir(parents=True, exist_ok=True)
    content = plan.model_dump(mode="json")
    if (folder / PLAN).is_file() and read_json(folder / PLAN) != content:
        raise EmoscopeError(f"{folder}: was begun with other settings ({PLAN}); choose another folder")
    write_file(folder / PLAN, json.dumps(content, indent=2))
    own = {name: own_examples(name, fit_context, SPLITS[name])[: plan.limit] for name in SPLITS}
    tests = {name: test_set(name, fit_context)[: plan.limit] for name in SPLITS}
    folds = {name: fold_numbers(examples, plan.folds) for name, examples in own.items()}
    _learnt(own, plan, fit_context).save(folder)
    start = plan.pretrained
    if plan.auxiliary_share:
        start = str(folder / PRETAUGHT)
        if not (folder / PRETAUGHT / "config.json").is_file():
            lessons = auxiliary_lessons(plan, plan.auxiliary_share, fit_context)
            _save(fit_teacher([lessons], plan, plan.pretrained, fit_context.part(PRETAUGHT)), folder / PRETAUGHT)
    for fold in range(plan.folds) if only is None else only:
        path = folder / f"fold{fold}.npz"
        if path.is_file():
            continue
        kept = {name: list(compress(own[name], folds[name] != fold)) for name in own}
        held_out = {name: list(compress(own[name], folds[name] == fold)) for name in own}
        lessons = {name: (rows, _targets(rows, name, plan)) for name, rows in kept.items()}
        # MELD has many of EmotionX's scenes.
        lines = {plain(example.text) for example in held_out["emotionx-friends"]} - {""}
        meld = [e for e in source_examples("meld", fit_context) if plain(e.text) not in lines][: plan.limit]
        lessons["meld"] = (meld, _targets(meld, "meld", plan))
        rehearsal = auxiliary_lessons(plan, plan.rehearsal_share, fit_context)
        part = fit_context.part(f"fold{fold}", seed=fit_context.seed * 101 + fold)
        teacher = fit_teacher([lessons, rehearsal], plan, start, part)
        if keep is not None:
            _save(teacher, keep / f"fold{fold}")
        tables: dict[str, Any] = {}
        for name in own:
            tables[f"{name}/own"] = teacher.predict_proba(held_out[name], name).astype(np.float16)
            tables[f"{name}/test"] = teacher.predict_proba(tests[name], name).astype(np.float16)
        with atomic_write(path, "wb") as handle:
            np.savez_compressed(handle, **tables)


def _learnt(own: Mapping[str, Sequence[Example]], plan: TeacherPlan, fit_context: FitContext) -> LearntItems:
    """What the networks of all folds learn together."""
    sources: dict[str, Sequence[Example]] = {}
    if plan.auxiliary_share or plan.rehearsal_share:
        sources |= auxiliary_corpora(fit_context, limit=plan.limit)
        sources.pop("tweeteval-offensive", None)  # which no head asks for
    return LearntItems.of({**sources, **own, "meld": source_examples("meld", fit_context)[: plan.limit]})


def auxiliary_lessons(plan: TeacherPlan, share: float, fit_context: FitContext) -> Lessons:
    """A share of every auxiliary corpus, without lines of EmotionX."""
    mixture = auxiliary_examples(fit_context, limit=plan.limit)
    parts = {head: mixture[head] for head in ("sentiment", "emoji", "tweet-emotion", "irony", "isear", "iest")}
    parts["meld"] = [example for example in mixture["ekman"] if example.dialogue.turns[0].speaker]
    parts["goemotions"] = [example for example in mixture["ekman"] if not example.dialogue.turns[0].speaker]
    selected = {head: chosen(examples, round(len(examples) * share)) for head, examples in parts.items()}
    return {head: (examples, _targets(examples, head, plan)) for head, examples in selected.items()}


def _targets(examples: Sequence[Example], head: str, plan: TeacherPlan) -> Floats:
    """One-hot targets, smoothed, and mixed with the annotators' votes where there are any."""
    labels = teacher_heads()[head]
    names = [str(example.label) for example in examples]
    targets = one_hot([labels[int(name)] for name in names] if head in NAMED_LABELS else names, labels)
    shares = vote_shares(examples, labels)
    voted = ~np.isnan(shares).any(1)
    targets[voted] = (1 - plan.votes) * targets[voted] + plan.votes * shares[voted]
    return np.asarray((1 - plan.label_smoothing) * targets + plan.label_smoothing / len(labels))


def fit_teacher(
    lessons: Sequence[Lessons], plan: TeacherPlan, pretrained: str, fit_context: FitContext
) -> "MultiTaskClassifier":
    """One network over all lessons."""
    from emoscope.models.torch.multitask import MultiTaskClassifier

    heads = teacher_heads()
    network: dict[str, Any] = {"context": plan.context, "max_length": plan.max_length}
    if plan.network == "decoder":
        network |= {"decoder": pretrained, "heads": heads, "lora_rank": plan.lora_rank}
        network["gradient_checkpointing"] = plan.gradient_checkpointing
    else:
        network |= {"encoder": pretrained, "pooling": "mean+focus"}
    training = {
        "epochs": plan.epochs,
        "batch_tokens": plan.batch_tokens,
        "learning_rate": plan.learning_rate,
        "schedule": "cosine",
        "warmup_ratio": 0.06,
    }
    teacher = MultiTaskClassifier(heads, plan.network, network, training)
    examples: list[Example] = []
    tables = []
    for head, (rows, targets) in (item for lesson in lessons for item in lesson.items()):
        table = np.full((len(rows), teacher.outputs), np.nan)
        table[:, teacher.columns(head)] = targets
        examples += rows
        tables.append(table)
    return teacher.fit(examples, np.concatenate(tables), fit_context)


def _save(teacher: "MultiTaskClassifier", folder: Path) -> None:
    from emoscope.models.torch.decoder import Decoder
    from emoscope.models.torch.transformer import Transformer

    if folder.exists():  # kept before a kill: the same plan gives the same network
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with atomic_folder(folder) as part:
        if isinstance(teacher.network, Decoder):
            teacher.network.save_pretrained(part)
        elif isinstance(teacher.network, Transformer):
            teacher.network.encoder.save(part)
            teacher.network.tokenizer.save(part)


def merged_probabilities(folder: Path, plan: TeacherPlan, fit_context: FitContext) -> dict[str, dict[str, Floats]]:
    """For each task the out-of-fold probabilities (`own`, not a number where a fold is missing) and the folds' mean."""
    files = {path: np.load(path, allow_pickle=False) for path in sorted(folder.glob("fold*.npz"))}
    if not files:
        raise EmoscopeError(f"{folder}: holds no teacher's probabilities (fold0.npz is missing)")
    merged = {}
    for task_name in SPLITS:
        numbers = fold_numbers(own_examples(task_name, fit_context, SPLITS[task_name])[: plan.limit], plan.folds)
        own = np.full((len(numbers), len(get_task(task_name).labels)), np.nan)
        for path, file in files.items():
            own[numbers == int(path.stem.removeprefix("fold"))] = file[f"{task_name}/own"]
        test = np.mean([file[f"{task_name}/test"].astype(float) for file in files.values()], axis=0)
        merged[task_name] = {"own": own, "test": test}
    return merged
