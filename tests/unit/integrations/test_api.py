"""The functions at the top of the package."""

import subprocess
import sys
from pathlib import Path

import pytest

import emoscope
from emoscope import EmoscopeError
from kits.emocontext_files import make_corpus


def test_everything_named_is_there_and_callable() -> None:
    for name in emoscope.__all__:
        assert callable(getattr(emoscope, name)), name


def test_packages_list_what_they_hold_and_stay_packages() -> None:
    assert "emocontext" in emoscope.tasks()
    assert set(emoscope.systems("iest")) < set(emoscope.systems())
    assert emoscope.tasks.get_task("iest").name == "iest"  # type: ignore[attr-defined]
    code = "import emoscope; print('nano' in emoscope.systems(), emoscope.tasks.TASKS is not None)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]


def test_train_predict_and_evaluate(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="training needs scikit-learn")
    data = make_corpus(tmp_path)
    record = emoscope.train("nano", "emocontext", tmp_path / "run", root=data)
    assert record.system == "nano"
    labels = emoscope.predict(tmp_path / "run", "emocontext", split="dev", data=data)
    found = emoscope.evaluate(labels, "emocontext", split="dev", samples=100, data=data)
    assert record.dev is not None
    assert round(found.score, 6) == record.dev["score"]
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text("\n".join(labels) + "\n")
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    rows = emoscope.compare(files, "emocontext", split="dev", samples=200, data=data).rows
    assert [row.scores.score for row in rows] == [found.score] * 2


def test_one_reference_must_be_named() -> None:
    with pytest.raises(EmoscopeError, match="give either gold or split"):
        emoscope.evaluate(["others"], "emocontext")


def test_labels_of_another_number_are_an_error(tmp_path: Path) -> None:
    data = make_corpus(tmp_path)
    with pytest.raises(EmoscopeError, match="gold labels but 1 predictions"):
        emoscope.evaluate(["others"], "emocontext", split="dev", data=data)
