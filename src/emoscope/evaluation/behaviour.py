"""Hand-written checks: short dialogues, each with the feelings a reader would name, by what makes it hard.

They are few, and one person wrote them: good for seeing what a model cannot do, not for ranking models.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from emoscope.core.dialogue import Dialogue
from emoscope.detector import Detector
from emoscope.evaluation.results import CheckFigures

KINDS = ("emoji", "negation", "irony", "dialect", "code-mixed", "long", "context")
_OTHER_NAMES = {"joy": "happy", "sadness": "sad", "anger": "angry", "neutral": "others"}


@dataclass(frozen=True, slots=True)
class Check:
    """A dialogue and the feelings (Ekman's six, or neutral) that its last turn may be said to show."""

    kind: str
    dialogue: Dialogue
    emotions: tuple[str, ...]

    def expected(self, labels: Sequence[str]) -> set[str]:
        """The right answers among a set of labels; none where it has no name for them.

        >>> check = Check("irony", Dialogue.of(["great, a flat tyre"]), ("anger", "fear"))
        >>> sorted(check.expected(["others", "happy", "sad", "angry"]))
        ['angry', 'others']
        """
        found = {name for emotion in self.emotions for name in (emotion, _OTHER_NAMES.get(emotion)) if name in labels}
        if "others" in labels and not set(self.emotions) <= set(_OTHER_NAMES):
            found.add("others")
        return {str(name) for name in found}


def read_checks() -> list[Check]:
    """The checks that come with the package."""
    lines = (files("emoscope.evaluation") / "behaviour.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    return [Check(entry["kind"], Dialogue.of(entry["turns"]), tuple(entry["emotions"])) for entry in entries]


def run_checks(detector: Detector) -> list[CheckFigures]:
    """How many checks of each kind a detector answers as expected; none for labels without a neutral one."""
    if not {"neutral", "others"} & set(detector.labels):
        return []
    checks = [check for check in read_checks() if check.expected(detector.labels)]
    answers = detector.detect_many(check.dialogue for check in checks)
    right = [answer.label in check.expected(detector.labels) for check, answer in zip(checks, answers, strict=True)]
    counted = []
    for kind in KINDS:
        outcomes = [hit for check, hit in zip(checks, right, strict=True) if check.kind == kind]
        if outcomes:
            counted.append(CheckFigures(head=detector.head, kind=kind, n=len(outcomes), right=sum(outcomes)))
    return counted
