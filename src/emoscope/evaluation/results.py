"""What was measured of a model, as data: the source of its card and of the documentation's tables."""

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
    """The score on a part of the data; None where the part is too small to be scored."""

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
    ece_training_prior: Share | None = None  # and before they are corrected for how rare the labels are
    per_class: dict[str, ClassFigures]
    slices: tuple[SliceFigures, ...] = ()
    seeds: tuple[int, ...] = ()
    seed_scores: tuple[Share, ...] = ()  # of several trainings, one for each seed
    notes: tuple[str, ...] = ()


class CheckFigures(FrozenModel):
    """Hand-written checks of one kind: how many there are and how many were answered as expected."""

    head: str
    kind: str
    n: int
    right: int


class BehaviourFigures(FrozenModel):
    """Cases of the behaviour suite of one type and kind, or of "all": how many were asked and how many passed.

    The interval is Wilson's, of the share that passed; `skipped` are the cases that the labels cannot express.
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
    """A measured number with its unit, such as of speed."""

    name: str
    value: float
    unit: str


class Speed(FrozenModel):
    """How fast the model is, and where that was measured."""

    machine: str
    figures: tuple[Figure, ...]


class TrainingData(FrozenModel):
    """Something the model learnt from, and under which terms."""

    name: str
    use: str
    terms: str
    items: int | None = None


class LearntFigures(FrozenModel):
    """What a model's own record says it learnt: labelled items in all, and examples of each source."""

    items: int
    sources: dict[str, int]


class Terms(FrozenModel):
    """Under which terms the weights can be used, in a few words, and why."""

    use: str
    why: str


class AboutModel(FrozenModel):
    """What is written by hand about a model; the rest of its results is measured."""

    summary: str
    terms: Terms | None = None
    intended_use: tuple[str, ...]
    limits: tuple[str, ...]
    training_data: tuple[TrainingData, ...]


class ModelResults(FrozenModel):
    """Everything a model card says."""

    format: str = FORMAT
    name: str
    version: str
    measured_with: str  # the command and machine
    about: AboutModel
    heads: tuple[HeadResults, ...]
    checks: tuple[CheckFigures, ...] = ()
    behaviour: tuple[BehaviourFigures, ...] = ()  # of the default set of labels first
    size_bytes: int | None = None  # of all its files; None for one that is not shipped
    speed: Speed | None = None
    learnt: LearntFigures | None = None


def read_results(path: str | Path) -> ModelResults:
    """A model's results, or what is wrong with the file."""
    try:
        results = ModelResults.model_validate(read_json(path))
    except ValidationError as error:
        raise InputError(path, f"does not hold a model's results ({first_problem(error)})") from None
    if results.format != FORMAT:
        raise InputError(path, f"has format {results.format!r}; this version reads {FORMAT!r}")
    return results
