"""The behaviour suite: dialogues that test how a model handles certain kinds of wording, in the manner of CheckList.

It is for measuring only: no model may learn from it. Code that creates training data uses `near_copies` to leave out
dialogues that come too close.

Ribeiro et al. (2020): Beyond Accuracy: Behavioral Testing of NLP Models with CheckList. ACL.
"""

from emoscope.evaluation.behaviour.near_copies import near_copies
from emoscope.evaluation.behaviour.run import run_suite
from emoscope.evaluation.behaviour.suite import read_suite

__all__ = ["near_copies", "read_suite", "run_suite"]
