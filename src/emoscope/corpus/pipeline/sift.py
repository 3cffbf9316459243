"""The step that takes out what does not belong into a corpus: filter."""

import shutil
from typing import ClassVar, Literal

from pydantic import Field

from emoscope.corpus.filters.language import LanguageFilter
from emoscope.corpus.filters.offensive import OffensiveFilter
from emoscope.corpus.filters.personal import PersonalFilter
from emoscope.corpus.filters.review import DialogueFilter
from emoscope.corpus.filters.sensitive import SensitiveFilter, Topic
from emoscope.corpus.filters.spans import Kind
from emoscope.corpus.filters.table import DROPPED, REPORT, filter_table
from emoscope.corpus.pipeline.artefacts import read_json
from emoscope.corpus.pipeline.rows import ROWS, read_rows
from emoscope.corpus.pipeline.step import Counts, Stage, Step, Work


class Filter(Step):
    """Drop other languages, offence and sensitive topics, and drop or mask personal data.

    `dropped.jsonl` has the reasons.
    """

    name: ClassVar[str] = "filter"
    takes: ClassVar[frozenset[Stage]] = frozenset({Stage.DIALOGUES})

    languages: tuple[str, ...] = ("en",)  # to keep, such as "en+es" for those that mix the two; none keeps all
    offensive: bool = True
    threshold: float | None = Field(default=None, gt=0, le=1)  # of offence; without it, the model's own
    sensitive: tuple[Topic, ...] = tuple(Topic)  # to drop; none keeps all
    personal: Literal["drop", "mask", "off"] = "mask"
    kinds: tuple[Kind, ...] = Field(default=tuple(Kind), min_length=1)

    def run(self, work: Work) -> Counts:
        """Write the dialogues that no filter drops."""
        source, made = work.before / ROWS, work.cache / "filtered"
        shutil.rmtree(made, ignore_errors=True)
        report = filter_table(
            str(source),
            made,
            self._filters(work),
            format="jsonl",
            watch=lambda rows: work.watch("filtering", rows),
            spread=work.tools.spread,
        )
        for name, target in ((report.file, ROWS), (DROPPED, DROPPED), (REPORT, REPORT)):
            shutil.move(made / name, work.folder / target)
        counts = Counts(report.read, report.kept)
        for row in read_rows(work.folder, DROPPED):
            # A dialogue may be dropped for several reasons, and is counted once.
            counts.dropped[" and ".join(sorted({one["reason"] for one in row["reasons"]}))] += 1
        found = read_json(work.folder / REPORT)
        counts.more |= {"changed": report.changed, "filters": found["filters"]}
        return counts

    def _filters(self, work: Work) -> list[DialogueFilter]:
        """Masking comes last, so that the others see what was said."""
        filters: list[DialogueFilter] = []
        if self.languages:
            filters.append(LanguageFilter(self.languages))
        if self.offensive:
            scorer, own = work.tools.offensive()
            filters.append(OffensiveFilter(scorer, threshold=own if self.threshold is None else self.threshold))
        if self.sensitive:
            filters.append(SensitiveFilter(self.sensitive))
        if self.personal != "off":
            filters.append(PersonalFilter(mask=self.personal == "mask", kinds=self.kinds))
        return filters
