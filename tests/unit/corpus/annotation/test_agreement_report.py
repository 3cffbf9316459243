"""Alpha, Cohen's kappa and their intervals, against published and hand-computed values; the command."""

import json
import math
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emoscope.core.agreement import cohen_kappa, fleiss_kappa, fleiss_kappa_per_label, krippendorff_alpha
from emoscope.core.errors import EmoscopeError
from emoscope.core.judgement import Judgement
from emoscope.corpus.annotation.agreement_report import Agreement, measure_agreement
from emoscope.corpus.annotation.annotations import votes_of
from kits.corpus_command import run
from kits.crowds import crowds
from kits.textbook_votes import TEXTBOOK

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, part C: twelve units, four observers, gaps.
OBSERVERS = {
    "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    "C": [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
}
FLEISS = TEXTBOOK.tolist()


def observed() -> list[Judgement]:
    return [
        Judgement(str(unit), observer, str(value))
        for observer, values in OBSERVERS.items()
        for unit, value in enumerate(values)
        if value is not None
    ]


def test_the_textbook_kappa() -> None:
    # P = (1 + 0.253 + 0.308 + 0.440 + 0.330 + 0.462 + 0.242 + 0.176 + 0.286 + 0.286) / 10 = 0.378
    # p = (0.143, 0.171, 0.279, 0.150, 0.257), E = 0.213;  kappa = (0.378 - 0.213) / (1 - 0.213) = 0.210
    found = measure_agreement([dict(zip("abcde", row, strict=True)) for row in FLEISS])
    assert found.fleiss_kappa is not None and round(found.fleiss_kappa, 3) == 0.210
    assert found.pairwise.agreement is not None and round(found.pairwise.agreement, 3) == 0.378
    assert (found.items, found.left_out) == (10, 0)


def test_krippendorffs_own_example() -> None:
    # Unit 12 has one value and is left out: n = 40 values, by value n_c = (9, 13, 10, 5, 3).
    # Units that disagree: 2 (2,2,3,2), 6 (1,2,3,4), 8 (1,1,2,1). Parted ordered pairs over m - 1:
    #   unit 2: (16 - 9 - 1) / 3 = 2;  unit 6: (16 - 4) / 3 = 4;  unit 8: (16 - 9 - 1) / 3 = 2;  in all 8
    # Parted pairs by chance: n^2 - sum n_c^2 = 1600 - (81 + 169 + 100 + 25 + 9) = 1216
    # alpha = 1 - (40 - 1) * 8 / 1216 = 0.7434
    found = measure_agreement(votes_of(observed()).values(), observed())
    assert found.krippendorff_alpha == pytest.approx(1 - 39 * 8 / 1216)
    assert round(found.krippendorff_alpha or 0, 3) == 0.743
    assert (found.items, found.left_out, sum(found.votes.values())) == (11, 1, 40)


def test_cohen_by_hand() -> None:
    # Of 50: both yes 20, both no 15. Observed 0.7; expected 0.5 * 0.6 + 0.5 * 0.4 = 0.5; kappa 0.4
    assert float(cohen_kappa(np.array([[20, 5], [10, 15]]))) == pytest.approx(0.4)
    stack = cohen_kappa(np.array([[[20, 5], [10, 15]], [[3, 0], [0, 0]]]))
    assert stack[0] == pytest.approx(0.4) and math.isnan(stack[1])


def test_pairs_are_compared_on_what_both_judged() -> None:
    rows = ["1 ann x", "1 ben x", "2 ann x", "2 ben y", "3 ann y", "3 ben y", "4 ann y", "1 cal y"]
    said = [Judgement(*row.split()) for row in rows]
    found = measure_agreement(votes_of(said).values(), said)
    first, second, third = found.pairwise.pairs
    # ann and ben on 1, 2, 3: they agree on two; by chance 2/3 * 1/3 + 1/3 * 2/3 = 4/9; kappa = (6 - 4) / (9 - 4)
    assert (first.workers, first.items) == (("ann", "ben"), 3)
    assert first.agreement == pytest.approx(2 / 3)
    assert first.kappa == pytest.approx(0.4)
    assert first.interval is not None and first.interval.low <= 0.4 <= first.interval.high
    # cal met each of the others once, and said otherwise: (0 - 0) / (1 - 0)
    assert [(pair.workers, pair.kappa) for pair in (second, third)] == [(("ann", "cal"), 0), (("ben", "cal"), 0)]
    assert found.pairwise.cohen_kappa == pytest.approx((0.4 * 3 + 0 + 0) / 5)
    assert found.left_out == 1


def test_undefined_measures_are_none() -> None:
    found = measure_agreement([{"x": 2}, {"x": 3}])
    assert found.fleiss_kappa is None and found.krippendorff_alpha is None
    assert found.pairwise.agreement == 1.0
    with pytest.raises(EmoscopeError, match="no item has two votes"):
        measure_agreement([{"x": 1}, {}])


@settings(max_examples=50, deadline=None)
@given(crowds, st.randoms(use_true_random=False))
def test_neither_names_nor_order_of_workers_matter(said: list[Judgement], order: random.Random) -> None:
    if all(sum(votes.values()) < 2 for votes in votes_of(said).values()):
        return
    workers = sorted({one.worker for one in said})
    renamed = dict(zip(workers, order.sample(workers, len(workers)), strict=True))
    other = [Judgement(one.task, renamed[one.worker], one.label) for one in said]
    order.shuffle(other)
    before = measure_agreement(votes_of(said).values(), said, samples=50)
    after = measure_agreement(votes_of(other).values(), other, samples=50)
    assert replace(before, pairwise=after.pairwise) == after
    assert (before.pairwise.agreement, before.pairwise.interval) == (after.pairwise.agreement, after.pairwise.interval)

    def kappas(agreed: Agreement) -> list[tuple[int, float]]:
        return sorted((pair.items, round(pair.kappa or 0, 9)) for pair in agreed.pairwise.pairs)

    assert kappas(before) == kappas(after)


def test_intervals_are_those_of_resampled_items() -> None:
    """Drawing counts of patterns must be what drawing items one by one is."""
    rng = np.random.default_rng(1)
    table = np.array([rng.multinomial(int(rng.integers(2, 6)), [0.6, 0.3, 0.1]) for _ in range(120)])
    found = measure_agreement([dict(zip("xyz", map(int, row), strict=True)) for row in table], samples=4000)
    draws = [table[rng.integers(0, len(table), len(table))] for _ in range(2000)]

    def close(interval: object, values: list[float]) -> None:
        low, high = np.quantile(values, [0.025, 0.975])
        assert interval.low == pytest.approx(low, abs=0.02)  # type: ignore[attr-defined]
        assert interval.high == pytest.approx(high, abs=0.02)  # type: ignore[attr-defined]

    close(found.interval, [fleiss_kappa(drawn) for drawn in draws])
    close(found.krippendorff_alpha_interval, [krippendorff_alpha(drawn) for drawn in draws])
    close(found.per_class_interval["z"], [float(fleiss_kappa_per_label(drawn)[2]) for drawn in draws])


def test_the_same_seed_gives_the_same_interval() -> None:
    votes = [{"x": 2, "y": 1}, {"y": 3}, {"x": 3}, {"x": 1, "y": 2}]
    one, same, other = (measure_agreement(votes, seed=seed).interval for seed in (1, 1, 2))
    assert one == same and one != other


# The command


def emotionx(path: Path) -> Path:
    votes = ["2000030", "5000000", "0500000", "0400001"]
    entries = [
        {"speaker": "A", "utterance": f"u{number}", "emotion": "neutral", "annotation": vote}
        for number, vote in enumerate(votes)
    ]
    path.write_text(json.dumps([entries[:2], entries[2:]]))
    return path


def test_emotionx_files_are_read_with_their_votes(tmp_path: Path) -> None:
    code, out, _ = run("corpus", "agreement", emotionx(tmp_path / "friends.json"), "--json")
    found = json.loads(out)
    assert code == 0 and found["items"] == 4
    votes = np.array([[2, 0, 3], [5, 0, 0], [0, 5, 0], [0, 4, 0]])
    with_disgust = np.column_stack([votes, [0, 0, 0, 1]])  # neutral, joy, surprise, disgust
    assert found["fleiss_kappa"] == pytest.approx(fleiss_kappa(with_disgust))
    assert set(found["per_class"]) == {"neutral", "joy", "surprise", "disgust"}
    assert found["interval"]["low"] <= found["fleiss_kappa"] <= found["interval"]["high"]
    assert found["pairwise"]["pairs"] == [] and found["krippendorff_alpha"] > 0


def test_files_of_several_annotators_are_one_panel(tmp_path: Path) -> None:
    for worker in OBSERVERS:
        rows = [f"{said.task},{said.label}" for said in observed() if said.worker == worker]
        (tmp_path / f"{worker}.csv").write_text("task,label\n" + "\n".join(rows) + "\n")
    code, out, _ = run("corpus", "agreement", tmp_path, "--json")
    found = json.loads(out)
    assert code == 0 and found["krippendorff_alpha"] == pytest.approx(1 - 39 * 8 / 1216)
    assert len(found["pairwise"]["pairs"]) == 6
    code, out, _ = run("corpus", "agreement", *sorted(tmp_path.glob("*.csv")))
    assert code == 0
    for shown in ("Agreement on 11 items", "1 left out: fewer than two votes", "0.7434", "Pairs of annotators"):
        assert shown in out


def test_gold_questions_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "j.csv").write_text(
        "task,worker,label\n" + "".join(f"{task},{who},joy\n" for task in ("a", "g") for who in ("ann", "ben"))
    )
    (tmp_path / "gold.csv").write_text("task,label\ng,joy\n")
    found = json.loads(run("corpus", "agreement", tmp_path / "j.csv", "--gold", tmp_path / "gold.csv", "--json")[1])
    assert (found["items"], found["votes"], found["pairwise"]["pairs"][0]["items"]) == (1, {"joy": 2}, 1)
    (tmp_path / "gold.csv").write_text("task,label\nx,joy\n")
    code, _, error = run("corpus", "agreement", tmp_path / "j.csv", "--gold", tmp_path / "gold.csv")
    assert code == 2 and "nobody has judged any of its tasks" in error


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("task,worker,label\n1,ann,joy\n")
    code, _, error = run("corpus", "agreement", tmp_path / "a.csv")
    assert code == 2 and "no item has two votes or more" in error
    code, _, error = run("corpus", "agreement", tmp_path / "a.csv", emotionx(tmp_path / "friends.json"))
    assert code == 2 and "votes without names cannot be mixed" in error
    (tmp_path / "eval.json").write_text('[[{"speaker": "A", "utterance": "hi"}]]')
    code, _, error = run("corpus", "agreement", tmp_path / "eval.json")
    assert code == 2 and "eval.json: holds no votes" in error
    code, _, error = run("corpus", "agreement", tmp_path / "absent.csv")
    assert code == 2 and "absent.csv: no such file" in error
    (tmp_path / "other").mkdir()
    files = (emotionx(tmp_path / "friends.json"), emotionx(tmp_path / "other" / "friends.json"))
    code, _, error = run("corpus", "agreement", *files)
    assert code == 2 and "other/friends.json: the votes on 'friends:0:0' were read already" in error
    code, _, error = run("corpus", "agreement", tmp_path / "absent.csv", tmp_path / "friends.json")
    assert code == 2 and "absent.csv: no such file" in error


@pytest.mark.data
@pytest.mark.parametrize(("file", "kappa", "items"), [("friends", 0.338, 14503), ("emotionpush", 0.336, 14742)])
def test_emotionx_training_files(data_folder: Path, file: str, kappa: float, items: int) -> None:
    code, out, _ = run("corpus", "agreement", data_folder / "emotionx" / f"{file}.json", "--json")
    found = json.loads(out)
    assert code == 0 and found["items"] == items
    assert round(found["fleiss_kappa"], 3) == kappa
    assert found["interval"]["high"] - found["interval"]["low"] < 0.02


@pytest.mark.data
def test_both_emotionx_training_files_are_one_panel(data_folder: Path) -> None:
    """The paper has 0.345 for both, perhaps with the evaluation dialogues."""
    files = [data_folder / "emotionx" / f"{name}.json" for name in ("friends", "emotionpush")]
    found = json.loads(run("corpus", "agreement", *files, "--json")[1])
    assert found["items"] == 14503 + 14742
    assert round(found["fleiss_kappa"], 3) == 0.349
