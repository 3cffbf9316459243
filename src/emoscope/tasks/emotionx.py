"""SocialNLP EmotionX 2019: the emotion of every utterance of a dialogue, in TV scripts and in private chats."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeGuard

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import BYTE_ORDER_MARK, existing_file
from emoscope.tables.json_stream import array_elements
from emoscope.tasks.base import Submitted, Task
from emoscope.tasks.metadata import load_metadata

_VOTE_LABELS = ("neutral", "joy", "sadness", "fear", "anger", "surprise", "disgust")
# The labels in the data; only the first four are predicted and scored.
_ALL_LABELS = ("neutral", "joy", "sadness", "anger", "surprise", "fear", "disgust", "non-neutral")
_VARIANT_PREFIX = "utterance_"


class EmotionX(Task):
    """The base of Friends and EmotionPush, which differ only in their files."""

    foreign_labels = "refused"
    sample = json.dumps(
        [
            [{"speaker": "Ross", "utterance": "Hi"}, {"speaker": "Rachel", "utterance": "It\x92s you!"}],
            [{"speaker": "Ross", "utterance": "Oh"}],
        ]
    )

    def read(self, path: str | Path) -> Iterator[Example]:
        number = 0
        for number, element in enumerate(array_elements(path), start=1):
            if number == 1 and isinstance(element, dict) and "email" in element:
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
        with existing_file(path).open("rb") as handle:
            if handle.read(3) == BYTE_ORDER_MARK:
                raise InputError(path, "begins with a byte-order mark, which the official scorer refuses")
        parts = list(array_elements(path, strict=False))
        if len(parts) != 2 or not isinstance(parts[0], dict) or not isinstance(parts[1], list):
            raise InputError(path, "expected a list of two items: {name, email} and the dialogues")
        for key in ("name", "email"):
            if key not in parts[0]:
                raise InputError(path, f"the first item must give the author's {key!r}")
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
            votes=votes_at(path, where, entry.get("annotation")),
            variants=_variants(path, where, entry),
        )


def votes_at(path: str | Path, where: int | str, annotation: object) -> dict[str, int]:
    """Vote counts from the annotation string: "2000030" is two for neutral and three for surprise."""
    if annotation is None:
        return {}
    if not is_vote_string(annotation):
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


class EmotionXFriends(EmotionX):
    """Scripts of the TV series Friends."""

    metadata = load_metadata("emotionx-friends")


class EmotionXPush(EmotionX):
    """Private Facebook Messenger chats, anonymised."""

    metadata = load_metadata("emotionx-push")


def is_emotionx(path: Path) -> bool:
    """Whether a file is a JSON list of lists, as EmotionX's data files are; Label Studio's are lists of objects."""
    if path.suffix != ".json":
        return False
    with existing_file(path).open("rb") as handle:
        return b"".join(handle.read(1 << 12).removeprefix(BYTE_ORDER_MARK).split()).startswith(b"[[")


def is_vote_string(value: object) -> TypeGuard[str]:
    """Whether a value is a digit for each label.

    >>> is_vote_string("2000030"), is_vote_string("200003"), is_vote_string(2000030)
    (True, False, False)
    """
    return isinstance(value, str) and len(value) == len(_VOTE_LABELS) and value.isdecimal()


def vote_string(votes: Mapping[str, int]) -> str:
    """Votes as EmotionX writes them: seven digits, for neutral, joy, sadness, fear, anger, surprise, disgust.

    >>> vote_string({"neutral": 2, "surprise": 3})
    '2000030'
    """
    if foreign := sorted(set(votes) - set(_VOTE_LABELS)):
        raise EmoscopeError(f"a vote string has no place for {foreign[0]!r}; its labels are {', '.join(_VOTE_LABELS)}")
    if max(votes.values(), default=0) > 9:
        raise EmoscopeError(f"a vote string has one digit a label, and {max(votes.values())} votes do not fit")
    return "".join(str(votes.get(label, 0)) for label in _VOTE_LABELS)
