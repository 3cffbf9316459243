"""Distant supervision as in IEST: the emotion word in a text is its label.

A text qualifies if it has exactly one emotion word of the paper's Table 1, right before "that", "because" or "when".
The word is masked, so the emotion must be inferred from its cause.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from emoscope.core.emotion_words import EMOTION_OF, TRIGGERS
from emoscope.core.files import atomic_folder, write_json
from emoscope.core.text import TRIGGER

USER_MASK = "@USERNAME"
URL_MASK = "http://url.removed"
NEWLINE_MASK = "[NEWLINE]"
SPLITS = ("train", "trial", "test")
# Far longer than any tweet, but short enough for every reader of the output.
MAX_CHARACTERS = 10_000

_WORDS = "|".join(EMOTION_OF)
_EMOTION_WORD = re.compile(rf"\b(?:{_WORDS})\b", re.IGNORECASE)
_NEGATED = re.compile(rf"\bun[\s\-‐‑'’_\u00ad\u200b]?(?:{_WORDS})\b", re.IGNORECASE)
_CUE = re.compile(r"\s+(?:that|because|when)\b", re.IGNORECASE)
# One in 440 of the paper's tweets has a longer word: "whenever", "thats".
_CUE_BEGINNING = re.compile(r"\s+(?:that|because|when)", re.IGNORECASE)
# The paper's search also matched words joined to the text before them: "sohappy that", "unhappy because".
_JOINED_WORD = re.compile(rf"(?:{_WORDS})\b", re.IGNORECASE)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@(?:[\w-]+\.)+[a-z]{2,}(?![\w@])", re.IGNORECASE)
_MASKED = re.compile(r"\[#(?:trigger|target)word#\]", re.IGNORECASE)
_URL = re.compile(
    r"(?:https?|ftp)://[^\s<>\"\[\]]+|(?<!\w)(?:www\.|t\.co/|bit\.ly/|pic\.twitter\.com/)\w[^\s<>\"\[\]]*"
    r"|(?<![\w@.-])(?:[\w-]+\.)+(?:com|net|org|edu|gov|info|biz|io|co\.uk|de|fr|ly|gl|tv|me|be)\b(?:/[^\s<>\"\[\]]*)?"
    r"|(?<![\w@.-])(?:[\w-]+\.)+[a-z]{2,}/[^\s<>\"\[\]]+",
    re.IGNORECASE,
)
_USER = re.compile(r"[@＠](?!(?:https?|ftp)://)\w+", re.IGNORECASE)
_NEWLINE = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Rejection(StrEnum):
    """Why a text is not an example."""

    EMPTY = "empty"
    TOO_LONG = "too long"
    MASKED_ALREADY = "masked already"
    NEGATED = "'un' before an emotion word"
    NO_EMOTION_WORD = "no emotion word"
    SEVERAL = "more than one emotion word"
    NO_CAUSE = "no that, because or when after the emotion word"
    DUPLICATE = "duplicate"
    SURPLUS = "more of its emotion than of the rarest"


# The query may find texts that are rejected for these reasons.
_RETRIEVED = (Rejection.MASKED_ALREADY, Rejection.NEGATED, Rejection.SEVERAL)


class Duplicates(StrEnum):
    """Which texts are duplicates: equal ones, or those equal once names, links and the emotion word are masked."""

    EXACT = "exact"
    MASKED = "masked"


@dataclass(frozen=True, slots=True)
class Tweet:
    """A text with its emotion word masked, and the word's emotion."""

    text: str
    emotion: str


@dataclass(slots=True)
class DistantCounts:
    """Texts read, retrieved by the query, dropped, by reason, and examples before balancing and in each split."""

    read: int = 0
    retrieved: Counter[str] = field(default_factory=Counter)  # a text with two emotions before cues counts for both
    labelled: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    splits: dict[str, Counter[str]] = field(default_factory=lambda: {split: Counter() for split in SPLITS})

    @property
    def kept(self) -> int:
        return sum(split.total() for split in self.splits.values())

    @property
    def retrieved_shares(self) -> dict[str, float]:
        """The share of each emotion in what the query retrieved, as in the paper's "initially retrieved" data."""
        total = self.retrieved.total()
        return {emotion: self.retrieved[emotion] / total if total else 0.0 for emotion in TRIGGERS}

    def as_dict(self) -> dict[str, Any]:
        return {
            "read": self.read,
            "kept": self.kept,
            "retrieved": {emotion: self.retrieved[emotion] for emotion in TRIGGERS},
            "retrieved_shares": {emotion: round(share, 4) for emotion, share in self.retrieved_shares.items()},
            "before_balancing": {emotion: self.labelled[emotion] for emotion in TRIGGERS},
            "dropped": {reason.value: self.dropped[reason] for reason in Rejection},
            "splits": {name: {emotion: split[emotion] for emotion in TRIGGERS} for name, split in self.splits.items()},
        }


def mask_names(text: str) -> str:
    r"""Put a text on one line, with users, links, e-mail addresses and line breaks masked as in IEST's data.

    >>> mask_names("@bob look:\nhttps://t.co/x or example.com/a, bob@example.com")
    '@USERNAME look:[NEWLINE]http://url.removed or http://url.removed @USERNAME'
    """
    text = _USER.sub(USER_MASK, _URL.sub(_masked_link, _EMAIL.sub(USER_MASK, text)))
    text = _CONTROL.sub(" ", _NEWLINE.sub(NEWLINE_MASK, text.strip())).strip()
    # Broken JSON may contain lone surrogates, which UTF-8 cannot encode.
    return text.encode("utf-8", "replace").decode("utf-8")


def _masked_link(link: re.Match[str]) -> str:
    """The mask of a link, which ends before a closing bracket that it did not open."""
    opened = 0
    for place, character in enumerate(link.group()):
        opened += (character == "(") - (character == ")")
        if opened < 0:
            return URL_MASK + _URL.sub(_masked_link, link.group()[place:])
    return URL_MASK


def label_text(  # noqa: PLR0911 - one return for every reason
    text: str, *, joined: bool = False, cue_beginnings: bool = False
) -> Tweet | Rejection:
    """The text as an example, or why it is not one.

    `joined` also matches emotion words with no space before them, `cue_beginnings` also "thats" and "whenever".

    >>> label_text("@ann I'm so HAPPY that it works")
    Tweet(text="@USERNAME I'm so [#TRIGGERWORD#] that it works", emotion='joy')
    >>> label_text("unhappy that it broke").value
    "'un' before an emotion word"
    >>> label_text("unhappy that it broke", joined=True)
    Tweet(text='un[#TRIGGERWORD#] that it broke', emotion='joy')
    >>> label_text("sad whenever it rains", cue_beginnings=True)
    Tweet(text='[#TRIGGERWORD#] whenever it rains', emotion='sad')
    """
    if len(text) > MAX_CHARACTERS:
        return Rejection.TOO_LONG
    text = mask_names(text)
    if not text:
        return Rejection.EMPTY
    if _MASKED.search(text):
        return Rejection.MASKED_ALREADY
    # Anywhere in the text, because it is unclear whether "unhappy" is a second emotion word; joined, it is one.
    if not joined and _NEGATED.search(text):
        return Rejection.NEGATED
    emotion_words = _emotion_words(text, joined=joined)
    if len(emotion_words) != 1:
        return Rejection.SEVERAL if emotion_words else Rejection.NO_EMOTION_WORD
    (word,) = emotion_words
    if not _has_cue(text, word, cue_beginnings=cue_beginnings):
        return Rejection.NO_CAUSE
    return Tweet(f"{text[: word.start()]}{TRIGGER}{text[word.end() :]}", EMOTION_OF[word.group().lower()])


def retrieved_emotions(text: str, *, joined: bool = False, cue_beginnings: bool = False) -> set[str]:
    """The emotions whose query finds the text: a word of theirs before a cue, whatever else the text contains.

    >>> retrieved_emotions("sad that you are happy")
    {'sad'}
    """
    text = mask_names(text)
    words = _emotion_words(text, joined=joined)
    return {EMOTION_OF[word.group().lower()] for word in words if _has_cue(text, word, cue_beginnings=cue_beginnings)}


def _emotion_words(text: str, *, joined: bool) -> list[re.Match[str]]:
    return list((_JOINED_WORD if joined else _EMOTION_WORD).finditer(text))


def _has_cue(text: str, word: re.Match[str], *, cue_beginnings: bool) -> bool:
    return (_CUE_BEGINNING if cue_beginnings else _CUE).match(text, word.end()) is not None


class DistinctTexts:
    """Tells new examples from duplicates of earlier ones.

    >>> distinct = DistinctTexts(Duplicates.MASKED)
    >>> tweet = Tweet("@USERNAME [#TRIGGERWORD#] that it ends", "sad")
    >>> [distinct.is_new(f"@{name} sad that it ends", tweet) for name in ("ann", "ben")]
    [True, False]
    """

    def __init__(self, duplicates: Duplicates) -> None:
        self._duplicates = duplicates
        # Digests, because millions of texts would not fit in memory.
        self._seen: set[bytes] = set()

    def is_new(self, text: str, tweet: Tweet) -> bool:
        """Whether this is the first example of its kind; later ones like it are duplicates."""
        key = tweet.text if self._duplicates is Duplicates.MASKED else text
        digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if digest in self._seen:
            return False
        self._seen.add(digest)
        return True


def label_texts(
    texts: Iterable[str],
    counts: DistantCounts,
    *,
    joined: bool = False,
    cue_beginnings: bool = False,
    duplicates: Duplicates = Duplicates.MASKED,
) -> Iterator[Tweet]:
    """Stream the distinct examples in texts, updating `counts`.

    >>> counts = DistantCounts()
    >>> [tweet.emotion for tweet in label_texts(["sad when it rains", "sad when it rains", "hi"], counts)]
    ['sad']
    >>> counts.dropped[Rejection.DUPLICATE]
    1
    """
    distinct = DistinctTexts(duplicates)
    for text in texts:
        counts.read += 1
        tweet = label_text(text, joined=joined, cue_beginnings=cue_beginnings)
        if isinstance(tweet, Rejection):
            if tweet in _RETRIEVED:
                counts.retrieved.update(retrieved_emotions(text, joined=joined, cue_beginnings=cue_beginnings))
            counts.dropped[tweet] += 1
            continue
        counts.retrieved[tweet.emotion] += 1
        if not distinct.is_new(text, tweet):
            counts.dropped[Rejection.DUPLICATE] += 1
            continue
        counts.labelled[tweet.emotion] += 1
        yield tweet


def split_rows(labels: np.ndarray, *, seed: int, balance: bool = False) -> np.ndarray:
    """Assign each row a split (0 train, 1 trial, 2 test, -1 none): 80, 5 and 15 % of every label.

    With `balance`, every label gets as many rows as the rarest.

    >>> np.bincount(split_rows(np.zeros(100, dtype=int), seed=1)).tolist()
    [80, 5, 15]
    """
    rng = np.random.default_rng(seed)
    distinct, sizes = np.unique(labels, return_counts=True)
    splits = np.full(len(labels), -1, dtype=np.int8)
    for label, size in zip(distinct, sizes, strict=True):
        rows = rng.permutation(np.flatnonzero(labels == label))[: sizes.min() if balance else size]
        trial, test = round(len(rows) * 0.05), round(len(rows) * 0.15)
        splits[rows] = 0
        splits[rows[:trial]] = 1
        splits[rows[trial : trial + test]] = 2
    return splits


def write_distant(
    texts: Iterable[str],
    folder: str | Path,
    *,
    seed: int,
    balance: bool = False,
    joined: bool = False,
    cue_beginnings: bool = False,
    duplicates: Duplicates = Duplicates.MASKED,
) -> DistantCounts:
    """Write train.csv, trial.csv and test.csv in IEST's format, and counts.json; the whole folder or nothing.

    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "tweets"
    >>> write_distant(["so sad that it ends", "so sad"], target, seed=1).kept
    1
    >>> (target / "train.csv").read_text()
    'sad\\tso [#TRIGGERWORD#] that it ends\\n'
    """
    counts = DistantCounts()
    examples = label_texts(texts, counts, joined=joined, cue_beginnings=cue_beginnings, duplicates=duplicates)
    emotions = tuple(TRIGGERS)
    with atomic_folder(folder) as part:
        # Split sizes are known only at the end, so examples wait on disk, not in memory.
        waiting = part / "all"
        codes = bytearray()
        with waiting.open("w", encoding="utf-8", newline="") as handle:
            for tweet in examples:
                handle.write(f"{tweet.emotion}\t{tweet.text}\n")
                codes.append(emotions.index(tweet.emotion))
        splits = split_rows(np.frombuffer(codes, dtype=np.uint8), seed=seed, balance=balance)
        with ExitStack() as stack:
            paths = [part / f"{split}.csv" for split in SPLITS]
            files = [stack.enter_context(path.open("w", encoding="utf-8", newline="")) for path in paths]
            lines = stack.enter_context(waiting.open(encoding="utf-8", newline="\n"))
            for line, code, split in zip(lines, codes, splits.tolist(), strict=True):
                if split < 0:
                    counts.dropped[Rejection.SURPLUS] += 1
                else:
                    files[split].write(line)
                    counts.splits[SPLITS[split]][emotions[code]] += 1
        waiting.unlink()
        settings = {
            "seed": seed,
            "balanced": balance,
            "joined": joined,
            "cue_beginnings": cue_beginnings,
            "duplicates": duplicates.value,
        }
        write_json(part / "counts.json", {**counts.as_dict(), **settings})
    return counts
