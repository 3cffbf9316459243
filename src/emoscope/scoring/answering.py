"""The model's answers to a batch of dialogues, one of which may be more than it can bear."""

from collections.abc import Sequence

import numpy as np

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.detector import Detector
from emoscope.models.block import Floats, Truncated

ORDINARY = Dialogue.of(["hi", "hello"])

Problems = dict[int, str]  # by a dialogue's place in the batch, why it has no answer


def answer_batch(detector: Detector, dialogues: Sequence[Dialogue]) -> tuple[Floats, Truncated, Problems]:
    """The probabilities of each dialogue's labels, and whether it was cut; nothing to go by where there is a problem.

    A dialogue on which the model fails is found by asking it about each of the batch alone. A model that fails on an
    ordinary dialogue too is broken, for which no row is to blame: that is raised.
    """
    try:
        answers, truncated = detector.infer(dialogues)
    except Exception:  # whatever it is, it must not cost the other rows
        return _one_by_one(detector, dialogues)
    return answers, truncated, _without_numbers(answers)


def _one_by_one(detector: Detector, dialogues: Sequence[Dialogue]) -> tuple[Floats, Truncated, Problems]:
    answers = np.zeros((len(dialogues), len(detector.labels)))
    truncated = np.zeros(len(dialogues), bool)
    problems: Problems = {}
    for place, dialogue in enumerate(dialogues):
        try:
            answers[place : place + 1], truncated[place : place + 1] = detector.infer([dialogue])
        except Exception as error:
            problems[place] = f"the model fails on it ({_line(error)})"
    if len(problems) == len(dialogues):
        try:
            detector.infer([ORDINARY])
        except Exception as error:
            raise EmoscopeError(f"model {detector.name} fails on any dialogue ({_line(error)})") from None
    return answers, truncated, problems | _without_numbers(answers)


def _without_numbers(answers: Floats) -> Problems:
    if np.isfinite(answers).all():
        return {}
    places = np.flatnonzero(~np.isfinite(answers).all(1)).tolist()
    return dict.fromkeys(places, "the model's answer to it is not a number")


def _line(error: Exception) -> str:
    """An exception in one line.

    >>> _line(ValueError("too long\\nby far"))
    'ValueError: too long'
    """
    return " ".join([f"{type(error).__name__}:", *str(error).strip().splitlines()[:1]]).rstrip(" :")
