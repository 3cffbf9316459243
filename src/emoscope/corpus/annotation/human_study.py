"""Human performance on a task: judgements scored against gold, alone and together, overall and on parts of the data.

Alone, every judgement counts as an answer, as in IEST's human study: `top1` is the share of correct best guesses,
`top2` the share where the correct label is the best guess or among the others named. Together, an item has one
answer, the judges' majority, like a system on a leaderboard; `top2` then considers the two labels named most.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import csv_rows
from emoscope.core.judgement import Judgement
from emoscope.core.metrics import class_scores, confusion_matrix, macro_f1
from emoscope.corpus.annotation.aggregate import Method, aggregate
from emoscope.corpus.annotation.formats import write_rows
from emoscope.corpus.annotation.items import example_names
from emoscope.corpus.annotation.workers import read_gold
from emoscope.evaluation.slices import SLICES
from emoscope.tasks import Task, get_task


@dataclass(frozen=True, slots=True)
class GoldFile:
    """A file of gold labels; `examples` holds the examples of an official file by name."""

    path: Path
    task: Task | None
    labels: Mapping[str, str]
    examples: Mapping[str, Example]

    @classmethod
    def read(cls, path: Path, task: str | None = None) -> "GoldFile":
        """Read a CSV file or, given a task's name, one of its official files."""
        if task is None:
            return cls(path, None, read_gold(path), {})
        official = get_task(task)
        examples = example_names(path, official.read(path))
        labels = {name: example.label for name, example in examples.items() if example.label is not None}
        if not labels:
            raise InputError(path, "has no labels: a study needs a labelled file")
        return cls(path, official, labels, examples)

    def grouping(self, by: str) -> Callable[[str], str]:
        """A function from an item's name to its group; a CSV file needs a column `text`."""
        slices = SLICES[by]
        examples = dict(self.examples)
        if not examples:
            for _, cells in csv_rows(self.path, ("task", "label", "text")):
                examples[cells["task"].strip()] = Example(Dialogue.of([cells["text"]]), turn=0)
        return lambda name: slices.group_of(examples[name])

    def write_answers(self, path: Path, answers: Mapping[str, str]) -> None:
        """Write answers as CSV or, for an official file, as a submission, which needs an answer to every item."""
        if self.task is None:
            write_rows(path, ["task", "label"], answers.items())
            return
        missing = [name for name in self.examples if name not in answers]
        if missing:
            raise EmoscopeError(
                f"{path}: a submission needs every item, and {len(missing):,} of {len(self.examples):,} were not "
                f"judged (the first is {missing[0]!r}); `humans` of a challenge takes judgements of a part"
            )
        examples = list(self.examples.values())
        self.task.write_submission(path, examples, [answers[name] for name in self.examples])


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """The number of answers and their accuracy; `top2` is None if nobody named a second label."""

    answers: int
    top1: float
    top2: float | None
    macro_f1: float


@dataclass(frozen=True, slots=True)
class HumanScores:
    """Human scores on some items, alone and together."""

    items: int
    alone: AnswerScores
    together: AnswerScores


@dataclass(frozen=True, slots=True)
class GoldLabelScores:
    """Single judgements of the items of one gold label: their number, the share correct, and the label's F1."""

    answers: int
    right: float
    f1: float


@dataclass(frozen=True, slots=True)
class HumanStudy(HumanScores):
    """The scores overall, by gold label and by group."""

    workers: int
    labels_named: float  # mean per judgement; the higher it is, the less `top2` means
    without_gold: int  # ignored judgements of items without a gold label
    unjudged: int
    per_label: dict[str, GoldLabelScores]
    confusion: dict[str, dict[str, int]]  # single judgements: gold label, then the best guess
    groups: dict[str, HumanScores]


def human_study(
    judgements: Sequence[Judgement],
    gold: Mapping[str, str],
    *,
    group_of: Callable[[str], str] | None = None,
    method: Method | str = Method.majority,
) -> tuple[HumanStudy, dict[str, str]]:
    """Score judgements against gold, and return the answers that `method` aggregates from each item's judges.

    >>> ann = [Judgement("1", "ann", "joy"), Judgement("2", "ann", "sad")]
    >>> study, answers = human_study([*ann, Judgement("1", "ben", "sad", ("joy",))], {"1": "joy", "2": "sad"})
    >>> round(study.alone.top1, 2), study.alone.top2, answers["2"]
    (0.67, 1.0, 'sad')
    """
    known = [judgement for judgement in judgements if judgement.task in gold]
    if not known:
        raise EmoscopeError("none of the judged tasks has a gold label; are they named alike?")
    answers = {result.task: result.label for result in aggregate(known, method)}
    two_best = _two_best(known, answers)
    with_others = any(judgement.others for judgement in known)

    def scores(tasks: Iterable[str]) -> HumanScores:
        among = set(tasks)
        single = [(gold[one.task], one.label, (one.label, *one.others)) for one in known if one.task in among]
        return HumanScores(
            items=len(among),
            alone=_scores(single, with_second=with_others),
            together=_scores([(gold[task], answers[task], two_best[task]) for task in sorted(among)]),
        )

    groups: defaultdict[str, list[str]] = defaultdict(list)
    if group_of is not None:
        for task in answers:
            groups[group_of(task)].append(task)
    overall = scores(answers)
    per_label, confusion = _per_label(known, gold)
    study = HumanStudy(
        overall.items,
        overall.alone,
        overall.together,
        workers=len({judgement.worker for judgement in known}),
        labels_named=sum(1 + len(judgement.others) for judgement in known) / len(known),
        without_gold=len(judgements) - len(known),
        unjudged=len(gold.keys() - answers.keys()),
        per_label=per_label,
        confusion=confusion,
        groups={group: scores(groups[group]) for group in sorted(groups)},
    )
    return study, answers


def _scores(answers: Sequence[tuple[str, str, Sequence[str]]], *, with_second: bool = True) -> AnswerScores:
    """Score answers, each given as gold label, answer, and the labels that `top2` considers."""
    gold = [expected for expected, _, _ in answers]
    labels = [label for _, label, _ in answers]
    return AnswerScores(
        answers=len(answers),
        top1=sum(expected == label for expected, label, _ in answers) / len(answers),
        top2=sum(expected in named for expected, _, named in answers) / len(answers) if with_second else None,
        macro_f1=float(macro_f1(confusion_matrix(gold, labels, sorted({*gold, *labels})))),
    )


def _two_best(judgements: Sequence[Judgement], answers: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The answer to each task and its runner-up; best guesses rank above other possible labels."""
    best: defaultdict[str, Counter[str]] = defaultdict(Counter)
    also: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for judgement in judgements:
        best[judgement.task][judgement.label] += 1
        also[judgement.task].update(judgement.others)
    two: dict[str, tuple[str, ...]] = {}
    for task, first in answers.items():
        rest = {*best[task], *also[task]} - {first}
        two[task] = (first, *sorted(rest, key=lambda label: (-best[task][label], -also[task][label], label))[:1])
    return two


def _per_label(
    judgements: Sequence[Judgement], gold: Mapping[str, str]
) -> tuple[dict[str, GoldLabelScores], dict[str, dict[str, int]]]:
    """The scores of each gold label, and the confusion matrix by names."""
    expected = [gold[judgement.task] for judgement in judgements]
    labels = [judgement.label for judgement in judgements]
    names = sorted({*expected, *labels})
    matrix = confusion_matrix(expected, labels, names)
    scores = class_scores(matrix)
    per_label = {
        name: GoldLabelScores(int(scores.support[place]), float(scores.recall[place]), float(scores.f1[place]))
        for place, name in enumerate(names)
    }
    return per_label, {
        name: dict(zip(names, row, strict=True)) for name, row in zip(names, matrix.tolist(), strict=True)
    }
