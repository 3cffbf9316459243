"""A system: a named recipe that learns a task. Metadata first, then the shortest composition of blocks."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.tasks.base import Task


class SystemMetadata(BaseModel):
    """A system as data."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    summary: str
    tasks: tuple[str, ...]
    team: str | None = None
    citation: str | None = None
    published: dict[str, float] = {}  # task to the paper's test score
    learns_from: str = "train"  # the split it is trained on unless told otherwise
    extras: tuple[str, ...] = ("train",)
    networks: bool = True  # whether it trains neural networks, which several devices can do together
    substitutions: tuple[str, ...] = ()  # what the paper used that we could not


class System(ABC):
    """What every system can do. Probabilities come with columns in the order of the task's labels."""

    metadata: ClassVar[SystemMetadata]
    has_settings: ClassVar[bool] = False

    def __init__(self, task: Task, *, seed: int = 0, settings: Mapping[str, Any] | None = None) -> None:
        if task.form not in self.metadata.tasks:
            made_for = ", ".join(self.metadata.tasks)
            raise EmoscopeError(f"{self.metadata.name} was not made for {task.name}; it was made for: {made_for}")
        if settings and not self.has_settings:
            raise EmoscopeError(f"{self.metadata.name} has no settings")
        self.task = task
        self.seed = seed

    @abstractmethod
    def fit(self, examples: Sequence[Example], fitting: FitContext | None = None) -> Self:
        """Learn from labelled examples."""

    @abstractmethod
    def predict_proba(self, examples: Sequence[Example]) -> NDArray[np.float64]:
        """The probability of each of the task's labels."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write everything `load` needs, without pickle."""

    @classmethod
    @abstractmethod
    def load(cls, folder: Path, task: Task) -> Self:
        """Read what `save` wrote."""

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """The most likely label of each example."""
        return [self.task.labels[best] for best in self.predict_proba(examples).argmax(1)]

    def held_out_labels(self) -> list[str] | None:
        """Its answers for what it was fitted on, each by parts that had not seen it; None if it keeps none."""
        return None

    def learnable(self, examples: Sequence[Example]) -> list[Example]:
        """The examples whose label is one the task asks for; the rest cannot be learnt from."""
        kept = [example for example in examples if example.label in self.task.labels]
        if not kept:
            raise EmoscopeError(f"none of the {len(examples):,} examples has one of {self.task.name}'s labels")
        return kept
