"""Answers that were kept when a model was made, such as out of fold: where it has learnt all the labelled data."""

from pathlib import Path

import numpy as np

from benchmarks.quality.data_sets import SHORT_NAMES
from benchmarks.quality.measure import Answers, measure
from emoscope.core.frozen import FrozenModel
from emoscope.evaluation.results import HeadResults
from emoscope.models.label_shift import prior_vector, shift_prior
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split


class KeptAnswers(FrozenModel):
    """Probabilities that a model gave to examples it had not learnt from, such as out of fold.

    One row for each scored example of the task's splits, in order; with `rows`, only for the examples at these
    positions. With both priors given, the probabilities are those under the training prior, and are shifted here.
    """

    head: str
    task: str
    splits: tuple[str, ...]
    split: str  # how to call it: "train, out of fold"
    labels: tuple[str, ...]
    probabilities: list[list[float]]
    rows: list[int] | None = None  # the places of these examples; null for all
    training_prior: dict[str, float] | None = None
    prior: dict[str, float] | None = None
    decision: dict[str, float] | None = None
    seeds: tuple[int, ...] = ()
    seed_scores: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()

    def measured(self, root: Path) -> HeadResults:
        """Score them."""
        task = get_task(self.task)
        examples = [example for split in self.splits for example in read_split(task, split, root)]
        examples = [example for example in examples if example.label is not None and task.scored(example.label)]
        if self.rows is not None:
            examples = [examples[row] for row in self.rows]
        given = np.array(self.probabilities)
        training = None
        if self.training_prior is not None and self.prior is not None:
            source, target = (prior_vector(prior, self.labels) for prior in (self.training_prior, self.prior))
            training, given = given, shift_prior(given, source, target)
        factors = np.array([(self.decision or {}).get(label, 1.0) for label in self.labels])
        answers = Answers(self.labels, given, (given * factors).argmax(1), training)
        found = measure(
            answers,
            examples,
            task.metric,
            head=self.head,
            data=SHORT_NAMES[self.task],
            split=self.split,
            labels=task.labels,
            notes=self.notes,
        )
        return found.model_copy(update={"seeds": self.seeds, "seed_scores": self.seed_scores})
