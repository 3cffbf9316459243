"""The step `collect`: read logs into dialogues."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Literal, get_args

from pydantic import Field

from emoscope.core.errors import EmoscopeError
from emoscope.core.frozen import FrozenModel
from emoscope.corpus.pipeline.plan import CorpusPlan
from emoscope.corpus.pipeline.rows import turns_of
from emoscope.corpus.pipeline.step import PipelineStep, Stage, StepContext
from emoscope.corpus.sources.exports import ChatFormat, read_chat
from emoscope.corpus.sources.messages import ChatSession
from emoscope.corpus.sources.sampling import TIME, DateRange, as_day, moment_of
from emoscope.tables import read_records

LogFormat = Literal["csv", "tsv", "jsonl", "parquet", "text", ChatFormat]


class LogFiles(FrozenModel):
    """Files to collect and their format; a table's format follows from its suffix."""

    path: str
    format: LogFormat | None = None
    column: str | None = None  # the text column, if it is not called `text`


class CollectStep(PipelineStep):
    """Read logs of any supported format into dialogues; a silence of `gap_minutes` ends a chat's dialogue.

    `since` and `until` are days or years; dialogues that began outside them are left out. Tables need a column `time`
    for this.
    """

    takes = frozenset({Stage.NOTHING})
    gives = Stage.DIALOGUES

    inputs: tuple[LogFiles, ...] = Field(min_length=1)
    gap_minutes: float = Field(default=60.0, gt=0)
    since: str | None = None
    until: str | None = None
    time: str = TIME  # a table's column

    def check(self, plan: CorpusPlan) -> None:
        self._dates()
        for files in self.inputs:
            if not plan.files([files.path]):
                raise EmoscopeError(f"no file matches {files.path!r} in {plan.path.parent}")

    def external_files(self, plan: CorpusPlan) -> Sequence[Path]:
        return [
            file
            for path, _ in self._by_name(plan).values()
            for file in (sorted(path.rglob("*.json")) if path.is_dir() else [path])  # Slack's export is a folder
        ]

    def run(self, context: StepContext) -> None:
        counts = context.counts
        left_out: Counter[str] = Counter()
        written: dict[str, int] = {}
        dates = self._dates()
        with context.output() as out:
            for name, (path, files) in self._by_name(context.plan).items():
                before = out.written
                dialogues = self._read(path, name, files, dates, left_out)
                for dialogue in context.progress(f"reading {path.name}", dialogues):
                    counts.read += 1
                    if dialogue.begun is not None and dialogue.begun not in dates:
                        counts.dropped["outside of the dates"] += 1
                        continue
                    if not any(text.strip() for text in dialogue.texts):
                        counts.dropped["empty"] += 1
                        continue
                    out.write({"id": dialogue.id, "source": dialogue.id, "turns": turns_of(dialogue)})
                written[context.plan.shown(path)] = out.written - before
        counts.more["dialogues_of_each_input"] = written
        if left_out:
            counts.more["chat_entries_left_out"] = {str(reason): left_out[reason] for reason in sorted(left_out)}

    def _by_name(self, plan: CorpusPlan) -> dict[str, tuple[Path, LogFiles]]:
        """The files by unique name, which the dialogue ids begin with."""
        named: dict[str, tuple[Path, LogFiles]] = {}
        times: Counter[str] = Counter()
        for files in self.inputs:
            for path in plan.files([files.path]):
                times[path.stem] += 1
                named[path.stem if times[path.stem] == 1 else f"{path.stem}-{times[path.stem]}"] = (path, files)
        return named

    def _read(
        self, path: Path, name: str, files: LogFiles, dates: DateRange, left_out: Counter[str]
    ) -> Iterator[ChatSession]:
        if files.format in get_args(ChatFormat):
            gap = timedelta(minutes=self.gap_minutes)
            for dialogue in read_chat(path, str(files.format), gap=gap, left_out=left_out):
                yield ChatSession(dialogue.turns, f"{name}:{str(dialogue.id).partition(':')[2]}", dialogue.begun)
            return
        for record in read_records(str(path), files.format, column=files.column, replace_surrogates=True):
            begun = moment_of(str(path), record, self.time) if dates else None
            yield ChatSession(record.dialogue.turns, f"{name}:{record.row}", begun)

    def _dates(self) -> DateRange:
        return DateRange(as_day(self.since, "since"), as_day(self.until, "until"))
