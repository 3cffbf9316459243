"""The step `augment`: add back-translated paraphrases of the last turn to training dialogues."""

import shutil
from dataclasses import asdict
from typing import Any

from pydantic import Field

from emoscope.corpus.augment.augment import augment
from emoscope.corpus.augment.backtranslation import BackTranslator
from emoscope.corpus.augment.engines import EngineName, open_engine
from emoscope.corpus.augment.files import TableFile, Variants
from emoscope.corpus.pipeline.plan import CorpusPlan
from emoscope.corpus.pipeline.rows import ROWS, Row
from emoscope.corpus.pipeline.step import PipelineStep, Stage, StepContext
from emoscope.tables import Record


class AugmentStep(PipelineStep):
    """Add `variants` of the last turn, translated to other languages and back, for training only."""

    takes = frozenset({Stage.LABELLED})

    engine: EngineName
    via: tuple[str, ...] = Field(min_length=1)
    similarity: float | None = Field(default=None, ge=0, le=1)
    keep_all: bool = False
    model: str | None = None  # for marian: folders or hub names with {source} and {target}

    def check(self, plan: CorpusPlan) -> None:  # noqa: ARG002
        self._translator()  # raises if the engine or a language is not installed

    def depends_on(self, plan: CorpusPlan) -> Any:  # noqa: ARG002
        return self._translator().description()

    def _translator(self) -> BackTranslator:
        engine = open_engine(self.engine, self.model)
        return BackTranslator(engine, self.via, similarity=self.similarity, keep_all=self.keep_all)

    def run(self, context: StepContext) -> None:
        # Written to the cache, so finished translations survive a kill.
        source, target = _LastTurns(str(context.input / ROWS)), context.cache / ROWS
        counts = augment(source, target, self._translator(), progress=context.progress)
        shutil.copyfile(target, context.folder / ROWS)
        context.counts.read = context.counts.written = counts.dialogues
        context.counts.more["variants"] = asdict(counts)["via"]


class _LastTurns(TableFile):
    """The rows of a step, whose last turns are translated."""

    def texts(self, item: Record) -> tuple[str, ...]:
        return item.dialogue.texts[-1:]

    def reworded(self, item: Record, variants: Variants) -> Row:
        kept = {language: variant.text for language, variant in variants[0].items() if variant.text is not None}
        return {**item.columns, "variants": kept} if kept else dict(item.columns)
