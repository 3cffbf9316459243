"""SocialNLP EmotionX 2019: the emotion of every utterance of a dialogue, in TV scripts and in private chats."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.metrics import Metric, micro_f1
from emoscope.tables.json_stream import array_elements
from emoscope.tasks.base import Submitted, Task
from emoscope.tasks.metadata import DataDownload, DataFile, DataRevision, TaskMetadata

_VOTE_LABELS = ("neutral", "joy", "sadness", "fear", "anger", "surprise", "disgust")
# What the data are labelled with; only the first four are predicted and scored.
_ALL_LABELS = ("neutral", "joy", "sadness", "anger", "surprise", "fear", "disgust", "non-neutral")
_VARIANT_PREFIX = "utterance_"
_HOME = "https://github.com/bshmueli/EmotionX-2019"


class EmotionX(Task):
    """What Friends and EmotionPush share: everything but the files."""

    sample = json.dumps(
        [
            [{"speaker": "Ross", "utterance": "Hi"}, {"speaker": "Rachel", "utterance": "It\x92s you!"}],
            [{"speaker": "Ross", "utterance": "Oh"}],
        ]
    )

    def read(self, path: str | Path) -> Iterator[Example]:
        number = 0
        for number, element in enumerate(array_elements(path), start=1):
            if number == 2 and isinstance(element, list) and element and isinstance(element[0], list):
                raise InputError(path, "is a submission (author and dialogues), expected a data file")
            yield from _dialogue_examples(path, number, element)
        if not number:
            raise InputError(path, "holds no dialogues")

    def submission(self, answers: Sequence[tuple[Example, str]], author: Mapping[str, str]) -> Iterator[str]:
        dialogues: list[list[dict[str, str | None]]] = []
        for example, label in answers:
            turn = example.dialogue.turns[example.turn]
            if example.turn == 0:
                dialogues.append([])
            if not dialogues or len(dialogues[-1]) != example.turn:
                raise EmoscopeError("a submission needs every utterance of every dialogue, in order")
            dialogues[-1].append({"speaker": turn.speaker, "utterance": turn.text, "emotion": label})
        who = {key: author.get(key, "") for key in ("name", "email")}
        yield json.dumps([who, dialogues], indent=1) + "\n"

    def submitted(self, path: str | Path) -> Iterator[Submitted]:
        parts = list(array_elements(path))
        if len(parts) != 2 or not isinstance(parts[0], dict) or not isinstance(parts[1], list):
            raise InputError(path, "expected a list of two items: {name, email} and the dialogues")
        for key in ("name", "email"):
            if not isinstance(parts[0].get(key), str):
                raise InputError(path, f"the first item must give the author's {key!r} as a string")
        for number, dialogue in enumerate(parts[1], start=1):
            for line, entry in enumerate(_entries(path, number, dialogue), start=1):
                where = _where(number, line)
                emotion = entry.get("emotion")
                if emotion is not None and not isinstance(emotion, str):
                    raise InputError(path, f"'emotion' must be a string, not {type(emotion).__name__}", row=where)
                yield Submitted(where, emotion, (str(line), str(entry.get("speaker")), entry["utterance"]))

    def content(self, example: Example) -> tuple[str, ...]:
        turn = example.dialogue.turns[example.turn]
        return (str(example.turn + 1), str(turn.speaker), turn.text)


def _where(dialogue: int, line: int) -> str:
    return f"dialogue {dialogue:,}, line {line:,}"


def _entries(path: str | Path, number: int, dialogue: object) -> list[dict[str, Any]]:
    """The utterances of one dialogue, each checked to be an object with a speaker and an utterance."""
    where = f"dialogue {number:,}"
    if not isinstance(dialogue, list):
        raise InputError(path, f"expected a list of utterances, found {type(dialogue).__name__}", row=where)
    if not dialogue:
        raise InputError(path, "has no utterances", row=where)
    for line, entry in enumerate(dialogue, start=1):
        if not isinstance(entry, dict):
            raise InputError(path, f"expected an object, found {type(entry).__name__}", row=_where(number, line))
        for key in ("speaker", "utterance"):
            if not isinstance(entry.get(key), str):
                raise InputError(path, f"{key!r} is missing or not a string", row=_where(number, line))
    return dialogue


def _dialogue_examples(path: str | Path, number: int, element: object) -> Iterator[Example]:
    entries = _entries(path, number, element)
    dialogue = Dialogue(tuple(Turn(entry["utterance"], entry["speaker"]) for entry in entries), str(number - 1))
    for line, entry in enumerate(entries, start=1):
        where = _where(number, line)
        emotion = entry.get("emotion")
        if emotion is not None and emotion not in _ALL_LABELS:
            raise InputError(path, f"unknown emotion {emotion!r}, expected one of {', '.join(_ALL_LABELS)}", row=where)
        yield Example(
            dialogue,
            turn=line - 1,
            label=emotion,
            votes=_votes(path, where, entry.get("annotation")),
            variants=_variants(path, where, entry),
        )


def _votes(path: str | Path, where: str, annotation: object) -> dict[str, int]:
    """Vote counts from the annotation string: "2000030" is two for neutral and three for surprise."""
    if annotation is None:
        return {}
    if not isinstance(annotation, str) or len(annotation) != len(_VOTE_LABELS) or not annotation.isdecimal():
        raise InputError(path, f"'annotation' must be {len(_VOTE_LABELS)} digits, found {annotation!r}", row=where)
    return {label: int(count) for label, count in zip(_VOTE_LABELS, annotation, strict=True)}


def _variants(path: str | Path, where: str, entry: Mapping[str, Any]) -> dict[str, str]:
    """Back-translations by language: `utterance_de` becomes `de`."""
    variants: dict[str, str] = {}
    for key, text in entry.items():
        if key.startswith(_VARIANT_PREFIX):
            if not isinstance(text, str):
                raise InputError(path, f"{key!r} must be a string", row=where)
            variants[key.removeprefix(_VARIANT_PREFIX)] = text
    return variants


def _metadata(
    name: str, stem: str, title: str, description: str, archive: str, examples: Sequence[int], sha256: Sequence[str]
) -> TaskMetadata:
    """`examples` are the sizes of the training and test files, `sha256` the sums of training, augmented and test."""
    return TaskMetadata(
        name=name,
        title=title,
        description=description,
        labels=("neutral", "joy", "sadness", "anger"),
        neutral_label="neutral",
        # Utterances with another gold label were left out before.
        metric=Metric(
            "micro-f1", "micro-F1 over the utterances whose gold label is joy, sadness, anger or neutral", micro_f1
        ),
        citation=(
            "Shmueli, Ku (2019). SocialNLP EmotionX 2019 Challenge Overview: "
            "Predicting Emotions in Spoken Dialogues and Chats. arXiv:1909.07734."
        ),
        home=_HOME,
        terms="CC BY-NC-ND 4.0: attribution, no commercial use, no derivatives.",
        folder="emotionx",
        data_format="every utterance of a training, augmented or evaluation file, dialogue by dialogue.",
        submission_format="`[{name, email}, dialogues]`, each utterance with its `emotion`.",
        revisions=(
            DataRevision(
                name="2019",
                note="1,000 labelled dialogues and 240 unlabelled ones",
                splits={
                    "train": DataFile(name=f"{stem}.json", examples=examples[0], sha256=sha256[0]),
                    "augmented": DataFile(name=f"{stem}.augmented.json", examples=examples[0], sha256=sha256[1]),
                    "test": DataFile(name=f"{stem}_eval.json", labelled=False, examples=examples[1], sha256=sha256[2]),
                },
                downloads=(
                    DataDownload(url=f"{_HOME}/raw/master/{archive}", saves=(f"{stem}.json", f"{stem}.augmented.json")),
                    DataDownload(url=f"{_HOME}/raw/master/2019_Eval_Unlabeled.zip", saves=(f"{stem}_eval.json",)),
                ),
            ),
        ),
        vote_labels=_VOTE_LABELS,
    )


class EmotionXFriends(EmotionX):
    """Scripts of the TV series Friends."""

    metadata = _metadata(
        "emotionx-friends",
        "friends",
        "SocialNLP EmotionX 2019: Friends",
        "The emotion of every utterance in scripts of the series Friends.",
        "2019_Train_Friends.zip",
        (14503, 3296),
        (
            "93dbdd590a7f46bfb3a89d59427f0d43b862e1e0a6c51c397b18edde87656cfb",
            "35b95b804ba6c62df6d3e6c361a20e52089fcdf5ec4c5214764c2bebf728ae01",
            "3d0eb268ab9142bdc33cba1d86442dd2845695a1aeb90134a50e71c49077e66b",
        ),
    )


class EmotionXPush(EmotionX):
    """Private Facebook Messenger chats, anonymised."""

    metadata = _metadata(
        "emotionx-push",
        "emotionpush",
        "SocialNLP EmotionX 2019: EmotionPush",
        "The emotion of every utterance in private Messenger chats.",
        "2019_Train_EmotionPush.zip",
        (14742, 3536),
        (
            "6033af0de0ce599a09e7838ebf23460f9b059390ddd69ad9c2cb5ec6220bee91",
            "50200fcf93730cc7294e13d3dd47d7e715c45492220265d6991ddadee8887112",
            "6808e93c6059f795ec7b8fb214d3d41eba1e22371f04af87c270269f7c8b530c",
        ),
    )
