"""nano: hashed n-grams and a linear classifier; the fastest system, and the one that is always embedded."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Example
from emoscope.core.fit_context import FitContext
from emoscope.detector.bundle import Bundle, Head
from emoscope.models.label_shift import prior_vector, shift_prior
from emoscope.models.linear.nano import NanoModel
from emoscope.systems.base import System, SystemMetadata
from emoscope.tasks import TASKS
from emoscope.tasks.base import Task
from emoscope.tasks.decision import choose_multipliers


class Nano(System):
    """Word and character n-grams of the last three turns, logistic regression, corrected for the class prior."""

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="nano",
        summary="hashed word and character n-grams of three turns, logistic regression, class-prior correction",
        tasks=tuple(TASKS),
        team="emoscope",
        networks=False,
    )

    def __init__(self, task: Task, *, seed: int = 0, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(task, seed=seed, settings=settings)
        self.model = NanoModel(seed=seed)
        self.decision: NDArray[np.float64] | None = None

    def fit(self, examples: Sequence[Example], fitting: FitContext | None = None) -> Self:
        """Learn from labelled examples; all it needs of `fitting` is the seed it was made with."""
        del fitting
        kept = self.learnable(examples)
        labels = [str(example.label) for example in kept]
        self.model.fit([example.context for example in kept], labels)
        held_out, natural = self.model.classifier.held_out, self.task.metadata.natural_prior
        if held_out is not None and natural is not None:
            wanted = prior_vector(natural, self.task.labels)
            self.decision = choose_multipliers(self.task, labels, self._corrected(held_out), wanted)
        return self

    def predict_proba(self, examples: Sequence[Example]) -> NDArray[np.float64]:
        """Probabilities under the task's natural class prior, where training data were sampled otherwise."""
        return self._corrected(self.model.predict_proba([example.context for example in examples]))

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """The label that serves the official metric best on held-out folds; mostly the most likely one."""
        answers = self.predict_proba(examples)
        chosen = answers if self.decision is None else answers * self.decision
        return [self.task.labels[best] for best in chosen.argmax(1)]

    def _corrected(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Columns in the order of the task's labels, under the natural prior where it is known."""
        natural = self.task.metadata.natural_prior
        if natural is not None:
            known = {label: natural[label] for label in self.model.labels}
            answers = shift_prior(answers, self.model.prior, prior_vector(known, self.model.labels))
        columns = np.zeros((len(answers), len(self.task.labels)))
        columns[:, [self.task.labels.index(label) for label in self.model.labels]] = answers
        return columns

    def save(self, folder: Path) -> None:
        """Write a bundle: the detector loads it as it is."""
        meta = self.task.metadata
        self.model.save(folder)
        decision = None if self.decision is None else dict(zip(self.task.labels, self.decision.tolist(), strict=True))
        head = Head(
            name=self.task.name,
            labels=self.model.labels,
            prior=meta.natural_prior,
            prior_source=meta.natural_prior_source,
            decision=decision,
        )
        Bundle(name="nano", kind="nano", task=self.task.name, heads=(head,)).save(folder)

    @classmethod
    def load(cls, folder: Path, task: Task) -> Self:
        """Read a bundle."""
        system = cls(task)
        system.model = NanoModel.load(folder)
        decision = Bundle.load(folder).head().decision
        if decision is not None:
            system.decision = np.array([decision.get(label, 1.0) for label in task.labels])
        return system
