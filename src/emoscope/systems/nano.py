"""nano: hashed n-grams and a linear classifier; the fastest system, and the one that is always embedded."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from emoscope.detector.bundle import Bundle
from emoscope.dialogue import Example
from emoscope.models.block import Fitting
from emoscope.models.label_shift import prior_vector, shift_prior
from emoscope.models.nano import NanoModel
from emoscope.systems.base import System, SystemMetadata
from emoscope.tasks import TASKS
from emoscope.tasks.base import Task


class Nano(System):
    """Word and character n-grams of the last three turns, logistic regression, corrected for the class prior."""

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="nano",
        summary="hashed word and character n-grams of three turns, logistic regression, class-prior correction",
        tasks=tuple(TASKS),
        team="emoscope",
    )

    def __init__(self, task: Task, *, seed: int = 0, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(task, seed=seed, settings=settings)
        self.model = NanoModel(seed=seed)

    def fit(self, examples: Sequence[Example], fitting: Fitting | None = None) -> Self:
        """Learn from labelled examples; all it needs of `fitting` is the seed it was made with."""
        del fitting
        kept = self.learnable(examples)
        self.model.fit([example.context for example in kept], [str(example.label) for example in kept])
        return self

    def predict_proba(self, examples: Sequence[Example]) -> NDArray[np.float64]:
        """Probabilities under the task's natural class prior, where training data were sampled otherwise."""
        answers = self.model.predict_proba([example.context for example in examples])
        natural = self.task.metadata.natural_prior
        if natural is not None:
            known = {label: natural[label] for label in self.model.labels}
            answers = shift_prior(answers, self.model.prior, prior_vector(known, self.model.labels))
        columns = np.zeros((len(examples), len(self.task.labels)))
        columns[:, [self.task.labels.index(label) for label in self.model.labels]] = answers
        return columns

    def save(self, folder: Path) -> None:
        """Write a bundle: the detector loads it as it is."""
        meta = self.task.metadata
        self.model.save(folder)
        Bundle(
            name="nano",
            kind="nano",
            task=self.task.name,
            prior=meta.natural_prior,
            prior_source=meta.natural_prior_source,
        ).save(folder)

    @classmethod
    def load(cls, folder: Path, task: Task) -> Self:
        """Read a bundle."""
        system = cls(task)
        system.model = NanoModel.load(folder)
        return system
