"""The metadata of a task, validated; a published entry never changes silently."""

from importlib.resources import files
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from emoscope.core.frozen import FrozenModel
from emoscope.core.metrics import Metric, MetricName

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
# Joined to a folder and written to, so it must not be a path.
FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")]


class DataFile(FrozenModel):
    """A file of one split in the task's data folder."""

    name: str
    sha256: Sha256 | None = None  # None if not published; later downloads are compared with the first
    labelled: bool = True
    examples: int | None = None


class DataDownload(FrozenModel):
    """A download: a file, a `.gz` of one file, or a `.zip` whose members are selected by file name."""

    url: Annotated[str, StringConstraints(pattern=r"^https?://[^/]+/(.*/)?[^/?#]+$")]
    sha256: Sha256 | None = None  # before unpacking
    saves: tuple[FileName, ...] = Field(min_length=1)  # the files in the task's folder

    @model_validator(mode="after")
    def _one_file_unless_zip(self) -> Self:
        if len(self.saves) > 1 and not self.url.endswith(".zip"):
            raise ValueError(f"{self.url}: only a .zip can save more than one file")
        return self


class DataRevision(FrozenModel):
    """One published version of a task's data: the files of its splits, and where they come from."""

    name: Name
    note: str
    splits: dict[str, DataFile]
    downloads: tuple[DataDownload, ...] = ()


class TaskMetadata(FrozenModel):
    """The metadata of a task; the first revision whose files exist is read."""

    name: Name
    title: str
    description: str
    labels: tuple[str, ...] = Field(min_length=2)
    neutral_label: str | None  # the label for "no emotion", if there is one
    metric: Metric
    further_metrics: tuple[MetricName, ...] = ()  # that the paper reports beside the official one
    citation: str
    home: str
    terms: str
    folder: str
    revisions: tuple[DataRevision, ...] = Field(min_length=1)
    data_format: str | None = None  # a description of data files
    submission_format: str | None = None
    vote_labels: tuple[str, ...] = ()  # the order of an annotation's vote counts
    # The mix of labels in real traffic, if training data were sampled differently.
    natural_prior: dict[str, float] | None = None
    natural_prior_source: str | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(set(self.labels)) != len(self.labels):
            raise ValueError("labels repeat")
        if self.neutral_label is not None and self.neutral_label not in self.labels:
            raise ValueError(f"neutral label {self.neutral_label!r} is not a label")
        if self.natural_prior is not None:
            if set(self.natural_prior) != set(self.labels):
                raise ValueError("natural prior must name each label once")
            if abs(sum(self.natural_prior.values()) - 1) > 1e-6:
                raise ValueError("natural prior must sum to 1")
            if self.natural_prior_source is None:
                raise ValueError("natural prior needs its source")
        return self

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits, in the order of the first revision that has them."""
        return tuple(dict.fromkeys(split for revision in self.revisions for split in revision.splits))


def load_metadata(name: str) -> TaskMetadata:
    """The metadata of a shared task, from `descriptions/NAME.json`."""
    file = files("emoscope.tasks").joinpath("descriptions", f"{name}.json")
    return TaskMetadata.model_validate_json(file.read_text(encoding="utf-8"))
