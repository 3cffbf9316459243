"""The step `annotate`: write the tasks for annotators."""

from collections.abc import Iterator

from emoscope.core.dialogue import Dialogue
from emoscope.corpus.annotation.files import write_annotations
from emoscope.corpus.annotation.items import annotations_of, items_of
from emoscope.corpus.pipeline.rows import dialogue_of
from emoscope.corpus.pipeline.step import PipelineStep, Stage, StepContext

TASKS_FILE = "tasks.jsonl"


class AnnotateStep(PipelineStep):
    """Write the tasks for doccano and our annotation page (`tasks.jsonl`) and for Label Studio (`tasks.json`)."""

    takes = frozenset({Stage.DIALOGUES})
    gives = Stage.TASKS

    def run(self, context: StepContext) -> None:

        def dialogues() -> Iterator[Dialogue]:
            with context.output() as out:  # the step `aggregate` adds labels to these rows
                for row in context.rows("writing tasks"):
                    out.write(row)
                    yield dialogue_of(row)

        tasks = annotations_of(items_of(dialogues()), ())
        for name in (TASKS_FILE, "tasks.json"):
            write_annotations(context.folder / name, tasks)
