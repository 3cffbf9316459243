"""Items to annotate: dialogues whose last turn gets a label, or every turn, as in EmotionX.

An item has one or more tasks, as annotation files call them. An item that asks for one label is one task of the same
name; the tasks of a whole dialogue `d7` are `d7:0`, `d7:1` and so on.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import parse_json, text_lines
from emoscope.core.judgement import Judgement, judgement_at
from emoscope.corpus.annotation.annotations import Annotations
from emoscope.corpus.annotation.assignment import LabelChoice
from emoscope.corpus.annotation.files import read_annotations
from emoscope.corpus.annotation.prodigy import is_prodigy
from emoscope.corpus.annotation.rounds import RoundName
from emoscope.tables import read_records, turn_columns
from emoscope.tasks import Task, get_task
from emoscope.tasks.emotionx import is_emotionx

LABELS = "happy,sad,angry,others"  # the default labels of a study

# Names reserved by annotation files and `task_data`; an input column `label` becomes `source_label`.
_FILE_COLUMNS = ("id", "task", "worker", "label", "other", "annotations", "Comments")
_RESERVED = frozenset((*_FILE_COLUMNS, "text", "turns", "speaker", "dialogue", "turn"))


@dataclass(frozen=True, slots=True)
class Item:
    """A dialogue whose last turn, or every turn (`whole`), is to be labelled; `data` holds its other columns.

    >>> Item("d7", (Turn("hi"), Turn("oh no")), whole=True).tasks
    ('d7:0', 'd7:1')
    """

    name: str
    turns: tuple[Turn, ...]
    whole: bool = False
    data: Mapping[str, Any] = field(default_factory=dict)
    round: RoundName | None = None
    why: tuple[str | None, ...] = ()  # the explanation of each correct answer, if any
    suggested: tuple[str | None, ...] = ()  # a model's label for each task

    @property
    def targets(self) -> tuple[int, ...]:
        """The positions of the turns to label."""
        return tuple(range(len(self.turns))) if self.whole else (len(self.turns) - 1,)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The name of each task."""
        return tuple(f"{self.name}:{turn}" for turn in self.targets) if self.whole else (self.name,)

    def task_data(self) -> dict[str, dict[str, Any]]:
        """The data of each task for annotation files."""
        if self.whole:
            return {
                task: {"text": turn.text, **_speaker(turn), "dialogue": self.name, "turn": position, **self.data}
                for position, (task, turn) in enumerate(zip(self.tasks, self.turns, strict=True))
            }
        texts: dict[str, Any] = {"text": "\n".join(turn.text for turn in self.turns)}
        if len(self.turns) > 1 or self.turns[0].speaker is not None:
            texts["turns"] = [{"text": turn.text, **_speaker(turn)} for turn in self.turns]
        return {self.name: {**texts, **self.data}}

    def suggestions(self) -> dict[str, str]:
        """A model's suggested label for each task."""
        return {task: label for task, label in zip(self.tasks, self.suggested, strict=False) if label is not None}


def _speaker(turn: Turn) -> dict[str, str]:
    return {} if turn.speaker is None else {"speaker": turn.speaker}


def read_items(path: str | Path, *, whole: bool = False) -> list[Item]:
    """Read items from a table of dialogues (CSV, TSV, JSONL, Parquet, lines), Label Studio's JSON or Prodigy's JSONL.

    A column `task` or `id` names them; otherwise they are numbered from 0. Annotators see no labels or other columns.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = file.write_text("id,turn1,turn2\\n7,hi,oh no\\n")
    >>> read_items(file)[0].tasks
    ('7',)
    """
    rows = _annotated(Path(path)) if Path(path).suffix == ".json" or _is_prodigy(Path(path)) else _table(path)
    items: dict[str, Item] = {}
    for row, name, dialogue, data in rows:
        # Annotation files must be able to store the name.
        task = judgement_at(path, row, name, "worker", "label").task
        if task in items:
            raise InputError(path, f"{task!r} names an item already", row=row)
        items[task] = Item(task, dialogue.turns, whole, data)
    if not items:
        raise InputError(path, "holds no items")
    return list(items.values())


def items_of(dialogues: Iterable[Dialogue], *, whole: bool = False) -> list[Item]:
    """Items from dialogues, named by their ids."""
    return [Item(str(dialogue.id), dialogue.turns, whole) for dialogue in dialogues]


def gold_of(items: Sequence[Item], gold: Mapping[str, str]) -> dict[str, tuple[str | None, ...]]:
    """The correct answers by item, None where unknown; a gold answer without a task is an error.

    >>> gold_of([Item("a", (Turn("hi"),)), Item("b", (Turn("ha"),))], {"b": "joy"})
    {'a': (None,), 'b': ('joy',)}
    """
    unused = dict(gold)
    answers = {item.name: tuple(unused.pop(task, None) for task in item.tasks) for item in items}
    if unused:
        first = next((task for item in items for task in item.tasks), "")
        raise EmoscopeError(f"gold question {next(iter(unused))!r} is not among the tasks, whose first is {first!r}")
    return answers


def in_round(items: Sequence[Item], name: RoundName, answers: Mapping[str, tuple[str, str]]) -> list[Item]:
    """Mark the items of a round and move them to the front, in order; `answers` has each task's label and explanation.

    >>> questions = [Item("a", (Turn("hi"),)), Item("b", (Turn("ha"),))]
    >>> [(item.name, item.round, item.why) for item in in_round(questions, "training", {"b": ("joy", "laughs")})]
    [('b', 'training', ('laughs',)), ('a', None, ())]
    """
    by_task = {task: item for item in items for task in item.tasks}
    if unknown := [task for task in answers if task not in by_task]:
        first = next(iter(by_task), "")
        raise EmoscopeError(f"{name} question {unknown[0]!r} is not among the tasks, whose first is {first!r}")
    marked: dict[str, Item] = {}
    for task in answers:
        item = by_task[task]
        if item.round is not None:
            raise EmoscopeError(f"{name} question {task!r} is in the {item.round} already")
        why = tuple(answers.get(own, ("", ""))[1] or None for own in item.tasks)
        marked[item.name] = replace(item, round=name, why=why if any(why) else ())
    return [*marked.values(), *(item for item in items if item.name not in marked)]


def annotations_of(items: Iterable[Item], judged: Iterable[tuple[str, str, Sequence[LabelChoice]]]) -> Annotations:
    """Build annotations of items from judgements given as worker, item and answers.

    >>> annotations = annotations_of([Item("a", (Turn("hi"),))], [("ann", "a", [LabelChoice("joy")])])
    >>> annotations.judgements[0].label, annotations.data["a"]["text"]
    ('joy', 'hi')
    """
    by_name = {item.name: item for item in items}
    judgements = tuple(
        Judgement(task, worker, answer.label, answer.others)
        for worker, name, answers in judged
        for task, answer in zip(by_name[name].tasks, answers, strict=True)
    )
    data = {
        task: {**own, **({"model_suggestion": suggested[task]} if task in suggested else {})}
        for item in by_name.values()
        for suggested in [item.suggestions()]
        for task, own in item.task_data().items()
    }
    return Annotations(judgements, data)


def example_names(path: Path, examples: Iterable[Example]) -> dict[str, Example]:
    """Examples by name: the dialogue's id, plus the turn (`7:2`) if dialogues have several turns to label."""
    everything = list(examples)
    last: dict[str, int] = {}
    for example in everything:
        last[str(example.dialogue.id)] = max(last.get(str(example.dialogue.id), 0), example.turn)
    whole = any(example.turn != last[str(example.dialogue.id)] for example in everything)
    named: dict[str, Example] = {}
    for example in everything:
        name = f"{example.dialogue.id}:{example.turn}" if whole else str(example.dialogue.id)
        if name in named:
            raise InputError(path, f"two examples have the id {name!r}; annotations could not tell them apart")
        named[name] = example
    return named


def task_items(task: Task, path: Path) -> list[Item]:
    """The items of an official file: whole dialogues if the task labels every turn."""
    named = example_names(path, task.read(path))
    dialogues = {str(example.dialogue.id): example.dialogue for example in named.values()}
    return items_of(dialogues.values(), whole=len(dialogues) != len(named))


def read_study(
    path: Path, task: str | None = None, labels: str | None = None, *, whole: bool = False
) -> tuple[list[Item], tuple[str, ...]]:
    """The items of a file to judge, and the labels to choose from; by default, those of the task's annotators.

    An EmotionX file needs no task: whole dialogues are judged with its seven labels.
    """
    if task is None and is_emotionx(path):
        task = "emotionx-friends"  # EmotionPush has the same format
    if task is None:
        items = read_items(path, whole=whole)
        offered: Iterable[str] = (labels or LABELS).split(",")
    else:
        official = get_task(task)
        items = task_items(official, path)
        offered = labels.split(",") if labels is not None else official.metadata.vote_labels or official.labels
        if whole and not all(item.whole for item in items):
            raise EmoscopeError(f"--whole-dialogues: {official.name} has one label a dialogue")
    return items, tuple(label.strip() for label in offered)


def _table(path: str | Path) -> Iterator[tuple[int | str, object, Dialogue, dict[str, Any]]]:
    for number, record in enumerate(read_records(str(path))):
        turns = set(turn_columns(record.columns))
        names = [record.columns[key] for key in ("task", "id") if record.columns.get(key) not in (None, "")]
        rest = {
            key: value
            for key, value in record.columns.items()
            if key not in turns and not (key in ("task", "id") and names and value == names[0])
        }
        yield record.row, names[0] if names else number, record.dialogue, _as_data(rest)


def _is_prodigy(path: Path) -> bool:
    if path.suffix != ".jsonl" or not path.is_file():
        return False
    row, line = next(((row, line) for row, line in text_lines(path) if line.strip()), (1, "{}"))
    first = parse_json(path, line, row)
    return isinstance(first, dict) and is_prodigy(first)


def _annotated(path: Path) -> Iterator[tuple[int | str, object, Dialogue, dict[str, Any]]]:
    for number, (name, data) in enumerate(read_annotations([path]).data.items(), start=1):
        turns = data.get("turns", [data["text"]] if "text" in data else None)
        if turns is None:
            raise InputError(path, "has neither 'text' nor 'turns' in its data", row=f"task {number:,}")
        try:
            if not isinstance(turns, list):
                raise EmoscopeError(f"a dialogue is a list of turns, not {type(turns).__name__}")
            dialogue = Dialogue.of(turns)
        except EmoscopeError as error:
            raise InputError(path, str(error), row=f"task {number:,}") from None
        rest = {key: value for key, value in data.items() if key not in ("turns", "text")}
        yield f"task {number:,}", name, dialogue, _as_data(rest)


def _as_data(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Convert columns to task data: rename reserved names, and make values JSON-serialisable."""
    return {
        f"source_{key}" if key in _RESERVED else key: value
        if isinstance(value, str | int | float | list | dict | None)
        else str(value)
        for key, value in columns.items()
    }
