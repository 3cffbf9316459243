"""What a step is: settings that a plan gives, what it takes and gives, and a function from folder to folder."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict

from emoscope.core.errors import EmoscopeError
from emoscope.core.registry import Registry
from emoscope.parallel import SERIAL, Executor

if TYPE_CHECKING:
    from emoscope.corpus.filters.offensive import OffensiveScorer
    from emoscope.corpus.mining.embedder import Embedder
    from emoscope.corpus.pipeline.plan import Plan

T = TypeVar("T")
RANDOM_DRAW = "random"  # a row's `draw` if it was chosen by nothing but chance, as all are until something else chooses


class Stage(StrEnum):
    """How far the work has come; each step takes one and gives the same or the next."""

    NOTHING = "nothing"
    DIALOGUES = "dialogues"
    TASKS = "tasks to label"
    LABELLED = "labelled dialogues"
    SPLITS = "splits"
    CORPUS = "a corpus"


@dataclass(slots=True)
class Counts:
    """What went into a step, what came out, what was dropped and why, and whatever else the step found out."""

    read: int = 0
    written: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    more: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"in": self.read, "out": self.written, "dropped": dict(sorted(self.dropped.items())), **self.more}


def _unwatched(_: str, items: Iterable[Any]) -> Iterator[Any]:
    return iter(items)


def _ngrams_only(name: str) -> "Embedder":
    from emoscope.corpus.mining.ngrams import NgramEmbedder

    if name != "ngrams":
        raise EmoscopeError(f"no encoder named {name!r}; there is: ngrams")
    return NgramEmbedder()


def _no_scorer() -> "tuple[OffensiveScorer, float]":
    raise EmoscopeError("nothing is at hand that tells offensive texts; set offensive = false")


@dataclass(frozen=True, slots=True)
class Tools:
    """What only layers above can give: models, someone to show progress to, and processes to share the work out to.

    `offensive` gives what scores texts, and the score from which it takes them for offensive.
    """

    watch: Callable[[str, Iterable[Any]], Iterator[Any]] = _unwatched
    embedder: Callable[[str], "Embedder"] = _ngrams_only
    offensive: Callable[[], "tuple[OffensiveScorer, float]"] = _no_scorer
    spread: Executor = SERIAL


@dataclass(frozen=True, slots=True)
class Work:
    """What a step is given: the plan, the folder the step before has left, its own folder to fill, and tools.

    `done` are the folders of all steps before, in their order, by names such as `02-windows`. What lies in `cache` is
    still there when the step is run again after a kill, and goes when it is done.
    """

    plan: "Plan"
    folder: Path
    cache: Path
    done: Mapping[str, Path]
    tools: Tools = Tools()

    @property
    def before(self) -> Path:
        """The folder of the step before."""
        return list(self.done.values())[-1]

    def watch(self, title: str, items: Iterable[T]) -> Iterator[T]:
        """The items, shown as they pass."""
        return self.tools.watch(title, items)


class WaitingError(EmoscopeError):
    """The chain cannot go on before a person has done something; the message says what."""


class Step(BaseModel):
    """One kind of step. Its fields are what a plan may set; a plan's unknown keys are mistakes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    takes: ClassVar[frozenset[Stage]]
    gives: ClassVar[Stage | None] = None  # None: what it takes
    version: ClassVar[int] = 1  # to be raised when the same input and settings give another output
    reads_all: ClassVar[bool] = False  # whether it looks at all steps before, not only at the last

    def outside(self, plan: "Plan") -> Sequence[Path]:  # noqa: ARG002
        """The files from outside the chain that the step reads; it runs again when their content changes."""
        return ()

    def depends(self, plan: "Plan", tools: Tools) -> Any:  # noqa: ARG002
        """What else decides the result, as plain values for JSON: the version of a model or of an engine."""
        return None

    def check(self, plan: "Plan") -> None:
        """Raise what can be known to be wrong before anything is run."""

    @abstractmethod
    def run(self, work: Work) -> Counts:
        """Fill `work.folder`."""


STEPS: Registry[type[Step]] = Registry("step")
for _name, _target in {
    "collect": "gather:Collect",
    "windows": "gather:Windows",
    "sample": "gather:Sample",
    "dedupe": "gather:Dedupe",
    "filter": "sift:Filter",
    "mine": "enrich:Mine",
    "distant": "label:Distant",
    "annotate": "label:Annotate",
    "aggregate": "label:Aggregate",
    "augment": "enrich:Augment",
    "split": "finish:Split",
    "datasheet": "finish:Datasheet",
}.items():
    STEPS.add(_name, f"emoscope.corpus.pipeline.{_target}")
