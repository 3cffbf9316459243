"""The step `sample`: a number of dialogues drawn at random."""

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from emoscope.corpus.pipeline.rows import ROWS
from emoscope.corpus.pipeline.step import Stage, Step, StepContext, StepCounts
from emoscope.corpus.sources.windows import sample


class SampleStep(Step):
    """Draw `size` dialogues at random; only they are held in memory."""

    name: ClassVar[str] = "sample"
    takes: ClassVar[frozenset[Stage]] = frozenset({Stage.DIALOGUES})

    size: int = Field(ge=1)

    def run(self, context: StepContext) -> StepCounts:
        counts = StepCounts()

        def lines() -> Iterator[str]:
            with (context.input / ROWS).open(encoding="utf-8", newline="\n") as handle:
                for line in handle:
                    counts.read += 1
                    yield line

        drawn = sample(context.progress("drawing a sample", lines()), self.size, seed=context.plan.info.seed)
        with (context.folder / ROWS).open("w", encoding="utf-8", newline="\n") as handle:
            handle.writelines(drawn)
        counts.written = len(drawn)
        counts.dropped["not drawn"] = counts.read - counts.written
        return counts
