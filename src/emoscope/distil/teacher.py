"""Train a large pretrained model as a teacher: one network for all tasks, fold by fold.

The networks are too large to keep, so each predicts as soon as it is trained, and only its probabilities are saved.
"""

from collections.abc import Mapping, Sequence
from itertools import chain, compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from emoscope.core.arrays import save_arrays
from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import atomic_folder, read_json, write_json
from emoscope.core.fit_context import FitContext
from emoscope.core.frozen import FrozenModel
from emoscope.core.learnt import LearntItems
from emoscope.distil.everyday import GENERAL, everyday_examples, vote_shares
from emoscope.distil.pool import HELD_OUT, corpus_of, own_examples, pool_part, save_answers
from emoscope.models.block import Floats, one_hot
from emoscope.models.ensembles.folds import fold_number
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split
from emoscope.tasks.datasets.affect import auxiliary_corpora, by_head, plain, unknown_examples
from emoscope.tasks.datasets.auxiliary import chosen, source, source_examples
from emoscope.tasks.datasets.unlabelled import unlabelled_dialogues

if TYPE_CHECKING:
    from emoscope.models.torch.multitask import MultiTaskClassifier

SPLITS: Mapping[str, tuple[str, ...]] = {
    "emocontext": ("train", "dev"),
    "emotionx-friends": ("train",),
    "emotionx-push": ("train",),
    "iest": ("train", "dev"),
}
# Corpora whose labels are numbers in the files.
NAMED_LABELS = {"tweet-emotion": ("anger", "joy", "optimism", "sadness"), "irony": ("sincere", "ironic")}
PRETAUGHT, PLAN, ANSWERS = "taught", "plan.json", "answers"
OPEN_HEADS = ("goemotions", "general")  # trained on data that allow any use: GoEmotions and our own dialogues
_NEW = ("written:everyday", "written:emocontext")
# The parts of the pool that a teacher labels, by head.
POOL: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "all": {
        "general": (
            HELD_OUT,
            "everyday",
            *_NEW,
            "emocontext",
            "friends",
            "push",
            "meld",
            "comments",
            "tweets",
            "isear",
        ),
        "emocontext": ("written:emocontext", "everyday", "recombined", "meld", "friends", "push"),
        "iest": ("written:iest", "masked-words", "varied", "masked-places"),
        "emotionx-push": ("everyday", "emocontext", "written:emocontext"),
        "emotionx-friends": ("meld", "scripts"),
    },
    "open": {"general": (HELD_OUT, "everyday", "written:everyday", "comments")},
}


class TeacherPlan(FrozenModel):
    """How a teacher is trained: first on the auxiliary corpora, then on the tasks' own data without one fold."""

    pretrained: str
    """A hub name or a folder."""
    network: Literal["decoder", "transformer"] = "decoder"
    """A causal language model that reads prompts, or an encoder."""
    context: int = 4
    """Turns that are read, the labelled one included."""
    following: int = Field(default=0, ge=0)
    """Turns after the labelled one that a decoder reads, where the dialogue goes on."""
    infilling: bool = False
    """Whether a decoder that was pretrained to fill gaps sees a masked word as a gap."""
    max_length: int = 192
    list_labels: bool = True
    """Whether a decoder's prompt lists the labels; without them it is shorter."""
    describe_labels: bool = False
    """Whether it also says in a few words what each label means."""
    bidirectional: bool = False
    """Whether every token of a decoder's prompt sees the whole prompt, not only what comes before it."""
    pooling: Literal["last", "mean"] = "last"
    """What a decoder's heads read: the state of the prompt's last token, or the mean of all."""
    corpora: Literal["all", "open"] = "all"
    """`open` uses only data that allow any use, and has only their heads."""
    folds: int = Field(default=5, ge=2)
    adaptation: str | None = None
    """Unlabelled text that a decoder first learns to continue, with all its weights: sources joined by "+", such as
    tweets+iest."""
    adaptation_text: int | None = Field(default=None, ge=1)
    """Maximum number of dialogues of that text, drawn at random; null for all."""
    auxiliary_share: float = Field(default=0.4, ge=0, le=1)
    """Share of the auxiliary corpora to train on first."""
    rehearsal_share: float = Field(default=0.05, ge=0, le=1)
    """Share of them that is mixed into the tasks' data as rehearsal."""
    epochs: int = Field(default=1, ge=1)
    learning_rate: float = 1e-5
    batch_tokens: int = 4096
    label_smoothing: float = 0.02
    everyday_repeats: int = Field(default=3, ge=0)
    """How often each everyday dialogue counts; with 0, no text of the pool is labelled with the seven emotions."""
    votes: float = 0.3
    """Weight of the annotators' votes in EmotionX's targets."""
    lora_rank: int = Field(default=0, ge=0)
    """Rank of low-rank adapters; 0 trains all weights."""
    gradient_checkpointing: bool = False
    limit: int | None = None
    """Examples of each source, for a trial."""


ADAPTED = "adapted"
_OF_DECODER = {"following", "infilling", "list_labels", "describe_labels", "bidirectional", "pooling"}
_OF_DECODER |= {"lora_rank", "gradient_checkpointing"}
Lessons = dict[str, tuple[Sequence[Example], Floats]]  # by head: examples and their targets


def teacher_heads(corpora: str = "all") -> dict[str, tuple[str, ...]]:
    """The label sets a teacher answers with.

    >>> teacher_heads()["irony"], list(teacher_heads("open"))
    (('sincere', 'ironic'), ['goemotions', 'general'])
    """
    if corpora == "open":
        heads = teacher_heads()
        return {name: heads[name] for name in OPEN_HEADS}
    names = {"meld": "meld", "goemotions": "goemotions-ekman", "sentiment": "semeval2017-4a"}
    names |= {"emoji": "tweeteval-emoji", "isear": "isear"}
    tasks = {name: get_task(name).labels for name in SPLITS}
    auxiliary = {head: source(name).labels for head, name in names.items()}
    return {**tasks, **auxiliary, **NAMED_LABELS, "general": GENERAL}


def test_set(task_name: str, fit_context: FitContext) -> list[Example]:
    """The examples of a task's test set; none if its file is missing."""
    try:
        return read_split(get_task(task_name), "test", fit_context.resources)
    except EmoscopeError:
        return []


def fold_numbers(examples: Sequence[Example], folds: int) -> NDArray[np.int64]:
    """The fold of each example, which depends on its dialogue alone."""
    return np.array([fold_number(example.family, folds) for example in examples])


def teach_by_folds(
    plan: TeacherPlan,
    folder: Path,
    fit_context: FitContext,
    *,
    only: Sequence[int] | None = None,
    keep: Path | None = None,
    ask: bool = False,
    parts: Sequence[str] | None = None,
) -> None:
    """Train a network for each fold, and write its probabilities for the held-out examples and the available test sets.

    Finished folds are skipped; a folder of another plan is an error. A fold number beyond the last holds out nothing,
    and its network labels all examples, though it has learnt them.
    With `ask`, the networks also label the pool for a student, or the named `parts` of it: each the texts of its own
    fold, which it has not learnt; a network that holds out nothing labels all. Networks are saved in the folder `keep`.
    """
    asked = _asked(plan, parts)
    text = _check(plan, fit_context)
    folder.mkdir(parents=True, exist_ok=True)
    # A plan of an earlier version lacks newer settings, which then had their defaults.
    if (folder / PLAN).is_file() and TeacherPlan.model_construct(**read_json(folder / PLAN)) != plan:
        raise EmoscopeError(f"{folder}: was started with other settings ({PLAN}); choose another folder")
    write_json(folder / PLAN, plan.model_dump(mode="json"))
    tasks = SPLITS if plan.corpora == "all" else {}
    own = {name: own_examples(name, fit_context, splits)[: plan.limit] for name, splits in tasks.items()}
    tests = {name: test_set(name, fit_context)[: plan.limit] for name in tasks}
    folds = {name: fold_numbers(examples, plan.folds) for name, examples in own.items()}
    learnt = _learnt(own, plan, fit_context) | LearntItems({f"text: {name}": len(each) for name, each in text.items()})
    learnt.save(folder)
    pool = _Pool(folds, plan, fit_context)
    for name in dict.fromkeys(name for names in asked.values() for name in names if ask):
        pool.part(name)  # report a missing part now, not after hours of training
    start = _start(plan, folder, list(chain.from_iterable(text.values())), fit_context)
    for fold in range(plan.folds) if only is None else only:
        path = folder / f"fold{fold}.npz"
        if path.is_file():
            continue
        held_out = {name: list(compress(own[name], folds[name] == fold)) for name in own}
        kept = {name: list(compress(own[name], folds[name] != fold)) for name in own}
        lessons = [_everyday(plan, fold)]
        if plan.corpora == "open":
            comments = source_examples("goemotions-ekman", fit_context)[: plan.limit]
            lessons.append({"goemotions": (comments, _targets(comments, "goemotions", plan))})
        else:
            lessons.append({name: (rows, _targets(rows, name, plan)) for name, rows in kept.items()})
            # MELD has many of EmotionX's scenes.
            lines = {plain(example.text) for example in held_out["emotionx-friends"]} - {""}
            meld = unknown_examples(source_examples("meld", fit_context), lines)[: plan.limit]
            lessons.append({"meld": (meld, _targets(meld, "meld", plan))})
            lessons.append(auxiliary_lessons(plan, plan.rehearsal_share, fit_context))
        part = fit_context.part(f"fold{fold}", seed=fit_context.seed * 101 + fold)
        teacher = fit_teacher(lessons, plan, start, part)
        if keep is not None:
            _save(teacher, keep / f"fold{fold}")
        tables = {}
        for name, examples in own.items():
            tables[f"{name}/own"] = teacher.predict_proba(held_out[name] if fold < plan.folds else examples, name)
            tables[f"{name}/test"] = teacher.predict_proba(tests[name], name)
        if ask:
            tables |= pool.ask(teacher, fold, asked)
        save_arrays(path, {name: table.astype(np.float16) for name, table in tables.items()})
        pool.save_answers(folder, learnt)  # after each fold, so that students can use what exists


def _check(plan: TeacherPlan, fit_context: FitContext) -> dict[str, list[Dialogue]]:
    """Report now what would fail after minutes of training; returns the text of each source for adaptation."""
    if plan.network == "decoder":
        from emoscope.models.torch.decoder import check_decoder

        check_decoder(plan.pretrained)
    elif plan.adaptation:
        raise EmoscopeError("adaptation: only a decoder is adapted here; use network=decoder")
    if not plan.adaptation:
        if plan.adaptation_text:
            raise EmoscopeError("adaptation_text: needs adaptation, the sources of that text")
        return {}
    if plan.lora_rank:
        raise EmoscopeError("adaptation: trains all weights, which lora_rank is to avoid; choose one")
    text = {name: unlabelled_dialogues(name, (), fit_context)[: plan.limit] for name in plan.adaptation.split("+")}
    for name, dialogues in text.items():
        if not dialogues:
            raise EmoscopeError(f"adaptation: {name} holds no text")
    return text


def _start(plan: TeacherPlan, folder: Path, text: Sequence[Dialogue], fit_context: FitContext) -> str:
    """What the networks of all folds start from: the pretrained model after unlabelled text and auxiliary corpora."""
    taught, adapted = folder / PRETAUGHT, folder / ADAPTED
    teaches = plan.auxiliary_share and plan.corpora == "all"
    if teaches and (taught / "config.json").is_file():
        return str(taught)
    start = plan.pretrained
    if plan.adaptation:
        start = str(adapted)
        if not (adapted / "config.json").is_file():
            _adapt(plan, text, adapted, fit_context.part(ADAPTED))
    if teaches:
        corpora = auxiliary_lessons(plan, plan.auxiliary_share, fit_context)
        _save(fit_teacher([corpora], plan, start, fit_context.part(PRETAUGHT)), taught)
        start = str(taught)
    return start


def _adapt(plan: TeacherPlan, text: Sequence[Dialogue], folder: Path, fit_context: FitContext) -> None:
    """Train the decoder on unlabelled text, twice as many tokens at once as of labelled text."""
    from emoscope.models.torch.next_token import adapt_decoder
    from emoscope.models.torch.training import Training

    training = Training(
        1,
        learning_rate=plan.learning_rate,
        schedule="cosine",
        warmup_ratio=0.06,
        batch_tokens=2 * plan.batch_tokens,
    )
    adapt_decoder(
        plan.pretrained,
        chosen(text, plan.adaptation_text),
        folder,
        training,
        fit_context,
        max_length=plan.max_length,
        gradient_checkpointing=plan.gradient_checkpointing,
    )


def _asked(plan: TeacherPlan, parts: Sequence[str] | None) -> dict[str, list[str]]:
    """The parts of the pool that each head labels; named ones need not be among those of the plan's corpora."""
    heads = [head for head in POOL[plan.corpora] if head != "general" or plan.everyday_repeats]
    if parts is None:
        return {head: list(POOL[plan.corpora][head]) for head in heads}
    if unknown := sorted(set(parts) - set(chain.from_iterable(POOL["all"][head] for head in heads))):
        raise EmoscopeError(f"--part: no head labels {unknown[0]!r}")
    return {head: [part for part in POOL["all"][head] if part in parts] for head in heads}


class _Pool:
    """The texts that a teacher labels for a student, with the fold whose network labels each.

    `own_folds` are the folds of each task's own examples.
    """

    def __init__(self, own_folds: Mapping[str, NDArray[np.int64]], plan: TeacherPlan, fit_context: FitContext) -> None:
        self.own_folds = own_folds
        self.plan = plan
        self.fit_context = fit_context
        self._parts: dict[str, tuple[list[Example], NDArray[np.int64]]] = {}

    def part(self, name: str) -> tuple[list[Example], NDArray[np.int64]]:
        """The texts of a part and their folds."""
        if name not in self._parts:
            examples = pool_part(name, self.fit_context)[: self.plan.limit]
            self._parts[name] = examples, fold_numbers(examples, self.plan.folds)
        return self._parts[name]

    def answered_by(self, fold: int, folds: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which texts, given their folds, a fold's network labels."""
        return np.asarray((folds == fold) | (fold >= self.plan.folds))

    def ask(self, teacher: "MultiTaskClassifier", fold: int, asked: Mapping[str, Sequence[str]]) -> dict[str, Floats]:
        """A fold's probabilities for the texts it labels."""
        tables = {}
        for head, names in asked.items():
            for name in names:
                self.fit_context.progress(f"labelling {name} with {head}", 1.0)
                part, folds = self.part(name)
                examples = list(compress(part, self.answered_by(fold, folds)))
                tables[f"{head}/{name}"] = teacher.predict_proba(examples, head)
        return tables

    def save_answers(self, folder: Path, learnt: LearntItems) -> None:
        """Write the probabilities that a student learns from, a file per head, with NaN where a fold is missing.

        Those of a network that had not learnt a text come first, those of one that holds out nothing fill the rest.
        EmoContext's dev, which comes last in its own data, is left out for scoring.
        `learnt` is what the teacher learnt, for the student's record.
        """
        merged: dict[str, dict[str, Floats]] = {}
        for fold, file in _folds(folder).items():
            for head, _, name in (key.partition("/") for key in file.files):
                if name == "test":
                    continue
                answers = file[f"{head}/{name}"]
                folds = self.own_folds[head] if name == "own" else self.part(name)[1]
                answered = self.answered_by(fold, folds)
                table = merged.setdefault(head, {}).setdefault(name, np.full((len(answered), answers.shape[1]), np.nan))
                missing = np.asarray(np.isnan(table).any(1))
                table[answered & missing] = answers[missing[answered]]
        for head in self.own_folds.keys() & merged.keys():
            if "own" in merged[head]:
                count = len(own_examples(head, self.fit_context)[: self.plan.limit])
                merged[head]["own"] = merged[head]["own"][:count]
        (folder / ANSWERS).mkdir(exist_ok=True)
        heads = teacher_heads(self.plan.corpora)
        for head, tables in merged.items():
            save_answers(folder / ANSWERS / f"{head}.npz", head, heads[head], tables, learnt)


def _everyday(plan: TeacherPlan, fold: int) -> Lessons:
    examples = everyday_examples()[: plan.limit]
    examples = list(compress(examples, fold_numbers(examples, plan.folds) != fold)) * plan.everyday_repeats
    return {"general": (examples, _smoothed(vote_shares(examples), plan))}


def _learnt(own: Mapping[str, Sequence[Example]], plan: TeacherPlan, fit_context: FitContext) -> LearntItems:
    """Everything that the networks of all folds learn."""
    sources: dict[str, Sequence[Example]] = {corpus_of("everyday"): everyday_examples()[: plan.limit]}
    if plan.corpora == "open":
        sources["goemotions-ekman"] = source_examples("goemotions-ekman", fit_context)[: plan.limit]
        return LearntItems.of(sources)
    if plan.auxiliary_share or plan.rehearsal_share:
        sources |= auxiliary_corpora(fit_context, limit=plan.limit)
        sources.pop("tweeteval-offensive", None)  # no head has it
    return LearntItems.of({**sources, **own, "meld": source_examples("meld", fit_context)[: plan.limit]})


def auxiliary_lessons(plan: TeacherPlan, share: float, fit_context: FitContext) -> Lessons:
    """A share of each auxiliary corpus, without lines of EmotionX."""
    mixture = by_head(auxiliary_corpora(fit_context, limit=plan.limit))
    parts = {head: mixture[head] for head in ("sentiment", "emoji", "tweet-emotion", "irony", "isear", "iest")}
    parts["meld"] = [example for example in mixture["ekman"] if example.dialogue.turns[0].speaker]
    parts["goemotions"] = [example for example in mixture["ekman"] if not example.dialogue.turns[0].speaker]
    selected = {head: chosen(examples, round(len(examples) * share)) for head, examples in parts.items()}
    selected["iest"] = parts["iest"]  # masked words are few, and as good as IEST's own
    return {head: (examples, _targets(examples, head, plan)) for head, examples in selected.items()}


def _targets(examples: Sequence[Example], head: str, plan: TeacherPlan) -> Floats:
    """One-hot targets, smoothed, and mixed with the annotators' votes where there are any."""
    labels = teacher_heads()[head]
    names = [str(example.label) for example in examples]
    targets = one_hot([labels[int(name)] for name in names] if head in NAMED_LABELS else names, labels)
    shares = vote_shares(examples, labels)
    voted = ~np.isnan(shares).any(1)
    targets[voted] = (1 - plan.votes) * targets[voted] + plan.votes * shares[voted]
    return _smoothed(targets, plan)


def _smoothed(targets: Floats, plan: TeacherPlan) -> Floats:
    return np.asarray((1 - plan.label_smoothing) * targets + plan.label_smoothing / targets.shape[1])


def fit_teacher(
    lessons: Sequence[Lessons], plan: TeacherPlan, pretrained: str, fit_context: FitContext
) -> "MultiTaskClassifier":
    """Train one network on all lessons."""
    from emoscope.models.torch.multitask import MultiTaskClassifier

    heads = teacher_heads(plan.corpora)
    network: dict[str, Any] = {"context": plan.context, "max_length": plan.max_length}
    if plan.network == "decoder":
        network |= {"decoder": pretrained, "heads": heads, **plan.model_dump(include=_OF_DECODER)}
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
    taught = [(head, *each) for lesson in lessons for head, each in lesson.items()]
    examples = [example for _, rows, _ in taught for example in rows]
    targets = np.concatenate([teacher.table(head, targets) for head, _, targets in taught])
    return teacher.fit(examples, targets, fit_context)


def _save(teacher: "MultiTaskClassifier", folder: Path) -> None:
    from emoscope.models.torch.decoder import Decoder
    from emoscope.models.torch.transformer import Transformer

    if folder.exists():  # saved before a kill; the same plan gives the same network
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with atomic_folder(folder) as part:
        if isinstance(teacher.network, Decoder):
            teacher.network.save_pretrained(part)
        elif isinstance(teacher.network, Transformer):
            teacher.network.encoder.save(part)
            teacher.network.tokenizer.save(part)


def _folds(folder: Path) -> dict[int, Any]:
    """The saved probabilities of each fold, by its number."""
    paths = {int(path.stem.removeprefix("fold")): path for path in folder.glob("fold*.npz")}
    return {fold: np.load(paths[fold], allow_pickle=False) for fold in sorted(paths)}


def merged_probabilities(folder: Path, plan: TeacherPlan, fit_context: FitContext) -> dict[str, dict[str, Floats]]:
    """For each task the out-of-fold probabilities (`own`, NaN where a fold is missing) and the folds' mean (`test`)."""
    files = _folds(folder)
    if not files:
        raise EmoscopeError(f"{folder}: has no teacher's probabilities (fold0.npz is missing)")
    merged = {}
    for task_name in SPLITS:
        numbers = fold_numbers(own_examples(task_name, fit_context, SPLITS[task_name])[: plan.limit], plan.folds)
        own = np.full((len(numbers), len(get_task(task_name).labels)), np.nan)
        for fold, file in files.items():
            if fold < plan.folds:
                own[numbers == fold] = file[f"{task_name}/own"]
        test = np.mean([file[f"{task_name}/test"].astype(float) for file in files.values()], axis=0)
        merged[task_name] = {"own": own, "test": test}
    return merged
