"""The three types of test cases: their dialogues, and when the answers pass."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from emoscope.core.dialogue import Detection, Dialogue

NEUTRAL = "neutral"
MARGIN = 0.1  # by which a probability must rise or fall
# The names of the emotions in different label sets.
_NAMES = {
    NEUTRAL: ("neutral", "others"),
    "joy": ("joy", "happy", "happiness"),
    "sadness": ("sadness", "sad"),
    "anger": ("anger", "angry"),
    "fear": ("fear", "afraid"),
    "disgust": ("disgust", "disgusted"),
    "surprise": ("surprise", "surprised"),
}
EMOTIONS = tuple(_NAMES)


def labels_for(emotions: Collection[str], labels: Collection[str]) -> set[str]:
    """The labels that stand for these emotions; `others` stands for those without a label of their own.

    >>> sorted(labels_for(["anger", "fear"], ["others", "happy", "sad", "angry"]))
    ['angry', 'others']
    >>> labels_for(["fear"], ["neutral", "joy", "sadness", "anger"])
    set()
    """
    return {label for emotion in emotions for label in _own_labels(emotion, labels) or {"others"} & set(labels)}


def _own_labels(emotion: str, labels: Collection[str]) -> set[str]:
    return set(_NAMES[emotion]) & set(labels)


def probability_of(emotion: str, answer: Detection) -> float:
    """The probability of an emotion in an answer.

    >>> probability_of("joy", Detection("happy", {"happy": 0.9, "sad": 0.1}))
    0.9
    """
    return sum(answer.scores[label] for label in _own_labels(emotion, answer.scores))


@dataclass(frozen=True, slots=True)
class Case(ABC):
    """Dialogues that are tested together; `situation` names their topic, `kind` what makes them hard."""

    type: ClassVar[str]

    kind: str
    situation: str
    dialogues: tuple[Dialogue, ...]

    @abstractmethod
    def applies(self, labels: Collection[str]) -> bool:
        """Whether the labels can express what is expected."""

    @abstractmethod
    def passes(self, answers: Sequence[Detection]) -> bool:
        """Whether the answers are as expected, if the case applies to the labels."""

    @property
    @abstractmethod
    def expectation(self) -> str:
        """What is expected, in words."""


@dataclass(frozen=True, slots=True)
class Functionality(Case):
    """Minimum functionality: one dialogue, and all emotions that fit its last turn.

    >>> case = Functionality("irony", "tyre", (Dialogue.of(["great, a flat tyre"]),), ("anger", "sadness"))
    >>> case.passes([Detection("sad", {"sad": 1.0, "happy": 0.0})])
    True
    """

    type: ClassVar[str] = "functionality"

    emotions: tuple[str, ...]

    def applies(self, labels: Collection[str]) -> bool:
        return bool(labels_for(self.emotions, labels))

    def passes(self, answers: Sequence[Detection]) -> bool:
        return answers[0].label in labels_for(self.emotions, answers[0].scores)

    @property
    def expectation(self) -> str:
        return " or ".join(self.emotions)


@dataclass(frozen=True, slots=True)
class Invariance(Case):
    """A dialogue and versions of it that must get the same label, whichever that is."""

    type: ClassVar[str] = "invariance"

    def applies(self, labels: Collection[str]) -> bool:
        return bool(labels)

    def passes(self, answers: Sequence[Detection]) -> bool:
        return len({answer.label for answer in answers}) == 1 and answers[0].label is not None

    @property
    def expectation(self) -> str:
        return "the same label"


@dataclass(frozen=True, slots=True)
class Direction(Case):
    """A dialogue before and after an edit that makes an emotion more or less likely, or leads to certain labels.

    A probability must change by `MARGIN`, or end within `MARGIN` of 1 (rises) or 0 (falls).

    >>> texts = Dialogue.of(["I am glad"]), Dialogue.of(["I am not glad"])
    >>> case = Direction("negation", "glad", texts, ("joy",), "falls")
    >>> case.passes([Detection("happy", {"happy": 0.9, "sad": 0.1}), Detection("happy", {"happy": 0.7, "sad": 0.3})])
    True
    """

    type: ClassVar[str] = "direction"

    emotions: tuple[str, ...]  # one, unless the change is "becomes"
    change: Literal["rises", "falls", "becomes"]

    def applies(self, labels: Collection[str]) -> bool:
        if self.change == "becomes":
            return bool(labels_for(self.emotions, labels))
        return bool(_own_labels(self.emotions[0], labels))

    def passes(self, answers: Sequence[Detection]) -> bool:
        if self.change == "becomes":
            return answers[-1].label in labels_for(self.emotions, answers[-1].scores)
        before, after = (probability_of(self.emotions[0], answer) for answer in answers)
        if self.change == "falls":
            before, after = 1 - before, 1 - after
        return after - before >= MARGIN or after >= 1 - MARGIN

    @property
    def expectation(self) -> str:
        emotions = " or ".join(self.emotions)
        return f"becomes {emotions}" if self.change == "becomes" else f"{emotions} {self.change}"
