"""Unlabelled text for further pretraining: scripts, chats and tweets, all as dialogues."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, groupby
from pathlib import Path

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.fit_context import FitContext
from emoscope.tasks import TASKS, get_task
from emoscope.tasks.data import find_split
from emoscope.tasks.datasets.readers import read_friends_scripts, read_goemotions, read_sentiment, tweeteval_texts


def unlabelled_dialogues(
    source: str, examples: Sequence[Example], fit_context: FitContext, *, limit: int | None = None
) -> list[Dialogue]:
    """Dialogues of one or more sources, joined by "+", up to `limit` turns in all.

    `dialogues` are those of the examples; `friends-scripts` the ten seasons of Friends, one dialogue per scene;
    `friends` and `emotionpush` the dialogues of EmotionX, with back-translations if the file has any; `emocontext`
    EmoContext's training dialogues; `tweets` SemEval's and TweetEval's without test tweets; `iest` IEST's labelled
    tweets, trigger masked; `comments` GoEmotions' Reddit comments; `tests` the texts of all tasks' test sets.

    >>> unlabelled_dialogues("dialogues", [Example(Dialogue.of(["hi", "hello"]), 1)], FitContext())[0].texts
    ('hi', 'hello')
    """
    dialogues: list[Dialogue] = []
    turns = 0
    for dialogue in _dialogues(source, examples, fit_context):
        turns += len(dialogue)
        if limit is not None and turns > limit:
            break
        dialogues.append(dialogue)
    return dialogues


def _dialogues(source: str, examples: Sequence[Example], fit_context: FitContext) -> Iterator[Dialogue]:
    for name in source.split("+"):
        if name == "dialogues":
            yield from dict.fromkeys(example.dialogue for example in examples)
        elif name in UNLABELLED:
            path, read = UNLABELLED[name]
            yield from read(fit_context.resource(path))
        else:
            raise EmoscopeError(f"no unlabelled text {name!r}; there are: dialogues, {', '.join(UNLABELLED)}")


def _each_once(texts: Iterable[str]) -> Iterator[Dialogue]:
    return (Dialogue((Turn(text),)) for text in dict.fromkeys(texts) if text)


def _tweets(folder: Path) -> Iterator[Dialogue]:
    """The training tweets of SemEval-2017 4A and TweetEval."""
    sentiment = (text for text, _ in read_sentiment(folder / "semeval2017-4a"))
    return _each_once(map(str.strip, chain(tweeteval_texts(folder / "tweeteval", ["train", "val"]), sentiment)))


def _comments(folder: Path) -> Iterator[Dialogue]:
    """The training comments of GoEmotions, including those with several emotions."""
    return _each_once(text.strip() for text, _ in read_goemotions(folder))


def _emocontext(path: Path) -> Iterator[Dialogue]:
    return (Dialogue.of(example.dialogue.texts) for example in get_task("emocontext").read(path))


def _emotionx(path: Path, task: str) -> Iterator[Dialogue]:
    """Each dialogue, followed by its back-translations."""
    for dialogue, group in groupby(get_task(task).read(path), key=lambda example: example.dialogue):
        utterances = list(group)
        yield Dialogue(dialogue.turns)
        for language in dict.fromkeys(language for example in utterances for language in example.variants):
            texts = [example.variants.get(language) or example.text for example in utterances]
            yield Dialogue(tuple(Turn(text, turn.speaker) for text, turn in zip(texts, dialogue.turns, strict=True)))


def _tests(folder: Path) -> Iterator[Dialogue]:
    """The dialogues of the test sets that are there."""
    paths = {}
    for name in TASKS:
        with suppress(EmoscopeError):
            paths[name] = find_split(get_task(name), "test", folder).path
    if not paths:
        raise EmoscopeError(f"{folder}: holds no test set of {', '.join(TASKS)}")
    for name, path in paths.items():
        yield from dict.fromkeys(example.dialogue for example in get_task(name).read(path))


def _iest(folder: Path) -> Iterator[Dialogue]:
    """The labelled tweets of the official files, or else of the re-split, which is made from the official test set."""
    task = get_task("iest")
    splits = [[revision.splits[split].name for split in ("train", "dev")] for revision in task.metadata.revisions]
    for names in splits:
        files = [path for name in names if (path := folder / name).is_file()]
        if files:
            return _each_once(example.text for path in files for example in task.read(path))
    raise InputError(folder, f"holds neither {' nor '.join(names[0] for names in splits)}")


# The file or folder under the resources and the reader, by name.
UNLABELLED: dict[str, tuple[str, Callable[[Path], Iterator[Dialogue]]]] = {
    "friends-scripts": ("auxiliary/friends-scripts/friends.txt.gz", read_friends_scripts),
    "friends": ("emotionx/friends.augmented.json", partial(_emotionx, task="emotionx-friends")),
    "emotionpush": ("emotionx/emotionpush.json", partial(_emotionx, task="emotionx-push")),
    "emocontext": ("emocontext/train.txt", _emocontext),
    "tweets": ("auxiliary", _tweets),
    "iest": ("iest", _iest),
    "comments": ("auxiliary/goemotions/ekman", _comments),
    "tests": (".", _tests),
}
