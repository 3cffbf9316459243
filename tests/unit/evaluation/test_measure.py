"""Measuring a model, and the promise that its card says nothing else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import emoscope
from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.metrics import standard_metric
from emoscope.evaluation.card import card_text
from emoscope.evaluation.results import Figure, HeadResults, Speed
from emoscope.tasks import get_task
from kits.model_results import head_results, model_results

pytest.importorskip("benchmarks", reason="the benchmarks are not in the package")

from benchmarks.quality.card_numbers import unsupported_numbers
from benchmarks.quality.measure import Answers, answers_of, calibration_error, measure

LABELS = ("good", "bad")


def examples(labels: list[str], text: str = "so") -> list[Example]:
    return [Example(Dialogue.of([f"{text} {number}"]), 0, label) for number, label in enumerate(labels)]


def measured() -> HeadResults:
    answers = Answers(LABELS, np.array([[0.9, 0.1]] * 3 + [[0.2, 0.8]]), np.array([0, 0, 0, 1]))
    return measure(
        answers,
        examples(["good", "good", "bad", "bad"]),
        standard_metric("macro-f1"),
        head="mood",
        data="Ours",
        split="dev",
        samples=200,
    )


# Calibration


def test_calibration_by_hand() -> None:
    # Two bins: 0.9 three times, right twice, gap 2.7 - 2 = 0.7; 0.6 once, wrong, gap 0.6. (0.7 + 0.6) / 4.
    probabilities = np.array([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.4, 0.6]])
    assert calibration_error(probabilities, np.array([0, 1, 1, 0])) == pytest.approx(1.3 / 4)


def test_a_certain_answer_falls_into_the_last_bin() -> None:
    assert calibration_error(np.array([[1.0, 0.0]]), np.array([0])) == 0.0


# Measuring


def test_measuring_by_hand() -> None:
    found = measured()
    # good: 2 of its 2 found, 3 said; bad: 1 of 2 found, 1 said. F1 4/5 and 2/3.
    assert found.n == 4
    assert found.accuracy == 0.75
    assert found.score == found.macro_f1 == pytest.approx((4 / 5 + 2 / 3) / 2, abs=1e-6)
    assert (found.per_class["good"].precision, found.per_class["good"].recall) == (pytest.approx(2 / 3, abs=1e-6), 1.0)
    assert found.interval.low <= found.score <= found.interval.high
    # 0.9 three times and two right, 0.8 once and right: (0.7 + 0.2) / 4.
    assert found.ece == pytest.approx(0.225)


def test_slices_are_scored_when_there_are_enough_items() -> None:
    labels = ["good", "bad"] * 15
    items = examples(labels[:24], "never") + examples(labels[:6], "innit")
    right = np.array([LABELS.index(str(item.label)) for item in items])
    answers = Answers(LABELS, np.eye(2)[right], right)
    found = measure(answers, items, standard_metric("macro-f1"), head="mood", data="Ours", split="dev", samples=50)
    parts = {part.name: part for part in found.slices}
    assert set(parts) == {"emoji", "negation", "irony", "long input", "dialect", "code-mixing"}
    assert (parts["negation"].n, parts["negation"].score) == (24, 1.0)
    assert (parts["dialect"].n, parts["dialect"].score, parts["dialect"].interval) == (6, None, None)


def test_items_with_other_labels_are_skipped_and_reported() -> None:
    answers = Answers(LABELS, np.array([[0.9, 0.1]] * 3), np.array([0, 0, 0]))
    found = measure(
        answers,
        examples(["good", "fear", "bad"]),
        standard_metric("macro-f1"),
        head="mood",
        data="Ours",
        split="dev",
        samples=9,
    )
    assert (found.n, found.notes) == (2, ("1 items with other labels are left out",))


def test_answers_that_do_not_fit_are_refused() -> None:
    answers = Answers(LABELS, np.array([[0.9, 0.1]]), np.array([0]))
    with pytest.raises(EmoscopeError, match="Ours: 2 examples but 1 answers"):
        measure(answers, examples(["good", "bad"]), standard_metric("macro-f1"), head="mood", data="Ours", split="dev")
    with pytest.raises(EmoscopeError, match="no example has one of the labels good, bad"):
        measure(answers, examples(["fear"]), standard_metric("macro-f1"), head="mood", data="Ours", split="dev")
    with pytest.raises(EmoscopeError, match="expected 1 rows of 2 probabilities"):
        Answers(LABELS, np.array([[1.0]]), np.array([0]))


def test_a_detectors_answers_under_both_priors() -> None:
    detector = emoscope.load("nano")
    items = [
        Example(Dialogue.of(["hi", "hello", text]), 2, label) for text, label in (("so sad", "sad"), ("ok", "others"))
    ]
    task = get_task("emocontext")
    answers = answers_of(detector, items)
    assert [answers.labels[column] for column in answers.chosen] == ["sad", "others"]
    plain = emoscope.load("nano", prior=detector.training_prior)
    assert answers.training == pytest.approx(plain.predict_proba(item.context for item in items))
    found = measure(answers, items, task.metric, head="emocontext", data="x", split="y", labels=task.labels, samples=9)
    assert (found.metric, found.score) == ("micro-f1", 1.0)
    assert found.labels == task.labels
    assert found.ece_training_prior is not None


# Numbers of a card


def test_a_card_states_only_what_was_measured() -> None:
    assert unsupported_numbers(card_text(model_results()), model_results()) == []
    bare = model_results(heads=(), checks=(), size_bytes=None, speed=None)
    assert unsupported_numbers(card_text(bare), bare) == []


def test_a_number_that_was_not_measured_is_found() -> None:
    card = card_text(model_results())
    assert unsupported_numbers(card.replace("0.7333", "0.9333"), model_results()) == ["0.9333"] * card.count("0.7333")
    assert unsupported_numbers(card + "It wins by 17 points.", model_results()) == ["17"]
    assert unsupported_numbers("F1 and int8 and MiniLM-L6-v2 are names", model_results()) == []


figure = st.floats(0, 1, allow_nan=False).map(lambda value: round(value, 6))


@settings(max_examples=50, deadline=None)
@given(figure, figure, st.integers(0, 10**10), st.floats(0, 1e7, allow_nan=False), st.integers(0, 10**6))
def test_no_card_states_a_number_that_is_not_in_its_model_results(
    score: float, ece: float, size: int, speed: float, items: int
) -> None:
    made = model_results(
        heads=(head_results(score=score, ece=ece, n=items, ece_training_prior=score),),
        size_bytes=size,
        speed=Speed(machine="one", figures=(Figure(name="alone", value=speed, unit="ms"),)),
    )
    assert unsupported_numbers(card_text(made), made) == []
