"""Aggregate annotators' judgements into one label and soft labels per task.

| method | the label is | soft labels |
|---|---|---|
| majority | the one with the most votes; a tie goes to the fallback label, if one is given | shares of the votes |
| absolute | the one with more than half of the votes, otherwise the fallback label | shares of the votes |
| dawid-skene | the most likely one, given each worker's confusions | probabilities |
| mace | the most likely one, given how often each worker guesses | probabilities |

A tie not settled by the fallback goes to the label with more votes on the task, then the one with more votes overall,
then the first alphabetically. The order of rows never matters.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import ModuleType
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.core.judgement import Judgement
from emoscope.corpus.annotation.annotations import votes_of

FALLBACK = "non-neutral"
_TIED = 1e-9  # equal probabilities may differ in their last digits

Votes = Mapping[str, Mapping[str, int]]  # by task, then label
Soft = Mapping[str, Mapping[str, float]]


class Method(StrEnum):
    """How votes become a label."""

    majority = "majority"
    absolute = "absolute"
    dawid_skene = "dawid-skene"
    mace = "mace"


@dataclass(frozen=True, slots=True)
class Aggregated:
    """A task's label, label probabilities and votes, and whether a tie or the fallback decided."""

    task: str
    label: str
    soft: dict[str, float]  # without the fallback label
    votes: dict[str, int]
    tied: bool = False
    fallback: bool = False


def dawid_skene(judgements: Sequence[Judgement], *, iterations: int = 100) -> Soft:
    """Label probabilities of each task, modelling each worker's confusion matrix (Dawid and Skene 1979).

    >>> judgements = [Judgement(task, worker, "joy") for task in "12" for worker in "abc"]
    >>> round(dawid_skene([*judgements, Judgement("3", "a", "sad")])["3"]["sad"], 2)  # doctest: +SKIP
    1.0
    """
    return _fit(judgements, lambda kit: kit.DawidSkene(n_iter=iterations))


def mace(judgements: Sequence[Judgement], *, iterations: int = 50, seed: int = 0) -> Soft:
    """Label probabilities of each task, modelling how often each worker guesses (Hovy et al. 2013)."""
    # crowd-kit seeds every restart the same, so one is enough.
    return _fit(judgements, lambda kit: kit.MACE(n_restarts=1, n_iter=iterations, random_state=seed))


def _fit(judgements: Sequence[Judgement], model: Callable[[ModuleType], Any]) -> Soft:
    pandas = require("pandas", extra="corpus")
    rows = sorted(judgements)  # makes the result independent of row order, to the last digit
    columns = {name: [getattr(row, name) for row in rows] for name in ("task", "worker", "label")}
    # Number codes by first appearance: MACE mixes up workers and labels whose order of appearance is not sorted.
    names = {name: list(dict.fromkeys(values)) for name, values in columns.items()}
    codes = {name: {value: code for code, value in enumerate(own)} for name, own in names.items()}
    table = pandas.DataFrame({name: [codes[name][value] for value in values] for name, values in columns.items()})
    with warnings.catch_warnings():  # crowd-kit triggers pandas deprecation warnings that users cannot fix
        for category in (DeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", category)
        kit = require("crowdkit.aggregation.classification", extra="corpus")
        weights = model(kit).fit_predict_proba(table)
    labels = sorted(names["label"])
    weights = weights.reindex(columns=[codes["label"][label] for label in labels], fill_value=0.0)
    # MACE's weights do not sum to one.
    shares = weights.div(weights.sum(axis=1), axis=0).to_numpy()
    return {
        names["task"][int(code)]: dict(zip(labels, map(float, row), strict=True))
        for code, row in zip(weights.index, shares, strict=True)
    }


# Methods that model annotators; the others count votes.
_MODELS: Mapping[Method, Callable[[Sequence[Judgement]], Soft]] = {Method.dawid_skene: dawid_skene, Method.mace: mace}


def aggregate(
    judgements: Sequence[Judgement], method: Method | str = Method.majority, *, fallback: str | None = None
) -> list[Aggregated]:
    """The label of each task, in the order the tasks were first judged.

    >>> judgements = [Judgement("1", "ann", "joy"), Judgement("1", "ben", "joy"), Judgement("1", "cal", "sad")]
    >>> aggregate(judgements)[0].label, aggregate(judgements)[0].soft["sad"]
    ('joy', 0.3333333333333333)
    """
    votes = votes_of(judgements)
    model = _MODELS.get(Method(method))
    if model is None:
        return aggregate_votes(votes, method, fallback=fallback)
    if fallback is not None:
        raise EmoscopeError(f"a fallback label is for majority and absolute, not for {Method(method).value}")
    if not judgements:
        return []
    rank, probabilities = _rank(votes), model(judgements)
    results = []
    for task, counts in votes.items():
        soft = dict(probabilities[task])
        level = [label for label, value in soft.items() if value >= max(soft.values()) - _TIED]
        best = min(level, key=lambda label: (-counts.get(label, 0), rank[label]))
        results.append(Aggregated(task, best, soft, dict(sorted(counts.items())), tied=len(level) > 1))
    return results


def aggregate_votes(
    votes: Votes, method: Method | str = Method.majority, *, fallback: str | None = None
) -> list[Aggregated]:
    """The label of each task from anonymous votes, by majority or absolute majority.

    >>> results = aggregate_votes({"1": {"joy": 2, "sad": 2, "fear": 1}, "2": {"joy": 3, "sad": 2}}, "absolute")
    >>> [result.label for result in results]
    ['non-neutral', 'joy']
    """
    chosen = Method(method)
    if chosen in _MODELS:
        raise EmoscopeError(f"{chosen.value} needs to know who gave each label; these files hold votes without names")
    rank = _rank(votes)
    results: list[Aggregated] = []
    for task, counted in votes.items():
        counts = {label: count for label, count in sorted(counted.items()) if count}
        if not counts:
            continue
        total = sum(counts.values())
        soft = {label: count / total for label, count in counts.items()}
        best = min(counts, key=lambda label: (-counts[label], rank[label]))
        tied = list(counts.values()).count(counts[best]) > 1
        undecided = 2 * counts[best] <= total if chosen is Method.absolute else tied and fallback is not None
        label = (fallback or FALLBACK) if undecided else best
        results.append(Aggregated(task, label, soft, counts, tied, undecided))
    return results


def _rank(votes: Votes) -> dict[str, int]:
    """Rank labels for ties: by total votes, then alphabetically."""
    totals: Counter[str] = Counter()
    for counts in votes.values():
        totals.update(counts)
    return {label: place for place, label in enumerate(sorted(totals, key=lambda label: (-totals[label], label)))}
