"""One part of a run, from its rows to its files."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property

import numpy as np

from emoscope.detector import Detector, load
from emoscope.parallel import advance
from emoscope.parallel.prefetch import prefetch
from emoscope.scoring.output import OutputFolder, rejects_file, scores_file
from emoscope.scoring.part_file import PartWriter
from emoscope.scoring.plan import ScoringPlan
from emoscope.scoring.predict import predict
from emoscope.scoring.reading import Chunk, Reject, read_part


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What each worker loads: a preset's name or a folder."""

    name: str
    labels: str | None = None
    prior: Mapping[str, float] | None = None

    def load(self) -> Detector:
        """Load the detector."""
        return load(self.name, labels=self.labels, prior=self.prior)


@dataclass(slots=True)
class PartCounts:
    """What became of a part's rows, as its file's footer says."""

    rows: int = 0
    scored: int = 0
    rejected: int = 0
    labels: dict[str, int] = field(default_factory=dict)
    sums: dict[str, float] = field(default_factory=dict)  # of each label's probabilities


@dataclass(frozen=True)
class PartScorer:
    """Scores parts, given their numbers; a worker that unpickles it loads the model for itself."""

    plan: ScoringPlan
    output: OutputFolder
    model: ModelSpec
    batch_size: int
    strict: bool = False

    @cached_property
    def detector(self) -> Detector:
        """The model, loaded for the first part."""
        return self.model.load()

    def __call__(self, part: int) -> None:
        """Score the rows of a part and write its files.

        The rejects are written first: once the scores are there, the part is complete.
        """
        labels = self.detector.labels
        counts = PartCounts(labels=dict.fromkeys(labels, 0), sums=dict.fromkeys(labels, 0.0))
        rejects: list[Reject] = []
        with self.output.write(scores_file(part)) as handle:
            with PartWriter(handle, self.plan.schema, labels) as writer:
                for chunk in prefetch(read_part(self.plan, part)):
                    self._score_chunk(chunk, writer, counts, rejects)
                    advance(len(chunk.dialogues) + len(chunk.rejects))
                writer.sign({**asdict(counts), "run": self.plan.fingerprint})
            if rejects:
                self._write_rejects(part, rejects)

    def _score_chunk(self, chunk: Chunk, writer: PartWriter, counts: PartCounts, rejects: list[Reject]) -> None:
        probabilities, problems = predict(self.detector, chunk.dialogues, self.batch_size)
        chunk = chunk.without(problems)
        probabilities = np.delete(probabilities, list(problems), axis=0)
        if chunk.rejects and self.strict:
            raise chunk.rejects[0].error()
        chosen = self.detector.choose(probabilities)
        writer.write(chunk.table, probabilities, chosen, [self.detector.truncates(each) for each in chunk.dialogues])
        rejects += chunk.rejects
        counts.rows += len(chunk.dialogues) + len(chunk.rejects)
        counts.scored += len(chunk.dialogues)
        counts.rejected += len(chunk.rejects)
        for column, label in enumerate(self.detector.labels):
            counts.labels[label] += int((chosen == column).sum())
            counts.sums[label] += float(probabilities[:, column].sum())

    def _write_rejects(self, part: int, rejects: Sequence[Reject]) -> None:
        with self.output.write(rejects_file(part)) as handle:
            for reject in rejects:
                handle.write((json.dumps(asdict(reject), ensure_ascii=False) + "\n").encode())

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "detector"}
