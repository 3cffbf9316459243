"""Examples without annotators, as IEST's organisers made them: the emotion word that someone wrote is the label.

A text counts if exactly one emotion word of Table 1 stands in it, right before "that", "because" or "when". The word is
masked, so that the emotion must be told from its cause.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

import numpy as np

from emoscope.core.emotion_words import EMOTION_OF, TRIGGERS
from emoscope.core.files import atomic_folder, atomic_write
from emoscope.core.text import TRIGGER

USER_MASK = "@USERNAME"
URL_MASK = "http://url.removed"
NEWLINE_MASK = "[NEWLINE]"
SPLITS = ("train", "trial", "test")
# Longer than any tweet by far; a line of the result stays one that every reader takes.
MAX_CHARACTERS = 10_000

_WORDS = "|".join(EMOTION_OF)
_EMOTION_WORD = re.compile(rf"\b(?:{_WORDS})\b", re.IGNORECASE)
_NEGATED = re.compile(rf"\bun[\s\-‐‑'’_\u00ad\u200b]?(?:{_WORDS})\b", re.IGNORECASE)
_CAUSE = re.compile(r"\s+(?:that|because|when)\b", re.IGNORECASE)
_MASKED = re.compile(r"\[#(?:trigger|target)word#\]", re.IGNORECASE)
_URL = re.compile(
    r"(?:https?|ftp)://[^\s<>\"\[\]]+|(?<!\w)(?:www\.|t\.co/|bit\.ly/|pic\.twitter\.com/)\w[^\s<>\"\[\]]*",
    re.IGNORECASE,
)
_USER = re.compile(r"[@＠](?!(?:https?|ftp)://)\w+", re.IGNORECASE)
_NEWLINE = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Reason(StrEnum):
    """Why a text is no example."""

    EMPTY = "empty"
    TOO_LONG = "too long"
    MASKED_ALREADY = "masked already"
    NEGATED = "'un' before an emotion word"
    NO_EMOTION_WORD = "no emotion word"
    SEVERAL = "more than one emotion word"
    NO_CAUSE = "no that, because or when after the emotion word"
    DUPLICATE = "duplicate"
    SURPLUS = "more of its emotion than of the rarest"


@dataclass(frozen=True, slots=True)
class Tweet:
    """A text with its emotion word masked, and that word's emotion."""

    text: str
    emotion: str


@dataclass(slots=True)
class Counts:
    """What went in, what was dropped and why, and what each split got."""

    read: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    splits: dict[str, Counter[str]] = field(default_factory=lambda: {split: Counter() for split in SPLITS})

    @property
    def kept(self) -> int:
        """How many texts became examples."""
        return sum(split.total() for split in self.splits.values())

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "read": self.read,
            "kept": self.kept,
            "dropped": {reason.value: self.dropped[reason] for reason in Reason},
            "splits": {name: {emotion: split[emotion] for emotion in TRIGGERS} for name, split in self.splits.items()},
        }


def mask_names(text: str) -> str:
    r"""The text on one line, with users, links and line ends masked as in IEST's data.

    >>> mask_names("@bob look:\nhttps://t.co/x")
    '@USERNAME look:[NEWLINE]http://url.removed'
    """
    text = _USER.sub(USER_MASK, _URL.sub(URL_MASK, text))
    text = _CONTROL.sub(" ", _NEWLINE.sub(NEWLINE_MASK, text.strip())).strip()
    # Half a character, as broken JSON holds them, cannot be written.
    return text.encode("utf-8", "replace").decode("utf-8")


def label_text(text: str) -> Tweet | Reason:  # noqa: PLR0911 - one return for every reason
    """The text as an example, or why it is none.

    >>> label_text("@ann I'm so HAPPY that it works")
    Tweet(text="@USERNAME I'm so [#TRIGGERWORD#] that it works", emotion='joy')
    >>> label_text("unhappy that it broke").value
    "'un' before an emotion word"
    """
    if len(text) > MAX_CHARACTERS:
        return Reason.TOO_LONG
    text = mask_names(text)
    if not text:
        return Reason.EMPTY
    if _MASKED.search(text):
        return Reason.MASKED_ALREADY
    # Anywhere, not only where the trigger is: whether "unhappy" is a second emotion word has no good answer.
    if _NEGATED.search(text):
        return Reason.NEGATED
    found = list(_EMOTION_WORD.finditer(text))
    if len(found) != 1:
        return Reason.SEVERAL if found else Reason.NO_EMOTION_WORD
    (word,) = found
    if not _CAUSE.match(text, word.end()):
        return Reason.NO_CAUSE
    return Tweet(f"{text[: word.start()]}{TRIGGER}{text[word.end() :]}", EMOTION_OF[word.group().lower()])


def label_texts(texts: Iterable[str], counts: Counts) -> Iterator[Tweet]:
    """The examples among any number of texts, each once; `counts` is brought up to date on the way.

    Two texts are the same if they are so once masked: the same joke at another user would leak from train to test.

    >>> counts = Counts()
    >>> [tweet.emotion for tweet in label_texts(["sad when it rains", "sad when it rains", "hi"], counts)]
    ['sad']
    >>> counts.dropped[Reason.DUPLICATE]
    1
    """
    seen: set[bytes] = set()
    for text in texts:
        counts.read += 1
        tweet = label_text(text)
        if isinstance(tweet, Reason):
            counts.dropped[tweet] += 1
            continue
        # A digest, because the texts themselves would not fit into memory when there are many millions.
        digest = blake2b(tweet.text.encode(), digest_size=16).digest()
        if digest in seen:
            counts.dropped[Reason.DUPLICATE] += 1
            continue
        seen.add(digest)
        yield tweet


def split_rows(labels: np.ndarray, *, seed: int, balance: bool = False) -> np.ndarray:
    """For each row the number of its split (0 train, 1 trial, 2 test; -1 none): 80, 5 and 15 % of every label.

    With `balance`, every label has as many rows as the rarest.

    >>> np.bincount(split_rows(np.zeros(100, dtype=int), seed=1)).tolist()
    [80, 5, 15]
    """
    rng = np.random.default_rng(seed)
    found, sizes = np.unique(labels, return_counts=True)
    splits = np.full(len(labels), -1, dtype=np.int8)
    for label, size in zip(found, sizes, strict=True):
        rows = rng.permutation(np.flatnonzero(labels == label))[: sizes.min() if balance else size]
        trial, test = round(len(rows) * 0.05), round(len(rows) * 0.15)
        splits[rows] = 0
        splits[rows[:trial]] = 1
        splits[rows[trial : trial + test]] = 2
    return splits


def write_distant(texts: Iterable[str], folder: str | Path, *, seed: int, balance: bool = False) -> Counts:
    """Make train.csv, trial.csv and test.csv, in the format of IEST, and counts.json; the whole folder or nothing.

    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "tweets"
    >>> write_distant(["so sad that it ends", "so sad"], target, seed=1).kept
    1
    >>> (target / "train.csv").read_text()
    'sad\\tso [#TRIGGERWORD#] that it ends\\n'
    """
    import json

    counts = Counts()
    emotions = tuple(TRIGGERS)
    with atomic_folder(folder) as part:
        # How much each split gets is known at the end only, so the examples wait on disk, not in memory.
        waiting = part / "all"
        codes = bytearray()
        with waiting.open("w", encoding="utf-8", newline="") as handle:
            for tweet in label_texts(texts, counts):
                handle.write(f"{tweet.emotion}\t{tweet.text}\n")
                codes.append(emotions.index(tweet.emotion))
        splits = split_rows(np.frombuffer(codes, dtype=np.uint8), seed=seed, balance=balance)
        files: list[IO[str]] = [(part / f"{split}.csv").open("w", encoding="utf-8", newline="") for split in SPLITS]
        try:
            with waiting.open(encoding="utf-8", newline="\n") as handle:
                for line, code, split in zip(handle, codes, splits.tolist(), strict=True):
                    if split < 0:
                        counts.dropped[Reason.SURPLUS] += 1
                    else:
                        files[split].write(line)
                        counts.splits[SPLITS[split]][emotions[code]] += 1
        finally:
            for file in files:
                file.close()
        waiting.unlink()
        with atomic_write(part / "counts.json") as handle:
            handle.write(json.dumps({**counts.as_dict(), "seed": seed, "balanced": balance}, indent=2) + "\n")
    return counts
