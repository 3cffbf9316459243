"""A detector can be pickled: by name where it was loaded, whole where it was not."""

import pickle
import shutil
from pathlib import Path

import pytest

import emoscope
from emoscope.core.errors import EmoscopeError
from emoscope.detector import Detector
from emoscope.detector.bundle import resolve
from kits.even_model import even_model

TURNS = ["how was it?", "I am so happy :)"]


@pytest.mark.parametrize("name", ["nano", "default"])
def test_a_preset_goes_by_its_name(name: str) -> None:
    detector = Detector(name, abstain_below=0.3)
    pickled = pickle.dumps(detector)
    assert len(pickled) < 1000
    copy, other = pickle.loads(pickled), pickle.loads(pickled)
    assert copy.detect(TURNS) == detector.detect(TURNS)
    assert copy.detect(["well"]) == detector.detect(["well"])
    assert copy._model is other._model, "a worker loads it once"


def test_options_and_a_folder_travel(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(resolve("nano"), folder)
    prior = {"others": 0.7, "happy": 0.1, "sad": 0.1, "angry": 0.1}
    detector = emoscope.load(folder, prior=prior)
    pickled = pickle.dumps(detector)
    assert pickle.loads(pickled).detect(TURNS) == detector.detect(TURNS)
    (folder / "more.txt").write_text("another model", encoding="utf-8")
    detector = emoscope.load(folder)
    pickled = pickle.dumps(detector)
    (folder / "more.txt").write_text("and another", encoding="utf-8")
    assert pickle.dumps(detector) == pickled, "the files it was loaded from"
    with pytest.raises(EmoscopeError, match=r"mine differs from the one .* pickled with; install the same"):
        pickle.loads(pickled)


def test_a_model_that_is_in_no_folder_travels_whole() -> None:
    detector = Detector(even_model())
    assert pickle.loads(pickle.dumps(detector)).detect(TURNS) == detector.detect(TURNS)
