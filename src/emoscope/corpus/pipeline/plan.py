"""The plan of a corpus: a TOML file that describes it and lists the steps that build it."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints, ValidationError, model_validator

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import whole_text
from emoscope.core.frozen import FrozenModel
from emoscope.core.metrics import MetricName
from emoscope.core.registry import Registry
from emoscope.corpus.pipeline.step import PipelineStep, Stage

# Step `x` is the class `XStep` in `x.py`; to add one, write that file and list it here.
STEPS: Registry[type[PipelineStep]] = Registry("step")
for _name in (
    *("collect", "windows", "sample", "dedupe", "filter", "mine", "distant"),
    *("annotate", "aggregate", "augment", "split", "datasheet"),
):
    STEPS.add(_name, f"emoscope.corpus.pipeline.{_name}:{_name.title()}Step")

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Label = Annotated[str, StringConstraints(pattern=r"^[^\s,;][^,;\t\r\n]*$")]


class CorpusInfo(FrozenModel):
    """What a plan says about the corpus itself."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
    title: Text
    description: Text
    labels: tuple[Label, ...] = Field(min_length=2)
    neutral: str | None = None  # the "no emotion" label, if any
    metric: MetricName = "micro-f1"  # micro-F1 excludes the neutral label
    terms: Text
    contact: str = ""
    citation: str = ""
    seed: int = Field(default=1, ge=0)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(set(self.labels)) != len(self.labels):
            raise ValueError("labels repeat")
        if self.neutral is not None and self.neutral not in self.labels:
            raise ValueError(f"neutral label {self.neutral!r} is not one of the labels")
        return self


@dataclass(frozen=True, slots=True)
class CorpusPlan:
    """A validated plan; its paths are relative to the folder it is in."""

    info: CorpusInfo
    steps: tuple[PipelineStep, ...]
    path: Path
    text: str

    @property
    def step_names(self) -> tuple[str, ...]:
        """The names of the step folders, numbered so that they list in order."""
        return tuple(f"{number:02}-{step.name}" for number, step in enumerate(self.steps, start=1))

    def files(self, patterns: Sequence[str]) -> list[Path]:
        """The existing files that match paths or patterns (`logs/*.txt`), without repeats, sorted within a pattern."""
        files: dict[Path, None] = {}
        for pattern in patterns:
            matching = sorted(self.path.parent.glob(pattern)) if not Path(pattern).is_absolute() else [Path(pattern)]
            files.update(dict.fromkeys(path for path in matching if path.exists()))
        return list(files)

    def shown(self, path: Path) -> str:
        """A file's path relative to the plan, which does not change if both are moved."""
        try:
            return path.resolve().relative_to(self.path.resolve().parent).as_posix()
        except ValueError:
            return path.name


def load_plan(path: str | Path) -> CorpusPlan:
    """Read and validate a plan."""
    source = Path(path)
    text = whole_text(source)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(source, f"is not valid TOML: {error}") from None
    entries = document.pop("steps", None)
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(source, 'names no steps: expected [[steps]] with use = "collect", and so on')
    try:
        info = CorpusInfo.model_validate(document)
    except ValidationError as error:
        raise InputError(source, _problem(error, list(CorpusInfo.model_fields))) from None
    steps = tuple(_step(source, number, entry) for number, entry in enumerate(entries, start=1))
    plan = CorpusPlan(info, steps, source, text)
    stage = Stage.NOTHING
    for number, step in enumerate(steps, start=1):
        try:
            if stage not in step.takes:
                expected = " or ".join(sorted(step.takes))
                raise EmoscopeError(f"takes {expected}, but the steps before it give {stage}")
            step.check(plan)
        except InputError:
            raise
        except EmoscopeError as error:
            raise InputError(source, str(error), row=f"step {number} ({step.name})") from None
        stage = step.gives or stage
    return plan


def _step(path: Path, number: int, entry: dict[str, Any]) -> PipelineStep:
    settings = dict(entry)
    name = settings.pop("use", None)
    if not isinstance(name, str):
        raise InputError(path, f"has no 'use'; there are: {', '.join(STEPS)}", row=f"step {number}")
    try:
        kind = STEPS[name]
    except EmoscopeError as error:
        raise InputError(path, str(error), row=f"step {number}") from None
    try:
        return kind.model_validate(settings)
    except ValidationError as error:
        raise InputError(path, _problem(error, list(kind.model_fields)), row=f"step {number} ({name})") from None


def _problem(error: ValidationError, known: Sequence[str]) -> str:
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        close = get_close_matches(key, known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(known) or 'none'}"
        return f"unknown key {key!r}; {hint}"
    if first["type"] == "missing":
        return f"{key!r} is missing"
    message = str(first["msg"]).removeprefix("Value error, ")
    return f"{key!r}: {message[0].lower()}{message[1:]}" if key else message
