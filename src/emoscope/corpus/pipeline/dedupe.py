"""The step `dedupe`: exact and near copies of earlier dialogues are dropped."""

from typing import ClassVar

from pydantic import Field

from emoscope.corpus.dedupe.duplicates import THRESHOLD, DuplicateFinder
from emoscope.corpus.pipeline.rows import paraphrases_of
from emoscope.corpus.pipeline.step import Stage, Step, StepContext, StepCounts


class DedupeStep(Step):
    """Drop exact and near copies of earlier dialogues; the rows are read twice."""

    name: ClassVar[str] = "dedupe"
    takes: ClassVar[frozenset[Stage]] = frozenset({Stage.DIALOGUES, Stage.LABELLED})

    threshold: float = Field(default=THRESHOLD, ge=0.5, le=1.0)

    def run(self, context: StepContext) -> StepCounts:
        counts = StepCounts()
        finder = DuplicateFinder(threshold=self.threshold, spread=context.spread)
        for item, row in enumerate(context.rows("looking for copies")):
            for text in paraphrases_of(row):
                finder.add(item, text)
        copies = {copy.item: "exact copy" if copy.exact else "near copy" for copy in finder.duplicates()}
        with context.output() as out:
            for item, row in enumerate(context.rows("dropping copies")):
                counts.read += 1
                if item in copies:
                    counts.dropped[copies[item]] += 1
                else:
                    out.write(row)
            counts.written = out.written
        return counts
