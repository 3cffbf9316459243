"""Turns, dialogues, examples to label, and detections.

Plain frozen dataclasses rather than pydantic models: a run creates millions of them.
"""

import copyreg
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import Any

from emoscope.core.errors import EmoscopeError

_EMPTY: Mapping[str, Any] = MappingProxyType({})


def _read_only(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


# Examples are sent to worker processes, and pickle cannot serialise a MappingProxyType.
copyreg.pickle(MappingProxyType, lambda mapping: (_read_only, (dict(mapping),)))


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance and, if known, its speaker.

    >>> Turn("hello", speaker="Ross")
    Turn(text='hello', speaker='Ross')
    """

    text: str
    speaker: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise EmoscopeError(f"a turn's text must be a string, not {type(self.text).__name__}")
        if not self.text.isascii() and not _is_text(self.text):
            raise EmoscopeError("a turn's text holds half of a surrogate pair, which is not text")
        if self.speaker is not None and not isinstance(self.speaker, str):
            raise EmoscopeError(f"a turn's speaker must be a string, not {type(self.speaker).__name__}")


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One or more turns, in order.

    >>> Dialogue.of(["hi", "hello!"]).texts
    ('hi', 'hello!')
    """

    turns: tuple[Turn, ...]
    id: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.turns, tuple) or not all(isinstance(turn, Turn) for turn in self.turns):
            raise EmoscopeError("a dialogue's turns must be a tuple of Turn; Dialogue.of() takes strings too")
        if not self.turns:
            raise EmoscopeError("a dialogue needs at least one turn")

    @classmethod
    def of(cls, turns: "DialogueLike", *, id: str | None = None) -> "Dialogue":
        """A dialogue from a list of turns, or from one turn: a string, a `Turn`, or a mapping.

        A mapping has the keys `text` and, if known, `speaker`; or it is a message with `role` and `content`. Messages
        with the role system, developer or tool are skipped: they are not part of the conversation.

        >>> Dialogue.of([{"speaker": "A", "text": "hi"}, "hello"]).turns[0].speaker
        'A'
        >>> Dialogue.of({"role": "user", "content": "I hate you"}).turns
        (Turn(text='I hate you', speaker='user'),)
        """
        if isinstance(turns, Dialogue):
            return turns
        if isinstance(turns, list | tuple) and set(map(type, turns)) == {str}:  # fast path for the usual case
            return cls(tuple(map(Turn, turns)), id)
        if isinstance(turns, str | Turn | Mapping):
            turns = [turns]
        if isinstance(turns, bytes | set | frozenset) or not isinstance(turns, Iterable):
            raise EmoscopeError(f"a dialogue is a text or a list of turns, not {type(turns).__name__}")
        numbered = enumerate(turns, start=1)
        return cls(tuple(_turn(turn, position) for position, turn in numbered if not is_instruction(turn)), id)

    @property
    def texts(self) -> tuple[str, ...]:
        """The turns' texts."""
        return tuple(turn.text for turn in self.turns)

    def upto(self, turn: int) -> "Dialogue":
        """The dialogue up to and including turn `turn`, counted from 0."""
        if not 0 <= turn < len(self.turns):
            raise EmoscopeError(f"a dialogue of {len(self.turns)} turns has no turn {turn}")
        return self if turn == len(self.turns) - 1 else Dialogue(self.turns[: turn + 1], self.id)

    def __len__(self) -> int:
        return len(self.turns)


TurnLike = str | Turn | Mapping[str, Any]
DialogueLike = Dialogue | TurnLike | Iterable[TurnLike]


def texts_alone(dialogues: Sequence[DialogueLike]) -> list[Sequence[str]] | None:
    """The texts of dialogues that are all texts or lists of texts; None if any is something else or invalid.

    Much faster than building each `Dialogue`.

    >>> texts_alone(["hi", ["hi", "hello!"]]), texts_alone(["hi", [{"text": "hello"}]])
    ([['hi'], ['hi', 'hello!']], None)
    """
    rows: list[Any] = [[each] if type(each) is str else each for each in dialogues]
    if not all(rows) or not {list, tuple}.issuperset(map(type, rows)):
        return None
    texts = list(chain.from_iterable(rows))
    if not {str}.issuperset(map(type, texts)):
        return None
    joined = "".join(texts)
    return rows if joined.isascii() or _is_text(joined) else None


def _is_text(text: str) -> bool:
    """Whether a text is free of lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_instruction(value: object) -> bool:
    """Whether a turn is a chat message to the model, not part of the conversation.

    >>> is_instruction({"role": "system", "content": "Be brief."}), is_instruction({"role": "user", "content": "hi"})
    (True, False)
    """
    return isinstance(value, dict) and value.get("role") in ("system", "developer", "tool") and "text" not in value


def _turn(value: object, position: int) -> Turn:
    match value:
        case Turn():
            return value
        case str():
            return Turn(value)
        case Mapping():
            if "role" in value and "content" in value:
                return Turn(_message_text(value["content"], position), value["role"])
            unknown = sorted(set(value) - {"text", "speaker"}, key=str)
            if unknown or "text" not in value:
                expected = "expected keys 'text' and, if known, 'speaker', or 'role' and 'content'"
                raise EmoscopeError(f"turn {position}: {expected}; found {', '.join(map(str, value)) or 'none'}")
            return Turn(value["text"], value.get("speaker"))
        case _:
            raise EmoscopeError(f"turn {position}: expected a string, not {type(value).__name__}")


def _message_text(content: object, position: int) -> str:
    """The text of a chat message; its content may be a list of parts, or None for a tool call."""
    parts = [content] if isinstance(content, str) else content or ()
    if not isinstance(parts, list | tuple):
        raise EmoscopeError(f"turn {position}: expected 'content' as text, not {type(content).__name__}")
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str))


@dataclass(frozen=True, slots=True)
class Example:
    """One turn to label, within its dialogue.

    `votes` are the annotators' counts per label; `variants` are other wordings of the turn (back-translations) by name.
    The `origin` of an example made by rewording another is the original dialogue.

    >>> example = Example(Dialogue.of(["hi", "I lost my keys"]), turn=1, label="sad")
    >>> example.text, example.context.texts
    ('I lost my keys', ('hi', 'I lost my keys'))
    """

    dialogue: Dialogue
    turn: int
    label: str | None = None
    votes: Mapping[str, int] = field(default_factory=lambda: _EMPTY)
    variants: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    origin: Dialogue | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.turn < len(self.dialogue.turns):
            raise EmoscopeError(f"a dialogue of {len(self.dialogue)} turns has no turn {self.turn}")

    @classmethod
    def last(cls, dialogue: Dialogue) -> "Example":
        """The last turn of a dialogue."""
        return cls(dialogue, len(dialogue.turns) - 1)

    @property
    def text(self) -> str:
        """The text of the turn to label."""
        return self.dialogue.turns[self.turn].text

    @property
    def family(self) -> tuple[str, ...]:
        """The texts of the original dialogue: examples of one family must not be split between training and test.

        >>> original = Dialogue.of(["so glad"])
        >>> Example(Dialogue.of(["very glad"]), 0, origin=original).family == Example(original, 0).family
        True
        """
        return (self.origin or self.dialogue).texts

    @property
    def context(self) -> Dialogue:
        """The dialogue up to and including the turn to label."""
        return self.dialogue.upto(self.turn)


@dataclass(frozen=True, slots=True, repr=False)
class Detection:
    """The answer for one dialogue: a label, the probability of each label, and whether input was truncated.

    `label` is None if the best probability is below the caller's threshold. `note` is anything else a reader should
    know, for example that the turn is not English.

    >>> Detection("happy", {"happy": 0.9, "others": 0.1}).score
    0.9
    >>> Detection("happy", {"others": 0.1, "happy": 0.9})
    Detection('happy', {'happy': 0.900, 'others': 0.100})
    """

    label: str | None
    scores: Mapping[str, float]
    truncated: bool = False
    note: str | None = None

    def __post_init__(self) -> None:
        if self.label is not None and self.label not in self.scores:
            raise EmoscopeError(f"label {self.label!r} has no score")
        if not all(0.0 <= score <= 1.0 for score in self.scores.values()):
            raise EmoscopeError("scores must lie between 0 and 1")
        object.__setattr__(self, "scores", MappingProxyType(dict(self.scores)))

    @classmethod
    def unchecked(cls, label: str | None, scores: dict[str, float], truncated: bool, note: str | None) -> "Detection":
        """Build a detection from valid values, skipping the checks for speed; `scores` are not copied."""
        detection = cls.__new__(cls)
        _set_label(detection, label)
        _set_scores(detection, MappingProxyType(scores))
        _set_truncated(detection, truncated)
        _set_note(detection, note)
        return detection

    @property
    def score(self) -> float:
        """The probability of the most likely label."""
        return max(self.scores.values())

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps`."""
        return {"label": self.label, "scores": dict(self.scores), "truncated": self.truncated, "note": self.note}

    def __repr__(self) -> str:
        ranked = sorted(self.scores.items(), key=lambda pair: -pair[1])
        scores = ", ".join(f"{label!r}: {score:.3f}" for label, score in ranked)
        note = f", note={self.note!r}" if self.note else ""
        return f"Detection({self.label!r}, {{{scores}}}{', truncated=True' * self.truncated}{note})"

    def _repr_html_(self) -> str:
        from emoscope.core.notebook import detection_html

        return detection_html(self)


_set_label, _set_scores, _set_truncated, _set_note = (
    vars(Detection)[name].__set__ for name in ("label", "scores", "truncated", "note")
)
