"""Several students as one: the mean of their weights, which costs no more to run than one of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from emoscope.errors import EmoscopeError
from emoscope.extras import check_installed
from emoscope.systems.recipe import PACKAGES

if TYPE_CHECKING:
    from emoscope.models.neural.headed import HeadedClassifier


def average_students(folders: Sequence[Path]) -> "HeadedClassifier":
    """The mean of students that began with the same encoder (Wortsman et al. 2022, "Model soups").

    Networks fine-tuned from one start mostly lie close enough together for their mean to answer as well as their
    ensemble does, or better; that it does so here is for the caller to measure.
    """
    check_installed(*PACKAGES, extra="train")
    from emoscope.models.neural.headed import HeadedClassifier

    if len(folders) < 2:
        raise EmoscopeError("an average needs at least two students")
    students = [HeadedClassifier.load(folder) for folder in folders]
    networks = [student.network for student in students]
    first, *others = [network.state_dict() for network in networks if network is not None]
    for folder, student, weights in zip(folders[1:], students[1:], others, strict=True):
        shapes = {name: value.shape for name, value in weights.items()}
        if student.heads != students[0].heads or shapes != {name: value.shape for name, value in first.items()}:
            raise EmoscopeError(f"{folder}: has other heads or another encoder than {folders[0]}")
    mean = {
        name: sum(weights[name] for weights in (first, *others)) / len(students) if value.is_floating_point() else value
        for name, value in first.items()
    }
    assert students[0].network is not None
    students[0].network.load_state_dict(mean)
    return students[0]
