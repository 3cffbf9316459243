"""Run the suite on a detector."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from emoscope.core.dialogue import Detection
from emoscope.core.significance import wilson_interval
from emoscope.detector import Detector
from emoscope.evaluation.behaviour.cases import Case
from emoscope.evaluation.behaviour.suite import read_suite
from emoscope.evaluation.results import BehaviourFigures

ALL = "all"


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A case, the detector's answers to its dialogues, and whether they pass."""

    case: Case
    answers: tuple[Detection, ...]
    passed: bool

    def as_dict(self) -> dict[str, Any]:
        pairs = zip(self.case.dialogues, self.answers, strict=True)
        return {
            "type": self.case.type,
            "kind": self.case.kind,
            "situation": self.case.situation,
            "expected": self.case.expectation,
            "passed": self.passed,
            "answers": [{"turns": dialogue.texts, **answer.as_dict()} for dialogue, answer in pairs],
        }


@dataclass(frozen=True, slots=True)
class BehaviourReport:
    """The results of a model with one label set; `skipped` cases cannot be expressed with its labels."""

    model: str
    head: str
    labels: tuple[str, ...]
    outcomes: tuple[CaseResult, ...]
    skipped: tuple[Case, ...]

    @property
    def failures(self) -> list[CaseResult]:
        """The cases that did not pass."""
        return [outcome for outcome in self.outcomes if not outcome.passed]

    def figures(self, *, level: float = 0.95) -> list[BehaviourFigures]:
        """How many cases passed: by type and kind, by type, and in all."""
        cases = [*(outcome.case for outcome in self.outcomes), *self.skipped]
        groups = dict.fromkeys((case.type, case.kind) for case in cases)
        types = dict.fromkeys(type_ for type_, _ in groups)
        rows = [*groups, *((type_, ALL) for type_ in types), (ALL, ALL)]
        return [self._figures(type_, kind, level) for type_, kind in rows]

    def _figures(self, type_: str, kind: str, level: float) -> BehaviourFigures:
        def counts(case: Case) -> bool:
            return type_ in (ALL, case.type) and kind in (ALL, case.kind)

        passed = [outcome.passed for outcome in self.outcomes if counts(outcome.case)]
        low, high = wilson_interval(sum(passed), len(passed), level=level)
        return BehaviourFigures(
            head=self.head,
            type=type_,
            kind=kind,
            n=len(passed),
            passed=sum(passed),
            skipped=sum(map(counts, self.skipped)),
            level=level,
            low=low,
            high=high,
        )


def run_suite(detector: Detector, cases: Sequence[Case] | None = None) -> BehaviourReport:
    """Run all cases of the suite, or others, on a detector.

    >>> import emoscope
    >>> report = run_suite(emoscope.load("nano"))
    >>> report.figures()[-1].n + len(report.skipped) == len(read_suite())
    True
    """
    asked = read_suite() if cases is None else cases
    applying = [case for case in asked if case.applies(detector.labels)]
    answers = detector.detect_many(dialogue for case in applying for dialogue in case.dialogues)
    outcomes = []
    for case in applying:
        own = tuple(next(answers) for _ in case.dialogues)
        outcomes.append(CaseResult(case, own, case.passes(own)))
    skipped = tuple(case for case in asked if not case.applies(detector.labels))
    return BehaviourReport(detector.name, detector.head, tuple(detector.labels), tuple(outcomes), skipped)
