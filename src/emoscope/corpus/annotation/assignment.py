"""Assign items to workers: state folded from an event log.

This module uses no clock, database or web page. `apply` folds an event into the state; the other methods return the
next event, or raise an error that says why there is none. Replaying the log gives the same state.

Every item is judged by a fixed number of workers, each at most once. A worker's current item reserves one of its
places for `HOLD_SECONDS`. Everyone gets gold questions. Workers who fail them are refused: their judgements no longer
count, and the items reopen for others.

A study may begin with rounds (see `rounds`), whose items everyone judges first, in order. Answers given in a round are
not judgements of the study.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from emoscope.core.errors import EmoscopeError
from emoscope.corpus.annotation.gold_questions import GoldCheck, GoldRules, checks, drawn
from emoscope.corpus.annotation.rounds import RoundName, Rounds, RoundScore

HOLD_SECONDS = 1800.0

Kind = Literal["given", "judged", "skipped", "undone", "revised", "imported"]


class NotPossibleError(EmoscopeError):
    """A worker's request is not possible; the message is shown to the worker."""


@dataclass(frozen=True, slots=True)
class LabelChoice:
    """A label, and other labels the worker considered possible."""

    label: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """What a worker did with an item, and when, in seconds."""

    kind: Kind
    worker: str
    item: str
    at: float
    answers: tuple[LabelChoice, ...] = ()


@dataclass(frozen=True, slots=True)
class Places:
    """How many workers judge an item: `judges` for a share `overlap` of the items, one for the rest.

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
        """The number of judges of the item at this position."""
        return self.judges if int((position + 1) * self.overlap) > int(position * self.overlap) else 1


@dataclass(frozen=True, slots=True)
class WorkerStanding:
    """A worker's progress: items done, items left, and gold question results."""

    judged: int
    skipped: int
    left: int
    gold_right: int
    gold_answers: int
    refused: bool
    training: RoundScore | None = None
    qualification: RoundScore | None = None


@dataclass(slots=True)
class WorkerState:
    """A worker's done and current items; a request made at a different number of `events` is stale."""

    done: dict[str, Event] = field(default_factory=dict)  # by item, in the order they were done
    current: str | None = None
    held_since: float = 0.0
    draft: tuple[LabelChoice, ...] = ()  # the answers the current item had before it was undone
    right: int = 0
    answers: int = 0
    events: int = 0
    refused: bool = False


class Assignment:
    """The state of a study; `items` maps each item to its correct answers, None where unknown.

    >>> desk = Assignment({"a": (None,), "b": (None,)}, Places(judges=1))
    >>> given = desk.next("ann", at=0.0)
    >>> desk.apply(given)
    >>> desk.apply(desk.judge("ann", (LabelChoice("joy"),), at=5.0))
    >>> desk.standing("ann").judged, desk.next("ben", at=6.0).item != given.item
    (1, True)
    """

    def __init__(
        self,
        items: Mapping[str, Sequence[str | None]],
        places: Places | None = None,
        gold: GoldRules | None = None,
        *,
        seed: int = 1,
        rounds: Rounds | None = None,
    ) -> None:
        self._gold_rules = gold or GoldRules()
        self._seed = seed
        self._answers = dict(items)
        self._rounds = rounds or Rounds()
        self._gold = [name for name in items if self._is_gold(name) and self.round_of(name) is None]
        asked = [name for name in items if not self._is_gold(name) and self.round_of(name) is None]
        self._order = sorted(asked, key=lambda name: (drawn(seed, name), name))
        self._position = {name: position for position, name in enumerate(self._order)}
        self._wanted = [(places or Places()).of(position) for position in range(len(asked))]
        self._judges = [0] * len(asked)
        self._open = list(range(len(asked)))  # positions of items that need more judges, in order
        self._holders: dict[str, set[str]] = {}
        self._workers: dict[str, WorkerState] = {}

    # The state

    def at_hand(self, worker: str, at: float) -> str | None:
        """A worker's current item, unless its hold expired and others took the place."""
        item = self.worker(worker).current
        return item if item is not None and self._has_place(item, worker, at) else None

    def worker(self, name: str) -> WorkerState:
        """A worker's state; a new one for an unknown worker."""
        return self._workers.get(name) or WorkerState()

    def last_checks(self, worker: str) -> tuple[GoldCheck, ...]:
        """The checks of the worker's last answer, if it was to a gold question or a training item."""
        last = next(reversed(self.worker(worker).done.values()), None)
        if last is None or last.kind != "judged" or self.round_of(last.item) == "qualification":
            return ()
        return self._checks(last)

    def standing(self, worker: str) -> WorkerStanding:
        """A worker's progress."""
        state = self.worker(worker)
        asked = [event for event in state.done.values() if self.round_of(event.item) is None]
        judged = sum(event.kind == "judged" for event in asked)
        open_but_done = sum(self._is_open(item) for item in state.done)
        return WorkerStanding(
            judged=judged,
            skipped=len(asked) - judged,
            left=0 if state.refused else len(self._open) - open_but_done,
            gold_right=state.right,
            gold_answers=state.answers,
            refused=state.refused,
            training=self._score(state, "training"),
            qualification=self._score(state, self._rounds.decides) if self._rounds.decides else None,
        )

    def round_of(self, item: str) -> RoundName | None:
        """The round an item belongs to, if any."""
        return self._rounds.of(item)

    def last_item(self, worker: str) -> str | None:
        """The item the worker finished last."""
        return next(reversed(self.worker(worker).done), None)

    def earlier(self, worker: str) -> list[tuple[Event, str | None]]:
        """The worker's finished items in order, each with the reason it cannot be changed, if any."""
        return [(event, self._stands(event.item)) for event in self.worker(worker).done.values()]

    def judgements(self, *, refused: bool = False) -> list[Event]:
        """The current judgements by worker, in order; `refused` includes those of refused workers."""
        return [
            event
            for name in sorted(self._workers)
            if refused or not self._workers[name].refused
            for event in self._workers[name].done.values()
            if event.kind == "judged" and self.round_of(event.item) is None
        ]

    def judges(self) -> dict[str, tuple[int, int]]:
        """For each non-gold item, how many workers have judged it and how many should."""
        return dict(zip(self._order, zip(self._judges, self._wanted, strict=True), strict=True))

    # The next event

    def next(self, worker: str, at: float) -> Event | None:
        """The event that gives the worker an item; None if they already have one or none is left."""
        state = self.worker(worker)
        if state.refused:
            return None
        if state.current is not None:
            if at - state.held_since < HOLD_SECONDS:
                return None
            if self._has_place(state.current, worker, at):
                return Event("given", worker, state.current, at, state.draft)
        chosen = self._choose(worker, state, at)
        return None if chosen is None else Event("given", worker, chosen, at)

    def judge(self, worker: str, answers: Sequence[LabelChoice], at: float) -> Event:
        """The worker's judgement of the current item."""
        item = self._in_front_of(worker)
        self._check_number(item, answers)
        if not self._has_place(item, worker, at):
            raise NotPossibleError("it took a while, and others have judged this one since; here is the next")
        return Event("judged", worker, item, at, tuple(answers))

    def skip(self, worker: str, at: float) -> Event:
        """Skip the current item."""
        item = self._in_front_of(worker)
        if (part := self.round_of(item)) is not None:
            raise NotPossibleError(f"this one cannot be skipped: it is part of the {part}")
        return Event("skipped", worker, item, at)

    def revise(self, worker: str, place: int, answers: Sequence[LabelChoice], at: float) -> Event:
        """Change the answer to the worker's finished item number `place`, from 0; the current item stays."""
        state = self.worker(worker)
        done = list(state.done.values())
        if state.refused or not 0 <= place < len(done):
            raise NotPossibleError("there is no such earlier item")
        item = done[place].item
        if (stands := self._stands(item)) is not None:
            raise NotPossibleError(stands)
        self._check_number(item, answers)
        if done[place].kind == "skipped" and not self._has_place(item, worker, at):
            raise NotPossibleError("enough others have judged this one since you skipped it")
        return Event("revised", worker, item, at, tuple(answers))

    def undo(self, worker: str, at: float) -> Event:
        """Undo the worker's last action, passing over skipped items that others have completed since."""
        state = self.worker(worker)
        if state.refused:
            raise NotPossibleError("there is nothing to undo")
        for event in reversed(state.done.values()):
            if event.kind == "judged" and self._is_gold(event.item):  # the worker has seen the feedback
                raise NotPossibleError("the answer to a check question stands, and with it what was said before")
            if event.kind == "judged" or self._has_place(event.item, worker, at):
                return Event("undone", worker, event.item, at, event.answers)
        raise NotPossibleError("there is nothing to undo")

    def can_undo(self, worker: str, at: float) -> bool:
        """Whether there is something to undo."""
        try:
            return bool(self.undo(worker, at))
        except NotPossibleError:
            return False

    # Folding events

    def apply(self, event: Event) -> None:
        """Fold an event into the state."""
        worker = self._workers.setdefault(event.worker, WorkerState())
        worker.events += 1
        if event.kind in ("revised", "imported"):
            self._record(event, worker)
            return
        if worker.current is not None:
            self._holders[worker.current].discard(event.worker)
        worker.current, worker.draft = None, ()
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
                if worker.done.pop(event.item).kind == "judged":
                    self._count(event.item, -1)
                self._take(event, worker)

    def replay(self, events: Iterable[Event]) -> "Assignment":
        """Fold many events."""
        for event in events:
            self.apply(event)
        return self

    def _record(self, event: Event, worker: WorkerState) -> None:
        """Record a judgement that was revised or imported, usually not of the current item."""
        before = worker.done.get(event.item)
        worker.done[event.item] = replace(event, kind="judged")
        if worker.current == event.item:
            self._holders[event.item].discard(event.worker)
            worker.current, worker.draft = None, ()
        if before is None or before.kind != "judged":
            # Judgements of refused workers do not count.
            self._count(event.item, 0 if worker.refused else 1)
            self._check(event, worker)

    def _take(self, event: Event, worker: WorkerState) -> None:
        worker.current, worker.held_since, worker.draft = event.item, event.at, event.answers
        self._holders.setdefault(event.item, set()).add(event.worker)

    def _check(self, event: Event, worker: WorkerState) -> None:
        if (part := self.round_of(event.item)) is not None:
            if part == self._rounds.decides:
                score = self._score(worker, part)
                if score is not None and score.complete and not score.passed:
                    worker.refused = True
            return
        gold_checks = self._checks(event)
        worker.answers += len(gold_checks)
        worker.right += sum(check.right for check in gold_checks)
        if self._gold_rules.refuses(worker.right, worker.answers) and not worker.refused:
            worker.refused = True
            for done in worker.done.values():
                if done.kind == "judged":
                    self._count(done.item, -1)

    def _checks(self, event: Event) -> tuple[GoldCheck, ...]:
        return checks((answer.label for answer in event.answers), self._answers[event.item])

    def _score(self, state: WorkerState, name: RoundName) -> RoundScore | None:
        items = self._rounds.items(name)
        if not items:
            return None
        told = [
            check.right
            for item in items
            if (event := state.done.get(item)) is not None
            for check in self._checks(event)
        ]
        wanted = sum(answer is not None for item in items for answer in self._answers[item])
        needed = self._rounds.pass_mark if name == self._rounds.decides else None
        return RoundScore(sum(told), len(told), wanted, needed)

    def _stands(self, item: str) -> str | None:
        if self.round_of(item) is not None:
            return f"the answers of the {self.round_of(item)} stand"
        return "the answer to a check question stands" if self._is_gold(item) else None

    def _count(self, item: str, change: int) -> None:
        """Add or remove a judge of an item, unless it is a gold question."""
        position = self._position.get(item)
        if position is None:
            return
        was_open = self._is_open(item)
        self._judges[position] += change
        if self._is_open(item) and not was_open:
            insort(self._open, position)
        elif was_open and not self._is_open(item):
            del self._open[bisect_left(self._open, position)]

    def _is_gold(self, item: str) -> bool:
        return any(answer is not None for answer in self._answers[item])

    def _is_open(self, item: str) -> bool:
        position = self._position.get(item)
        return position is not None and self._judges[position] < self._wanted[position]

    def _has_place(self, item: str, worker: str, at: float) -> bool:
        """Whether the item needs another judge, counting other workers' holds."""
        position = self._position.get(item)
        if position is None:
            return True
        holding = sum(
            name != worker and at - self._workers[name].held_since < HOLD_SECONDS
            for name in self._holders.get(item, ())
        )
        return self._judges[position] + holding < self._wanted[position]

    def _choose(self, worker: str, state: WorkerState, at: float) -> str | None:
        for item in self._rounds.all:
            if item not in state.done:
                return item
        waiting = (self._order[position] for position in self._open)
        asked = next((item for item in waiting if item not in state.done and self._has_place(item, worker, at)), None)
        if asked is None or not self._gold_rules.due(self._seed, worker, len(state.done) - len(self._rounds.all)):
            return asked
        unmet = (name for name in self._gold if name not in state.done)
        return min(unmet, key=lambda name: (drawn(self._seed, worker, name), name), default=asked)

    def _check_number(self, item: str, answers: Sequence[LabelChoice]) -> None:
        if len(answers) != len(self._answers[item]):
            raise EmoscopeError(f"expected {len(self._answers[item])} answers, found {len(answers)}")

    def _in_front_of(self, worker: str) -> str:
        item = self.worker(worker).current
        if item is None:
            raise NotPossibleError("there is nothing to judge at the moment")
        return item
