"""Statistics of a closed board: the best team for each class, and the distribution of scores."""

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from emoscope.server.challenge.views import ClassWinner, Entry, Statistics


def class_winners(teams: Sequence[Entry], scored: Collection[str] | None = None) -> tuple[ClassWinner, ...]:
    """The team with the best F1 for each class, the higher-ranked on ties; empty without per-class figures.

    `scored` are the classes that the metric is over, by default all: in EmoContext *others* would be every team's best.
    """
    entries = [entry for entry in teams if entry.per_class]
    known = dict.fromkeys(label for entry in entries for label in entry.per_class)
    labels = [label for label in known if scored is None or label in scored]
    f1 = {label: [entry.per_class[label]["f1"] for entry in entries] for label in labels}
    best = Counter(max(labels, key=lambda label: entry.per_class[label]["f1"]) for entry in entries)
    worst = Counter(min(labels, key=lambda label: entry.per_class[label]["f1"]) for entry in entries)
    winners = []
    for label in labels:
        winner = max(entries, key=lambda entry: entry.per_class[label]["f1"])
        figures = {name: winner.per_class[label][name] for name in ("precision", "recall", "f1")}
        counts = {"best_for": best[label], "worst_for": worst[label]}
        winners.append(
            ClassWinner(label=label, team=winner.name, mean_f1=float(np.mean(f1[label])), **figures, **counts)
        )
    return tuple(winners)


def statistics(scores: Sequence[float]) -> Statistics | None:
    """Largest, smallest, mean, median, quartiles and standard deviation of the teams' scores.

    >>> statistics([0.5, 0.7, 0.6]).median
    0.6
    """
    if not scores:
        return None
    first, median, third = (float(value) for value in np.quantile(scores, (0.25, 0.5, 0.75)))
    return Statistics(
        teams=len(scores),
        max=max(scores),
        min=min(scores),
        mean=float(np.mean(scores)),
        median=median,
        first_quartile=first,
        third_quartile=third,
        deviation=float(np.std(scores, ddof=1)) if len(scores) > 1 else 0.0,
    )
