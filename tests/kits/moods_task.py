"""A task as another package would define it: `text | mood` lines, one label per line as submission."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.files import text_lines
from emoscope.core.metrics import standard_metric
from emoscope.tasks.base import Submitted, Task, label_lines
from emoscope.tasks.metadata import DataFile, DataRevision, TaskMetadata


class Moods(Task):
    """Good or bad."""

    metadata = TaskMetadata(
        name="moods",
        title="Moods",
        description="Is the mood good or bad?",
        labels=("good", "bad"),
        neutral_label=None,
        metric=standard_metric("accuracy"),
        citation="Nobody (2026).",
        home="https://example.org/moods",
        terms="CC0",
        folder="moods",
        data_format="`text | mood` lines.",
        submission_format="one label a line.",
        revisions=(
            DataRevision(
                name="first",
                note="all there is",
                splits={split: DataFile(name=f"{split}.txt") for split in ("train", "test")},
            ),
        ),
    )
    sample = "so good\nso bad\nhm\n"

    def read(self, path: str | Path) -> Iterator[Example]:
        for row, line in text_lines(path):
            text, _, label = line.partition(" | ")
            self.check_label(label or None, path, row)
            yield Example(Dialogue.of([text], id=str(row)), 0, label or None)

    def submission(
        self,
        answers: Sequence[tuple[Example, str]],
        author: Mapping[str, str],
    ) -> Iterator[str]:
        return (f"{label}\n" for _, label in answers)

    def submitted(self, path: str | Path) -> Iterator[Submitted]:
        return label_lines(path)

    def content(self, example: Example) -> tuple[str, ...]:
        return ()
