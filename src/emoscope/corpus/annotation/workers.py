"""Who can be trusted: answers to gold questions, and a report of each annotator."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.corpus.annotation.aggregate import Aggregated
from emoscope.corpus.annotation.annotations import Judgement, judgement_at
from emoscope.corpus.annotation.csv_files import read_rows

MIN_GOLD = 0.7
# With fewer answers, one slip refuses a good worker; from four on, it takes two.
GOLD_LEAST = 4


@dataclass(frozen=True, slots=True)
class Sifted:
    """Judgements after the gold questions: those to aggregate, and who was refused.

    `gold` has the numbers of right and of all answers to gold questions, by worker. `kept` holds no gold question.
    `judged` are those who answered enough of them to be refused or trusted.
    """

    kept: tuple[Judgement, ...]
    discarded: tuple[Judgement, ...]
    gold: Mapping[str, tuple[int, int]]
    judged: frozenset[str]
    refused: frozenset[str]


@dataclass(frozen=True, slots=True)
class Worker:
    """One annotator: judgements other than gold questions, the share of them equal to the aggregate, gold answers."""

    worker: str
    judgements: int
    agreement: float | None
    gold_answers: int
    gold_accuracy: float | None
    judged: bool  # answered enough gold questions to be refused or trusted
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


def sift(
    judgements: Iterable[Judgement],
    gold: Mapping[str, str],
    *,
    min_gold: float = MIN_GOLD,
    gold_least: int = GOLD_LEAST,
) -> Sifted:
    """Refuse workers whose share of right answers to gold questions is under `min_gold`, and discard all they did.

    Who answered fewer than `gold_least` gold questions is not refused: so few say little.

    >>> said = [Judgement("g", "ann", "joy"), Judgement("g", "ben", "sad"), Judgement("1", "ann", "joy")]
    >>> sift(said, {"g": "joy"}).refused, sift(said, {"g": "joy"}, gold_least=1).refused
    (frozenset(), frozenset({'ben'}))
    """
    if not 0 <= min_gold <= 1:
        raise EmoscopeError(f"the least share of right gold answers must lie between 0 and 1, not {min_gold}")
    if gold_least < 1:
        raise EmoscopeError(f"the least number of gold answers must be 1 or more, not {gold_least}")
    every = tuple(judgements)
    answers: defaultdict[str, list[bool]] = defaultdict(list)
    for said in every:
        if said.task in gold:
            answers[said.worker].append(said.label == gold[said.task])
    scores = {worker: (sum(right), len(right)) for worker, right in answers.items()}
    judged = frozenset(worker for worker, (_, total) in scores.items() if total >= gold_least)
    refused = frozenset(worker for worker in judged if scores[worker][0] / scores[worker][1] < min_gold)
    asked = [said for said in every if said.task not in gold]
    return Sifted(
        kept=tuple(said for said in asked if said.worker not in refused),
        discarded=tuple(said for said in asked if said.worker in refused),
        gold=scores,
        judged=judged,
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
                judged=worker in sifted.judged,
                refused=worker in sifted.refused,
            )
        )
    return found
