"""A corpus in a folder as a task: whatever has a `corpus.json`, such as what `emoscope corpus build` makes.

The manifest names the labels, the metric, the natural mix of labels and the files of the splits, which are JSONL as
`emoscope.tables.labelled` describes.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import atomic_write, text_lines, whole_text
from emoscope.core.metrics import Counts, Floats, accuracy, macro_f1, micro_f1
from emoscope.tables.labelled import read_labelled
from emoscope.tasks.base import Submitted, Task
from emoscope.tasks.metadata import DataFile, DataRevision, FileName, Metric, Name, Sha256, TaskMetadata

MANIFEST = "corpus.json"
REVISION = "corpus"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Split(_Frozen):
    file: FileName
    sha256: Sha256 | None = None
    examples: int | None = None


class _Metric(_Frozen):
    name: Literal["micro-f1", "macro-f1", "accuracy"]
    description: str


class Manifest(_Frozen):
    """What `corpus.json` says."""

    format: Literal[1]
    name: Name
    title: str
    description: str
    labels: tuple[str, ...] = Field(min_length=2)
    neutral: str | None = None
    metric: _Metric
    form: Literal["emocontext", "emotionx-friends", "iest"] = "emotionx-friends"  # systems made for it can learn this
    terms: str
    contact: str = ""
    citation: str = ""
    natural_prior: dict[str, float] | None = None
    natural_prior_source: str | None = None
    splits: dict[str, _Split] = Field(min_length=1)
    emoscope: str | None = None  # the version that made it


class CorpusTask(Task):
    """A task that lies in a folder; the metric leaves out the neutral label if it is micro-F1."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()
        self._manifest = read_manifest(self.folder)
        self._metadata = _metadata(self._manifest, self.folder)

    @property
    def metadata(self) -> TaskMetadata:  # type: ignore[override]  # others' is the class's, this one's the folder's
        """What the manifest says, in the words of all tasks."""
        return self._metadata

    @property
    def form(self) -> str:
        """The shared task whose form it has."""
        return self._manifest.form

    @property
    def reference(self) -> str:
        """The folder."""
        return str(self.folder)

    def read(self, path: str | Path) -> Iterator[Example]:
        """Stream a JSONL file of the corpus, with or without labels."""
        for number, example in enumerate(read_labelled(path), start=1):
            if example.label is not None and example.label not in self.labels:
                raise InputError(path, self.unknown_label(example.label), row=f"example {number:,}")
            yield example

    def write_submission(
        self,
        path: str | Path,
        examples: Sequence[Example],
        labels: Sequence[str],
        author: Mapping[str, str] | None = None,  # noqa: ARG002 - this format has no place for it
    ) -> None:
        """Write a JSONL file of `id` and `label`."""
        self.check_labels(labels, examples)
        with atomic_write(path) as handle:
            for example, label in zip(examples, labels, strict=True):
                handle.write(json.dumps({"id": str(example.dialogue.id), "label": label}, ensure_ascii=False) + "\n")

    def submitted(self, path: str | Path) -> Iterator[Submitted]:
        """Stream the rows of a submission."""
        for row, line in text_lines(path):
            try:
                entry = json.loads(line)
            except (json.JSONDecodeError, RecursionError):
                raise InputError(path, "expected a JSON object with 'id' and 'label'", row=row) from None
            if not isinstance(entry, dict) or "id" not in entry:
                raise InputError(path, "expected a JSON object with 'id' and 'label'", row=row)
            label = entry.get("label")
            if label is not None and not isinstance(label, str):
                raise InputError(path, "'label' must be a string", row=row)
            yield Submitted(f"row {row}", label, (str(entry["id"]),), str(entry["id"]))

    def content(self, example: Example) -> tuple[str, ...]:
        """The id alone: a submission repeats no text."""
        return (str(example.dialogue.id),)

    def official(self, confusion: Counts, names: Sequence[str]) -> Floats:
        """The metric that the manifest names."""
        match self._manifest.metric.name:
            case "micro-f1":
                return micro_f1(
                    confusion,
                    [
                        index
                        for index, name in enumerate(names)
                        if name in self.labels and name != self._manifest.neutral
                    ],
                )
            case "macro-f1":
                return macro_f1(confusion)
            case _:
                return accuracy(confusion)

    def __reduce__(self) -> tuple[type["CorpusTask"], tuple[str]]:
        return CorpusTask, (str(self.folder),)


def is_corpus(name: str) -> bool:
    """Whether a task's name is rather the path of a folder.

    >>> is_corpus("emocontext"), is_corpus("./emocontext")
    (False, True)
    """
    return "/" in name or "\\" in name or Path(name).is_dir()


def read_manifest(folder: Path) -> Manifest:
    """What the folder says of itself."""
    path = folder / MANIFEST
    if not path.is_file():
        inner = folder / "corpus"
        hint = f"; did you mean {inner}?" if (inner / MANIFEST).is_file() else ""
        raise EmoscopeError(f"{folder}: is not a corpus ({MANIFEST} is missing){hint}")
    try:
        document: Any = json.loads(whole_text(path))
        return Manifest.model_validate(document)
    except json.JSONDecodeError as error:
        raise InputError(path, f"is not valid JSON ({error.msg})", row=error.lineno) from None
    except ValidationError as error:
        raise InputError(path, _problem(error)) from None


def _metadata(manifest: Manifest, folder: Path) -> TaskMetadata:
    from emoscope.tasks import TASKS

    if manifest.name in TASKS:
        raise InputError(folder / MANIFEST, f"the name {manifest.name!r} is that of a shared task")
    try:
        return TaskMetadata(
            name=manifest.name,
            title=manifest.title,
            description=manifest.description,
            labels=manifest.labels,
            neutral_label=manifest.neutral,
            metric=Metric(name=manifest.metric.name, description=manifest.metric.description),
            citation=manifest.citation,
            home=manifest.contact,
            terms=manifest.terms,
            folder=str(folder),
            revisions=(
                DataRevision(
                    name=REVISION,
                    note="the splits of the folder",
                    splits={
                        name: DataFile(name=split.file, sha256=split.sha256, examples=split.examples)
                        for name, split in manifest.splits.items()
                    },
                ),
            ),
            natural_prior=manifest.natural_prior,
            natural_prior_source=manifest.natural_prior_source,
        )
    except ValidationError as error:
        raise InputError(folder / MANIFEST, _problem(error)) from None


def _problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    return f"{key!r}: {first['msg']}" if key else str(first["msg"]).removeprefix("Value error, ")
