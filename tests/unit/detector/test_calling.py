"""What a detector takes and gives in Python: texts, messages, columns, tables; pickles, notebooks and reprs."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emoscope
from emoscope import Detector, EmoscopeError

ANGRY = "I hate you, shut up"
CALM = "what time is it"


@pytest.fixture(scope="module")
def detector() -> Detector:
    return emoscope.load("nano")


@pytest.mark.parametrize(
    "one",
    [
        ANGRY,
        {"speaker": "A", "text": ANGRY},
        {"role": "user", "content": ANGRY},
        {"role": "user", "content": [{"type": "text", "text": ANGRY}, {"type": "image_url"}]},
        emoscope.Turn(ANGRY, "A"),
        np.array([ANGRY])[0],  # numpy's own kind of string, which has a dtype as its arrays have
        [{"role": "system", "content": "You are so happy and glad"}, {"role": "user", "content": ANGRY}],
    ],
)
def test_one_turn_in_all_its_forms(detector: Detector, one: Any) -> None:
    assert detector.detect(one) == detector(one) == detector.detect([ANGRY])
    assert emoscope.detect(one, model="nano") == detector(one)


@pytest.mark.parametrize("wrong", [None, 3, 0.5, b"hello"])
def test_what_is_no_dialogue_is_named(detector: Detector, wrong: Any) -> None:
    message = f"a dialogue is a text or a list of turns, not {type(wrong).__name__}"
    for answer in (detector, detector.detect, detector.timeline, detector.explain):
        with pytest.raises(EmoscopeError, match=message):
            answer(wrong)
    for answer_many in (detector.detect_many, detector.predict_proba, detector.estimate_prior):
        with pytest.raises(EmoscopeError, match=f"expected many dialogues, .*not {type(wrong).__name__}"):
            answer_many(wrong)


def test_a_table_is_no_dialogue(detector: Detector) -> None:
    table: Any = pytest.importorskip("pandas").DataFrame({"text": [ANGRY]})
    for answer in (detector.detect, detector.timeline, detector.explain, detector.detect_many):
        with pytest.raises(EmoscopeError, match="a DataFrame is a table: give it to to_frame"):
            answer(table)


@pytest.mark.parametrize("batch", [0, -1])
def test_an_empty_batch_is_refused(detector: Detector, batch: int) -> None:
    with pytest.raises(EmoscopeError, match=f"batch must be at least 1, not {batch}"):
        detector.detect_many([ANGRY], batch=batch)


@pytest.mark.parametrize("number", [None, "much"])
def test_a_prior_is_numbers(detector: Detector, number: Any) -> None:
    with pytest.raises(EmoscopeError, match=f"a prior gives a number for each label, not .*{number}"):
        emoscope.load("nano", prior=dict.fromkeys(detector.labels, number))


def test_many_may_have_only_numbered_items(detector: Detector) -> None:
    class Numbered:
        def __getitem__(self, place: int) -> str:
            return [ANGRY, CALM][place]

    numbered: Any = Numbered()
    expected = [detector.detect(ANGRY), detector.detect(CALM)]
    assert list(detector.detect_many(numbered)) == expected
    answered: Any = detector(numbered)
    assert answered == expected


@pytest.mark.parametrize("labels", [["angry", "happy"], 3])
def test_labels_are_the_name_of_a_set(labels: Any) -> None:
    with pytest.raises(EmoscopeError, match=r"labels is the name of a set of labels \(emocontext\), not a "):
        emoscope.load("nano", labels=labels)


def test_an_empty_name_is_no_model() -> None:
    with pytest.raises(EmoscopeError, match="no model named '': expected default, open, nano"):
        emoscope.load("")


def test_many_are_answered_one_by_one(detector: Detector) -> None:
    expected = [detector.detect(ANGRY), detector.detect(CALM)]
    assert list(detector.detect_many([ANGRY, CALM])) == expected
    assert detector([[ANGRY], [CALM]]) == expected
    assert detector(text for text in (ANGRY, CALM)) == expected
    pandas = pytest.importorskip("pandas")
    assert detector(pandas.Series([ANGRY, CALM])) == expected


def test_a_list_of_texts_is_one_dialogue(detector: Detector) -> None:
    assert detector([CALM, ANGRY]) == detector.detect([CALM, ANGRY]) != detector([[CALM], [ANGRY]])


@pytest.mark.parametrize("one", ["a text", {"text": "a"}])
def test_one_where_many_are_expected_is_an_error(detector: Detector, one: Any) -> None:
    for function in (detector.detect_many, detector.predict_proba, detector.estimate_prior):
        with pytest.raises(EmoscopeError, match=r"expected many dialogues, not one .*: put it into a list"):
            function(one)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_table_is_not_the_names_of_its_columns(detector: Detector, kind: str) -> None:
    frame = _frames()[kind]({"text": [ANGRY, CALM]})
    for function in (detector, detector.detect, detector.detect_many, detector.estimate_prior):
        with pytest.raises(EmoscopeError, match=r"a (DataFrame|Table) is a table: give it to to_frame"):
            function(frame)


def test_errors_in_a_stream_name_the_dialogue(detector: Detector) -> None:
    with pytest.raises(EmoscopeError, match="dialogue 2: a dialogue is a text"):
        list(detector.detect_many([CALM, 3]))  # type: ignore[list-item]
    with pytest.raises(EmoscopeError, match="dialogue 2: a dialogue is a text"):
        detector.estimate_prior([CALM, 3])  # type: ignore[list-item]
    with pytest.raises(EmoscopeError, match="mixed"):
        detector([CALM, [ANGRY]])  # type: ignore[list-item]


def _frames() -> dict[str, Callable[[dict[str, list[Any]]], Any]]:
    return {
        "pandas": lambda rows: pytest.importorskip("pandas").DataFrame(rows),
        "polars": lambda rows: pytest.importorskip("polars").DataFrame(rows),
        "pyarrow": lambda rows: pytest.importorskip("pyarrow").table(rows),
        "datasets": lambda rows: pytest.importorskip("datasets").Dataset.from_dict({**rows}),
    }


@pytest.mark.parametrize("kind", _frames())
def test_tables_keep_their_types(detector: Detector, kind: str) -> None:
    frame = _frames()[kind]({"id": [1, 2], "said": [ANGRY, CALM], "label": ["a", "b"]})
    answered = detector.to_frame(frame, column="said")
    assert type(answered) is type(frame)
    best = [detector(ANGRY).label, detector(CALM).label]
    assert list(answered["predicted_label"].to_pylist() if kind == "pyarrow" else answered["predicted_label"]) == best
    names = answered.column_names if kind in ("pyarrow", "datasets") else answered.columns
    assert [*names][:6] == ["id", "said", "label", "predicted_label", "truncated", "note"]
    assert [*names][6:] == [f"score_{label}" for label in detector.labels]


@pytest.mark.parametrize("kind", _frames())
def test_tables_of_turns(detector: Detector, kind: str) -> None:
    expected = detector.detect([CALM, ANGRY]).score
    for rows in ({"turn1": [CALM], "turn2": [ANGRY]}, {"turns": [[CALM, ANGRY]]}):
        answered = detector.to_frame(_frames()[kind](rows))
        top = answered[f"score_{detector.detect([CALM, ANGRY]).label}"]
        assert (top.to_pylist() if kind == "pyarrow" else list(top)) == [expected]


def test_tables_that_cannot_be_read(detector: Detector) -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(EmoscopeError, match="has no column 'said'; it has: text"):
        detector.to_frame(pandas.DataFrame({"text": ["a"]}), column="said")
    with pytest.raises(EmoscopeError, match="expected a pandas or polars DataFrame"):
        detector.to_frame([["a"]])
    with pytest.raises(EmoscopeError, match="row 2: has no turns"):
        detector.to_frame(pandas.DataFrame({"text": ["a", None]}))


def test_progress_on_request(detector: Detector, capsys: pytest.CaptureFixture[str]) -> None:
    done: list[int] = []
    list(detector.detect_many([CALM] * 5, batch=2, progress=done.append))
    assert done == [2, 2, 1]
    list(detector.detect_many([CALM] * 5))
    assert capsys.readouterr() == ("", "")


def test_a_detector_can_be_pickled(detector: Detector, tmp_path: Path) -> None:
    chosen = detector.with_(abstain_below=0.99)
    again = pickle.loads(pickle.dumps(chosen))
    assert len(pickle.dumps(chosen)) < 1000  # an embedded model goes by its name
    assert again.detect("maybe") == chosen.detect("maybe")
    detector._model.save(tmp_path / "run")
    own = emoscope.load(tmp_path / "run")
    assert pickle.loads(pickle.dumps(own)).detect(ANGRY) == own.detect(ANGRY)  # by its folder


def test_answers_can_be_read_and_written(detector: Detector) -> None:
    detection, timeline = detector(ANGRY), detector.timeline([CALM, ANGRY])
    assert repr(detection).startswith(f"Detection('{detection.label}', {{'{detection.label}': 0.")
    assert json.loads(json.dumps(detection.as_dict()))["label"] == detection.label
    json.dumps(detector.explain(ANGRY).as_dict())
    assert CALM in repr(timeline) and "nano" in repr(detector) and ANGRY in repr(detector.explain(ANGRY))
    assert pickle.loads(pickle.dumps(timeline)) == timeline


def test_notebooks_show_escaped_html(detector: Detector) -> None:
    said = ["<script>alert(1)</script>", ANGRY]
    for shown in (detector(said), detector.timeline(said), detector.explain(said)):
        html = shown._repr_html_()
        assert "<table" in html and "<script" not in html
    assert "&lt;script&gt;" in detector.timeline(said)._repr_html_()
    assert "<mark" in detector.explain(said)._repr_html_()


def test_a_mistyped_option_is_not_ignored() -> None:
    with pytest.raises(TypeError, match=r"a detector has no option 'label'; did you mean 'labels'\?"):
        emoscope.load("nano").with_(label="emocontext")  # type: ignore[call-arg]
