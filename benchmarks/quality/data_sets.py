"""The labelled data that each label set is scored on."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.files import whole_text
from emoscope.core.fit_context import FitContext
from emoscope.core.metrics import Metric, standard_metric
from emoscope.distil.everyday import GENERAL, everyday_examples, surrounded_examples
from emoscope.distil.pool import HEAD_OF, TASKS, own_examples, pool_part
from emoscope.distil.student import is_held_out
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split
from emoscope.tasks.datasets.readers import read_goemotions

HELD_OUT = "held-out tenth of the training data"
GUIDED = "no dialogue of it is taught, but its errors decided which kinds of dialogues were written last"
ACCEPTED = "where two emotions are acceptable, the more probable one counts"
FIRST_OUTSIDER = "by an outsider"
OUTSIDERS = {  # accepted emotions, kind, turns
    FIRST_OUTSIDER: Path(__file__).with_name("outsider.tsv"),
    "by a second outsider": Path(__file__).with_name("second_outsider.tsv"),
}
SHORT_NAMES = {
    "emocontext": "EmoContext",
    "emotionx-friends": "EmotionX Friends",
    "emotionx-push": "EmotionX EmotionPush",
    "iest": "IEST",
}


@dataclass(frozen=True, slots=True)
class DataSet:
    """Labelled data that a label set is scored on."""

    head: str
    name: str
    split: str
    read: Callable[[Path], list[Example]]
    metric: Metric
    notes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()  # the order to show them in


def goemotions_test(root: Path) -> list[Example]:
    """Reddit comments with one emotion."""
    comments = read_goemotions(root / "auxiliary" / "goemotions" / "ekman", "test")
    return [Example(Dialogue.of([text]), 0, label) for text, label in comments if label is not None]


def outsider_examples(path: Path) -> list[Example]:
    """Messages and dialogues written by somebody who knew neither data nor rules; `votes` has all accepted emotions."""
    examples = []
    for line in whole_text(path).splitlines():
        accepted, _, *turns = line.split("\t")
        labels = accepted.split("/")
        votes = {label: 2 - bool(place) for place, label in enumerate(labels)}
        examples.append(Example(Dialogue.of(turns), len(turns) - 1, labels[0], votes=votes))
    return examples


def _outsider(name: str) -> DataSet:
    def read(root: Path) -> list[Example]:
        del root
        return outsider_examples(OUTSIDERS[name])

    notes = (ACCEPTED, GUIDED) if name == FIRST_OUTSIDER else (ACCEPTED,)
    return DataSet("general", "Messages and dialogues", name, read, standard_metric("macro-f1"), notes)


def _everyday(label: str, alone: bool) -> DataSet:
    def read(root: Path) -> list[Example]:
        del root
        return [e for e in everyday_examples(held_out=True) if (e.turn == 0) == alone]

    return DataSet("general", label, "held-out situations", read, standard_metric("macro-f1"), (ACCEPTED,))


DATA_SETS = (
    *map(_outsider, OUTSIDERS),
    _everyday("Everyday messages", alone=True),
    _everyday("Everyday dialogues", alone=False),
    DataSet(
        "general",
        "Everyday messages, after turns about something else",
        "held-out situations",
        lambda _: surrounded_examples(2_000, held_out=True),
        standard_metric("macro-f1"),
        (ACCEPTED, "after two turns of other dialogues, with another emotion"),
    ),
    DataSet(
        "emocontext",
        SHORT_NAMES["emocontext"],
        "dev (Test1)",
        lambda root: read_split(get_task("emocontext"), "dev", root),
        get_task("emocontext").metric,
        labels=get_task("emocontext").labels,
    ),
    DataSet(
        "general",
        "GoEmotions",
        "test",
        goemotions_test,
        standard_metric("macro-f1"),
        ("comments with several emotions are left out",),
    ),
)


def held_out_tenths() -> list[DataSet]:
    """The tenth of each task's training data that a student with hold_out=true is not trained on."""
    note = "measured on the student that was not trained on this tenth"

    def tenth(name: str) -> Callable[[Path], list[Example]]:
        return lambda root: [e for e in own_examples(name, FitContext(resources=root)) if is_held_out(e)]

    def seven(root: Path) -> list[Example]:
        found = [
            e for name in ("friends", "push") for e in pool_part(name, FitContext(resources=root)) if is_held_out(e)
        ]
        return [example for example in found if example.label in GENERAL]

    tasks = [get_task(name) for name in TASKS if name != "emocontext"]
    return [
        DataSet(
            "general",
            "EmotionX, seven emotions",
            HELD_OUT,
            seven,
            standard_metric("macro-f1"),
            (note,),
        ),
        *(
            DataSet(
                HEAD_OF[task.name],
                SHORT_NAMES[task.name],
                HELD_OUT,
                tenth(task.name),
                task.metric,
                (note,),
                task.labels,
            )
            for task in tasks
        ),
    ]
