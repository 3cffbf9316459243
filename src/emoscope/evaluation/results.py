"""Measured results of a model, the source of its card and of tables in the documentation."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from emoscope.core.errors import InputError
from emoscope.core.files import read_json
from emoscope.core.frozen import FrozenModel, first_problem
from emoscope.core.significance import Interval

FORMAT = "emoscope-model-results-1"
Share = Annotated[float, Field(ge=0, le=1)]


class ClassFigures(FrozenModel):
    """Precision, recall and F1 of one label, and how many gold items have it."""

    precision: Share
    recall: Share
    f1: Share
    support: int


class SliceFigures(FrozenModel):
    """The score on a part of the data; None if the part is too small."""

    name: str
    n: int
    score: Share | None = None
    interval: Interval | None = None


class HeadResults(FrozenModel):
    """One set of labels on one set of data."""

    head: str
    labels: tuple[str, ...]
    data: str
    split: str
    n: int
    metric: str
    score: Share
    interval: Interval
    accuracy: Share
    macro_f1: Share
    ece: Share  # expected calibration error of the answers
    ece_training_prior: Share | None = None  # the same before the correction of the class prior
    per_class: dict[str, ClassFigures]
    slices: tuple[SliceFigures, ...] = ()
    seeds: tuple[int, ...] = ()
    seed_scores: tuple[Share, ...] = ()  # one for each seed
    notes: tuple[str, ...] = ()


class CheckFigures(FrozenModel):
    """Hand-written checks of one kind: how many there are and how many were answered as expected."""

    head: str
    kind: str
    n: int
    right: int


class BehaviourFigures(FrozenModel):
    """Cases of one type and kind of the behaviour suite, or "all": how many were run and how many passed.

    The interval is Wilson's, for the share that passed; `skipped` cases cannot be expressed with the labels.
    """

    head: str
    type: str
    kind: str
    n: int
    passed: int
    skipped: int
    level: Share
    low: Share
    high: Share


class Figure(FrozenModel):
    """A measured number and its unit."""

    name: str
    value: float
    unit: str


class Speed(FrozenModel):
    """How fast the model is, and where that was measured."""

    machine: str
    figures: tuple[Figure, ...]


class TrainingData(FrozenModel):
    """A data set the model learnt from, and its terms."""

    name: str
    use: str
    terms: str
    items: int | None = None


class LearntFigures(FrozenModel):
    """What a model learnt by its own record: the number of labelled items, and of examples from each source."""

    items: int
    sources: dict[str, int]


class Terms(FrozenModel):
    """The terms of use of the weights, in a few words, and the reason."""

    use: str
    why: str


class AboutModel(FrozenModel):
    """The hand-written part of a model's results; the rest is measured."""

    summary: str
    terms: Terms | None = None
    intended_use: tuple[str, ...]
    limits: tuple[str, ...]
    training_data: tuple[TrainingData, ...]


class ModelResults(FrozenModel):
    """Everything in a model card."""

    format: str = FORMAT
    name: str
    version: str
    measured_with: str  # the command and machine
    about: AboutModel
    heads: tuple[HeadResults, ...]
    checks: tuple[CheckFigures, ...] = ()
    behaviour: tuple[BehaviourFigures, ...] = ()  # the default label set first
    size_bytes: int | None = None  # of all its files; None if it is not shipped
    speed: Speed | None = None
    learnt: LearntFigures | None = None


def read_results(path: str | Path) -> ModelResults:
    """Read a model's results."""
    try:
        results = ModelResults.model_validate(read_json(path))
    except ValidationError as error:
        raise InputError(path, f"has no model results ({first_problem(error)})") from None
    if results.format != FORMAT:
        raise InputError(path, f"has format {results.format!r}; this version reads {FORMAT!r}")
    return results
