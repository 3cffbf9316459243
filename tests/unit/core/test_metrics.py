"""The official metrics against hand-computed cases and independent formulations."""

from collections import Counter
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support

from emoscope.core.errors import EmoscopeError
from emoscope.core.metrics import (
    accuracy,
    class_scores,
    confusion_matrix,
    encode,
    macro_f1,
    micro_f1,
    safe_divide,
    standard_metric,
)
from emoscope.tasks import get_task

LABELS = ("a", "b", "c", "d")


def official(task: str, gold: list[str], predicted: list[str]) -> float:
    chosen = get_task(task)
    names = [*chosen.labels, *sorted(set(predicted) - set(chosen.labels))]
    return float(chosen.metric(confusion_matrix(gold, predicted, names), names))


def counted(gold: list[str], predicted: list[str], label: str) -> tuple[int, int, int]:
    """True positives, false positives and false negatives, one item at a time."""
    pairs = list(zip(gold, predicted, strict=True))
    hits = sum(1 for right, said in pairs if right == said == label)
    false = sum(1 for right, said in pairs if said == label != right)
    missed = sum(1 for right, said in pairs if right == label != said)
    return hits, false, missed


def plain_f1(hits: int, false: int, missed: int) -> Fraction:
    total = 2 * hits + false + missed
    return Fraction(2 * hits, total) if total else Fraction(0)


# Hand-computed cases


def test_emocontext_is_micro_f1_over_three_emotions_with_others_only_as_misses() -> None:
    gold = ["happy", "happy", "sad", "angry", "others", "others", "others", "others", "sad", "angry"]
    said = ["happy", "others", "sad", "angry", "happy", "others", "others", "sad", "others", "sad"]
    # Hits: happy 1, sad 1, angry 1 = 3. The emotions were said 2 + 3 + 1 = 6 times and are gold 2 + 2 + 2 = 6 times.
    # Precision 3/6, recall 3/6; the two right "others" count for nothing.
    assert official("emocontext", gold, said) == pytest.approx(0.5)


def test_emocontext_ignores_how_often_others_is_right() -> None:
    gold, said = ["happy", "sad"], ["happy", "angry"]
    # One hit of two gold emotions and two said ones: 2*1 / (2+2).
    assert official("emocontext", gold, said) == pytest.approx(0.5)
    assert official("emocontext", gold + ["others"] * 100, said + ["others"] * 100) == pytest.approx(0.5)


def test_emocontext_without_any_emotion_is_zero() -> None:
    assert official("emocontext", ["others"] * 3, ["others"] * 3) == 0


def test_iest_is_macro_f1_over_the_labels_that_occur() -> None:
    gold = ["anger", "anger", "joy", "joy"]
    said = ["anger", "joy", "joy", "joy"]
    # anger: precision 1/1, recall 1/2, F1 2/3. joy: precision 2/3, recall 2/2, F1 4/5. The other four do not occur.
    assert official("iest", gold, said) == pytest.approx((2 / 3 + 4 / 5) / 2)


def test_a_label_outside_the_six_costs_a_whole_class() -> None:
    gold = ["anger", "disgust", "fear", "joy", "sad", "surprise"]
    said = ["anger", "disgust", "fear", "joy", "sad", "love"]
    # Five classes at 1, surprise at 0, and "love" is a seventh class at 0.
    assert official("iest", gold, said) == pytest.approx(5 / 7)
    assert official("iest", gold, [*gold[:5], "anger"]) == pytest.approx((4 + 2 / 3) / 6)


def test_emotionx_is_the_share_of_right_utterances() -> None:
    gold = ["joy", "neutral", "anger", "sadness"]
    said = ["joy", "neutral", "neutral", "surprise"]
    # Two of four are right; "surprise" is an error like any other.
    assert official("emotionx-friends", gold, said) == pytest.approx(0.5)


def test_class_scores_by_hand() -> None:
    scores = class_scores(np.array([[8, 1, 1], [2, 3, 0], [0, 0, 0]]))
    assert scores.precision.tolist() == pytest.approx([8 / 10, 3 / 4, 0])
    assert scores.recall.tolist() == pytest.approx([8 / 10, 3 / 5, 0])
    assert scores.f1.tolist() == pytest.approx([0.8, 2 / 3, 0])
    assert scores.support.tolist() == [10, 5, 0]


def test_nothing_over_nothing_is_zero() -> None:
    assert safe_divide(np.array([0, 1]), np.array([0, 2])).tolist() == [0, 0.5]


def test_unknown_labels_and_unequal_lengths_are_reported() -> None:
    with pytest.raises(EmoscopeError, match="unknown label 'x'; expected one of: a, b"):
        encode(["x"], ["a", "b"])
    with pytest.raises(EmoscopeError, match="2 gold labels but 1 predictions"):
        confusion_matrix(["a", "a"], ["a"], ["a"])


# Independent formulations

answers = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=60)


@settings(deadline=None, max_examples=60)
@given(answers)
def test_all_scores_agree_with_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    gold, said = [right for right, _ in pairs], [answer for _, answer in pairs]
    confusion = confusion_matrix(gold, said, LABELS)
    some = ["b", "c"]
    occurring = sorted({*gold, *said})
    assert float(micro_f1(confusion, [1, 2])) == pytest.approx(
        f1_score(gold, said, labels=some, average="micro", zero_division=0)
    )
    assert float(macro_f1(confusion)) == pytest.approx(
        f1_score(gold, said, labels=occurring, average="macro", zero_division=0)
    )
    assert float(macro_f1(confusion, [1, 2])) == pytest.approx(
        f1_score(gold, said, labels=some, average="macro", zero_division=0)
    )
    assert float(accuracy(confusion)) == pytest.approx(accuracy_score(gold, said))
    expected = precision_recall_fscore_support(gold, said, labels=list(LABELS), zero_division=0)
    found = class_scores(confusion)
    for ours, theirs in zip((found.precision, found.recall, found.f1, found.support), expected, strict=True):
        assert ours.tolist() == pytest.approx(theirs.tolist())


@given(answers)
def test_all_scores_agree_with_counting_by_hand(pairs: list[tuple[str, str]]) -> None:
    gold, said = [right for right, _ in pairs], [answer for _, answer in pairs]
    confusion = confusion_matrix(gold, said, LABELS)
    each = [counted(gold, said, label) for label in LABELS]
    summed = [sum(column) for column in zip(*each[1:3], strict=True)]
    assert float(micro_f1(confusion, [1, 2])) == pytest.approx(float(plain_f1(*summed)))
    occurring = [plain_f1(*counts) for counts in each if any(counts)]
    assert float(macro_f1(confusion)) == pytest.approx(float(sum(occurring) / len(occurring)))
    assert float(micro_f1(confusion)) == pytest.approx(float(accuracy(confusion)))


@given(answers)
def test_the_official_scores_agree_with_their_definitions(pairs: list[tuple[str, str]]) -> None:
    names = {
        "emocontext": ("others", "happy", "sad", "angry"),
        "iest": ("anger", "joy", "sad", "love"),
        "emotionx-push": ("neutral", "joy", "sadness", "anger"),
    }
    for task, labels in names.items():
        rename = dict(zip(LABELS, labels, strict=True))
        said = [rename[answer] for _, answer in pairs]
        # "love" is no gold label.
        gold = ["joy" if rename[right] == "love" else rename[right] for right, _ in pairs]
        each = {label: counted(gold, said, label) for label in labels}
        match task:
            case "emocontext":
                expected = plain_f1(*(sum(each[label][part] for label in labels[1:]) for part in range(3)))
            case "iest":
                scores = [plain_f1(*each[label]) for label in {*gold, *said}]
                expected = sum(scores, Fraction(0)) / len(scores)
            case _:
                expected = Fraction(sum(map(str.__eq__, gold, said)), len(gold))
        assert official(task, gold, said) == pytest.approx(float(expected))


@given(answers, st.randoms())
def test_order_does_not_matter_and_a_stack_scores_each_matrix(pairs: list[tuple[str, str]], random: Random) -> None:
    gold, said = [right for right, _ in pairs], [answer for _, answer in pairs]
    shuffled = list(pairs)
    random.shuffle(shuffled)
    confusion = confusion_matrix(gold, said, LABELS)
    again = confusion_matrix([right for right, _ in shuffled], [answer for _, answer in shuffled], LABELS)
    assert (confusion == again).all()
    assert confusion.sum() == len(pairs)
    assert [int(count) for count in confusion.sum(1)] == [Counter(gold)[label] for label in LABELS]
    stack = np.stack([confusion, confusion.T])
    for metric in (micro_f1, macro_f1, accuracy):
        assert metric(stack).tolist() == [float(metric(confusion)), float(metric(confusion.T))]


def test_the_standard_metrics_leave_out_what_they_say() -> None:
    labels = ["others", "happy", "sad"]
    table = np.array([[6, 2, 0], [1, 3, 0], [0, 1, 2]])
    micro = standard_metric("micro-f1", labels, neutral="others")
    assert (micro.name, micro.labels) == ("micro-f1", ("happy", "sad"))
    assert micro.description == "micro-averaged F1 over happy, sad"
    assert float(micro(table, labels)) == pytest.approx(2 * 5 / (8 + 7))  # 5 right of 8 named and 7 there
    assert standard_metric("micro-f1", labels).labels == tuple(labels)
    macro = standard_metric("macro-f1", labels, neutral="others")
    assert (macro.name, macro.labels) == ("macro-f1", None)
    assert macro.description == "macro-F1 over the labels that occur in gold or predictions"
    assert float(macro(table, labels)) == pytest.approx(np.mean([12 / 15, 6 / 10, 4 / 5]))
    share = standard_metric("accuracy")
    assert (share.name, share.description) == ("accuracy", "the share of right answers")
    assert float(share(table, labels)) == pytest.approx(11 / 15)


def test_a_stack_is_scored_matrix_by_matrix_over_chosen_classes_too() -> None:
    tables = np.random.default_rng(0).integers(9, size=(5, 3, 3))
    for score in (micro_f1, macro_f1):
        expected = [float(score(table, [0, 2])) for table in tables]
        assert len(set(expected)) == 5
        assert score(tables, [0, 2]).tolist() == expected


@pytest.mark.parametrize(
    "counts",
    [
        np.array([[200, 3], [9, 100]], np.uint8),  # twice 200 is more than it holds
        np.array([[1 << 24, 1], [1, 1 << 24]], np.float32),  # in which 2 ** 24 + 1 is 2 ** 24
    ],
)
def test_counts_are_added_in_double_precision_whatever_they_come_in(counts: NDArray[Any]) -> None:
    wide = counts.astype(np.int64)
    for score in (micro_f1, macro_f1, accuracy):
        assert score(counts) == score(wide)
    assert class_scores(counts).f1.tolist() == class_scores(wide).f1.tolist()
    assert class_scores(counts).recall.tolist() == class_scores(wide).recall.tolist()
    assert safe_divide(np.float32(1), np.float32(3)) == 1 / 3
