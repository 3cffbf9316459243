"""Readers of the auxiliary corpora: labelled texts, or dialogues."""

import csv
import gzip
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.errors import InputError
from emoscope.core.files import text_lines

# A text and its label; None if the annotators gave several.
LabelledTexts = Iterator[tuple[str, str | None]]

SENTIMENTS = ("negative", "neutral", "positive")
EKMAN = ("anger", "disgust", "fear", "joy", "neutral", "sadness", "surprise")
ISEAR = ("joy", "fear", "anger", "sadness", "disgust", "shame", "guilt")

_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_SPOKEN = re.compile(r"([A-Z][\w.' ]{0,24}?):\s+(\S.*)")
_STAGE_DIRECTION = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


def read_sentiment(folder: Path) -> Iterator[tuple[str, str]]:
    r"""The tweets of SemEval-2017 task 4A's training files: `id<TAB>label<TAB>text`, some marks written as \u002c."""
    for path in sorted((folder / "train").glob("*.tsv")):
        for row, line in text_lines(path):
            cells = line.split("\t")
            if len(cells) < 3 or cells[1] not in SENTIMENTS:
                raise InputError(path, f"expected id, one of {', '.join(SENTIMENTS)}, and text between tabs", row=row)
            yield _ESCAPE.sub(lambda mark: chr(int(mark.group(1), 16)), cells[2]), cells[1]


def read_tweeteval(folder: Path, *, classes: int) -> Iterator[tuple[str, str]]:
    """The training tweets of a TweetEval task, whose labels are numbers in a file of their own."""
    labels = folder / "train_labels.txt"
    numbers = {str(number) for number in range(classes)}
    for (row, text), (_, label) in zip(text_lines(folder / "train_text.txt"), text_lines(labels), strict=True):
        if label not in numbers:
            raise InputError(labels, f"expected the number of a label (0 to {classes - 1}), found {label!r}", row=row)
        yield text, label


def tweeteval_texts(folder: Path, splits: Sequence[str]) -> Iterator[str]:
    """The tweets of all TweetEval tasks, without labels; the split `*` means all, including test."""
    for split in splits:
        for path in sorted(folder.glob(f"*/{split}_text.txt")):
            for _, text in text_lines(path):
                yield text


def read_goemotions(folder: Path, split: str = "train") -> LabelledTexts:
    """The comments of GoEmotions, `text<TAB>numbers<TAB>id`; those with several emotions have no label."""
    path = folder / f"{split}.tsv"
    for row, line in text_lines(path):
        cells = line.split("\t")
        if len(cells) != 3:
            raise InputError(path, f"expected 3 tab-separated columns, found {len(cells)}", row=row)
        yield cells[0], EKMAN[int(cells[1])] if cells[1].isdigit() else None


def read_isear(folder: Path) -> Iterator[tuple[str, str]]:
    """The self-reports of ISEAR: what happened, and which emotion the person named."""
    lines = text_lines(folder / "isear.csv")
    _, header = next(lines)
    names = header.split("|")
    emotion, situation = names.index("Field1"), names.index("SIT")
    for _, line in lines:
        cells = line.split("|")
        # A few reports contain the separator, and some only say that there was no answer.
        if len(cells) == len(names) and cells[emotion] in ISEAR and not cells[situation].strip().startswith("["):
            yield " ".join(cells[situation].replace("á", " ").split()), cells[emotion]


def read_meld(folder: Path, split: str = "train") -> Iterator[Example]:
    """The utterances of MELD, each within its dialogue."""
    path = folder / f"{split}_sent_emo.csv"
    dialogues: dict[str, list[tuple[Turn, str]]] = {}
    with path.open(encoding="utf-8", newline="") as handle:
        for row, cells in enumerate(csv.DictReader(handle), start=2):
            if cells.get("Emotion") not in EKMAN:
                raise InputError(path, f"unknown emotion {cells.get('Emotion')!r}", row=row)
            turn = Turn(cells["Utterance"], cells["Speaker"])
            dialogues.setdefault(cells["Dialogue_ID"], []).append((turn, cells["Emotion"]))
    for utterances in dialogues.values():
        dialogue = Dialogue(tuple(turn for turn, _ in utterances))
        for place, (_, emotion) in enumerate(utterances):
            yield Example(dialogue, place, emotion)


def read_friends_scripts(path: Path) -> Iterator[Dialogue]:
    """The scenes of `friends.txt.gz`, without stage directions."""
    with gzip.open(path, "rt", encoding="utf-8") as handle:
        yield from scenes(handle)


def scenes(lines: Iterable[str]) -> Iterator[Dialogue]:
    """Split scripts into scenes.

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
