"""The neutral class as in EmoContext: random dialogues, without those judged emotional."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TypeVar

from emoscope.core.errors import InputError
from emoscope.corpus.annotation.aggregate import Aggregated
from emoscope.corpus.mining.mine import OTHERS
from emoscope.tables import read_records

T = TypeVar("T", bound=Aggregated)


def random_tasks(candidates: str | Path, judged: Collection[str]) -> frozenset[str]:
    """The ids of the candidates that `mine` drew at random; an error if no candidate was judged."""
    mined_as = {
        str(record.columns.get("id", record.row)): record.columns.get("mined_as")
        for record in read_records(str(candidates))
    }
    if not any(mined_as.values()):
        raise InputError(
            candidates, "has no column 'mined_as'; expected the candidates that `emoscope corpus mine` wrote"
        )
    if mined_as.keys().isdisjoint(judged):
        raise InputError(candidates, "nobody has judged any of these candidates")
    return frozenset(task for task, label in mined_as.items() if label == OTHERS)


def without_emotional(labels: Iterable[T], tasks: Collection[str], neutral: str = OTHERS) -> list[T]:
    """Drop the labels of random dialogues that were judged emotional.

    >>> made = [Aggregated(task, label, {}, {}) for task, label in (("1", "sad"), ("2", "sad"), ("3", "others"))]
    >>> [each.task for each in without_emotional(made, {"2", "3"})]
    ['1', '3']
    """
    return [each for each in labels if each.task not in tasks or each.label == neutral]
