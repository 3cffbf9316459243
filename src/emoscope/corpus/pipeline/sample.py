"""The step `sample`: a number of dialogues drawn at random."""

from pydantic import Field

from emoscope.corpus.pipeline.step import PipelineStep, Stage, StepContext
from emoscope.corpus.sources.windows import sample


class SampleStep(PipelineStep):
    """Draw `size` dialogues at random; only they are held in memory."""

    takes = frozenset({Stage.DIALOGUES})

    size: int = Field(ge=1)

    def run(self, context: StepContext) -> None:
        drawn = sample(context.rows("drawing a sample"), self.size, seed=context.plan.info.seed)
        with context.output() as out:
            for row in drawn:
                out.write(row)
        context.counts.dropped["not drawn"] = context.counts.read - len(drawn)
