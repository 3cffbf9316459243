"""The step `mine`: choose dialogues worth labelling, at random and by similarity to labelled seeds."""

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from pydantic import Field

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.mining.embedder import Embedder, open_embedder
from emoscope.corpus.mining.mine import CANDIDATES, OTHERS, MiningSettings, mine, read_seeds
from emoscope.corpus.pipeline.plan import CorpusPlan
from emoscope.corpus.pipeline.rows import read_rows
from emoscope.corpus.pipeline.step import RANDOM_DRAW, PipelineStep, Stage, StepContext
from emoscope.corpus.sources.windows import sample
from emoscope.tables import open_writer


class MineStep(PipelineStep):
    """Choose `natural` dialogues at random for evaluation, and candidates similar to seeds for training.

    The random draw comes first, so its label frequencies match the logs. Candidates come from different source
    dialogues, so the splits need not discard any.
    """

    takes = frozenset({Stage.DIALOGUES})
    # Version 1 missed the last rows of the pool, version 2 subtracted the cosine to `others` before a threshold.
    version = 3

    seeds: str
    natural: int = Field(ge=1)
    per_class: int | None = Field(default=None, ge=1)
    others: int | None = Field(default=None, ge=0)
    recall: float = Field(default=0.5, gt=0, le=1)
    threshold: float | None = Field(default=None, ge=-1, le=1)
    encoder: str = "ngrams"
    learn: bool = True
    prune: bool = True

    def check(self, plan: CorpusPlan) -> None:
        if unknown := sorted(set(self._seeds(plan)) - set(plan.info.labels) - {OTHERS}):
            raise EmoscopeError(f"{self.seeds}: label {unknown[0]!r} is not one of the plan's")

    def external_files(self, plan: CorpusPlan) -> Sequence[Path]:
        return plan.files([self.seeds])

    def depends_on(self, plan: CorpusPlan) -> Any:
        return self._embedder(plan).name

    def _embedder(self, plan: CorpusPlan) -> Embedder:
        folders = plan.files([self.encoder])
        return open_embedder(str(folders[0]) if folders else self.encoder)

    def _seeds(self, plan: CorpusPlan) -> dict[str, list[Dialogue]]:
        """The seeds by label, with the neutral label renamed to mining's `others`."""
        files = plan.files([self.seeds])
        if not files:
            raise EmoscopeError(f"no file {self.seeds!r} with seeds in {plan.path.parent}")
        seeds = read_seeds(files[0])
        if plan.info.neutral in seeds:
            seeds[OTHERS] = seeds.pop(plan.info.neutral)
        return seeds

    def run(self, context: StepContext) -> None:
        sources = enumerate(row["source"] for row in context.rows("drawing natural dialogues"))
        drawn = dict(sample(sources, self.natural, seed=context.plan.info.seed))
        drawn_sources = set(drawn.values())
        counts = context.counts
        pool = str(context.cache / "pool.jsonl")
        with context.output() as out:
            with open_writer(pool) as left:
                for place, row in enumerate(context.rows("setting them apart")):
                    if place in drawn:
                        out.write({**row, "draw": RANDOM_DRAW})
                    elif row["source"] in drawn_sources:
                        counts.dropped["of the same dialogue as a natural one"] += 1
                    else:
                        left.write(row)
            if left.written:
                counts.more["mined"] = self._mine(context, pool)
                for row in read_rows(context.cache / "mined", CANDIDATES):
                    kept = {key: value for key, value in row.items() if not key.startswith("mined_")}
                    draw = "others" if row["mined_as"] == OTHERS else f"mined as {row['mined_as']}"
                    out.write({**kept, "draw": draw})
        counts.dropped["neither drawn nor near to the seeds"] = counts.read - counts.written - counts.dropped.total()
        counts.more["natural"] = len(drawn)

    def _mine(self, context: StepContext, pool: str) -> dict[str, Any]:
        """Mine the pool; its vectors survive a kill."""
        shared = {field.name for field in fields(MiningSettings)}
        settings = MiningSettings(**self.model_dump(include=shared), seed=context.plan.info.seed)
        seeds, embedder = self._seeds(context.plan), self._embedder(context.plan)
        folder, progress, executor = context.cache / "mined", context.progress, context.executor
        return asdict(mine(pool, seeds, folder, embedder, settings, progress=progress, executor=executor))
