"""All labelled corpora as one mixture of label sets, on which an encoder is trained before its own task."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.fit_context import FitContext
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split
from emoscope.tasks.datasets.auxiliary import chosen, source, source_examples

# The auxiliary corpora of each head; those with the same labels share a head.
AUXILIARY: Mapping[str, tuple[str, ...]] = {
    "ekman": ("goemotions-ekman", "meld"),
    "iest": ("masked-words",),
    "sentiment": ("semeval2017-4a",),
    "emoji": ("tweeteval-emoji",),
    "tweet-emotion": ("tweeteval-emotion",),
    "offensive": ("tweeteval-offensive",),
    "irony": ("tweeteval-irony",),
    "isear": ("isear",),
}
# The tasks and splits of each head.
BENCHMARKS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "emocontext": (("emocontext", "train"),),
    "ekman": (("emotionx-friends", "train"), ("emotionx-push", "train")),
    "iest": (("iest", "train"), ("iest", "dev")),
}
# In-domain text for masked-language-model training.
IN_DOMAIN = "emocontext+emotionpush+friends-scripts+tweets+comments"
MASKED_WORDS_PER_LABEL = 1500  # otherwise "happy birthday" and the like would dominate


def affect_labels() -> dict[str, tuple[str, ...]]:
    """The heads of the mixture and their labels.

    >>> affect_labels()["emocontext"]
    ('others', 'happy', 'sad', 'angry')
    """
    heads = {head: source(names[0]).labels for head, names in AUXILIARY.items()}
    return {**heads, "emocontext": get_task("emocontext").labels, "iest": get_task("iest").labels}


def auxiliary_corpora(
    fit_context: FitContext, *, examples: Sequence[Example] = (), limit: int | None = None
) -> dict[str, list[Example]]:
    """The labelled examples of the auxiliary corpora, at most `limit` of each; see `by_head`.

    Texts of three or more words that are among `examples`, in EmotionX's training data or in the data to be scored are
    left out, and so are shorter ones in dialogues with such a line: MELD and EmotionX share scenes of Friends, and a
    model that had seen the answers would score too well. The result does not depend on the task, so that one encoder
    serves all tasks.
    """
    friends = read_split(get_task("emotionx-friends"), "train", fit_context.resources)
    known = {plain(example.text) for example in (*friends, *examples)} | {plain(text) for text in fit_context.unseen}
    known.discard("")
    corpora = {}
    for name in chain.from_iterable(AUXILIARY.values()):
        corpus = source_examples(name, fit_context)
        if name == "masked-words":
            corpus = _at_most(corpus, MASKED_WORDS_PER_LABEL)
        corpora[name] = unknown_examples(corpus, known)[:limit]
    return corpora


def affect_corpora(
    fit_context: FitContext, *, limit: int | None = None, keep: Callable[[Example], bool] | None = None
) -> dict[str, list[Example]]:
    """The auxiliary corpora, and the tasks' own training data as far as `keep` is true.

    For a model of all tasks at once. What is not kept will be scored, so its lines are left out of the corpora too.
    """
    labels = affect_labels()
    benchmark: dict[str, list[Example]] = {}
    held_out: list[Example] = []
    for head, splits in BENCHMARKS.items():
        for task_name, split in splits:
            every = chosen(read_split(get_task(task_name), split, fit_context.resources), None)
            learnt = [example for example in every if keep is None or keep(example)]
            held_out += [example for example in every if keep is not None and not keep(example)]
            benchmark.setdefault(task_name, []).extend([e for e in learnt if e.label in labels[head]][:limit])
    return {**auxiliary_corpora(fit_context, examples=held_out, limit=limit), **benchmark}


def by_head(corpora: Mapping[str, Sequence[Example]]) -> dict[str, list[Example]]:
    """The examples of corpora and tasks by head; heads without any are left out."""
    mixture: dict[str, list[Example]] = {}
    for head in dict.fromkeys([*AUXILIARY, *BENCHMARKS]):
        names = dict.fromkeys([*AUXILIARY.get(head, ()), *(task_name for task_name, _ in BENCHMARKS.get(head, ()))])
        mixture[head] = [example for name in names for example in corpora.get(name, ())]
    return {head: mixed for head, mixed in mixture.items() if mixed}


def unknown_examples(corpus: Sequence[Example], known: Collection[str]) -> list[Example]:
    """The examples of a corpus that do not occur in other data, whose lines are given in the form of `plain`.

    A line of one or two words ("Oh no!") may occur anywhere, so it is left out only if another line of its dialogue is
    known.

    >>> from emoscope.core.dialogue import Dialogue
    >>> scene = Dialogue.of(["it is over now", "Oh no!"])
    >>> [e.text for e in unknown_examples([Example(scene, 1), Example(Dialogue.of(["Oh no!"]), 0)], {"itisovernow"})]
    ['Oh no!']
    """
    shared: dict[Dialogue, bool] = {}
    unknown = []
    for example in corpus:
        text, dialogue = plain(example.text), example.dialogue
        if not text and dialogue not in shared:
            shared[dialogue] = any(plain(line) in known for line in dialogue.texts)
        if not (text in known if text else shared[dialogue]):
            unknown.append(example)
    return unknown


def plain(text: str) -> str:
    """The letters and digits of a text, to recognise it in other editions; empty if under three words.

    >>> plain("Oh, it’s you!") == plain("oh it's YOU"), plain("Hey you")
    (True, '')
    """
    if len(text.split()) < 3:
        return ""
    return "".join(filter(str.isalnum, text.lower()))


def _at_most(examples: Iterable[Example], most: int) -> list[Example]:
    counts: Counter[str | None] = Counter()
    first: list[Example] = []
    for example in examples:
        counts[example.label] += 1
        if counts[example.label] <= most:
            first.append(example)
    return first
