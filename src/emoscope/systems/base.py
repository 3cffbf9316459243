"""The base class of systems: a named composition of blocks that learns a task."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib.resources import files
from inspect import get_annotations
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import check_installed
from emoscope.core.fit_context import FitContext
from emoscope.core.frozen import FrozenModel
from emoscope.core.word_lists import read_toml
from emoscope.detector.bundle import Bundle, Head
from emoscope.detector.detector import Detector
from emoscope.detector.model import FittedModel
from emoscope.models.block import Block
from emoscope.models.decision import choose_multipliers
from emoscope.models.label_shift import prior_vector, shift_prior
from emoscope.models.probabilities import in_order
from emoscope.systems.settings import SystemSettings
from emoscope.tasks.base import Task
from emoscope.tasks.datasets.auxiliary import source_examples

Floats = NDArray[np.float64]
NETWORK_PACKAGES = ("torch", "transformers", "safetensors")
PACKAGES = ("sklearn", *NETWORK_PACKAGES)


class SystemMetadata(FrozenModel):
    """A system's metadata."""

    name: str
    summary: str
    tasks: tuple[str, ...]
    any_task: bool = Field(False, exclude=True)  # whether it can learn tasks that are not in `tasks`
    team: str | None = None
    citation: str | None = None
    published: dict[str, float] = Field(default_factory=dict)  # task to the paper's test score
    likely_cause: str | None = None  # why our scores differ from the published ones, as far as we know
    learns_from: str = "train"  # the split it is trained on by default
    extras: tuple[str, ...] = ("train",)
    networks: bool = True  # whether it trains neural networks, which can use several devices
    substitutions: tuple[str, ...] = ()  # what the paper used that we could not, and what we use instead
    differences: tuple[str, ...] = ()  # where it differs from the paper, or the paper leaves something open


PUBLISHED = {
    name: SystemMetadata(name=name, **about)
    for name, about in read_toml("published.toml", files("emoscope.systems")).items()
}


class System(ABC):
    """A named composition of blocks; settings default to the paper's values, or to common ones if it gives none."""

    metadata: ClassVar[SystemMetadata]
    settings_class: ClassVar[type[SystemSettings]] = SystemSettings  # the annotated type of `settings`
    settings: SystemSettings

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.settings_class = get_annotations(cls, eval_str=True).get("settings", cls.settings_class)

    def __init__(self, task: Task, *, seed: int = 0, settings: Mapping[str, Any] | None = None) -> None:
        if task.form not in self.metadata.tasks and not self.metadata.any_task:
            tasks = ", ".join(self.metadata.tasks)
            raise EmoscopeError(f"{self.metadata.name} cannot learn {task.name}; it is for: {tasks}")
        self.task = task
        self.seed = seed
        self.settings = self.settings_class.of(settings or {}, self.metadata.name)
        natural = task.metadata.natural_prior  # the label mix of real traffic, if the task publishes it
        self.natural_prior = None if natural is None else prior_vector(natural, task.labels)
        self.block: Block | None = None
        self.prior: Floats | None = None  # the share of each of the task's labels in training
        self.decision: Floats | None = None  # factors on the probabilities, for choosing the label only

    @abstractmethod
    def build(self) -> Block:
        """The unfitted block, from `self.settings` and the task's labels."""

    def select(self, examples: Sequence[Example]) -> list[Example]:
        """The examples to learn from: those with one of the task's labels. A system that augments overrides this."""
        labelled = [example for example in examples if example.label in self.task.labels]
        if not labelled:
            raise EmoscopeError(f"none of the {len(examples):,} examples has one of {self.task.name}'s labels")
        return labelled

    def fit(self, examples: Sequence[Example], fit_context: FitContext | None = None) -> Self:
        """Learn from labelled examples."""
        check_installed(*(PACKAGES if self.metadata.networks else PACKAGES[:1]), extra=self.metadata.extras[0])
        return self.fit_block(self.build(), self.select(examples), fit_context or FitContext(seed=self.seed))

    def fit_block(self, block: Block, chosen: Sequence[Example], fit_context: FitContext) -> Self:
        """Fit a block, record the label shares, and choose the decision factors on held-out predictions."""
        labels = [str(example.label) for example in chosen]
        counts = np.array([max(labels.count(label), 1) for label in self.task.labels], float)
        self.prior = counts / counts.sum()
        self.block = block.fit(chosen, labels, fit_context)
        target, held_out = self.decision_prior(), block.out_of_fold()
        if target is not None and held_out is not None:
            shifted = shift_prior(in_order(held_out, block.labels, self.task.labels), self.prior, target)
            self.decision = choose_multipliers(self.task.metric, self.task.labels, labels, shifted, target)
        return self

    def decision_prior(self) -> Floats | None:
        """The label mix to choose decision factors for; None always predicts the most likely label."""
        return None

    def model(self) -> FittedModel:
        """The fitted model for a detector: the block, and the head with its prior and decision factors."""
        if self.block is None or self.prior is None:
            raise EmoscopeError(f"{self.metadata.name} has not been trained")
        metadata, names = self.task.metadata, self.task.labels
        natural = metadata.natural_prior if self.settings.shift != "none" else None
        decision = None if self.decision is None else dict(zip(names, self.decision.tolist(), strict=True))
        head = Head(
            name=self.task.name,
            labels=self.block.labels,
            trained=dict(zip(names, self.prior.tolist(), strict=True)),
            prior=natural,
            prior_source=None if natural is None else metadata.natural_prior_source,
            estimate=self.settings.shift == "estimate",
            decision=decision,
        )
        return FittedModel(Bundle(name=self.metadata.name, task=self.task.name, heads=(head,)), self.block)

    def detector(self) -> Detector:
        """The detector that `emoscope predict` uses."""
        return Detector(self.model(), for_metric=True)

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """The label of each example, chosen for the task's metric."""
        return self.detector().label_examples(examples)

    def predict_proba(self, examples: Sequence[Example]) -> Floats:
        """Probabilities of the task's labels, corrected for the class prior if `shift` is set."""
        detector = self.detector()
        return in_order(detector.predict_examples(examples), detector.labels, self.task.labels)

    def held_out_labels(self) -> list[str] | None:
        """Out-of-fold labels of the training examples; None if it has none."""
        return None

    def auxiliary(self, fit_context: FitContext) -> dict[str, list[Example]]:
        """The labelled examples it learnt from besides those of the task, by corpus."""
        names = frozenset[str]() if self.block is None else self.block.corpora()
        return {name: source_examples(name, fit_context) for name in sorted(names)}


def parse_setting(text: str) -> tuple[str, Any]:
    """Parse `name=value`; the value is JSON, else text.

    >>> parse_setting("epochs=3"), parse_setting("encoder=bert-base-uncased")
    (('epochs', 3), ('encoder', 'bert-base-uncased'))
    """
    name, mark, value = text.partition("=")
    if not mark or not name:
        raise EmoscopeError(f"--set: expected name=value, found {text!r}")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value
