"""Who can be trusted: answers to gold questions, and a report of each annotator."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emoscope.corpus.aggregate import Aggregated
from emoscope.corpus.annotations import Judgement, judgement_at
from emoscope.corpus.annotations_csv import read_rows
from emoscope.errors import EmoscopeError, InputError

MIN_GOLD = 0.7


@dataclass(frozen=True, slots=True)
class Sifted:
    """Judgements after the gold questions: those to aggregate, and who was refused.

    `gold` has the numbers of right and of all answers to gold questions, by worker. `kept` holds no gold question.
    """

    kept: tuple[Judgement, ...]
    discarded: tuple[Judgement, ...]
    gold: Mapping[str, tuple[int, int]]
    refused: frozenset[str]


@dataclass(frozen=True, slots=True)
class Worker:
    """One annotator: judgements other than gold questions, the share of them equal to the aggregate, gold answers."""

    worker: str
    judgements: int
    agreement: float | None
    gold_answers: int
    gold_accuracy: float | None
    refused: bool

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


def read_gold(path: str | Path) -> dict[str, str]:
    """The right answers to gold questions, from a CSV file with the columns `task,label`."""
    file = Path(path)
    found: dict[str, str] = {}
    for row, cells in read_rows(file, ("task", "label")):
        answer = judgement_at(file, row, cells["task"], "gold", cells["label"], None)
        if answer.task in found:
            raise InputError(file, f"task {answer.task!r} has an answer already", row=row)
        found[answer.task] = answer.label
    return found


def sift(judgements: Iterable[Judgement], gold: Mapping[str, str], *, min_gold: float = MIN_GOLD) -> Sifted:
    """Refuse workers whose share of right answers to gold questions is under `min_gold`, and discard all they did.

    Who met no gold question is not refused.

    >>> said = [Judgement("g", "ann", "joy"), Judgement("g", "ben", "sad"), Judgement("1", "ann", "joy")]
    >>> sift(said, {"g": "joy"}).refused
    frozenset({'ben'})
    """
    if not 0 <= min_gold <= 1:
        raise EmoscopeError(f"the least share of right gold answers must lie between 0 and 1, not {min_gold}")
    every = tuple(judgements)
    answers: defaultdict[str, list[bool]] = defaultdict(list)
    for said in every:
        if said.task in gold:
            answers[said.worker].append(said.label == gold[said.task])
    scores = {worker: (sum(right), len(right)) for worker, right in answers.items()}
    refused = frozenset(worker for worker, (right, total) in scores.items() if right / total < min_gold)
    asked = [said for said in every if said.task not in gold]
    return Sifted(
        kept=tuple(said for said in asked if said.worker not in refused),
        discarded=tuple(said for said in asked if said.worker in refused),
        gold=scores,
        refused=refused,
    )


def worker_report(sifted: Sifted, aggregated: Sequence[Aggregated]) -> list[Worker]:
    """Every annotator by name, those refused too. Tasks that got the fallback label say nothing about agreement."""
    labels = {one.task: one.label for one in aggregated if not one.fallback}
    judged: defaultdict[str, list[Judgement]] = defaultdict(list)
    for said in (*sifted.kept, *sifted.discarded):
        judged[said.worker].append(said)
    found: list[Worker] = []
    for worker in sorted({*judged, *sifted.gold}):
        own = judged[worker]
        compared = [said.label == labels[said.task] for said in own if said.task in labels]
        right, answers = sifted.gold.get(worker, (0, 0))
        found.append(
            Worker(
                worker=worker,
                judgements=len(own),
                agreement=sum(compared) / len(compared) if compared else None,
                gold_answers=answers,
                gold_accuracy=right / answers if answers else None,
                refused=worker in sifted.refused,
            )
        )
    return found
