"""Simulated workers of known accuracy: the page and `aggregate` refuse by one rule, with the error rate it states."""

from itertools import islice
from pathlib import Path
from random import Random

import pytest

from emoscope.core.judgement import Judgement
from emoscope.corpus.annotation.assignment import Assignment, LabelChoice, Places
from emoscope.corpus.annotation.gold_questions import GoldRules
from emoscope.corpus.annotation.workers import screen

RULES = GoldRules()
LABELS = ("joy", "sad", "fear", "anger")


def refused_after(accuracy: float, questions: int, seed: int) -> int | None:
    """The gold answer after which a worker of this accuracy is refused, if at all."""
    random, right = Random(seed), 0
    for answers in range(1, questions + 1):
        right += random.random() < accuracy
        if RULES.refuses(right, answers):
            return answers
    return None


@pytest.mark.parametrize(
    ("accuracy", "at_least", "at_most"),
    [(0.95, 0.0, 0.01), (0.85, 0.0, 0.03), (0.75, 0.0, 0.1), (0.7, 0.0, 0.1), (0.4, 0.9, 1.0), (0.25, 0.99, 1.0)],
)
def test_the_stated_error_rates_hold(accuracy: float, at_least: float, at_most: float) -> None:
    refused = [refused_after(accuracy, 40, seed) is not None for seed in range(600)]
    assert at_least <= sum(refused) / len(refused) <= at_most


def test_the_published_error_rates_are_those_of_the_rule(capsys: pytest.CaptureFixture[str]) -> None:
    gold = pytest.importorskip("benchmarks.corpus.gold", reason="the benchmarks are not in the package")
    gold.print_table(RULES)
    page = (Path(__file__).parents[4] / "docs" / "results" / "corpus.md").read_text(encoding="utf-8")
    assert capsys.readouterr().out in page
    after_six = list(islice(gold.refused_by(RULES, 0.25), 6))[-1]
    simulated = [(refused_after(0.25, 6, seed) or 99) <= 6 for seed in range(2000)]
    assert after_six == pytest.approx(sum(simulated) / 2000, abs=0.03)


def test_guessers_go_early() -> None:
    found = sorted(refused_after(0.25, 40, seed) or 99 for seed in range(300))
    assert found[150] <= 6  # half of them
    assert found[270] <= 15  # nine in ten


def test_gold_questions_come_early_and_stay() -> None:
    for worker in ("ann", "ben", "cal"):
        due = [RULES.due(1, worker, place) for place in range(100)]
        assert sum(due[:12]) == 3
        assert 8 <= sum(due[20:]) <= 9


def test_aggregate_decides_as_the_page_does() -> None:
    gold = {f"g{number}": "joy" for number in range(6)}
    answers = {"spammer": (0, 3), "slow": (2, 4), "good": (6, 6)}
    judgements = [
        Judgement(f"g{number}", worker, "joy" if number < right else "sad")
        for worker, (right, total) in answers.items()
        for number in range(total)
    ]
    assert screen(judgements, gold).refused == {"spammer"}
    assert {worker for worker, score in answers.items() if RULES.refuses(*score)} == {"spammer"}


def study(accuracies: dict[str, float], truth: dict[str, str], judges: int) -> Assignment:
    """A page on which each worker takes one item after the other, and is right about as many as their accuracy says."""
    random, at, working = Random(1), 0.0, sorted(accuracies)
    items = {name: (label if name.startswith("gold") else None,) for name, label in truth.items()}
    desk = Assignment(items, Places(judges), RULES)
    while working:
        for worker in list(working):
            at += 1.0
            given = desk.next(worker, at)
            if given is None:
                working.remove(worker)
                continue
            desk.apply(given)
            right = truth[given.item]
            wrong = random.choice([label for label in LABELS if label != right])
            said = right if random.random() < accuracies[worker] else wrong
            desk.apply(desk.judge(worker, (LabelChoice(said),), at))
    return desk


def questions(asked: int, gold: int) -> dict[str, str]:
    names = [f"asked{number}" for number in range(asked)] + [f"gold{number}" for number in range(gold)]
    return {name: LABELS[place % len(LABELS)] for place, name in enumerate(names)}


@pytest.mark.parametrize(
    ("accuracy", "at_least", "at_most"),
    [(0.95, 0.0, 0.0), (0.8, 0.0, 0.1), (0.7, 0.0, 0.1), (0.4, 0.6, 0.9), (0.25, 0.88, 1.0)],
)
def test_the_page_refuses_whom_it_says(accuracy: float, at_least: float, at_most: float) -> None:
    """Among 150 items are about 17 gold questions, after which 95 % of those who guess should be gone."""
    workers = [f"w{number}" for number in range(100)]
    desk = study(dict.fromkeys(workers, accuracy), questions(150, 30), judges=len(workers))
    standings = [desk.standing(worker) for worker in workers]
    assert at_least <= sum(standing.refused for standing in standings) / len(workers) <= at_most
    assert all(standing.gold_answers >= 15 for standing in standings if not standing.refused)
    if accuracy == 0.25:
        assert sorted(standing.judged for standing in standings)[50] <= 50  # half of them within fifty items


def test_spammers_leave_no_mark_on_a_study() -> None:
    spammers = {f"spam{number}": 0.25 for number in range(6)}
    good = {f"good{number}": 0.9 for number in range(6)}
    truth = questions(600, 60)
    desk = study(good | spammers, truth, judges=3)
    assert {worker for worker in good | spammers if desk.standing(worker).refused} == spammers.keys()
    assert all(have == wanted == 3 for have, wanted in desk.judges().values())
    assert {event.worker for event in desk.judgements()} == good.keys()
    # `aggregate` refuses the same, from the page's judgements.
    given = [Judgement(event.item, event.worker, event.answers[0].label) for event in desk.judgements(refused=True)]
    assert screen(given, {name: label for name, label in truth.items() if name.startswith("gold")}).refused == set(
        spammers
    )
