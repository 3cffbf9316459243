"""How people do at a task: their judgements against gold, alone and together, and on parts of the data.

Alone, every judgement is an answer of its own, as in IEST's human study: `top1` is the share of best guesses that are
right, `top2` the share in which the right label is the best guess or among the others named. Together, an item has one
answer, that of most judges, as a system on a leaderboard has: then `top2` asks for the two labels named most.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.core.metrics import class_scores, confusion_matrix, macro_f1
from emoscope.corpus.annotation.aggregate import Method, aggregate
from emoscope.corpus.annotation.annotations import Judgement


@dataclass(frozen=True, slots=True)
class Score:
    """So many answers, and the shares of them that are right; `top2` is None where nobody named a second label."""

    answers: int
    top1: float
    top2: float | None
    macro_f1: float

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"answers": self.answers, "top1": self.top1, "top2": self.top2, "macro_f1": self.macro_f1}


@dataclass(frozen=True, slots=True)
class Part:
    """People on some items, alone and together."""

    items: int
    alone: Score
    together: Score

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"items": self.items, "alone": self.alone.as_dict(), "together": self.together.as_dict()}


@dataclass(frozen=True, slots=True)
class Label:
    """Single judgements on the items of one gold label: how many are right, and the F1 of the label."""

    answers: int
    right: float
    f1: float

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"answers": self.answers, "right": self.right, "f1": self.f1}


@dataclass(frozen=True, slots=True)
class HumanStudy:
    """The result: overall, by gold label and by group, with one answer for each judged item (`predictions`).

    `named` is how many labels a judgement names on average; the more, the less `top2` says. `without_gold` counts the
    judgements of items whose answer is not known, which are left out.
    """

    overall: Part
    workers: int
    named: float
    without_gold: int
    unjudged: int
    per_label: Mapping[str, Label]
    groups: Mapping[str, Part] = field(default_factory=dict)
    predictions: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; the predictions are not among them."""
        return {
            **self.overall.as_dict(),
            "workers": self.workers,
            "labels_named": self.named,
            "without_gold": self.without_gold,
            "unjudged": self.unjudged,
            "per_label": {label: one.as_dict() for label, one in self.per_label.items()},
            "groups": {group: part.as_dict() for group, part in self.groups.items()},
        }


def human_study(
    judgements: Sequence[Judgement],
    gold: Mapping[str, str],
    *,
    group_of: Callable[[str], str] | None = None,
    method: Method | str = Method.majority,
) -> HumanStudy:
    """Hold judgements to gold; `group_of` says which group a task belongs to, `method` how judges become one answer.

    >>> said = [Judgement("1", "ann", "joy"), Judgement("1", "ben", "sad", ("joy",)), Judgement("2", "ann", "sad")]
    >>> found = human_study(said, {"1": "joy", "2": "sad"})
    >>> round(found.overall.alone.top1, 2), found.overall.alone.top2
    (0.67, 1.0)
    """
    known = [said for said in judgements if said.task in gold]
    if not known:
        raise EmoscopeError("none of the judged tasks has a gold label; are they named alike?")
    predictions = {one.task: one.label for one in aggregate(known, method)}
    ranked = _ranked(known, predictions)
    with_others = any(said.others for said in known)

    def part(tasks: Iterable[str]) -> Part:
        among = set(tasks)
        single = [said for said in known if said.task in among]
        return Part(
            items=len(among),
            alone=_score(
                [(gold[said.task], said.label, (said.label, *said.others)) for said in single], with_second=with_others
            ),
            together=_score([(gold[task], predictions[task], ranked[task]) for task in sorted(among)]),
        )

    groups: defaultdict[str, list[str]] = defaultdict(list)
    if group_of is not None:
        for task in predictions:
            groups[group_of(task)].append(task)
    return HumanStudy(
        overall=part(predictions),
        workers=len({said.worker for said in known}),
        named=sum(1 + len(said.others) for said in known) / len(known),
        without_gold=len(judgements) - len(known),
        unjudged=len(gold.keys() - predictions.keys()),
        per_label=_per_label(known, gold),
        groups={group: part(groups[group]) for group in sorted(groups)},
        predictions=predictions,
    )


def _score(answers: Sequence[tuple[str, str, Sequence[str]]], *, with_second: bool = True) -> Score:
    """Scores of answers, each the gold label, the answer, and all labels that `top2` looks among."""
    right = [expected for expected, _, _ in answers]
    said = [label for _, label, _ in answers]
    names = sorted({*right, *said})
    return Score(
        answers=len(answers),
        top1=sum(expected == label for expected, label, _ in answers) / len(answers),
        top2=sum(expected in named for expected, _, named in answers) / len(answers) if with_second else None,
        macro_f1=float(macro_f1(confusion_matrix(right, said, names))),
    )


def _ranked(judgements: Sequence[Judgement], predictions: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The two labels that the judges of each task name most: best guesses count before others that might apply."""
    best: defaultdict[str, Counter[str]] = defaultdict(Counter)
    also: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for said in judgements:
        best[said.task][said.label] += 1
        also[said.task].update(said.others)
    found: dict[str, tuple[str, ...]] = {}
    for task, first in predictions.items():
        rest = sorted(
            {*best[task], *also[task]} - {first},
            key=lambda label: (-best[task][label], -also[task][label], label),
        )
        found[task] = (first, *rest[:1])
    return found


def _per_label(judgements: Sequence[Judgement], gold: Mapping[str, str]) -> dict[str, Label]:
    right = [gold[said.task] for said in judgements]
    said = [one.label for one in judgements]
    names = sorted({*right, *said})
    scores = class_scores(confusion_matrix(right, said, names))
    return {
        name: Label(int(scores.support[place]), float(scores.recall[place]), float(scores.f1[place]))
        for place, name in enumerate(names)
    }
