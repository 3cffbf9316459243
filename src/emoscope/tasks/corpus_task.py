"""A corpus in a folder as a task: any folder with a `corpus.json`, such as `emoscope corpus build` writes.

The manifest names the labels, the metric, the natural mix of labels and the files of the splits, which are JSONL (see
`emoscope.tables.labelled`).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import read_json, text_lines
from emoscope.core.frozen import FrozenModel, first_problem
from emoscope.core.metrics import MetricName, standard_metric
from emoscope.tables.labelled import read_labelled
from emoscope.tasks.base import Submitted, Task
from emoscope.tasks.metadata import DataFile, DataRevision, FileName, Name, Sha256, TaskMetadata

MANIFEST = "corpus.json"
FORMAT = 1
REVISION = "corpus"
_AS_THEY_ARE = {"name", "title", "description", "labels", "citation", "terms", "natural_prior", "natural_prior_source"}


class _Split(FrozenModel):
    file: FileName
    sha256: Sha256 | None = None
    examples: int | None = None


class _NamedMetric(FrozenModel):
    name: MetricName
    description: str


class CorpusManifest(FrozenModel):
    """The content of `corpus.json`."""

    format: Literal[1]
    name: Name
    title: str
    description: str
    labels: tuple[str, ...] = Field(min_length=2)
    neutral: str | None = None
    metric: _NamedMetric
    form: Literal["emocontext", "emotionx-friends", "iest"] = "emotionx-friends"  # whose systems can learn it
    terms: str
    contact: str = ""
    citation: str = ""
    natural_prior: dict[str, float] | None = None
    natural_prior_source: str | None = None
    splits: dict[str, _Split] = Field(min_length=1)
    emoscope: str | None = None  # the version that made it


class CorpusTask(Task):
    """The task of labelling a corpus in a folder."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = corpus_folder(Path(folder).absolute())
        manifest = read_manifest(self.folder)
        self.metadata = _metadata(manifest, self.folder)
        self._form = manifest.form

    @property
    def form(self) -> str:
        return self._form

    @property
    def reference(self) -> str:
        return str(self.folder)

    def read(self, path: str | Path) -> Iterator[Example]:
        for number, example in enumerate(read_labelled(path), start=1):
            self.check_label(example.label, path, f"example {number:,}")
            yield example

    def submission(self, answers: Sequence[tuple[Example, str]], _author: Mapping[str, str]) -> Iterator[str]:
        for example, label in answers:
            yield json.dumps({"id": str(example.dialogue.id), "label": label}, ensure_ascii=False) + "\n"

    def submitted(self, path: str | Path) -> Iterator[Submitted]:
        for row, line in text_lines(path):
            try:
                entry = json.loads(line)
            except (json.JSONDecodeError, RecursionError):
                entry = None
            if not isinstance(entry, dict) or "id" not in entry:
                raise InputError(path, "expected a JSON object with 'id' and 'label'", row=row)
            label = entry.get("label")
            if label is not None and not isinstance(label, str):
                raise InputError(path, "'label' must be a string", row=row)
            yield Submitted(f"row {row}", label, (str(entry["id"]),), str(entry["id"]))

    def content(self, example: Example) -> tuple[str, ...]:
        """The id: submissions do not repeat the text."""
        return (str(example.dialogue.id),)


def is_corpus(name: str) -> bool:
    """Whether the name of a task is the path of a corpus.

    >>> is_corpus("emocontext"), is_corpus("./emocontext")
    (False, True)
    """
    return "/" in name or "\\" in name or Path(name).is_dir()


def corpus_folder(folder: Path) -> Path:
    """The folder of the corpus, which may be inside the folder of its build.

    >>> corpus_folder(Path("anything")).as_posix()
    'anything'
    """
    inner = folder / "corpus"
    return inner if not (folder / MANIFEST).is_file() and (inner / MANIFEST).is_file() else folder


def read_manifest(folder: Path) -> CorpusManifest:
    """The manifest of a corpus."""
    path = folder / MANIFEST
    if not path.is_file():
        raise EmoscopeError(f"{folder}: is not a corpus ({MANIFEST} is missing)")
    try:
        return CorpusManifest.model_validate(read_json(path))
    except ValidationError as error:
        raise InputError(path, first_problem(error)) from None


def _metadata(manifest: CorpusManifest, folder: Path) -> TaskMetadata:
    from emoscope.tasks import TASKS

    if manifest.name in TASKS:
        raise InputError(folder / MANIFEST, f"the name {manifest.name!r} is that of a shared task")
    try:
        return TaskMetadata(
            **manifest.model_dump(include=_AS_THEY_ARE),
            neutral_label=manifest.neutral,
            metric=replace(
                standard_metric(manifest.metric.name, manifest.labels, manifest.neutral),
                description=manifest.metric.description,
            ),
            home=manifest.contact,
            folder=str(folder),
            data_format="a JSONL file of the corpus, with or without labels.",
            submission_format="a JSONL file of `id` and `label`.",
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
        )
    except ValidationError as error:
        raise InputError(folder / MANIFEST, first_problem(error)) from None
