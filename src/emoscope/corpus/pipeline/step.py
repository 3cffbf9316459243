"""What a step is: settings from the plan, a stage it takes and one it gives, and a function that fills a folder."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from emoscope.core.errors import EmoscopeError
from emoscope.core.frozen import FrozenModel
from emoscope.corpus.pipeline.rows import Row, RowsFile, read_rows
from emoscope.corpus.progress import ShowProgress, no_progress
from emoscope.parallel import SERIAL, Executor

if TYPE_CHECKING:
    from emoscope.corpus.pipeline.plan import CorpusPlan

RANDOM_DRAW = "random"  # a row's `draw` unless something other than chance chose it


class Stage(StrEnum):
    """How far the corpus has come; each step takes one stage and gives the same or a later one."""

    NOTHING = "nothing"
    DIALOGUES = "dialogues"
    TASKS = "tasks to label"
    LABELLED = "labelled dialogues"
    SPLITS = "splits"
    CORPUS = "a corpus"


@dataclass(slots=True)
class StepCounts:
    """Rows read, rows written, rows dropped by reason, and whatever else the step reports."""

    read: int = 0
    written: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StepContext:
    """What a step works with."""

    plan: "CorpusPlan"
    folder: Path  # to be filled
    cache: Path  # survives a kill, and is removed when the step is done
    earlier: Mapping[str, Path]  # the folders of all steps before, in order, by names such as `02-windows`
    progress: ShowProgress = no_progress
    executor: Executor = SERIAL
    counts: StepCounts = field(default_factory=StepCounts)

    @property
    def input(self) -> Path:
        return list(self.earlier.values())[-1]

    def rows(self, title: str) -> Iterator[Row]:
        """The rows of the step before, counted, with progress shown under a title."""
        self.counts.read = 0  # a step may read them twice
        for row in self.progress(title, read_rows(self.input)):
            self.counts.read += 1
            yield row

    def rewrite(self, title: str, change: Callable[[Row], Row | str]) -> None:
        """Write what a function makes of each row; where it gives a reason instead, the row is dropped."""
        with self.output() as out:
            for row in self.rows(title):
                made = change(row)
                if isinstance(made, str):
                    self.counts.dropped[made] += 1
                else:
                    out.write(made)

    @contextmanager
    def output(self) -> Iterator[RowsFile]:
        """The file for the step's own rows, which are counted."""
        with RowsFile(self.folder) as out:
            yield out
        self.counts.written = out.written


class WaitingError(EmoscopeError):
    """The build cannot go on until a person has done something; the message says what."""


class PipelineStep(FrozenModel):
    """A kind of step, `XStep` being `x` in a plan; its fields are what a plan may set."""

    takes: ClassVar[frozenset[Stage]]
    gives: ClassVar[Stage | None] = None  # None: what it takes
    version: ClassVar[int] = 1  # raise it when the same input and settings give another output
    reads_all: ClassVar[bool] = False  # whether it looks at all earlier steps, not only at the last

    @property
    def name(self) -> str:
        return type(self).__name__.removesuffix("Step").lower()

    def external_files(self, plan: "CorpusPlan") -> Sequence[Path]:  # noqa: ARG002
        """The files the step reads besides earlier steps' output; it runs again when their content changes."""
        return ()

    def depends_on(self, plan: "CorpusPlan") -> Any:  # noqa: ARG002
        """Whatever else decides the result, such as a model's version, as plain values for JSON."""
        return None

    def check(self, plan: "CorpusPlan") -> None:
        """Raise an error for what is known to be wrong before anything runs."""

    @abstractmethod
    def run(self, context: StepContext) -> None:
        """Fill `context.folder` and `context.counts`."""
