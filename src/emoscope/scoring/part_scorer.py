"""Scores one part of a run: reads its rows, writes its files."""

import socket
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import emoscope
from emoscope.core.errors import EmoscopeError
from emoscope.detector import Detector
from emoscope.models.block import Floats
from emoscope.parallel import advance
from emoscope.parallel.prefetch import prefetch
from emoscope.scoring.output import OutputFolder, rejects_file, scores_file
from emoscope.scoring.part_file import PartWriter
from emoscope.scoring.plan import ScoringPlan
from emoscope.scoring.predict import chosen_answers, predict
from emoscope.scoring.reading import Chunk, Reject, read_part


def check_machine(detector: Detector, settings: Mapping[str, Any]) -> None:
    """Raise an error if this machine would compute other scores than the one that started the run."""
    here, ours, theirs = socket.gethostname(), emoscope.__version__, settings["emoscope"]
    if ours != theirs:
        raise EmoscopeError(
            f"{here}: has emoscope {ours}, but the run was started with {theirs}; install the same there"
        )
    if detector.kernel != (started := settings["kernel"]):
        raise EmoscopeError(
            f"{here}: computes with {detector.kernel}, but the run was started with {started}, "
            "whose scores differ; start it with EMOSCOPE_NATIVE=0, so that all machines compute alike"
        )


@dataclass(frozen=True)
class PartScorer:
    """Scores parts by number; in another process the detector loads the model there, and checks that it is the same."""

    plan: ScoringPlan
    output: OutputFolder
    detector: Detector
    batch_size: int
    strict: bool = False

    def __call__(self, part: int) -> tuple[int, dict[str, Any]]:
        """Score the rows of a part and write its files; returns its number and the counts in its footer.

        The rejects are written first: once the scores exist, the part is complete.
        """
        check_machine(self.detector, self.plan.settings)
        labels = self.detector.labels
        chosen, sums = dict.fromkeys(labels, 0), dict.fromkeys(labels, 0.0)  # of each label's probabilities
        scored = 0
        rejects: list[Reject] = []
        with self.output.write(scores_file(part)) as handle:
            with closing(PartWriter(handle, self.plan.schema, labels)) as writer:
                for chunk in prefetch(read_part(self.plan, part, self.output)):
                    probabilities, choice, rejected = self._score_chunk(chunk, writer)
                    rejects += rejected
                    scored += len(choice)
                    for column, label in enumerate(labels):
                        chosen[label] += int((choice == column).sum())
                        sums[label] += float(probabilities[:, column].sum())
                    advance(len(chunk.dialogues) + len(chunk.rejects))
                counts = {"rows": scored + len(rejects), "scored": scored, "rejected": len(rejects)}
                footer = {**counts, "labels": chosen, "sums": sums, "run": self.plan.fingerprint}
                writer.sign(footer)
            if rejects:
                self.output.write_jsonl(rejects_file(part), map(asdict, rejects))
        return part, footer

    def _score_chunk(self, chunk: Chunk, writer: PartWriter) -> tuple[Floats, NDArray[np.int64], Sequence[Reject]]:
        answers, problems = predict(self.detector, chunk.dialogues, self.batch_size)
        chunk = chunk.without(problems)
        answers = chosen_answers(answers, [place for place in range(len(answers.notes)) if place not in problems])
        if chunk.rejects and self.strict:
            raise chunk.rejects[0].error()
        chosen = self.detector.choose(answers.probabilities)
        writer.write(chunk.table, answers, chosen)
        return answers.probabilities, chosen, chunk.rejects
