"""The behaviour suite: dialogues that test how a model handles certain kinds of wording, in the manner of CheckList.

It is for measuring only: no model may learn from it. Code that creates training data uses `near_copies` to leave out
dialogues that come too close.

Ribeiro et al. (2020): Beyond Accuracy: Behavioral Testing of NLP Models with CheckList. ACL.
"""

from emoscope.evaluation.behaviour.cases import (
    EMOTIONS,
    Case,
    Direction,
    Functionality,
    Invariance,
    labels_for,
    probability_of,
)
from emoscope.evaluation.behaviour.near_copies import NearCopy, near_copies
from emoscope.evaluation.behaviour.run import BehaviourReport, CaseResult, run_suite
from emoscope.evaluation.behaviour.suite import read_suite

__all__ = [
    "EMOTIONS",
    "BehaviourReport",
    "Case",
    "CaseResult",
    "Direction",
    "Functionality",
    "Invariance",
    "NearCopy",
    "labels_for",
    "near_copies",
    "probability_of",
    "read_suite",
    "run_suite",
]
