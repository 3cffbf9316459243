"""Text without labels to go on pretraining with: scripts, chats and tweets, all as dialogues."""

import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import text_lines, whole_text
from emoscope.core.fit_context import FitContext
from emoscope.tasks.datasets.tweets import read_sentiment

_SPOKEN = re.compile(r"([A-Z][\w.' ]{0,24}?):\s+(\S.*)")
_STAGE_DIRECTION = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


def unlabelled_dialogues(
    source: str, examples: Sequence[Example], fitting: FitContext, *, limit: int | None = None
) -> list[Dialogue]:
    """Dialogues of one or more sources, joined by "+", up to `limit` turns in all.

    `dialogues` are those of the examples; `friends-scripts` the ten seasons of Friends, a dialogue a scene; `friends`
    and `emotionpush` the dialogues of EmotionX, the former also back-translated; `emocontext` those of EmoContext's
    training file; `tweets` SemEval's and TweetEval's; `iest` those of IEST that have labels, their trigger masked;
    `comments` GoEmotions' from Reddit.

    >>> unlabelled_dialogues("dialogues", [Example(Dialogue.of(["hi", "hello"]), 1)], FitContext())[0].texts
    ('hi', 'hello')
    """
    return list(_up_to(limit, _dialogues(source, examples, fitting)))


def _dialogues(source: str, examples: Sequence[Example], fitting: FitContext) -> Iterator[Dialogue]:
    for name in source.split("+"):
        if name == "dialogues":
            yield from dict.fromkeys(example.dialogue for example in examples)
        elif name in _RESOURCES:
            path, read = _RESOURCES[name]
            yield from read(fitting.resource(path))
        else:
            raise EmoscopeError(f"no unlabelled text {name!r}; there are: dialogues, {', '.join(_RESOURCES)}")


def _up_to(limit: int | None, dialogues: Iterable[Dialogue]) -> Iterator[Dialogue]:
    turns = 0
    for dialogue in dialogues:
        turns += len(dialogue)
        if limit is not None and turns > limit:
            return
        yield dialogue


def friends_scripts(path: Path) -> Iterator[Dialogue]:
    """The scenes of `friends.txt.gz`: who says what, without stage directions."""
    with gzip.open(path, "rt", encoding="utf-8") as handle:
        yield from scenes(handle)


def scenes(lines: Iterable[str]) -> Iterator[Dialogue]:
    """Scripts cut where a scene or an episode begins.

    >>> script = ["[Scene: a bar]", "ROSS: (sad) Hi.", "Joey: Hey!", "(They sit.)", "[Scene: later]", "Joey: So?"]
    >>> [[(turn.speaker, turn.text) for turn in scene.turns] for scene in scenes(script)]
    [[('Ross', 'Hi.'), ('Joey', 'Hey!')], [('Joey', 'So?')]]
    """
    turns: list[Turn] = []
    for line in lines:
        if line.startswith(("[", "###")):
            if turns:
                yield Dialogue(tuple(turns))
            turns = []
            continue
        spoken = _SPOKEN.match(line)
        text = " ".join(_STAGE_DIRECTION.sub(" ", spoken.group(2)).split()) if spoken else ""
        if spoken and text and not spoken.group(1).endswith(" by"):
            turns.append(Turn(text, spoken.group(1).title()))
    if turns:
        yield Dialogue(tuple(turns))


def emotionx_dialogues(path: Path) -> Iterator[Dialogue]:
    """The dialogues of an EmotionX file, and each again in every back-translation the file has."""
    try:
        content = json.loads(whole_text(path))
        if not isinstance(content, list):
            raise TypeError
        for entries in content:
            wordings = dict.fromkeys(key for entry in entries for key in entry if key.startswith("utterance"))
            for wording in wordings:
                yield Dialogue(
                    tuple(Turn(entry.get(wording) or entry["utterance"], entry["speaker"]) for entry in entries)
                )
    except (json.JSONDecodeError, TypeError, KeyError, AttributeError):
        raise InputError(path, "is not a file of EmotionX dialogues") from None


def tweets(folder: Path) -> Iterator[Dialogue]:
    """The tweets of SemEval-2017 4A and TweetEval that are meant for training, each once."""
    sentiment = (text for text, _ in read_sentiment(folder / "semeval2017-4a"))
    others = (
        text
        for split in ("train", "val")
        for path in sorted(folder.glob(f"tweeteval/*/{split}_text.txt"))
        for _, text in text_lines(path)
    )
    for text in dict.fromkeys(map(str.strip, chain(others, sentiment))):
        if text:
            yield Dialogue((Turn(text),))


def emocontext_dialogues(path: Path) -> Iterator[Dialogue]:
    """The dialogues of EmoContext's training file, whatever their labels: `id`, three turns, and a label."""
    lines = text_lines(path)
    next(lines, None)
    for row, line in lines:
        cells = line.split("\t")
        if len(cells) != 5:
            raise InputError(path, f"expected 5 tab-separated columns, found {len(cells)}", row=row)
        yield Dialogue.of(cells[1:4])


def comments(folder: Path) -> Iterator[Dialogue]:
    """The comments of GoEmotions that are meant for training, each once."""
    for text in dict.fromkeys(text.partition("\t")[0].strip() for _, text in text_lines(folder / "train.tsv")):
        if text:
            yield Dialogue((Turn(text),))


def iest_tweets(folder: Path) -> Iterator[Dialogue]:
    """IEST's tweets that come with labels, without them, each once: the official files', or else the re-split's.

    Never both, for the re-split is made of the official test set.
    """
    for names in _IEST_FILES:
        files = [path for name in names if (path := folder / name).is_file()]
        if files:
            break
    else:
        raise InputError(folder, f"holds neither {' nor '.join(names[0] for names in _IEST_FILES)}")
    lines = (line for path in files for _, line in text_lines(path))
    for text in dict.fromkeys(line.partition("\t")[2] or line for line in lines):
        yield Dialogue((Turn(text),))


_IEST_FILES = (("train-v3.csv", "trial-v3.csv"), ("labelled.csv", "trial.csv"))
_RESOURCES: dict[str, tuple[str, Callable[[Path], Iterator[Dialogue]]]] = {
    "friends-scripts": ("auxiliary/friends-scripts/friends.txt.gz", friends_scripts),
    "friends": ("emotionx/friends.augmented.json", emotionx_dialogues),
    "emotionpush": ("emotionx/emotionpush.json", emotionx_dialogues),
    "emocontext": ("emocontext/train.txt", emocontext_dialogues),
    "tweets": ("auxiliary", tweets),
    "iest": ("iest", iest_tweets),
    "comments": ("auxiliary/goemotions/ekman", comments),
}
