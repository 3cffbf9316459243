"""Teachers that are fitted fold by fold and leave their probabilities."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.core.learnt import LearntItems
from emoscope.distil.pool import own_examples
from emoscope.distil.teacher import (
    PRETAUGHT,
    SPLITS,
    TeacherPlan,
    fold_numbers,
    merged_probabilities,
    teach_by_folds,
)
from kits.affect_files import make_data
from kits.tiny_decoder import make_tiny_decoder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("data"))


@pytest.mark.parametrize("network", ["decoder", "transformer"])
def test_every_example_is_answered_by_the_fold_that_had_not_seen_it(
    network: str, data: Path, encoder: Path, tmp_path: Path
) -> None:
    pretrained = str(make_tiny_decoder(tmp_path / "model") if network == "decoder" else encoder)
    plan = TeacherPlan(pretrained=pretrained, network=network, folds=2, max_length=120)  # type: ignore[arg-type]
    context = FitContext(device="cpu", resources=data)
    teach_by_folds(plan, tmp_path / "out", context)
    learnt = LearntItems.load(tmp_path / "out")
    assert learnt is not None
    assert {*SPLITS, "meld"} <= set(learnt.sources)
    assert "isear" in learnt.sources and "tweeteval-offensive" not in learnt.sources
    merged = merged_probabilities(tmp_path / "out", plan, context)
    assert list(merged) == list(SPLITS)
    for name, tables in merged.items():
        assert len(tables["own"]) == len(own_examples(name, context, SPLITS[name]))
        assert np.allclose(tables["own"].sum(1), 1, atol=1e-2)
        assert np.allclose(tables["test"].sum(1), 1, atol=1e-2)


def test_a_killed_run_goes_on_with_the_folds_that_are_missing(data: Path, tmp_path: Path) -> None:
    plan = TeacherPlan(pretrained=str(make_tiny_decoder(tmp_path / "model")), folds=2, max_length=120)
    context = FitContext(device="cpu", resources=data)
    teach_by_folds(plan, tmp_path / "out", context, only=[0], keep=tmp_path / "kept")
    assert (tmp_path / "kept" / "fold0" / "model.safetensors").is_file()
    paths = [tmp_path / "out" / "fold0.npz", tmp_path / "out" / PRETAUGHT / "model.safetensors"]
    stamps = [path.stat().st_mtime_ns for path in paths]
    own = merged_probabilities(tmp_path / "out", plan, context)["iest"]["own"]
    missing = fold_numbers(own_examples("iest", context, SPLITS["iest"]), 2) == 1
    assert np.array_equal(np.isnan(own).all(1), missing)
    with pytest.raises(EmoscopeError, match="was begun with other settings"):
        teach_by_folds(plan.model_copy(update={"epochs": 2}), tmp_path / "out", context)
    teach_by_folds(plan, tmp_path / "out", context)
    assert [path.stat().st_mtime_ns for path in paths] == stamps
    assert not np.isnan(merged_probabilities(tmp_path / "out", plan, context)["iest"]["own"]).any()


def test_a_folder_without_answers_is_one_line(data: Path, tmp_path: Path) -> None:
    with pytest.raises(EmoscopeError, match="holds no teacher's probabilities"):
        merged_probabilities(tmp_path, TeacherPlan(pretrained="any"), FitContext(resources=data))


@pytest.mark.parametrize("setting", ["fold=3", "folds=two", "folds=1", "network=other"])
def test_a_wrong_setting_is_one_line(setting: str, data: Path, tmp_path: Path) -> None:
    command = ["distil", "teach", "any", "-o", str(tmp_path / "out"), "--set", setting, "--data", str(data)]
    done = subprocess.run(
        [sys.executable, "-m", "emoscope", *command], capture_output=True, text=True, check=False, env=os.environ
    )
    assert done.returncode == 2
    assert "--set" in done.stderr
    assert f"'{setting.partition('=')[0]}'" in done.stderr
    assert not (tmp_path / "out").exists()
    assert len(done.stderr.strip().splitlines()) == 1
