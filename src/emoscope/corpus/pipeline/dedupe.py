"""The step `dedupe`: drop exact and near duplicates of earlier dialogues."""

from itertools import count

from pydantic import Field

from emoscope.corpus.dedupe.duplicates import THRESHOLD, DuplicateFinder
from emoscope.corpus.pipeline.rows import paraphrases_of
from emoscope.corpus.pipeline.step import PipelineStep, Stage, StepContext


class DedupeStep(PipelineStep):
    """Drop exact and near duplicates of earlier dialogues; reads the rows twice."""

    takes = frozenset({Stage.DIALOGUES, Stage.LABELLED})

    threshold: float = Field(default=THRESHOLD, ge=0.5, le=1.0)

    def run(self, context: StepContext) -> None:
        finder = DuplicateFinder(threshold=self.threshold, executor=context.executor)
        for item, row in enumerate(context.rows("looking for copies")):
            for text in paraphrases_of(row):
                finder.add(item, text)
        copies = {copy.item: "exact copy" if copy.exact else "near copy" for copy in finder.duplicates()}
        items = count()
        context.rewrite("dropping copies", lambda row: copies.get(next(items), row))
