"""The step `sample`: draw dialogues or conversations at random."""

from typing import Literal

from pydantic import Field

from emoscope.corpus.pipeline.step import PipelineStep, Stage, StepContext
from emoscope.corpus.sources.sampling import largest_drawn, random_key
from emoscope.corpus.sources.windows import sample


class SampleStep(PipelineStep):
    """Draw `size` dialogues at random; only the sample is held in memory.

    With `by = "conversation"`, draw all dialogues of `size` equally likely conversations, none held in memory.
    """

    takes = frozenset({Stage.DIALOGUES})

    size: int = Field(ge=1)
    by: Literal["dialogue", "conversation"] = "dialogue"

    def run(self, context: StepContext) -> None:
        if self.by == "conversation":
            self._conversations(context)
            return
        drawn = sample(context.rows("drawing a sample"), self.size, seed=context.plan.info.seed)
        with context.output() as out:
            for row in drawn:
                out.write(row)
        context.counts.dropped["not drawn"] = context.counts.read - len(drawn)

    def _conversations(self, context: StepContext) -> None:
        seed = context.plan.info.seed
        keys = (random_key(seed, str(row["source"])) for row in context.rows("drawing conversations"))
        limit = largest_drawn(keys, self.size)
        with context.output() as out:
            for row in context.rows("writing them"):
                if random_key(seed, str(row["source"])) <= limit:
                    out.write(row)
        context.counts.dropped["not drawn"] = context.counts.read - out.written
