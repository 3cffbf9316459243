"""The step `annotate`: the tasks that annotators are to label are written."""

from collections.abc import Iterator
from typing import ClassVar

from emoscope.core.dialogue import Dialogue
from emoscope.corpus.annotation.files import write_annotations
from emoscope.corpus.annotation.items import annotations_of, items_of
from emoscope.corpus.pipeline.rows import dialogue_of
from emoscope.corpus.pipeline.step import Stage, Step, StepContext, StepCounts

TASKS_FILE = "tasks.jsonl"


class AnnotateStep(Step):
    """Write the tasks for doccano and our own page (`tasks.jsonl`) and for Label Studio (`tasks.json`)."""

    name: ClassVar[str] = "annotate"
    takes: ClassVar[frozenset[Stage]] = frozenset({Stage.DIALOGUES})
    gives: ClassVar[Stage | None] = Stage.TASKS

    def run(self, context: StepContext) -> StepCounts:
        counts = StepCounts()

        def dialogues() -> Iterator[Dialogue]:
            with context.output() as out:  # the step `aggregate` adds labels to these rows
                for row in context.rows("writing tasks"):
                    out.write(row)
                    yield dialogue_of(row)
                counts.read = counts.written = out.written

        tasks = annotations_of(items_of(dialogues()), ())
        for name in (TASKS_FILE, "tasks.json"):
            write_annotations(context.folder / name, tasks)
        return counts
