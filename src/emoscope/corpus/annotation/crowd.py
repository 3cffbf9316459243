"""Models of annotators: crowd-kit's Dawid-Skene and MACE."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from emoscope.core.extras import require
from emoscope.core.judgement import Judgement

Soft = Mapping[str, Mapping[str, float]]  # by task, then label


def dawid_skene(judgements: Sequence[Judgement], *, iterations: int = 100) -> Soft:
    """The probability of each label of each task; every worker has a confusion matrix (Dawid and Skene 1979).

    >>> judgements = [Judgement(task, worker, "joy") for task in "12" for worker in "abc"]
    >>> round(dawid_skene([*judgements, Judgement("3", "a", "sad")])["3"]["sad"], 2)  # doctest: +SKIP
    1.0
    """
    return _fit(judgements, lambda kit: kit.DawidSkene(n_iter=iterations))


def mace(judgements: Sequence[Judgement], *, iterations: int = 50, seed: int = 0) -> Soft:
    """The probability of each label of each task; every worker guesses at times (Hovy et al. 2013)."""
    # crowd-kit starts each restart from the same seed, so one is enough.
    return _fit(judgements, lambda kit: kit.MACE(n_restarts=1, n_iter=iterations, random_state=seed))


def _fit(judgements: Sequence[Judgement], model: Callable[[ModuleType], Any]) -> Soft:
    pandas = require("pandas", extra="corpus")
    rows = sorted(judgements)  # the order of rows must not matter, not even in the last digit
    columns = {name: [getattr(row, name) for row in rows] for name in ("task", "worker", "label")}
    # Codes in the order of appearance: MACE confuses workers and labels that appear in another order than they sort.
    names = {name: list(dict.fromkeys(values)) for name, values in columns.items()}
    codes = {name: {value: code for code, value in enumerate(own)} for name, own in names.items()}
    table = pandas.DataFrame({name: [codes[name][value] for value in values] for name, values in columns.items()})
    with warnings.catch_warnings():  # crowd-kit runs into deprecations of pandas, which no user can mend
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
