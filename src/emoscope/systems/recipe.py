"""A system that is a composition of blocks: its metadata, its settings with the paper's values, and `build`."""

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import check_installed
from emoscope.core.files import atomic_write, whole_text
from emoscope.core.fit_context import FitContext
from emoscope.detector.blocks import FOLDER as BLOCK
from emoscope.detector.bundle import Bundle, Head
from emoscope.models.block import Block, load_block
from emoscope.models.label_shift import estimate_prior, prior_vector, shift_prior
from emoscope.systems.base import System
from emoscope.systems.settings import SystemSettings
from emoscope.tasks.base import Task

FILE = "system.json"
PACKAGES = ("sklearn", "torch", "transformers", "safetensors")


class Recipe(System):
    """A named composition of blocks.

    The settings' defaults are the paper's values.
    """

    has_settings: ClassVar[bool] = True
    settings_class: ClassVar[type[SystemSettings]] = SystemSettings
    settings: SystemSettings

    def __init__(self, task: Task, *, seed: int = 0, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(task, seed=seed, settings=settings)
        self.settings = self.settings_class.of(settings or {}, self.metadata.name)
        self.block: Block | None = None
        self.prior: NDArray[np.float64] | None = None
        self.decision: NDArray[np.float64] | None = None  # what probabilities are multiplied with to choose the label

    @abstractmethod
    def build(self) -> Block:
        """The unfitted composition, made from `self.settings` and the task's labels."""

    def select(self, examples: Sequence[Example]) -> list[Example]:
        """What to learn from: by default every example with one of the task's labels; augmentation goes here too."""
        return self.learnable(examples)

    def fit(self, examples: Sequence[Example], fitting: FitContext | None = None) -> Self:
        """Learn from labelled examples."""
        check_installed(*PACKAGES, extra="train")
        return self.fit_block(self.build(), self.select(examples), fitting or FitContext(seed=self.seed))

    def fit_block(self, block: Block, chosen: Sequence[Example], fitting: FitContext) -> Self:
        """Fit a composition on examples, and remember how often each label occurred among them."""
        labels = [str(example.label) for example in chosen]
        self.prior = np.array([max(labels.count(label), 1) for label in self.task.labels], float)
        self.prior /= self.prior.sum()
        self.block = block
        self.block.fit(chosen, labels, fitting)
        return self

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """The most likely label of each example, or where the metric asks for another decision, that one."""
        return self.decided(self.predict_proba(examples))

    def decided(self, answers: NDArray[np.float64]) -> list[str]:
        """The labels to answer with, given their probabilities."""
        chosen = answers if self.decision is None else answers * self.decision
        return [self.task.labels[best] for best in chosen.argmax(1)]

    def predict_proba(self, examples: Sequence[Example]) -> NDArray[np.float64]:
        """Probabilities of the task's labels, corrected for the class prior if the setting says so."""
        if self.block is None or self.prior is None:
            raise EmoscopeError(f"{self.metadata.name} has not been trained")
        if not examples:
            return np.zeros((0, len(self.task.labels)))
        return self.corrected(self._in_task_order(self.block.predict_proba(examples), self.block.labels))

    def corrected(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities under the prior that the setting `shift` asks for."""
        assert self.prior is not None
        natural = self.task.metadata.natural_prior
        if self.settings.shift == "natural" and natural is not None:
            return shift_prior(answers, self.prior, prior_vector(natural, self.task.labels))
        if self.settings.shift == "estimate":
            return shift_prior(answers, self.prior, estimate_prior(answers, self.prior))
        return answers

    def _in_task_order(self, answers: NDArray[np.float64], labels: Sequence[str]) -> NDArray[np.float64]:
        columns = np.zeros((len(answers), len(self.task.labels)))
        columns[:, [self.task.labels.index(label) for label in labels]] = answers
        return columns

    def head(self) -> Head:
        """Its answers, as a detector needs to know them: labels, training mix, and what it corrects and decides by."""
        if self.block is None or self.prior is None:
            raise EmoscopeError(f"{self.metadata.name} has not been trained")
        labels, order = self.block.labels, self.task.labels
        metadata = self.task.metadata
        natural = metadata.natural_prior if self.settings.shift != "none" else None
        trained = dict(zip(order, self.prior.tolist(), strict=True))
        decision = None if self.decision is None else dict(zip(order, self.decision.tolist(), strict=True))
        return Head(
            name=self.task.name,
            labels=labels,
            trained={label: trained[label] for label in labels},
            prior=None if natural is None else {label: natural[label] for label in labels},
            prior_source=None if natural is None else metadata.natural_prior_source,
            decision=None if decision is None else {label: decision[label] for label in labels},
        )

    def save(self, folder: Path) -> None:
        """The block in a folder of its own, the settings beside it, and a bundle: the detector loads it as it is."""
        head = self.head()
        assert self.block is not None
        assert self.prior is not None
        self.block.save(folder / BLOCK)
        Bundle(name=self.metadata.name, kind="blocks", task=self.task.name, heads=(head,)).save(folder)
        with atomic_write(folder / FILE) as handle:
            content: dict[str, Any] = {
                "seed": self.seed,
                "settings": self.settings.model_dump(),
                "prior": self.prior.tolist(),
            }
            if self.decision is not None:
                content["decision"] = self.decision.tolist()
            json.dump(content, handle, indent=2)

    @classmethod
    def load(cls, folder: Path, task: Task) -> Self:
        """Read what `save` wrote."""
        check_installed(*PACKAGES, extra="train")
        content = json.loads(whole_text(folder / FILE))
        system = cls(task, seed=content["seed"], settings=content["settings"])
        system.prior = np.array(content["prior"])
        if "decision" in content:
            system.decision = np.array(content["decision"])
        system.block = load_block(folder / BLOCK)
        return system


def parse_setting(text: str) -> tuple[str, Any]:
    """A setting written as `name=value`, the value read as JSON where it can be.

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
