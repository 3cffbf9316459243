"""Whether a system errs where annotators disagree: its score per dialogue against their agreement on it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from emoscope.core.agreement import fleiss_kappa_per_label
from emoscope.core.errors import InputError
from emoscope.core.metrics import Floats, confusion_matrix
from emoscope.core.significance import Interval, percentile_interval, ranked
from emoscope.evaluation.error_analysis import examples_of, scores_on
from emoscope.evaluation.score import Gold, Scores, class_results, label_names
from emoscope.tasks import Task

GROUPS = 4
_ROWS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class AgreementGroup:
    """A group of dialogues: the lowest and highest agreement in it, and the scores on its items."""

    low: float
    high: float
    dialogues: int
    scores: Scores


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """One label: its share of the scored items, kappa of the votes for it, and the system's F1."""

    share: float
    kappa: float | None  # None if nobody voted for it
    f1: float


@dataclass(frozen=True, slots=True)
class AgreementRelation:
    """Agreement of the annotators beside the score of a system.

    The agreement on an utterance is the share of pairs of annotators who chose the same label; that of a dialogue is
    the mean over its scored utterances, and its score the share of them that is right. `correlation` is Spearman's,
    over dialogues, with an interval from resampling them.
    """

    dialogues: int
    correlation: float
    interval: Interval
    groups: tuple[AgreementGroup, ...]
    labels: Mapping[str, LabelAgreement]


def by_agreement(
    task: Task, gold: Gold, predicted: Sequence[str], *, samples: int = 10_000, seed: int = 0
) -> AgreementRelation:
    """Relate the annotators' agreement to the score of one system, which answered every item of `gold`.

    >>> by_agreement(task, read_gold(task, "friends.json"), labels).correlation  # doctest: +SKIP
    0.31
    """
    examples = examples_of(gold)
    voted = [item for item in gold.scored(task) if sum(examples[item].votes.values()) > 1]
    if not voted:
        raise InputError(gold.path or "gold", "has no votes of several annotators, which --by agreement needs")
    dialogues: dict[object, list[int]] = defaultdict(list)
    for item in voted:
        dialogues[examples[item].dialogue].append(item)
    items = list(dialogues.values())
    agreed = np.array([np.mean([_agreement(examples[item].votes) for item in each]) for each in items])
    right = np.array([np.mean([predicted[item] == gold.labels[item] for item in each]) for each in items])
    order = np.argsort(agreed, kind="stable")
    groups = [part for part in np.array_split(order, GROUPS) if len(part)]
    return AgreementRelation(
        dialogues=len(items),
        correlation=spearman(agreed, right),
        interval=percentile_interval(_resampled(agreed, right, samples, seed), level=0.95),
        groups=tuple(
            AgreementGroup(
                float(agreed[part[0]]),
                float(agreed[part[-1]]),
                len(part),
                scores_on(task, gold, predicted, [item for place in part.tolist() for item in items[place]]),
            )
            for part in groups
        ),
        labels=_by_label(task, gold, predicted, voted),
    )


def spearman(first: Floats, second: Floats) -> float:
    """Spearman's rank correlation, ties at their mean rank; 0 if one of the two is constant.

    >>> spearman(np.array([1.0, 2, 3]), np.array([10.0, 30, 20]))
    0.5
    """
    return float(_correlation(ranked(first)[0][None], ranked(second)[0][None])[0])


def _agreement(votes: Mapping[str, int]) -> float:
    count = sum(votes.values())
    return sum(each * (each - 1) for each in votes.values()) / (count * (count - 1))


def _correlation(first: Floats, second: Floats) -> Floats:
    """Pearson's correlation of each row with the same row of the other array."""
    first, second = (table - table.mean(1, keepdims=True) for table in (first, second))
    below = np.sqrt((first**2).sum(1) * (second**2).sum(1))
    correlation: Floats = np.divide((first * second).sum(1), below, out=np.zeros(len(below)), where=below > 0)
    return correlation


def _resampled(first: Floats, second: Floats, samples: int, seed: int) -> Floats:
    """The correlation on resampled dialogues; they keep their ranks among all, which hardly changes it."""
    rng = np.random.default_rng(seed)
    ranks = ranked(first)[0], ranked(second)[0]
    drawn = []
    for begin in range(0, samples, _ROWS_AT_ONCE):
        rows = rng.integers(0, len(first), (min(_ROWS_AT_ONCE, samples - begin), len(first)))
        drawn.append(_correlation(ranks[0][rows], ranks[1][rows]))
    return np.concatenate(drawn)


def _by_label(task: Task, gold: Gold, predicted: Sequence[str], voted: Sequence[int]) -> dict[str, LabelAgreement]:
    """The figures of each label; kappa is over all items with votes, scored or not, as in the EmotionX paper."""
    examples = examples_of(gold)
    names = list(dict.fromkeys(name for example in examples for name in example.votes))
    votes = np.array([[example.votes.get(name, 0) for name in names] for example in examples if example.votes])
    kappas = dict(zip(names, fleiss_kappa_per_label(votes).tolist(), strict=True))
    answers = [predicted[item] for item in voted]
    labels = label_names(task, answers)
    results = class_results(confusion_matrix([gold.labels[item] for item in voted], answers, labels), labels)
    kappas = {name: kappa for name, kappa in kappas.items() if not np.isnan(kappa)}
    return {
        label: LabelAgreement(results[label].support / len(voted), kappas.get(label), results[label].f1)
        for label in task.labels
    }
