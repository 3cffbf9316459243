"""The interface of a step: settings from the plan, input and output stage, and a function that fills a folder."""

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
from emoscope.corpus.pipeline.rows import ROWS, Row, read_rows
from emoscope.corpus.progress import ShowProgress, no_progress
from emoscope.parallel import SERIAL, Executor
from emoscope.tables import RowWriter, open_writer

if TYPE_CHECKING:
    from emoscope.corpus.pipeline.plan import CorpusPlan

RANDOM_DRAW = "random"  # a row's `draw` if it was chosen at random


class Stage(StrEnum):
    """The state of the corpus; each step takes one stage and gives the same or a later one."""

    NOTHING = "nothing"
    DIALOGUES = "dialogues"
    TASKS = "tasks to label"
    LABELLED = "labelled dialogues"
    SPLITS = "splits"
    CORPUS = "a corpus"


@dataclass(slots=True)
class StepCounts:
    """Rows read, written and dropped, by reason, and anything else the step reports."""

    read: int = 0
    written: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StepContext:
    """What a step works with."""

    plan: "CorpusPlan"
    folder: Path  # to be filled
    cache: Path  # survives a kill; removed when the step is done
    earlier: Mapping[str, Path]  # folders of all earlier steps, in order, by names such as `02-windows`
    progress: ShowProgress = no_progress
    executor: Executor = SERIAL
    counts: StepCounts = field(default_factory=StepCounts)

    @property
    def input(self) -> Path:
        return list(self.earlier.values())[-1]

    def rows(self, title: str) -> Iterator[Row]:
        """Stream and count the rows of the previous step, showing progress under a title."""
        self.counts.read = 0  # a step may read the rows twice
        for row in self.progress(title, read_rows(self.input)):
            self.counts.read += 1
            yield row

    def rewrite(self, title: str, change: Callable[[Row], Row | str]) -> None:
        """Write each row as changed by a function; drop it if the function returns a reason instead."""
        with self.output() as out:
            for row in self.rows(title):
                made = change(row)
                if isinstance(made, str):
                    self.counts.dropped[made] += 1
                else:
                    out.write(made)

    @contextmanager
    def output(self) -> Iterator[RowWriter]:
        """Open the file for the step's output rows, and count them."""
        with open_writer(str(self.folder / ROWS)) as out:
            yield out
        self.counts.written = out.written


class WaitingError(EmoscopeError):
    """The build cannot continue until a person does what the message says."""


class PipelineStep(FrozenModel):
    """Base class of steps; `XStep` is `x` in a plan, and its fields are the step's settings."""

    takes: ClassVar[frozenset[Stage]]
    gives: ClassVar[Stage | None] = None  # None: the stage it takes
    version: ClassVar[int] = 1  # increase when the same input and settings give different output
    reads_all: ClassVar[bool] = False  # whether it reads all earlier steps, not only the previous one

    @property
    def name(self) -> str:
        return type(self).__name__.removesuffix("Step").lower()

    def external_files(self, plan: "CorpusPlan") -> Sequence[Path]:  # noqa: ARG002
        """The files the step reads besides earlier steps' output; it reruns when their content changes."""
        return ()

    def depends_on(self, plan: "CorpusPlan") -> Any:  # noqa: ARG002
        """Anything else the result depends on, such as a model's version, as JSON values."""
        return None

    def check(self, plan: "CorpusPlan") -> None:
        """Raise an error for problems that can be found before anything runs."""

    @abstractmethod
    def run(self, context: StepContext) -> None:
        """Fill `context.folder` and `context.counts`."""
