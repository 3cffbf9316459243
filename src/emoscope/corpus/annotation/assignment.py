"""Who is asked what: a log of events, and the one place that decides which event may come next.

Nothing here knows of a clock, a database or a page. `apply` folds an event into the state; the other methods look at
the state and say which event should follow, or why none may. Whoever keeps the log keeps the study: folding it again
gives the same state.

Every item is judged by so many workers, and by none of them twice. Who has an item in front of them holds one of its
places, for `HOLD_SECONDS`. Gold questions are for everyone. Workers who fail them are refused: their judgements no
longer count, and the items are open to others again.
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from emoscope.core.errors import EmoscopeError
from emoscope.corpus.annotation.gold_questions import Check, GoldRules, checks, drawn

HOLD_SECONDS = 1800.0

Kind = Literal["given", "judged", "skipped", "undone"]


class NotPossibleError(EmoscopeError):
    """What a worker asked for cannot be done; the message is a sentence for them."""


@dataclass(frozen=True, slots=True)
class Question:
    """An item as far as assignment goes: its name, and for each answer it asks for the right one, where known."""

    name: str
    gold: tuple[str | None, ...] = (None,)

    @property
    def is_gold(self) -> bool:
        """Whether any answer to it can be checked."""
        return any(known is not None for known in self.gold)


@dataclass(frozen=True, slots=True)
class Answer:
    """A label, and others that the worker found possible."""

    label: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened between a worker and an item, at a time in seconds."""

    kind: Kind
    worker: str
    item: str
    at: float
    answers: tuple[Answer, ...] = ()


@dataclass(frozen=True, slots=True)
class Places:
    """How many judge an item: `judges` for this share of the items (`overlap`), one for the rest.

    >>> [Places(3, overlap=0.5).of(position) for position in range(4)]
    [1, 3, 1, 3]
    """

    judges: int = 7
    overlap: float = 1.0

    def __post_init__(self) -> None:
        if self.judges < 1:
            raise EmoscopeError(f"an item needs at least 1 judge, not {self.judges}")
        if not 0 <= self.overlap <= 1:
            raise EmoscopeError(f"the share of items with several judges must lie between 0 and 1, not {self.overlap}")

    def of(self, position: int) -> int:
        """The number of judges of the item at this place in the order."""
        return self.judges if int((position + 1) * self.overlap) > int(position * self.overlap) else 1


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a worker is: what they did, what is open to them, and how they did on gold questions."""

    judged: int
    skipped: int
    left: int
    gold_right: int
    gold_answers: int
    refused: bool


@dataclass(slots=True)
class _Worker:
    done: dict[str, Event] = field(default_factory=dict)  # by item, in the order they were done
    hand: str | None = None  # the item in front of them
    held_since: float = 0.0
    draft: tuple[Answer, ...] = ()  # what was said of the item at hand before it was undone
    right: int = 0
    answers: int = 0
    events: int = 0
    refused: bool = False


class Assignment:
    """The state of a study.

    >>> desk = Assignment([Question("a"), Question("b")], Places(judges=1))
    >>> given = desk.next("ann", at=0.0)
    >>> desk.apply(given)
    >>> desk.apply(desk.judge("ann", (Answer("joy"),), at=5.0))
    >>> desk.standing("ann").judged, desk.next("ben", at=6.0).item != given.item
    (1, True)
    """

    def __init__(
        self,
        questions: Sequence[Question],
        places: Places | None = None,
        gold: GoldRules | None = None,
        *,
        seed: int = 1,
    ) -> None:
        self._gold_rules = gold or GoldRules()
        self._seed = seed
        self._questions = {question.name: question for question in questions}
        if len(self._questions) != len(questions):
            raise EmoscopeError("two items have the same name")
        self._gold = [question.name for question in questions if question.is_gold]
        asked = [question.name for question in questions if not question.is_gold]
        self._order = sorted(asked, key=lambda name: (drawn(seed, name), name))
        self._position = {name: position for position, name in enumerate(self._order)}
        self._wanted = [(places or Places()).of(position) for position in range(len(asked))]
        self._judges = [0] * len(asked)
        self._open = list(range(len(asked)))  # positions of items that lack a judge, in order
        self._holders: dict[str, set[str]] = {}
        self._workers: dict[str, _Worker] = {}

    # What is so

    def at_hand(self, worker: str, at: float) -> str | None:
        """The item in front of a worker, unless it was held for too long and others have taken the place."""
        item = self._worker(worker).hand
        return item if item is not None and self._has_place(item, worker, at) else None

    def draft(self, worker: str) -> tuple[Answer, ...]:
        """What the worker said of the item at hand before undoing it."""
        return self._worker(worker).draft

    def version(self, worker: str) -> int:
        """The number of events of this worker; a request that was made at another one is out of date."""
        return self._worker(worker).events

    def is_refused(self, worker: str) -> bool:
        """Whether the worker has failed the gold questions."""
        return self._worker(worker).refused

    def last_checks(self, worker: str) -> tuple[Check, ...]:
        """What the worker is to be told of the last thing they did: nothing, unless it was a gold question."""
        last = next(reversed(self._worker(worker).done.values()), None)
        if last is None or last.kind != "judged":
            return ()
        return checks((answer.label for answer in last.answers), self._questions[last.item].gold)

    def standing(self, worker: str) -> Standing:
        """How far a worker is."""
        found = self._worker(worker)
        judged = sum(event.kind == "judged" for event in found.done.values())
        open_but_done = sum(self._is_open(item) for item in found.done)
        return Standing(
            judged=judged,
            skipped=len(found.done) - judged,
            left=0 if found.refused else len(self._open) - open_but_done,
            gold_right=found.right,
            gold_answers=found.answers,
            refused=found.refused,
        )

    def judgements(self, *, refused: bool = False) -> list[Event]:
        """The judgements that stand, by worker and in the order they were made; those of refused workers if asked."""
        return [
            event
            for name in sorted(self._workers)
            if refused or not self._workers[name].refused
            for event in self._workers[name].done.values()
            if event.kind == "judged"
        ]

    def judges(self) -> dict[str, tuple[int, int]]:
        """For each item that is not gold, how many have judged it and how many should."""
        counts = zip(self._order, zip(self._judges, self._wanted, strict=True), strict=True)
        return dict(counts)

    # What may happen next

    def next(self, worker: str, at: float) -> Event | None:
        """What the worker is to be given; None if they have something already, or nothing is left for them."""
        found = self._worker(worker)
        if found.refused:
            return None
        if found.hand is not None:
            if at - found.held_since < HOLD_SECONDS:
                return None
            if self._has_place(found.hand, worker, at):
                return Event("given", worker, found.hand, at, found.draft)
        chosen = self._choose(worker, found, at)
        return None if chosen is None else Event("given", worker, chosen, at)

    def judge(self, worker: str, answers: Sequence[Answer], at: float) -> Event:
        """The worker's judgement of the item at hand."""
        item = self._in_front_of(worker)
        if len(answers) != len(self._questions[item].gold):
            raise EmoscopeError(f"expected {len(self._questions[item].gold)} answers, found {len(answers)}")
        if not self._has_place(item, worker, at):
            raise NotPossibleError("it took a while, and others have judged this one since; here is the next")
        return Event("judged", worker, item, at, tuple(answers))

    def skip(self, worker: str, at: float) -> Event:
        """The worker leaves the item at hand to others."""
        return Event("skipped", worker, self._in_front_of(worker), at)

    def undo(self, worker: str, at: float) -> Event:
        """The worker takes back what they did last; it comes back to their hand.

        The answer to a gold question stands, or it could be given again once its feedback was seen. What was skipped
        and has since been judged by enough others is passed over.
        """
        found = self._worker(worker)
        if found.refused:
            raise NotPossibleError("there is nothing to undo")
        for event in reversed(found.done.values()):
            if event.kind == "judged" and self._questions[event.item].is_gold:
                raise NotPossibleError("the answer to a check question stands, and with it what was said before")
            if event.kind == "judged" or self._has_place(event.item, worker, at):
                return Event("undone", worker, event.item, at, event.answers)
        raise NotPossibleError("there is nothing to undo")

    def can_undo(self, worker: str, at: float) -> bool:
        """Whether `undo` would find something."""
        try:
            self.undo(worker, at)
        except NotPossibleError:
            return False
        return True

    # What has happened

    def apply(self, event: Event) -> None:
        """Fold an event into the state."""
        worker = self._workers.setdefault(event.worker, _Worker())
        worker.events += 1
        self._release(event.worker, worker)
        match event.kind:
            case "given":
                self._take(event, worker)
            case "judged":
                worker.done[event.item] = event
                self._count(event.item, 1)
                self._check(event, worker)
            case "skipped":
                worker.done[event.item] = event
            case "undone":
                taken_back = worker.done.pop(event.item)
                if taken_back.kind == "judged":
                    self._count(event.item, -1)
                self._take(event, worker)

    def replay(self, events: Iterable[Event]) -> "Assignment":
        """Fold many events."""
        for event in events:
            self.apply(event)
        return self

    def _worker(self, name: str) -> _Worker:
        return self._workers.get(name) or _Worker()

    def _take(self, event: Event, worker: _Worker) -> None:
        worker.hand, worker.held_since, worker.draft = event.item, event.at, event.answers
        self._holders.setdefault(event.item, set()).add(event.worker)

    def _release(self, name: str, worker: _Worker) -> None:
        if worker.hand is not None:
            self._holders[worker.hand].discard(name)
        worker.hand, worker.draft = None, ()

    def _check(self, event: Event, worker: _Worker) -> None:
        found = checks((answer.label for answer in event.answers), self._questions[event.item].gold)
        worker.answers += len(found)
        worker.right += sum(check.right for check in found)
        if self._gold_rules.refuses(worker.right, worker.answers) and not worker.refused:
            worker.refused = True
            for done in worker.done.values():
                if done.kind == "judged":
                    self._count(done.item, -1)

    def _count(self, item: str, change: int) -> None:
        """Count a judge in or out; gold questions are for everyone and not counted."""
        position = self._position.get(item)
        if position is None:
            return
        was_open = self._judges[position] < self._wanted[position]
        self._judges[position] += change
        is_open = self._judges[position] < self._wanted[position]
        if is_open and not was_open:
            insort(self._open, position)
        elif was_open and not is_open:
            del self._open[bisect_left(self._open, position)]

    def _is_open(self, item: str) -> bool:
        position = self._position.get(item)
        return position is not None and self._judges[position] < self._wanted[position]

    def _has_place(self, item: str, worker: str, at: float) -> bool:
        """Whether the item lacks a judge, those counted in who hold it now, other than this worker."""
        position = self._position.get(item)
        if position is None:
            return True
        holding = sum(
            name != worker and at - self._workers[name].held_since < HOLD_SECONDS
            for name in self._holders.get(item, ())
        )
        return self._judges[position] + holding < self._wanted[position]

    def _choose(self, worker: str, found: _Worker, at: float) -> str | None:
        asked = next(
            (
                self._order[position]
                for position in self._open
                if self._order[position] not in found.done and self._has_place(self._order[position], worker, at)
            ),
            None,
        )
        if asked is None or not self._gold_rules.due(self._seed, worker, len(found.done)):
            return asked
        unmet = (name for name in self._gold if name not in found.done)
        return min(unmet, key=lambda name: (drawn(self._seed, worker, name), name), default=asked)

    def _in_front_of(self, worker: str) -> str:
        item = self._worker(worker).hand
        if item is None:
            raise NotPossibleError("there is nothing to judge at the moment")
        return item


def judges_by_count(assignment: Assignment) -> dict[int, int]:
    """How many items have so many judges, from none to all."""
    return dict(sorted(Counter(have for have, _ in assignment.judges().values()).items()))
