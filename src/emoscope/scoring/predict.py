"""A detector's answers to many dialogues; one it fails on does not affect the others."""

from collections.abc import Sequence

import numpy as np

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError, first_line
from emoscope.detector import Detector
from emoscope.detector.detector import Answers
from emoscope.models.block import Floats

ORDINARY = Dialogue.of(["hi", "hello"])

Problems = dict[int, str]  # why a dialogue has no answer, by its position


def predict(detector: Detector, dialogues: Sequence[Dialogue], batch_size: int) -> tuple[Answers, Problems]:
    """The answers in the order of the dialogues.

    The model gets each distinct dialogue once, in batches of similar length.
    """
    numbers: dict[tuple[tuple[str, str | None], ...], int] = {}
    unique: list[Dialogue] = []
    number_of = []
    for dialogue in dialogues:
        # Plain tuples are hashed much faster than dialogues.
        number = numbers.setdefault(tuple([(turn.text, turn.speaker) for turn in dialogue.turns]), len(unique))
        if number == len(unique):
            unique.append(dialogue)
        number_of.append(number)
    order = sorted(range(len(unique)), key=lambda number: sum(len(turn.text) for turn in unique[number].turns))
    collected = Answers(
        np.empty((len(unique), len(detector.labels))), np.empty(len(unique), bool), [None] * len(unique)
    )
    problems: Problems = {}
    for begin in range(0, len(order), batch_size):
        batch = order[begin : begin + batch_size]
        batch_dialogues = [unique[number] for number in batch]
        answers, failed = predict_batch(detector, batch_dialogues)
        _fill(collected, batch, answers)
        problems |= {batch[place]: problem for place, problem in failed.items()}
    by_place = {place: problems[number] for place, number in enumerate(number_of) if number in problems}
    return chosen_answers(collected, number_of), by_place


def chosen_answers(answers: Answers, places: Sequence[int]) -> Answers:
    """The answers at these positions, in this order."""
    rows = np.array(places, int)
    notes = [answers.notes[place] for place in places]
    return Answers(answers.probabilities[rows], answers.truncated[rows], notes)


def predict_batch(detector: Detector, dialogues: Sequence[Dialogue]) -> tuple[Answers, Problems]:
    """The answers to a batch, and the problems; the answer to a dialogue with a problem is meaningless.

    If the model fails on a batch, each dialogue is predicted alone. If it fails on an ordinary dialogue too, the model
    is broken, which is an error.
    """
    try:
        answers = detector.infer(dialogues)
    except Exception:  # must not affect the other rows
        return _one_by_one(detector, dialogues)
    return answers, _not_finite(answers.probabilities)


def _fill(collected: Answers, places: Sequence[int], answers: Answers) -> None:
    rows = list(places)
    collected.probabilities[rows], collected.truncated[rows] = answers.probabilities, answers.truncated
    for place, note in zip(places, answers.notes, strict=True):
        collected.notes[place] = note


def _one_by_one(detector: Detector, dialogues: Sequence[Dialogue]) -> tuple[Answers, Problems]:
    collected = Answers(
        np.zeros((len(dialogues), len(detector.labels))), np.zeros(len(dialogues), bool), [None] * len(dialogues)
    )
    problems: Problems = {}
    for place, dialogue in enumerate(dialogues):
        try:
            _fill(collected, [place], detector.infer([dialogue]))
        except Exception as error:
            problems[place] = f"the model fails on it ({_one_line(error)})"
    if len(problems) == len(dialogues):
        try:
            detector.infer([ORDINARY])
        except Exception as error:
            raise EmoscopeError(f"model {detector.name} fails on any dialogue ({_one_line(error)})") from None
    return collected, problems | _not_finite(collected.probabilities)


def _not_finite(probabilities: Floats) -> Problems:
    places = np.flatnonzero(~np.isfinite(probabilities).all(1)).tolist()
    return dict.fromkeys(places, "the model's answer to it is not a number")


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {first_line(error)}" if str(error).strip() else type(error).__name__
