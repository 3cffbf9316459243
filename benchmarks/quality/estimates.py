"""Estimates of EmotionX's blind scores, noted where fold scores are printed; see benchmarks.quality.foretell."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.common.tables import read_json
from benchmarks.quality import places
from benchmarks.quality.data_sets import SHORT_NAMES
from emoscope.evaluation.card import four
from emoscope.evaluation.results import HeadResults, ModelResults

FOLDS = "folds of the training data"
_NOTE = "the [estimate](foretell.md) for the blind set"


def by_others(task: Mapping[str, Any], folds: float, *, learnt_meld: bool) -> dict[str, Any]:
    """The estimate for a system without fold labels: its fold score, changed as those of the others are on average."""
    rows = task["systems"].values()
    given = [row["without"] - row["folds"] for row in rows if row["without"]] if learnt_meld else []
    moved = folds + (float(np.mean(given)) if given else 0.0)
    ends = {
        end: moved + float(np.mean([row[end] - (row["without"] or row["folds"]) for row in rows]))
        for end in ("estimate", "low", "high")
    }
    return {"folds": folds, "without": moved if given else None, **ends}


def fold_scores(results: ModelResults) -> dict[str, float]:
    """The fold scores of a model by the names of the data."""
    return {head.data: head.score for head in results.heads if head.split == FOLDS}


def with_estimates(results: ModelResults) -> ModelResults:
    """Results in which every fold score of EmotionX has a note with the estimate of the blind score."""
    table = places.TABLES / "foretell.json"
    tasks = {SHORT_NAMES[name]: task for name, task in read_json(table)["tasks"].items()} if table.is_file() else {}
    heads = (
        _noted(head, tasks[head.data]) if head.split == FOLDS and head.data in tasks else head for head in results.heads
    )
    return results.model_copy(update={"heads": tuple(heads)})


def _noted(head: HeadResults, task: Mapping[str, Any]) -> HeadResults:
    found = by_others(task, head.score, learnt_meld=False)
    change = "overestimate" if task["evaluation_kappa"] < task["train_kappa"] else "underestimate"
    values = f"{four(found['estimate'])} (95 % interval {four(found['low'])} to {four(found['high'])})"
    others = [note for note in head.notes if not note.startswith(_NOTE)]
    return head.model_copy(update={"notes": (*others, f"{_NOTE} is {values}, as folds {change} that score")})
