"""A model with several sets of labels, and models that prefer some labels to others."""

from pathlib import Path

import pytest

import emoscope
from emoscope.core.errors import EmoscopeError
from emoscope.detector import Detector
from emoscope.detector.bundle import KINDS, Bundle
from kits.even_model import MOOD, TONE, Even


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(KINDS, "_entries", dict(KINDS._entries))
    KINDS.add("even", "kits.even_model:load_even")
    Bundle(name="mine", kind="even", task="mood", heads=(MOOD, TONE)).save(tmp_path)
    return tmp_path


def test_a_head_is_chosen_by_name(folder: Path) -> None:
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


def test_an_unknown_name_is_one_line_with_the_names(folder: Path) -> None:
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


def test_a_detector_can_be_made_of_ones_own_backend() -> None:
    bundle = Bundle(name="mine", kind="even", task="tone", heads=(TONE,))
    detector = Detector(Even(("up", "down"), {"up": 0.7, "down": 0.3}), bundle)
    assert detector.detect(["hi"]).label == "up"
