"""One part of a run, from its rows to its files. Both engines do nothing but call this, each part in some process."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from emoscope.core.dialogue import Dialogue
from emoscope.detector import Detector, load
from emoscope.models.block import Floats, Truncated
from emoscope.parallel.prefetch import read_ahead
from emoscope.parallel.threads import one_core
from emoscope.parallel.work import Steps
from emoscope.scoring.answering import Problems, answer_batch
from emoscope.scoring.output import Output, rejects_file, scores_file
from emoscope.scoring.part_file import PartWriter
from emoscope.scoring.plan import Plan
from emoscope.scoring.reading import Chunk, Reject, read_part

BATCH = 512  # dialogues the model answers together, where it was not measured which number is best


@dataclass(frozen=True, slots=True)
class Model:
    """What to load in each worker: a preset's name or a folder."""

    name: str
    labels: str | None = None
    prior: Mapping[str, float] | None = None

    def load(self) -> Detector:
        """The detector."""
        return load(self.name, labels=self.labels, prior=self.prior)


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker must know to score any part."""

    plan: Plan
    output: Output
    model: Model
    batch: int = BATCH
    strict: bool = False

    def open(self) -> Callable[[int], Steps]:
        """Load the model, and score parts with it, given their numbers."""
        return Scorer(self).score


@dataclass(slots=True)
class Counts:
    """What became of a part's rows."""

    rows: int = 0
    scored: int = 0
    rejected: int = 0
    labels: dict[str, int] = field(default_factory=dict)
    sums: dict[str, float] = field(default_factory=dict)  # of each label's probabilities

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


class Scorer:
    """A model and the parts it is given. One thread computes: workers are many, each with a model of its own."""

    def __init__(self, job: Job, detector: Detector | None = None) -> None:
        self._job = job
        self._detector = detector or job.model.load()

    @property
    def detector(self) -> Detector:
        """The model."""
        return self._detector

    def score(self, part: int) -> Steps:
        """Score the rows of a part and write its files, saying how many rows are done, a chunk at a time.

        The rejects are written first: once the scores are there, the part is complete.
        """
        output, labels = self._job.output, self._detector.labels
        counts = Counts(labels=dict.fromkeys(labels, 0), sums=dict.fromkeys(labels, 0.0))
        rejects: list[Reject] = []
        with output.write(scores_file(part)) as handle:
            with PartWriter(handle, self._job.plan.schema, labels) as writer:
                for chunk in read_ahead(read_part(self._job.plan, part)):
                    self._chunk(chunk, writer, counts, rejects)
                    yield len(chunk.dialogues) + len(chunk.rejects)
                writer.sign({**counts.as_dict(), "run": self._job.plan.fingerprint})
            self._write_rejects(part, rejects)

    def _chunk(self, chunk: Chunk, writer: PartWriter, counts: Counts, rejects: list[Reject]) -> None:
        probabilities, truncated, problems = self.answer(chunk.dialogues)
        chunk = chunk.without(problems)
        probabilities = np.delete(probabilities, list(problems), axis=0)
        truncated = np.delete(truncated, list(problems))
        if chunk.rejects and self._job.strict:
            raise chunk.rejects[0].error()
        chosen = self._detector.choose(probabilities)
        writer.write(chunk.table, probabilities, chosen, truncated.tolist())
        rejects += chunk.rejects
        counts.rows += len(chunk.dialogues) + len(chunk.rejects)
        counts.scored += len(chunk.dialogues)
        counts.rejected += len(chunk.rejects)
        for column, label in enumerate(self._detector.labels):
            counts.labels[label] += int((chosen == column).sum())
            counts.sums[label] += float(probabilities[:, column].sum())

    def answer(self, dialogues: Sequence[Dialogue]) -> tuple[Floats, Truncated, Problems]:
        """Probabilities, and what was cut, in the order of the dialogues.

        The model gets them in batches of about the same length, each different one once. Beside them, by the
        dialogue's place, why one has no answer.
        """
        numbers: dict[tuple[tuple[str, str | None], ...], int] = {}
        different: list[Dialogue] = []
        places_of = []
        for dialogue in dialogues:
            # A key of plain tuples: that is hashed much faster than the dialogue itself.
            number = numbers.setdefault(tuple([(turn.text, turn.speaker) for turn in dialogue.turns]), len(different))
            if number == len(different):
                different.append(dialogue)
            places_of.append(number)
        order = sorted(range(len(different)), key=lambda place: _length(different[place]))
        answers = np.empty((len(different), len(self._detector.labels)))
        truncated = np.empty(len(different), bool)
        problems: Problems = {}
        with one_core():
            for begin in range(0, len(order), self._job.batch):
                places = order[begin : begin + self._job.batch]
                batch = [different[place] for place in places]
                answers[places], truncated[places], found = answer_batch(self._detector, batch)
                problems |= {places[place]: problem for place, problem in found.items()}
        failed = {place: problems[number] for place, number in enumerate(places_of) if number in problems}
        return answers[places_of], truncated[places_of], failed

    def _write_rejects(self, part: int, rejects: Sequence[Reject]) -> None:
        name = rejects_file(part)
        if not rejects:
            return
        with self._job.output.write(name) as handle:
            for reject in rejects:
                handle.write((json.dumps(asdict(reject), ensure_ascii=False) + "\n").encode())


def _length(dialogue: Dialogue) -> int:
    return sum(len(turn.text) for turn in dialogue.turns)
