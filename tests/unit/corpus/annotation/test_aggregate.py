"""Labels from votes: hand-computed cases, another formulation of Dawid-Skene, and exclusion by gold questions."""

import csv
import json
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emoscope.core.errors import EmoscopeError, MissingExtraError
from emoscope.core.judgement import Judgement
from emoscope.corpus.annotation.aggregate import aggregate, aggregate_votes, dawid_skene, mace
from emoscope.corpus.annotation.gold_questions import GoldRules
from emoscope.corpus.annotation.workers import SCREENING_RULES, read_gold, screen, worker_reports
from emoscope.tasks import get_task
from kits.corpus_command import run
from kits.crowds import crowds
from kits.jsonl import read_jsonl

METHODS = ["majority", "absolute", "dawid-skene", "mace"]


def said(*rows: str) -> list[Judgement]:
    """Judgements from "task: label label ...", by workers w0, w1, ..."""
    found = []
    for row in rows:
        task, _, labels = row.partition(":")
        found += [Judgement(task, f"w{place}", label) for place, label in enumerate(labels.split())]
    return found


def simulated(seed: int = 0, tasks: int = 200) -> tuple[dict[str, str], list[Judgement]]:
    """Two careful workers and three who mostly guess."""
    rng = np.random.default_rng(seed)
    labels = ["anger", "joy", "sad"]
    care = {"ann": 0.95, "ben": 0.9, "cal": 0.2, "dan": 0.1, "eve": 0.1}
    truth = {f"t{number}": labels[rng.integers(3)] for number in range(tasks)}
    judgements = [
        Judgement(task, worker, label if rng.random() < share else labels[rng.integers(3)])
        for task, label in truth.items()
        for worker, share in care.items()
    ]
    return truth, judgements


def labels_of(found: Sequence[object]) -> list[str]:
    return [one.label for one in found]  # type: ignore[attr-defined]


# Majorities


def test_most_votes_win_and_soft_labels_are_kept() -> None:
    (one,) = aggregate(said("1: joy joy sad"))
    assert (one.label, dict(one.soft), dict(one.votes)) == ("joy", {"joy": 2 / 3, "sad": 1 / 3}, {"joy": 2, "sad": 1})
    assert not one.tied and not one.fallback


def test_ties_go_to_the_commoner_label_then_to_the_alphabet() -> None:
    # Over all tasks: sad 1 + 3 + 1 = 5, joy 1 + 1 + 2 = 4, anger 2, fear 2.
    found = aggregate(said("1: joy sad", "2: sad sad sad joy", "3: fear anger", "4: sad joy joy", "5: fear anger"))
    assert labels_of(found) == ["sad", "sad", "anger", "joy", "anger"]
    assert [one.tied for one in found] == [True, False, True, False, True]


def test_with_a_fallback_a_tie_gets_it() -> None:
    found = aggregate(said("1: joy sad", "2: sad sad joy"), fallback="unsure")
    assert labels_of(found) == ["unsure", "sad"]
    assert [one.fallback for one in found] == [True, False]


@pytest.mark.parametrize(
    ("votes", "label"),
    [
        ("joy joy joy sad sad", "joy"),  # three of five
        ("joy joy sad sad fear", "non-neutral"),
        ("joy joy sad fear anger", "non-neutral"),  # the most votes, but not the half
        ("joy joy sad sad", "non-neutral"),  # half is not more than half
        ("joy joy sad", "joy"),
        ("joy", "joy"),
    ],
)
def test_absolute_majority(votes: str, label: str) -> None:
    (one,) = aggregate(said(f"1: {votes}"), "absolute")
    assert one.label == label and one.fallback == (label == "non-neutral")
    assert "non-neutral" not in one.soft


def test_another_fallback_label() -> None:
    (one,) = aggregate(said("1: joy sad"), "absolute", fallback="joy")
    assert one.label == "joy" and one.fallback


def test_votes_without_names_have_no_model_of_workers() -> None:
    with pytest.raises(EmoscopeError, match="mace needs to know who gave each label"):
        aggregate_votes({"1": {"joy": 1}}, "mace")
    with pytest.raises(EmoscopeError, match="fallback label is for majority and absolute, not for dawid-skene"):
        aggregate(said("1: joy"), "dawid-skene", fallback="x")


# Models of workers


def em(judgements: Sequence[Judgement], iterations: int) -> dict[str, dict[str, float]]:
    """Dawid and Skene (1979) written out: probabilities of the truth, then of each worker's errors, in turn."""
    tasks, workers, labels = (
        sorted({getattr(one, name) for one in judgements}) for name in ("task", "worker", "label")
    )
    answers = np.zeros((len(tasks), len(workers), len(labels)))
    for one in judgements:
        answers[tasks.index(one.task), workers.index(one.worker), labels.index(one.label)] = 1
    truth = answers.sum(1) / answers.sum((1, 2))[:, None]
    for _ in range(iterations):
        errors = np.einsum("ti,twj->wij", truth, answers) + 1e-300
        errors /= errors.sum(2, keepdims=True)
        weight = np.log(truth.mean(0)) + np.einsum("twj,wij->ti", answers, np.log(errors))
        truth = np.exp(weight - weight.max(1, keepdims=True))
        truth /= truth.sum(1, keepdims=True)
    return {task: dict(zip(labels, row, strict=True)) for task, row in zip(tasks, truth, strict=True)}


def test_dawid_skene_is_what_the_paper_writes() -> None:
    _, judgements = simulated(tasks=60)
    found, expected = dawid_skene(judgements, iterations=5), em(judgements, 5)
    assert found.keys() == expected.keys()
    for task, soft in expected.items():
        assert dict(found[task]) == pytest.approx(soft, abs=1e-6)


@pytest.mark.parametrize("method", ["dawid-skene", "mace"])
def test_careful_workers_outweigh_guessers(method: str) -> None:
    truth, judgements = simulated()

    def right(found: Sequence[object]) -> float:
        return float(np.mean([one.label == truth[one.task] for one in found]))  # type: ignore[attr-defined]

    assert right(aggregate(judgements, method)) > right(aggregate(judgements)) + 0.05
    assert right(aggregate(judgements, method)) > 0.9


@pytest.mark.parametrize("model", [dawid_skene, mace])
def test_soft_labels_sum_to_one(model: object) -> None:
    _, judgements = simulated(tasks=30)
    for soft in model(judgements).values():  # type: ignore[operator]
        assert sum(soft.values()) == pytest.approx(1)


@pytest.mark.parametrize("method", METHODS)
def test_order_of_rows_never_matters(method: str) -> None:
    _, judgements = simulated(tasks=40)
    shuffled = random.Random(3).sample(judgements, len(judgements))
    before = {one.task: one for one in aggregate(judgements, method)}
    assert {one.task: one for one in aggregate(shuffled, method)} == before


@pytest.mark.parametrize("method", METHODS)
def test_little_data_is_handled(method: str) -> None:
    assert aggregate([], method) == []
    (one,) = aggregate(said("1: joy"), method)
    assert one.label == "joy" and one.soft["joy"] == pytest.approx(1)


@pytest.mark.parametrize("absent", ["crowdkit", "pandas"])
def test_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch, absent: str) -> None:
    for module in [name for name in sys.modules if name.split(".")[0] == absent]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, absent, None)
    with pytest.raises(MissingExtraError, match=rf"this needs {absent}: pip install 'emoscope\[corpus\]'"):
        dawid_skene(said("1: joy"))


def test_names_of_workers_do_not_matter_to_dawid_skene() -> None:
    _, judgements = simulated(tasks=40)
    names = dict(zip(["ann", "ben", "cal", "dan", "eve"], ["eve", "dan", "ann", "cal", "ben"], strict=True))
    renamed = [Judgement(one.task, names[one.worker], one.label) for one in judgements]
    before, after = dawid_skene(judgements), dawid_skene(renamed)
    for task, soft in before.items():
        assert dict(after[task]) == pytest.approx(dict(soft), abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(crowds, st.randoms(use_true_random=False), st.sampled_from(["majority", "absolute"]))
def test_permuting_workers_changes_no_majority(judged: list[Judgement], order: random.Random, method: str) -> None:
    workers = sorted({one.worker for one in judged})
    renamed = dict(zip(workers, order.sample(workers, len(workers)), strict=True))
    other = [Judgement(one.task, renamed[one.worker], one.label) for one in judged]
    order.shuffle(other)
    assert {one.task: one for one in aggregate(judged, method)} == {one.task: one for one in aggregate(other, method)}


# Gold questions and the report


def gold_crowd() -> list[Judgement]:
    """Ten gold questions: ann has all right, ben seven, cal six; dan met none. Then tasks a and b."""
    answers = {"ann": 10, "ben": 7, "cal": 6}
    found = [
        Judgement(f"g{number}", worker, "joy" if number < right else "sad")
        for worker, right in answers.items()
        for number in range(10)
    ]
    rows = ["a ann joy", "a ben joy", "a cal sad", "a dan sad", "b cal fear", "c ann joy", "c ben sad", "c dan sad"]
    return found + [Judgement(*row.split()) for row in rows]


GOLD = {f"g{number}": "joy" for number in range(10)}


def test_workers_under_seventy_percent_are_refused() -> None:
    screening = screen(gold_crowd(), GOLD, GoldRules(least_answers=4))
    assert screening.refused == {"cal"}  # seven of ten is enough
    assert screening.gold == {"ann": (10, 10), "ben": (7, 10), "cal": (6, 10)}
    assert {one.task for one in screening.kept} == {"a", "c"}
    assert {(one.task, one.label) for one in screening.discarded} == {("a", "sad"), ("b", "fear")}
    assert screen(gold_crowd(), GOLD, GoldRules(least_right=0.6, least_answers=4)).refused == frozenset()
    assert screen(gold_crowd(), {}).refused == frozenset()
    with pytest.raises(EmoscopeError, match="between 0 and 1"):
        screen([], GOLD, GoldRules(least_right=70))


def test_too_few_gold_answers_refuse_no_one() -> None:
    wrong = [Judgement(f"g{number}", "eve", "sad") for number in range(5)]
    for answers in range(6):
        said = [*wrong[:answers], Judgement("a", "eve", "joy")]
        screening = screen(said, GOLD)
        assert screening.refused == screening.judged == ({"eve"} if answers >= SCREENING_RULES.fewest else set()), (
            answers
        )
        assert bool(screen(said, GOLD, GoldRules(least_answers=1)).refused) == (answers >= 1)
    (report,) = worker_reports(screen([*wrong[:2], Judgement("a", "eve", "joy")], GOLD), ())
    assert (report.gold_answers, report.gold_accuracy, report.judged, report.refused) == (2, 0.0, False, False)
    with pytest.raises(EmoscopeError, match="least number of gold answers must be 1 or more, not 0"):
        screen([], GOLD, GoldRules(least_answers=0))


def test_the_worker_reports() -> None:
    screening = screen(gold_crowd(), GOLD, GoldRules(least_answers=4))
    found = aggregate(screening.kept)
    assert {one.task: one.label for one in found} == {"a": "joy", "c": "sad"}
    report = {worker.worker: worker for worker in worker_reports(screening, found)}
    # (judgements, agreement, gold accuracy, refused)
    shown = {name: (one.judgements, one.agreement, one.gold_accuracy, one.refused) for name, one in report.items()}
    assert shown == {
        "ann": (2, 0.5, 1.0, False),
        "ben": (2, 1.0, 0.7, False),
        "cal": (2, 0.0, 0.6, True),  # of a and b, only a has a label
        "dan": (2, 0.5, None, False),
    }


# The command


def write(folder: Path, judgements: Sequence[Judgement]) -> Path:
    path = folder / "said.csv"
    path.write_text("task,worker,label\n" + "".join(f"{one.task},{one.worker},{one.label}\n" for one in judgements))
    return path


def test_the_command_writes_labels_and_reports(tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    gold.write_text("task,label\n" + "".join(f"{task},{label}\n" for task, label in GOLD.items()))
    out = tmp_path / "labels.jsonl"
    arguments = ["corpus", "aggregate", write(tmp_path, gold_crowd()), "-o", out, "--gold", gold, "--gold-least", "4"]
    code, printed, _ = run(*arguments, "--json")
    found = json.loads(printed)
    assert code == 0
    assert (found["tasks"], found["discarded_judgements"], found["unlabelled_tasks"]) == (2, 2, ["b"])
    assert [worker["worker"] for worker in found["workers"] if worker["refused"]] == ["cal"]
    rows = read_jsonl(out)
    assert [(row["task"], row["label"]) for row in rows] == [("a", "joy"), ("c", "sad")]
    assert rows[0]["soft"] == {"joy": 2 / 3, "sad": 1 / 3}
    code, printed, _ = run(*arguments)
    assert code == 0
    for shown in ("2 tasks labelled", "4 workers, 1 refused, 2 judgements discarded", "refused", "0.6000"):
        assert shown in printed
    code, printed, _ = run(*arguments, "--min-gold", "0.5", "--json")
    assert json.loads(printed)["tasks"] == 3
    code, printed, _ = run(*arguments, "--gold-least", "11", "--json")
    assert json.loads(printed)["tasks"] == 3
    assert not any(worker["judged"] for worker in json.loads(printed)["workers"])
    assert "too few to judge" in run(*arguments, "--gold-least", "11")[1]


def test_csv_has_a_column_for_each_soft_label(tmp_path: Path) -> None:
    out = tmp_path / "labels.csv"
    code, _, _ = run("corpus", "aggregate", write(tmp_path, said("1: joy joy sad", "2: sad joy")), "-o", out)
    assert code == 0
    rows = list(csv.DictReader(out.open()))
    assert [(row["task"], row["label"], row["votes"], row["tied"]) for row in rows] == [
        ("1", "joy", "3", "0"),
        ("2", "joy", "2", "1"),
    ]
    assert float(rows[0]["soft:joy"]) == 2 / 3 and float(rows[1]["soft:sad"]) == 0.5


@pytest.mark.parametrize("method", METHODS)
def test_every_method_from_the_command_line(tmp_path: Path, method: str) -> None:
    _, judgements = simulated(tasks=20)
    out = tmp_path / "labels.jsonl"
    code, printed, _ = run("corpus", "aggregate", write(tmp_path, judgements), "-o", out, "-m", method, "--json")
    assert code == 0 and json.loads(printed)["tasks"] == 20
    assert len(out.read_text().splitlines()) == 20


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    judged = write(tmp_path, said("1: joy"))
    code, _, error = run("corpus", "aggregate", judged, "-o", tmp_path / "labels.txt")
    assert code == 2 and "expected a name that ends in .csv or .jsonl" in error
    gold = tmp_path / "gold.csv"
    gold.write_text("task,label\n9,joy\n")
    code, _, error = run("corpus", "aggregate", judged, "-o", tmp_path / "labels.csv", "--gold", gold)
    assert code == 2 and "nobody has judged any of its tasks" in error
    gold.write_text("task,label\n1,joy\n1,sad\n")
    with pytest.raises(EmoscopeError, match=r"gold.csv, row 3: task '1' has an answer already"):
        read_gold(gold)


@pytest.mark.data
@pytest.mark.parametrize(("file", "differing"), [("friends", 0), ("emotionpush", 9)])
def test_absolute_majority_gives_emotionx_its_labels(data_folder: Path, file: str, differing: int) -> None:
    """Three of five, else non-neutral. Nine published labels of EmotionPush do not follow from their own votes."""
    examples = list(get_task("emotionx-friends").read(data_folder / "emotionx" / f"{file}.json"))
    votes = {str(number): example.votes for number, example in enumerate(examples)}
    found = aggregate_votes(votes, "absolute", fallback="non-neutral")
    assert len(found) == len(examples) > 14_000
    assert sum(one.label != example.label for one, example in zip(found, examples, strict=True)) == differing


def test_gold_label_that_nobody_gave_is_named(tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    gold.write_text("task,label\n" + "".join(f"{task},pride\n" for task in GOLD))
    arguments = ["corpus", "aggregate", write(tmp_path, gold_crowd()), "-o", tmp_path / "labels.jsonl", "--gold", gold]
    code, printed, _ = run(*arguments)
    assert code == 0
    assert f"nobody gave the label 'pride', the answer to {len(GOLD)} gold questions: is it misspelt there?" in printed
    assert json.loads(run(*arguments, "--json")[1])["unused_answers"] == {"pride": len(GOLD)}


def test_the_opposite_of_a_label_is_not_misspelt(tmp_path: Path) -> None:
    judged = write(tmp_path, said("g: approval approval", "1: approval approval"))
    (tmp_path / "gold.csv").write_text("task,label\ng,disapproval\n")
    options = ("-o", tmp_path / "labels.jsonl", "--gold", tmp_path / "gold.csv", "--gold-least", "4")
    code, printed, _ = run("corpus", "aggregate", judged, *options)
    assert code == 0 and "nobody gave the label 'disapproval'" in printed


@pytest.mark.parametrize("misspelt", [str.upper, "{}x".format])
def test_misspelt_gold_label_refuses_nobody(tmp_path: Path, misspelt: Callable[[str], str]) -> None:
    """Everyone would fail those questions, and all work would be discarded."""
    gold, out = tmp_path / "gold.csv", tmp_path / "labels.jsonl"
    right = min(GOLD.values())
    wrong = {task: misspelt(label) if label == right else label for task, label in GOLD.items()}
    gold.write_text("task,label\n" + "".join(f"{task},{label}\n" for task, label in wrong.items()))
    code, _, error = run("corpus", "aggregate", write(tmp_path, gold_crowd()), "-o", out, "--gold", gold)
    assert code == 2
    assert f"the label '{misspelt(right)}' of" in error
    assert f"was given by nobody; did you mean '{right}'?" in " ".join(error.split())
    assert not out.exists()


def test_rules_without_gold_questions_are_refused(tmp_path: Path) -> None:
    judged = write(tmp_path, said("1: joy"))
    for option in (["--min-gold", "0.9"], ["--gold-least", "4"]):
        code, _, error = run("corpus", "aggregate", judged, "-o", tmp_path / "labels.csv", *option)
        assert code == 2 and f"{option[0]} goes with --gold" in error
