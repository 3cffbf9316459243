"""The pool of texts for distillation, the files of the teachers' probabilities on it, and records of learnt items."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from emoscope.core.arrays import open_arrays, save_arrays
from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.core.learnt import LearntItems, pack, unpack
from emoscope.core.text import TRIGGER
from emoscope.detector.model import FittedModel
from emoscope.distil.everyday import everyday_examples
from emoscope.distil.writing import written_examples
from emoscope.models.block import Block, Floats
from emoscope.tasks import Task, get_task
from emoscope.tasks.data import read_split
from emoscope.tasks.datasets.affect import plain
from emoscope.tasks.datasets.auxiliary import AUXILIARY_CORPORA, chosen, source_examples, unlabelled_texts
from emoscope.tasks.datasets.triggers import masked_places
from emoscope.tasks.datasets.unlabelled import unlabelled_dialogues

RECOMBINED = 24_000
SCRIPTS = 30_000
MASKED_PLACES = 40_000
TWEETS = 40_000
HELD_OUT = "held-out"  # everyday situations that teachers label, but no student learns from
VARIED = 3  # new wordings of each tweet
VARIED_TWEETS = "varied"  # different for each seed: with seed 1 the part is `varied:1`

# The parts of the pool that each task's teacher labels, besides its training data. None is a development or test file,
# because the student is scored on those; but the scripts contain all scenes of Friends.
ASKED: Mapping[str, tuple[str, ...]] = {
    "emocontext": ("recombined", "meld", "friends", "push"),
    "emotionx-friends": ("scripts", "meld"),
    "emotionx-push": ("emocontext",),
    "iest": ("masked-words", "masked-places", VARIED_TWEETS),
}
# Texts for rehearsing a student's general head, by whether it has heads for the tasks: a student without them, like
# `open`, must not see the tasks' texts.
REMEMBERED = {True: ("emocontext", "friends", "push", "meld", "comments", "tweets"), False: ("comments",)}
HEAD_OF: Mapping[str, str] = {
    "emocontext": "emocontext",
    "emotionx-friends": "emotionx",
    "emotionx-push": "emotionx",
    "iest": "iest",
    "general": "general",
}
TASKS = tuple(name for name in HEAD_OF if name != "general")
# Before a source's name in a record: a teacher learnt it, or it calibrated the model.
TEACHER, CALIBRATION = "teacher: ", "calibration: "
_FILE = "a teacher's file, as `emoscope distil label` writes them"


def own_examples(task_name: str, fit_context: FitContext, splits: Sequence[str] | None = None) -> list[Example]:
    """The training examples of the task's teacher, in order; by default the splits of the large systems."""
    task = get_task(task_name)
    splits = splits or (("train", "dev") if task_name == "iest" else ("train",))
    examples = (example for split in splits for example in read_split(task, split, fit_context.resources))
    return [example for example in examples if example.label in task.labels]


def pool_part(name: str, fit_context: FitContext) -> list[Example]:
    """The examples of a named part of the pool, in a fixed order."""
    kind, _, seed = name.partition(":")
    if kind == VARIED_TWEETS and (not seed or seed.isdigit()):
        return list(varied(own_examples("iest", fit_context), VARIED, int(seed or 0)))
    if name in _TRAINING_SPLITS:
        return read_split(get_task(_TRAINING_SPLITS[name]), "train", fit_context.resources)
    if kind == "written":
        return written_examples(seed, fit_context)
    if name not in _PARTS:
        raise EmoscopeError(f"the pool has no part {name!r}")
    return _PARTS[name](fit_context)


def corpus_of(part: str) -> str:
    """The corpus of a part of the pool, as named in a student's record.

    >>> corpus_of("recombined"), corpus_of("varied:1"), corpus_of("written:push")
    ('emocontext', 'iest', 'emoscope, written like push')
    """
    kind, _, like = part.partition(":")
    derived = {"recombined": "emocontext", VARIED_TWEETS: "iest", "scripts": "friends-scripts"}
    derived |= {"everyday": "emoscope, everyday dialogues", "written": f"emoscope, written like {like}"}
    derived |= {"comments": "goemotions-ekman"}
    return {**_TRAINING_SPLITS, **derived}.get(kind, kind)


def _masked_places(fit_context: FitContext) -> list[Example]:
    texts = chosen(list(masked_places(unlabelled_texts(fit_context))), MASKED_PLACES)
    return [Example(Dialogue((Turn(text),)), 0) for text in texts]


def _scripts(fit_context: FitContext) -> list[Example]:
    scenes = unlabelled_dialogues("friends-scripts", [], fit_context)
    return chosen([Example(scene, turn) for scene in scenes for turn in range(len(scene))], SCRIPTS)


def _texts(source: str, limit: int | None, fit_context: FitContext) -> list[Example]:
    return [Example(text, 0) for text in chosen(unlabelled_dialogues(source, [], fit_context), limit)]


_TRAINING_SPLITS = {"emocontext": "emocontext", "friends": "emotionx-friends", "push": "emotionx-push"}
_PARTS: Mapping[str, Callable[[FitContext], list[Example]]] = {
    "recombined": lambda fit_context: list(recombined(pool_part("emocontext", fit_context), RECOMBINED)),
    "meld": partial(source_examples, "meld"),
    "masked-words": partial(source_examples, "masked-words"),
    "masked-places": _masked_places,
    "scripts": _scripts,
    "isear": partial(source_examples, "isear"),
    "comments": lambda fit_context: _texts("comments", None, fit_context),
    "tweets": lambda fit_context: _texts("tweets", TWEETS, fit_context),
    "everyday": lambda _: everyday_examples(),
    HELD_OUT: lambda _: everyday_examples(held_out=True),
}


def recombined(examples: Sequence[Example], count: int) -> Iterator[Example]:
    """Dialogues recombined from others: with another last turn, or with fewer turns before it.

    From the same phrase in many contexts, a student learns how the teacher uses the context.
    """
    draw = np.random.default_rng(0)
    for number in range(count):
        one, other = (examples[int(index)] for index in draw.integers(len(examples), size=2))
        first, second, _ = one.dialogue.turns
        last = other.dialogue.turns[-1]
        turns: tuple[Turn, ...] = (first, second, last)
        if number % 4 < 2:
            turns = other.dialogue.turns[1:] if number % 4 else (last,)
        yield Example(Dialogue(turns), len(turns) - 1, origin=other.dialogue)


def varied(examples: Sequence[Example], times: int, seed: int = 0) -> Iterator[Example]:
    """Variations of IEST's tweets: words left out, words replaced by others, or only the words around the trigger.

    They are not always grammatical, and have no labels. They let a teacher label many more contexts of emotion words
    than there are tweets.
    """
    draw = np.random.default_rng(seed)
    words = [word for example in examples for word in example.text.split() if TRIGGER not in word]
    for example in examples:
        said = example.text.split()
        places = [place for place, word in enumerate(said) if TRIGGER in word]
        for number in range(times if places else 0):
            made = _reworded(said, places[0], number % 3, words, draw)
            yield Example(Dialogue((Turn(" ".join(made)),)), 0, origin=example.dialogue)


def _reworded(said: list[str], place: int, how: int, words: list[str], draw: np.random.Generator) -> list[str]:
    """The words with a fifth of them left out (0), about every seventh replaced (1), or some around `place` (2)."""
    chance = draw.random(len(said))
    chance[place] = 1.0
    if how == 0:
        return [word for word, number in zip(said, chance, strict=True) if number > 0.2]
    if how == 1:
        others = draw.integers(len(words), size=len(said)).tolist()
        return [words[new] if c < 0.15 else word for word, new, c in zip(said, others, chance, strict=True)]
    first, last = draw.integers(0, place + 1), draw.integers(place + 1, len(said) + 1)
    return said[first:last]


def teach(block: Block, task: Task, fit_context: FitContext) -> dict[str, Floats]:
    """A teacher's probabilities: out-of-fold for its own examples, and for its parts of the pool.

    Both are under the class prior of its training data. Texts of the pool that it was trained on get NaN.
    `fit_context.seed` is the teacher's own seed, which selects the variations of tweets.
    """
    from emoscope.models.ensembles.blend import Blend

    if not isinstance(block, Blend):
        raise EmoscopeError("only a trained large model can teach")
    own = own_examples(task.name, fit_context)
    answers = {"own": block.out_of_fold()}
    if len(own) != len(answers["own"]):
        raise EmoscopeError(
            f"the teacher was trained on {len(answers['own']):,} examples, but the data here have {len(own):,}"
        )
    known = {plain(example.text) for example in own} - {""}
    fold_of = dict(zip((example.family for example in own), block.cut.tolist(), strict=True))
    for kind in ASKED[task.name]:
        name = f"{kind}:{fit_context.seed}" if kind == VARIED_TWEETS else kind
        part = pool_part(name, fit_context)
        if kind == VARIED_TWEETS:
            answers[name] = block.answers_unseen(part, [fold_of[example.family] for example in part])
            continue
        # Not learnt: these are new contexts, or another task's texts.
        unknown = name in ("recombined", "emocontext")
        new = [number for number, example in enumerate(part) if unknown or plain(example.text) not in known]
        table = np.full((len(part), len(task.labels)), np.nan)
        table[new] = block.predict_proba([part[number] for number in new])
        answers[name] = table
    return answers


def known_answers(
    model: FittedModel,
    fit_context: FitContext,
    limit: int | None = None,
    *,
    pool: bool = False,
    only: Sequence[str] = (),
) -> Iterator[tuple[str, tuple[str, ...], dict[str, Floats]]]:
    """A student's current answers, task by task, for rehearsal when it, or a smaller student, is trained.

    With `pool`, also its answers to the parts of the pool that the tasks' teachers label. With `only`, nothing but the
    general head's answers to these parts of the pool.
    """
    heads = {head.name: replace(head, temperature=1.0) for head in model.bundle.heads}
    if only and "general" not in heads:
        raise EmoscopeError(f"{model.bundle.name}: has no head `general` to label parts of the pool with")
    for task_name, head_name in HEAD_OF.items():
        if head_name not in heads or (only and head_name != "general"):
            continue
        head = heads[head_name]
        if task_name in TASKS:
            asked = ASKED[task_name] if pool else ()
            parts = {"own": own_examples(task_name, fit_context)}
            parts |= {name: pool_part(name, fit_context) for name in asked}
        else:
            parts = {name: pool_part(name, fit_context) for name in only or REMEMBERED[len(heads) > 1]}
        answers = {name: model.infer(head, examples[:limit])[0] for name, examples in parts.items()}
        yield task_name, head.labels, answers


def save_answers(
    path: Path,
    task_name: str,
    labels: Sequence[str],
    answers: Mapping[str, Floats],
    learnt: LearntItems | None = None,
) -> None:
    """Write a teacher's probabilities as npz, with what it learnt."""
    learnt = LearntItems() if learnt is None else learnt
    about = json.dumps({"task": task_name, "labels": list(labels), "sources": dict(learnt.sources)})
    tables = {name: table.astype(np.float16) for name, table in answers.items()}
    save_arrays(path, {"about": np.array(about), "learnt": pack(learnt.fingerprints), **tables})


def load_answers(path: Path) -> tuple[str, tuple[str, ...], dict[str, Floats], LearntItems]:
    """Read what `save_answers` wrote: the task, its labels, the tables, and what the teacher learnt, if it says so."""
    with open_arrays(path, _FILE) as kept:
        about = json.loads(str(kept["about"]))
        tables = {name: table.astype(np.float64) for name, table in kept.items() if name not in ("about", "learnt")}
        learnt = LearntItems(about.get("sources", {}))
        if "learnt" in kept:  # files of earlier versions name the sources alone
            learnt = LearntItems(learnt.sources, unpack(kept["learnt"]))
    return about["task"], tuple(about["labels"]), tables, learnt


def source_items(name: str, fit_context: FitContext) -> list[Example]:
    """The examples of a source: a split ("iest/dev"), an auxiliary corpus ("meld") or a part of the student's pool."""
    task_name, mark, split = name.partition("/")
    if mark:
        task = get_task(task_name)
        return [e for e in read_split(task, split, fit_context.resources) if e.label in task.labels]
    return source_examples(name, fit_context) if name in AUXILIARY_CORPORA else pool_part(name, fit_context)


def add_sources(folder: Path, names: Sequence[str], fit_context: FitContext) -> LearntItems:
    """Add sources to the record of the model in a folder; the record is created if needed.

    A name may say how: `teacher: NAME` if its teachers learnt it, `calibration: NAME` if it calibrated the model.

    >>> add_sources(Path("model"), ["iest/train", "teacher: iest/dev"], FitContext())  # doctest: +SKIP
    """
    learnt = LearntItems.load(folder) or LearntItems()
    for name in names:
        source = name.removeprefix(TEACHER).removeprefix(CALIBRATION)
        learnt |= LearntItems.of({name: source_items(source, fit_context)})
    learnt.save(folder)
    return learnt
