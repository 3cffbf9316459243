"""Behaviour checks: short hand-written dialogues with the emotions a reader would name, by what makes them hard.

They are few, and one person wrote them: good for seeing what a model cannot do, not for ranking models.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from emoscope.core.dialogue import Dialogue
from emoscope.detector import Detector
from emoscope.evaluation.results import CheckFigures

KINDS = ("emoji", "negation", "irony", "dialect", "code-mixed", "long", "context")
_OTHER_NAMES = {"joy": "happy", "sadness": "sad", "anger": "angry", "neutral": "others"}


@dataclass(frozen=True, slots=True)
class BehaviourCheck:
    """A dialogue and the emotions (Ekman's six, or neutral) that fit its last turn."""

    kind: str
    dialogue: Dialogue
    emotions: tuple[str, ...]

    def expected(self, labels: Sequence[str]) -> set[str]:
        """The right answers among a set of labels, which may have no name for any.

        >>> check = BehaviourCheck("irony", Dialogue.of(["great, a flat tyre"]), ("anger", "fear"))
        >>> sorted(check.expected(["others", "happy", "sad", "angry"]))
        ['angry', 'others']
        """
        names = {*self.emotions, *(_OTHER_NAMES[emotion] for emotion in self.emotions if emotion in _OTHER_NAMES)}
        if not set(self.emotions) <= set(_OTHER_NAMES):
            names.add("others")
        return names & set(labels)


def read_checks() -> list[BehaviourCheck]:
    """All checks."""
    lines = Path(__file__).with_name("behaviour.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    return [BehaviourCheck(entry["kind"], Dialogue.of(entry["turns"]), tuple(entry["emotions"])) for entry in entries]


def run_checks(detector: Detector) -> list[CheckFigures]:
    """How many checks of each kind a detector answers as expected; none for labels without a neutral one."""
    if not {"neutral", "others"} & set(detector.labels):
        return []
    checks = [check for check in read_checks() if check.expected(detector.labels)]
    answers = detector.detect_many(check.dialogue for check in checks)
    totals = Counter(check.kind for check in checks)
    pairs = zip(checks, answers, strict=True)
    hits = Counter(check.kind for check, answer in pairs if answer.label in check.expected(detector.labels))
    return [
        CheckFigures(head=detector.head, kind=kind, n=totals[kind], right=hits[kind]) for kind in KINDS if totals[kind]
    ]
