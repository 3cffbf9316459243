"""Models of annotators, through crowd-kit: Dawid-Skene and MACE."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from emoscope.core.extras import require
from emoscope.corpus.annotation.annotations import Judgement

Soft = Mapping[str, Mapping[str, float]]  # by task, then label


def dawid_skene(judgements: Sequence[Judgement], *, iterations: int = 100) -> Soft:
    """The probability of each label of each task, where every worker has a matrix of confusions (Dawid and Skene 1979).

    >>> said = [Judgement(task, worker, "joy") for task in "12" for worker in "abc"]
    >>> round(dawid_skene([*said, Judgement("3", "a", "sad")])["3"]["sad"], 2)  # doctest: +SKIP
    1.0
    """
    return _learn(judgements, lambda kit: kit.DawidSkene(n_iter=iterations))


def mace(judgements: Sequence[Judgement], *, iterations: int = 50, seed: int = 0) -> Soft:
    """The probability of each label of each task, where every worker at times guesses (Hovy et al. 2013).

    crowd-kit starts each of its restarts from the same seed, so one is all of them.
    """
    return _learn(judgements, lambda kit: kit.MACE(n_restarts=1, n_iter=iterations, random_state=seed))


def _learn(judgements: Sequence[Judgement], make: Callable[[ModuleType], Any]) -> Soft:
    pandas = require("pandas", extra="corpus")
    kit = _crowd_kit()
    rows = sorted(judgements)  # the order of rows must not matter, not even in the last digit
    tasks, workers, labels = ([getattr(row, name) for row in rows] for name in ("task", "worker", "label"))
    # Numbers in the order of appearance: MACE confuses workers and labels that appear in another order than they sort.
    names = [list(dict.fromkeys(column)) for column in (tasks, workers, labels)]
    codes = [{name: code for code, name in enumerate(own)} for own in names]
    table = pandas.DataFrame(
        {
            name: [code[value] for value in column]
            for name, code, column in zip(("task", "worker", "label"), codes, (tasks, workers, labels), strict=True)
        }
    )
    with _no_deprecations():
        found = make(kit).fit_predict_proba(table)
    ordered = sorted(names[2])
    values = found.reindex(columns=[codes[2][label] for label in ordered], fill_value=0.0)
    # MACE gives weights that do not sum to one.
    shares = values.div(values.sum(axis=1), axis=0).to_numpy()
    return {
        names[0][int(code)]: dict(zip(ordered, (float(share) for share in row), strict=True))
        for code, row in zip(values.index, shares, strict=True)
    }


def _crowd_kit() -> ModuleType:
    with _no_deprecations():
        return require("crowdkit.aggregation.classification", extra="corpus")


@contextmanager
def _no_deprecations() -> Iterator[None]:
    """crowd-kit uses what newer versions of pandas say will go: nothing a user could mend."""
    with warnings.catch_warnings():
        for category in (DeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", category)
        yield
