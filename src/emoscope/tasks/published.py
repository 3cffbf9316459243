"""The published results of the shared tasks, with their sources.

The figures are in `results/TASK.json` as the papers print them; misprints are kept and noted. Scores are fractions, and
null if they were not published.
"""

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, NamedTuple, Self

from pydantic import Field, model_validator

from emoscope.core.errors import EmoscopeError
from emoscope.core.frozen import FrozenModel
from emoscope.tasks import get_task

Fraction = Annotated[float, Field(ge=0, le=1)]


class FigureSource(FrozenModel):
    """The source of figures, and the data they are for."""

    paper: str
    table: str
    split: str


class PublishedClassScores(NamedTuple):
    """Precision, recall and F1 of one class."""

    precision: Fraction
    recall: Fraction
    f1: Fraction


class PublishedEntry(FrozenModel):
    """One row of a results table.

    `rank` is the official one, which baselines and teams without a system description do not have.
    """

    name: str
    score: Fraction | None
    rank: int | None
    id: int | None = None  # the table's own row number, which `first_different` refers to
    first_different: int | None = None  # column B of the IEST paper
    baseline: bool = False
    per_class: Mapping[str, PublishedClassScores] = Field(default_factory=dict)
    printed: str | None = None  # the paper's spelling, if it differs from the name
    source: FigureSource | None = None  # if it is not the table's
    note: str | None = None


class ScoreDistribution(FrozenModel):
    """The scores of all participants, including those the table leaves out."""

    source: FigureSource
    maximum: Fraction
    minimum: Fraction
    mean: Fraction
    median: Fraction
    first_quartile: Fraction
    third_quartile: Fraction
    standard_deviation: Fraction


class PublishedConfusion(FrozenModel):
    """A confusion matrix: gold labels in rows, predicted ones in columns, both in the order of `labels`."""

    name: str
    source: FigureSource
    labels: tuple[str, ...]
    counts: tuple[tuple[Annotated[int, Field(ge=0)], ...], ...]
    note: str | None = None

    @model_validator(mode="after")
    def _square(self) -> Self:
        size = len(self.labels)
        if len(self.counts) != size or any(len(row) != size for row in self.counts):
            raise ValueError(f"confusion matrix {self.name!r} is not {size} by {size}")
        return self


class Published(FrozenModel):
    """The official results of a task, best first.

    `size` is the number of systems in the results table, including those whose score or name we do not know; the first
    entry is the best of all.
    """

    task: str
    metric: str
    decimals: int  # precision of the published scores
    split: str  # our name of the split
    split_name: str  # the paper's name of the split
    revisions: tuple[str, ...]  # the data revisions that have this split
    source: FigureSource
    note: str
    size: int
    entries: tuple[PublishedEntry, ...] = Field(min_length=1)
    class_source: FigureSource | None = None
    statistics: ScoreDistribution | None = None
    confusions: tuple[PublishedConfusion, ...] = ()
    elsewhere: str | None = None  # what scores on other data can be compared with

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [entry.name for entry in self.entries]
        scores = [entry.score for entry in self.entries if entry.score is not None]
        ranks = [entry.rank for entry in self.entries if entry.rank is not None]
        sourced = self.class_source is not None or not any(entry.per_class for entry in self.entries)
        for holds, problem in (
            (len(set(names)) == len(names), "names repeat"),
            (self.entries[0].score is not None, "the best score must be known"),
            (scores == sorted(scores, reverse=True), "entries must be sorted by score, best first"),
            (all(round(s, self.decimals) == s for s in scores), f"a score has more than {self.decimals} decimals"),
            (ranks == list(range(1, len(ranks) + 1)), "official ranks must count up from 1"),
            (len(names) <= self.size, f"{len(names)} entries, but size is {self.size}"),
            (sourced, "figures per class need their source"),
        ):
            if not holds:
                raise ValueError(problem)
        return self

    @property
    def scored(self) -> tuple[PublishedEntry, ...]:
        """The entries whose score is known."""
        return tuple(entry for entry in self.entries if entry.score is not None)

    @property
    def unknown(self) -> int:
        """The number of systems in the results table whose score we do not know."""
        return self.size - len(self.scored)

    def confusion(self, name: str) -> PublishedConfusion:
        """The confusion matrix of a system.

        >>> published("iest").confusion("Amobee").source.table
        'Table 4'
        """
        for confusion in self.confusions:
            if confusion.name == name:
                return confusion
        raise EmoscopeError(f"{self.task}: no published confusion matrix of {name!r}")


@lru_cache
def published(task_name: str) -> Published:
    """The published results of a task.

    >>> published("iest").entries[0].name
    'Amobee'
    """
    name = get_task(task_name).name
    file = files("emoscope.tasks").joinpath("results", f"{name}.json")
    if not file.is_file():
        raise EmoscopeError(f"{name}: no published results are known")
    return Published.model_validate_json(file.read_text(encoding="utf-8"))
