"""The 84: short hand-written dialogues with the emotions a reader would name, by what makes them hard.

They are few, and one person wrote them: good for seeing what a model cannot do, not for ranking models. The larger
suite is in `emoscope.evaluation.behaviour`.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from emoscope.core.dialogue import Dialogue
from emoscope.detector import Detector
from emoscope.evaluation.behaviour import run_suite
from emoscope.evaluation.behaviour.cases import Functionality, labels_for
from emoscope.evaluation.results import BehaviourFigures, CheckFigures

KINDS = ("emoji", "negation", "irony", "dialect", "code-mixed", "long", "context")


def read_checks() -> list[Functionality]:
    """All checks."""
    lines = Path(__file__).with_name("behaviour.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    return [
        Functionality(entry["kind"], f"check-{number}", (Dialogue.of(entry["turns"]),), tuple(entry["emotions"]))
        for number, entry in enumerate(entries, start=1)
    ]


def run_checks(detector: Detector) -> list[CheckFigures]:
    """How many checks of each kind a detector answers as expected; none for labels without a neutral one."""
    if not labels_for(["neutral"], detector.labels):
        return []
    found = {(each.type, each.kind): each for each in run_suite(detector, read_checks()).figures()}
    kinds = [found["functionality", kind] for kind in KINDS]
    return [CheckFigures(head=detector.head, kind=each.kind, n=each.n, right=each.passed) for each in kinds if each.n]


def checks_line(checks: Iterable[CheckFigures]) -> str:
    """The checks in a line for the terminal.

    >>> checks_line([CheckFigures(head="ekman", kind="emoji", n=13, right=10)])
    'the 84: 10 of 13 (emoji 10 of 13)'
    """
    kinds = list(checks)
    total = f"{sum(each.right for each in kinds)} of {sum(each.n for each in kinds)}"
    return f"the 84: {total} ({', '.join(f'{each.kind} {each.right} of {each.n}' for each in kinds)})"


def suite_line(figures: Iterable[BehaviourFigures]) -> str:
    """The totals of the suite in a line for the terminal."""
    totals = [each for each in figures if each.kind == "all"]
    return "the suite: " + ", ".join(f"{each.type} {each.passed} of {each.n}" for each in reversed(totals))
