"""Measured results and the cards made of them: no number that was not measured."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import emoscope
from emoscope.cli.main import app
from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.metrics import standard_metric
from emoscope.evaluation.card import card_text, markdown_table, unsupported_numbers
from emoscope.evaluation.measure import Answers, answers_of, calibration_error, measure
from emoscope.evaluation.results import (
    AboutModel,
    CheckFigures,
    Figure,
    HeadResults,
    ModelResults,
    Speed,
    TrainingData,
    read_results,
    write_results,
)
from emoscope.tasks import get_task

LABELS = ("good", "bad")


def examples(labels: list[str], text: str = "so") -> list[Example]:
    return [Example(Dialogue.of([f"{text} {number}"]), 0, label) for number, label in enumerate(labels)]


def head(**changes: object) -> HeadResults:
    answers = Answers(LABELS, np.array([[0.9, 0.1]] * 3 + [[0.2, 0.8]]), np.array([0, 0, 0, 1]))
    found = measure(
        answers,
        examples(["good", "good", "bad", "bad"]),
        standard_metric("macro-f1"),
        head="mood",
        data="Ours",
        split="dev",
        samples=200,
    )
    return found.model_copy(update=changes)


def results(**changes: object) -> ModelResults:
    made = ModelResults(
        name="mine",
        version="0.1.0",
        measured_with="emoscope 0.1.0 on a machine with 2 cores",
        about=AboutModel(
            summary="A model for the tests.",
            intended_use=("Tests.",),
            limits=("It knows 2 labels.",),
            training_data=(TrainingData(name="Ours", use="fitting", terms="CC BY 4.0", items=12_345),),
        ),
        heads=(head(seeds=(0, 1), seed_scores=(0.73, 0.74), notes=("3 folds",)),),
        checks=(CheckFigures(head="mood", kind="irony", n=12, right=7),),
        size_bytes=23_456_789,
        speed=Speed(
            machine="a laptop", figures=(Figure(name="in batches", value=1234.567, unit="dialogues a second"),)
        ),
    )
    return made.model_copy(update=changes)


# Calibration


def test_calibration_by_hand() -> None:
    # Two bins: 0.9 three times, right twice, gap 2.7 - 2 = 0.7; 0.6 once, wrong, gap 0.6. (0.7 + 0.6) / 4.
    probabilities = np.array([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.4, 0.6]])
    assert calibration_error(probabilities, np.array([0, 1, 1, 0])) == pytest.approx(1.3 / 4)


def test_a_certain_answer_falls_into_the_last_bin() -> None:
    assert calibration_error(np.array([[1.0, 0.0]]), np.array([0])) == 0.0


# Measuring


def test_measuring_by_hand() -> None:
    found = head()
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


def test_items_with_other_labels_are_left_out_and_that_is_said() -> None:
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


# The card


def test_a_card_says_what_was_measured() -> None:
    card = card_text(results())
    for expected in (
        "# Model card: `mine`",
        "23.5 MB",
        "| mood | Ours | dev | 4 | macro-f1 | 0.7333 |",
        "95 % interval",
        "0.2250",
        "| irony | 7 of 12 |",
        "| in batches | 1,235 dialogues a second |",
        "| Ours | fitting | 12,345 | CC BY 4.0 |",
        "3 folds; seeds 0, 1: 0.7300, 0.7400.",
        "It knows 2 labels.",
    ):
        assert expected in card
    assert unsupported_numbers(card, results()) == []


def test_a_number_that_was_not_measured_is_found() -> None:
    card = card_text(results())
    assert unsupported_numbers(card.replace("0.7333", "0.9333"), results()) == ["0.9333"] * card.count("0.7333")
    assert unsupported_numbers(card + "It wins by 17 points.", results()) == ["17"]
    assert unsupported_numbers("F1 and int8 and MiniLM-L6-v2 are names", results()) == []


figure = st.floats(0, 1, allow_nan=False).map(lambda value: round(value, 6))


@settings(max_examples=50, deadline=None)
@given(figure, figure, st.integers(0, 10**10), st.floats(0, 1e7, allow_nan=False), st.integers(0, 10**6))
def test_no_card_states_a_number_that_is_not_in_its_results(
    score: float, ece: float, size: int, speed: float, items: int
) -> None:
    made = results(
        heads=(head(score=score, ece=ece, n=items, ece_training_prior=score),),
        size_bytes=size,
        speed=Speed(machine="one", figures=(Figure(name="alone", value=speed, unit="ms"),)),
    )
    assert unsupported_numbers(card_text(made), made) == []


def test_a_bare_card() -> None:
    made = results(heads=(), checks=(), size_bytes=None, speed=None)
    card = card_text(made)
    assert "MB" not in card and "## Speed" not in card and "## Hand-written" not in card
    assert unsupported_numbers(card, made) == []


def test_a_cell_cannot_break_the_table() -> None:
    assert markdown_table(["a"], [["x | y"]]).splitlines()[-1] == "| x \\| y |"


# Files


def test_results_survive_a_file(tmp_path: Path) -> None:
    write_results(results(), tmp_path / "mine.json")
    assert read_results(tmp_path / "mine.json") == results()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("{", "is not valid JSON"),
        ("{}", "does not hold a model's results ('name': Field required)"),
        ('{"format": "other-1"}', "does not hold a model's results"),
    ],
)
def test_bad_results_are_one_line(content: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        read_results(path)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_another_format_is_refused(tmp_path: Path) -> None:
    write_results(results(format="emoscope-model-results-9"), tmp_path / "new.json")
    with pytest.raises(InputError, match="this version reads 'emoscope-model-results-1'"):
        read_results(tmp_path / "new.json")


# The command


def test_the_embedded_models_card_is_printed() -> None:
    done = CliRunner().invoke(app, ["card", "nano"])
    assert done.exit_code == 0
    assert done.stdout.startswith("# Model card: `nano`\n")
    assert "## Limits" in done.stdout


def test_a_card_is_written_or_made_from_results(tmp_path: Path) -> None:
    source, target = tmp_path / "mine.json", tmp_path / "card.md"
    write_results(results(), source)
    assert CliRunner().invoke(app, ["card", str(source), "-o", str(target)]).exit_code == 0
    assert target.read_text(encoding="utf-8") == card_text(results())


def test_a_model_without_a_card_is_one_line(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["card", str(tmp_path)])
    assert isinstance(done.exception, EmoscopeError)
    assert "has no card" in str(done.exception)
