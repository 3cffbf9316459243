"""A model with several sets of labels, and models that prefer some labels to others."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import emoscope
from emoscope.core.errors import EmoscopeError
from emoscope.detector import Detector
from emoscope.detector.model import FittedModel
from kits.even_model import MOOD, TONE, Even, even_model, registered


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with registered("even", "kits.even_model:Even"):
        even_model().save(tmp_path)
        yield tmp_path


def test_head_is_selected_by_name(folder: Path) -> None:
    first, second = emoscope.load(folder), emoscope.load(folder, labels="tone")
    assert (first.head, first.labels) == ("mood", ("calm", "glad", "cross"))
    assert (second.head, second.labels) == ("tone", ("up", "down"))
    assert first.heads == second.heads == ("mood", "tone")
    assert second.detect(["hi"]).label == "up"


def test_each_head_has_its_own_prior(folder: Path) -> None:
    mood = emoscope.load(folder)
    assert mood.prior == pytest.approx(MOOD.prior)
    assert mood.training_prior == pytest.approx(MOOD.trained)
    assert mood.detect(["hi"]).scores == pytest.approx(MOOD.prior)
    tone = emoscope.load(folder, labels="tone")
    assert tone.prior == tone.training_prior == pytest.approx(TONE.trained)
    own = emoscope.load(folder, labels="tone", prior={"up": 1, "down": 3})
    assert own.detect(["hi"]).label == "down"


def test_unknown_name_is_a_one_line_error_with_the_known_ones(folder: Path) -> None:
    with pytest.raises(EmoscopeError, match=r"^model mine has no labels named 'ekman'; it has: mood, tone$"):
        emoscope.load(folder, labels="ekman")
    with pytest.raises(EmoscopeError, match=r"^model nano has no labels named 'ekman'; it has: emocontext$"):
        emoscope.load("nano", labels="ekman")


def test_nano_has_one_head_named_by_its_task() -> None:
    detector = emoscope.load("nano", labels="emocontext")
    assert detector.head == detector.task == "emocontext"
    assert detector.heads == ("emocontext",)


def test_a_decision_chooses_the_label_and_leaves_the_scores(folder: Path) -> None:
    # 0.6 * 1 = 0.6, 0.25 * 2 = 0.5, 0.15 * 4.5 = 0.675: cross, though calm is likelier.
    detection = emoscope.load(folder, for_metric=True).detect(["hi"])
    assert detection.label == "cross"
    assert detection.scores == pytest.approx(MOOD.prior)
    assert emoscope.load(folder, for_metric=True).explain(["hi"]).label == "cross"
    assert emoscope.load(folder).detect(["hi"]).label == "calm"


def test_abstaining_looks_at_the_chosen_labels_probability(folder: Path) -> None:
    assert emoscope.load(folder, for_metric=True, abstain_below=0.14).detect(["hi"]).label == "cross"
    assert emoscope.load(folder, for_metric=True, abstain_below=0.16).detect(["hi"]).label is None


def test_detector_can_wrap_a_custom_block() -> None:
    detector = Detector(even_model(), labels="tone")
    assert detector.detect(["hi"]).label == "up"


def test_other_options_share_the_model() -> None:
    mood = Detector(even_model(), prior={"calm": 1, "glad": 3, "cross": 1}, abstain_below=0.1)
    tone = mood.with_(labels="tone")
    assert tone._model is mood._model
    assert tone.prior == pytest.approx(TONE.trained)  # a prior is for its own labels
    own = tone.with_(prior={"up": 1, "down": 3}, abstain_below=0.8)
    assert own.detect(["hi"]).scores == pytest.approx({"up": 0.25, "down": 0.75})
    assert own.detect(["hi"]).label is None
    assert mood.with_(for_metric=True, prior=None).detect(["hi"]).label == "cross"
    with pytest.raises(EmoscopeError, match="has no labels named 'tune'; did you mean 'tone'"):
        mood.with_(labels="tune")


def test_heads_have_the_labels_of_the_block() -> None:
    wrong = replace(TONE, labels=("up", "left"), trained={"up": 0.5, "left": 0.5})
    with pytest.raises(EmoscopeError, match="head tone: expected the model's labels, which are up, down"):
        FittedModel(replace(even_model().bundle, heads=(wrong,)), Even())
