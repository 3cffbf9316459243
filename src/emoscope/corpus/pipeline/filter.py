"""The step `filter`: drop what does not belong in a corpus, and mask personal data."""

import shutil
from dataclasses import asdict
from itertools import takewhile
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from emoscope.core.errors import EmoscopeError
from emoscope.corpus.filters.language import NO_USERS, user_languages
from emoscope.corpus.filters.sensitive import STANDARD, Topic, expanded
from emoscope.corpus.filters.spans import Kind
from emoscope.corpus.filters.standard import standard_filters
from emoscope.corpus.filters.table import DROPPED, REPORT, filter_table
from emoscope.corpus.pipeline.plan import CorpusPlan
from emoscope.corpus.pipeline.rows import ROWS, dialogue_of, read_rows
from emoscope.corpus.pipeline.step import PipelineStep, Stage, StepContext


def _with_sets(topics: Any) -> Any:
    return expanded(map(str, topics)) if isinstance(topics, list | tuple) else topics


class FilterStep(PipelineStep):
    """Drop other languages, offensive texts and sensitive topics, and drop or mask personal data."""

    takes = frozenset({Stage.DIALOGUES})
    version = 2

    languages: tuple[str, ...] = ("en",)  # to keep; "en+es" is a mix of the two; empty keeps all
    offensive: bool = True
    threshold: float | None = Field(default=None, gt=0, le=1)  # for the offensive model; None drops only abuse
    # To drop; "standard" and "all" stand for several, and empty keeps all.
    sensitive: Annotated[tuple[Topic, ...], BeforeValidator(_with_sets)] = STANDARD
    personal: Literal["drop", "mask", "off"] = "mask"
    kinds: tuple[Kind, ...] = Field(default=tuple(Kind), min_length=1)
    lexicons: tuple[str, ...] = ()  # files of blocked words
    language_by_user: bool = False  # where a dialogue is too short to tell, use its speakers' language

    def check(self, plan: CorpusPlan) -> None:
        if self.threshold is not None and not self.offensive:
            raise EmoscopeError("'threshold' is for the offensive filter, and 'offensive' is false")
        before = {step.name for step in takewhile(lambda step: step is not self, plan.steps)}
        if self.language_by_user and "windows" in before:
            raise EmoscopeError("'language_by_user' needs to know who speaks, which 'windows' drops; filter before it")

    def run(self, context: StepContext) -> None:
        filtered = context.cache / "filtered"
        shutil.rmtree(filtered, ignore_errors=True)
        users = user_languages(dialogue_of(row) for row in read_rows(context.input)) if self.language_by_user else None
        if self.language_by_user and not users:
            raise EmoscopeError(f"{context.plan.path}: {NO_USERS}; leave 'language_by_user' out of the filter")
        filters = standard_filters(
            languages=self.languages or None,
            offensive=self.offensive,
            threshold=self.threshold,
            topics=self.sensitive or None,
            personal=self.personal,
            kinds=self.kinds,
            lexicons=self.lexicons,
            users=users,
        )
        rows, progress, executor = str(context.input / ROWS), context.progress, context.executor
        report = filter_table(rows, filtered, filters, format="jsonl", progress=progress, executor=executor)
        for name, target in ((report.file, ROWS), (DROPPED, DROPPED), (REPORT, REPORT)):
            shutil.move(filtered / name, context.folder / target)
        context.counts.read, context.counts.written = report.read, report.kept
        for row in read_rows(context.folder, DROPPED):
            # Count a dialogue with several reasons once.
            context.counts.dropped[" and ".join(sorted({one["reason"] for one in row["reasons"]}))] += 1
        context.counts.more |= {"changed": report.changed, "filters": asdict(report)["filters"]}
