"""Simulated workers of known accuracy: the page and `aggregate` refuse by one rule, with the error rate it states."""

from itertools import islice
from pathlib import Path
from random import Random

import pytest

from emoscope.core.judgement import Judgement
from emoscope.corpus.annotation.gold_questions import GoldRules
from emoscope.corpus.annotation.workers import screen

RULES = GoldRules()


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
