"""The step `augment`: add back-translated paraphrases of the last turn to training dialogues."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import Field

from emoscope.corpus.augment.augment import augment
from emoscope.corpus.augment.backtranslation import BackTranslator
from emoscope.corpus.augment.engines import EngineName, open_engine
from emoscope.corpus.augment.files import Variants
from emoscope.corpus.pipeline.plan import CorpusPlan
from emoscope.corpus.pipeline.rows import ROWS, Row, RowsFile, read_rows
from emoscope.corpus.pipeline.step import PipelineStep, Stage, StepContext


class AugmentStep(PipelineStep):
    """Add `variants` of the last turn, translated to other languages and back, for training only."""

    takes = frozenset({Stage.LABELLED})

    engine: EngineName
    via: tuple[str, ...] = Field(min_length=1)
    similarity: float | None = Field(default=None, ge=0, le=1)
    model: str | None = None  # for marian: folders or hub names with {source} and {target}

    def check(self, plan: CorpusPlan) -> None:  # noqa: ARG002
        self._translator()  # raises if the engine or a language is not installed

    def depends_on(self, plan: CorpusPlan) -> Any:  # noqa: ARG002
        return self._translator().description()

    def _translator(self) -> BackTranslator:
        return BackTranslator(open_engine(self.engine, self.model), self.via, similarity=self.similarity)

    def run(self, context: StepContext) -> None:
        # Written to the cache, so finished translations survive a kill.
        source, target = _LastTurns(context.input), context.cache / ROWS
        counts = augment(source, target, self._translator(), progress=context.progress)
        shutil.copyfile(context.cache / ROWS, context.folder / ROWS)
        context.counts.read = context.counts.written = counts.dialogues
        context.counts.more["variants"] = asdict(counts)["via"]


class _LastTurns:
    """The rows of a step as a `DialogueFile` whose last turns are translated."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = str(folder / ROWS)

    def check_output(self, output: str) -> None:
        """Any name is allowed."""

    def items(self, languages: Sequence[str]) -> Iterator[Row]:  # noqa: ARG002 - rows have no variants yet
        return read_rows(self.folder)

    def texts(self, item: Row) -> list[str]:
        return [item["turns"][-1]["text"]]

    def reworded(self, item: Row, variants: Variants) -> Row:
        kept = {language: variant.text for language, variant in variants[0].items() if variant.text is not None}
        return {**item, "variants": kept} if kept else item

    @contextmanager
    def writer(self, output: str) -> Iterator[Callable[[Row], None]]:
        with RowsFile(Path(output).parent, Path(output).name) as out:
            yield out.write
