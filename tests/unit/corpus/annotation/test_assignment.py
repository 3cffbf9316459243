"""Assignment of items: no item gets too many judges, and no one judges an item twice."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from emoscope.core.errors import EmoscopeError
from emoscope.corpus.annotation.assignment import (
    HOLD_SECONDS,
    Assignment,
    Event,
    LabelChoice,
    NotPossibleError,
    Places,
)
from emoscope.corpus.annotation.gold_questions import GoldRules

JOY, SAD = (LabelChoice("joy"),), (LabelChoice("sad"),)
WORKERS = ("ann", "ben", "cal", "dan")


def questions(asked: int, gold: int = 0) -> dict[str, tuple[str | None, ...]]:
    return {f"q{n}": (None,) for n in range(asked)} | {f"g{n}": ("joy",) for n in range(gold)}


def work(desk: Assignment, worker: str, answers: tuple[LabelChoice, ...] = JOY, at: float = 0.0) -> str | None:
    """Give the worker an item and judge it; its name, or None if there was none."""
    event = desk.next(worker, at)
    if event is not None:
        desk.apply(event)
    item = desk.at_hand(worker, at)
    if item is not None:
        desk.apply(desk.judge(worker, answers, at))
    return item


def seen_of(desk: Assignment, log: list[Event], at: float) -> object:
    """All that can be seen of a state."""
    return (
        [(event.worker, event.item, event.answers) for event in desk.judgements(refused=True)],
        desk.judges(),
        {worker: (desk.at_hand(worker, at), desk.standing(worker)) for worker in {event.worker for event in log}},
    )


class Study(RuleBasedStateMachine):
    """Four workers do whatever they like, in any order, some slowly, some wrongly."""

    def __init__(self) -> None:
        super().__init__()
        self.made = (questions(5, gold=4), Places(2, overlap=0.6), GoldRules(0.5, 0.7, least_answers=2))
        self.desk = Assignment(*self.made, seed=3)
        self.log: list[Event] = []
        self.at = 0.0

    def happen(self, event: Event) -> None:
        self.desk.apply(event)
        self.log.append(event)

    @rule(worker=st.sampled_from(WORKERS))
    def comes(self, worker: str) -> None:
        event = self.desk.next(worker, self.at)
        if event is not None:
            assert not self.desk.worker(worker).refused
            self.happen(event)

    @rule(worker=st.sampled_from(WORKERS), label=st.sampled_from(["joy", "sad"]))
    def judges(self, worker: str, label: str) -> None:
        try:
            self.happen(self.desk.judge(worker, (LabelChoice(label),), self.at))
        except NotPossibleError:
            assert self.desk.at_hand(worker, self.at) is None

    @rule(worker=st.sampled_from(WORKERS))
    def skips(self, worker: str) -> None:
        try:
            self.happen(self.desk.skip(worker, self.at))
        except NotPossibleError:
            assert self.desk.at_hand(worker, self.at) is None

    @rule(worker=st.sampled_from(WORKERS))
    def undoes(self, worker: str) -> None:
        if self.desk.can_undo(worker, self.at):
            event = self.desk.undo(worker, self.at)
            self.happen(event)
            assert self.desk.at_hand(worker, self.at) == event.item
            assert self.desk.worker(worker).draft == event.answers

    @precondition(lambda self: any(self.desk.at_hand(worker, self.at) for worker in WORKERS))
    @rule(worker=st.sampled_from(WORKERS), label=st.sampled_from(["joy", "sad"]))
    def undo_restores_what_was_before_a_judgement(self, worker: str, label: str) -> None:
        item = self.desk.at_hand(worker, self.at)
        if item is None or item.startswith("g"):
            return
        before = seen_of(self.desk, self.own(worker), self.at)
        self.happen(self.desk.judge(worker, (LabelChoice(label),), self.at))
        self.happen(self.desk.undo(worker, self.at))
        assert seen_of(self.desk, self.own(worker), self.at) == before

    def own(self, worker: str) -> list[Event]:
        """A worker's part of the log: others may lose what they had held for too long to whoever comes back to it."""
        return [event for event in self.log if event.worker == worker]

    @rule(seconds=st.sampled_from([1.0, HOLD_SECONDS / 2, HOLD_SECONDS]))
    def time_passes(self, seconds: float) -> None:
        self.at += seconds

    @invariant()
    def no_item_has_more_judges_than_wanted(self) -> None:
        kept = Counter(event.item for event in self.desk.judgements() if event.item.startswith("q"))
        for item, (have, wanted) in self.desk.judges().items():
            assert have == kept[item] <= wanted

    @invariant()
    def nobody_judges_an_item_twice(self) -> None:
        pairs = Counter((event.worker, event.item) for event in self.desk.judgements(refused=True))
        assert not pairs or max(pairs.values()) == 1

    @invariant()
    def places_are_never_promised_twice(self) -> None:
        """Everyone who has an item at hand can judge it, whoever else does so first."""
        desk = Assignment(*self.made, seed=3).replay(self.log)
        for worker in WORKERS:
            held = desk.at_hand(worker, self.at)
            if held is not None and desk.next(worker, self.at) is None:
                desk.apply(desk.judge(worker, JOY, self.at))

    @invariant()
    def the_log_gives_the_same_state_again(self) -> None:
        again = Assignment(*self.made, seed=3).replay(self.log)
        assert seen_of(again, self.log, self.at) == seen_of(self.desk, self.log, self.at)


TestStudy = Study.TestCase
TestStudy.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def test_expired_item_is_lost_to_the_next_annotator() -> None:
    desk = Assignment(questions(1), Places(1))
    for at, worker in ((0.0, "ben"), (HOLD_SECONDS, "ann")):
        event = desk.next(worker, at)
        assert event is not None
        desk.apply(event)
    late = 2 * HOLD_SECONDS
    assert (desk.at_hand("ben", late), desk.at_hand("ann", late)) == ("q0", "q0")
    desk.apply(desk.judge("ann", JOY, late))
    desk.apply(desk.undo("ann", late))
    assert (desk.at_hand("ben", late), desk.at_hand("ann", late)) == (None, "q0")


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(1, 7), st.floats(0, 1), st.integers(0, 99))
def test_enough_honest_workers_finish_everything(items: int, judges: int, overlap: float, seed: int) -> None:
    desk = Assignment(questions(items, gold=3), Places(judges, overlap), GoldRules(0.5), seed=seed)
    crowd = [f"w{number}" for number in range(judges)]
    while sum(work(desk, worker) is not None for worker in crowd):
        pass
    assert all(have == wanted for have, wanted in desk.judges().values())
    several = sum(wanted == judges for _, wanted in desk.judges().values())
    assert several == (items if judges == 1 else int(items * overlap))


def test_two_at_once_are_never_given_the_last_place() -> None:
    desk = Assignment(questions(2), Places(1))
    first, second = desk.next("ann", 0), None
    assert first is not None
    desk.apply(first)
    second = desk.next("ben", 0)
    assert second is not None
    assert second.item != first.item
    desk.apply(second)
    assert desk.next("cal", 0) is None


def test_item_held_too_long_is_reassigned() -> None:
    desk = Assignment(questions(1), Places(1))
    desk.replay([given for given in [desk.next("ann", 0)] if given])
    assert desk.next("ben", HOLD_SECONDS - 1) is None
    taken = desk.next("ben", HOLD_SECONDS)
    assert taken is not None
    desk.apply(taken)
    assert desk.at_hand("ann", HOLD_SECONDS) is None
    with pytest.raises(NotPossibleError, match="others have judged this one since"):
        desk.judge("ann", JOY, HOLD_SECONDS)
    # Nobody else wanted it: then late is not too late.
    alone = Assignment(questions(1), Places(1))
    alone.replay([given for given in [alone.next("ann", 0)] if given])
    assert alone.judge("ann", JOY, 5 * HOLD_SECONDS).kind == "judged"


def test_a_refused_workers_items_go_back_to_others() -> None:
    desk = Assignment(questions(6, gold=6), Places(1), GoldRules(0.5, 0.7, least_answers=3))
    judged = []
    while (item := work(desk, "bad", SAD)) is not None:
        judged.append(item)
    assert desk.worker("bad").refused
    assert sum(item.startswith("g") for item in judged) == 3
    assert any(item.startswith("q") for item in judged)
    assert desk.standing("bad").left == 0
    assert [have for have, _ in desk.judges().values()] == [0] * 6
    assert desk.judgements() == []
    assert len(desk.judgements(refused=True)) == len(judged)
    assert not desk.can_undo("bad", 0)
    while work(desk, "good"):
        pass
    assert [have for have, _ in desk.judges().values()] == [1] * 6


def test_the_answer_to_a_gold_question_stands() -> None:
    desk = Assignment(questions(4, gold=4), Places(1), GoldRules(0.5))
    while not str(work(desk, "ann", SAD)).startswith("g"):
        pass
    assert [check.right for check in desk.last_checks("ann")] == [False]
    with pytest.raises(NotPossibleError, match="stands"):
        desk.undo("ann", 0)


def test_gold_questions_have_the_asked_share_and_an_order_per_annotator() -> None:
    desk = Assignment(questions(400, gold=40), Places(4), GoldRules(0.05, early=0))
    met: dict[str, list[str]] = {}
    for worker in WORKERS:
        shown = [work(desk, worker) or "" for _ in range(200)]
        assert all(sum(item.startswith("g") for item in shown[start : start + 20]) == 1 for start in range(0, 200, 20))
        met[worker] = [item for item in shown if item.startswith("g")]
    assert len({tuple(items) for items in met.values()}) == len(WORKERS)


def test_undo_returns_a_skipped_item_unless_others_judged_it() -> None:
    desk = Assignment(questions(3), Places(1))
    first = desk.next("ann", 0)
    assert first is not None
    desk.apply(first)
    desk.apply(desk.skip("ann", 0))
    assert desk.undo("ann", 0).item == first.item
    while work(desk, "ben"):
        pass
    with pytest.raises(NotPossibleError, match="nothing to undo"):
        desk.undo("ann", 0)


def test_an_item_with_several_answers_needs_them_all() -> None:
    desk = Assignment({"d": (None, "joy"), **questions(9)}, Places(1), GoldRules(0.5, least_answers=1))
    while True:
        given = desk.next("ann", 0)
        assert given is not None
        desk.apply(given)
        if given.item == "d":
            break
        desk.apply(desk.judge("ann", JOY, 0))
    with pytest.raises(EmoscopeError, match="expected 2 answers, found 1"):
        desk.judge("ann", JOY, 0)
    desk.apply(desk.judge("ann", (LabelChoice("sad"), LabelChoice("joy")), 0))
    assert [(check.place, check.right) for check in desk.last_checks("ann")] == [(1, True)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Places(0), "at least 1 judge"),
        (lambda: Places(3, 1.5), "between 0 and 1"),
        (lambda: GoldRules(0), "above 0"),
        (lambda: GoldRules(0.05, 2), "between 0 and 1"),
        (lambda: GoldRules(least_answers=0), "must be 1 or more"),
    ],
)
def test_rules_that_make_no_sense_are_refused(make: object, message: str) -> None:
    with pytest.raises(EmoscopeError, match=message):
        make()  # type: ignore[operator]
