"""Teachers that are fitted fold by fold and leave their probabilities."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import emoscope
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.core.learnt import LearntItems
from emoscope.distil import teacher
from emoscope.distil.bundle import student_bundle
from emoscope.distil.everyday import GENERAL, everyday_examples
from emoscope.distil.judge import judge
from emoscope.distil.pool import load_answers, own_examples
from emoscope.distil.student import HEADS, StudentPlan, fit_student, gather, save_report
from emoscope.distil.teacher import (
    ADAPTED,
    ANSWERS,
    PLAN,
    POOL,
    PRETAUGHT,
    SPLITS,
    TeacherPlan,
    fit_teacher,
    fold_numbers,
    merged_probabilities,
    teach_by_folds,
    teacher_heads,
)
from emoscope.models.torch.multitask import MultiTaskClassifier
from emoscope.models.torch.network import NETWORKS
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
    plan = TeacherPlan(pretrained=pretrained, network=network, folds=2, max_length=120, limit=300)  # type: ignore[arg-type]
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


@pytest.mark.slow
def test_killed_run_resumes_with_the_missing_folds(data: Path, tmp_path: Path) -> None:
    plan = TeacherPlan(pretrained=str(make_tiny_decoder(tmp_path / "model")), folds=2, max_length=120, limit=300)
    context = FitContext(device="cpu", resources=data)
    teach_by_folds(plan, tmp_path / "out", context, only=[0], keep=tmp_path / "kept")
    assert (tmp_path / "kept" / "fold0" / "model.safetensors").is_file()
    paths = [tmp_path / "out" / "fold0.npz", tmp_path / "out" / PRETAUGHT / "model.safetensors"]
    stamps = [path.stat().st_mtime_ns for path in paths]
    own = merged_probabilities(tmp_path / "out", plan, context)["iest"]["own"]
    missing = fold_numbers(own_examples("iest", context, SPLITS["iest"]), 2) == 1
    assert np.array_equal(np.isnan(own).all(1), missing)
    with pytest.raises(EmoscopeError, match="was started with other settings"):
        teach_by_folds(plan.model_copy(update={"epochs": 2}), tmp_path / "out", context)
    with pytest.raises(EmoscopeError, match="was started with other settings"):
        teach_by_folds(plan.model_copy(update={"list_labels": False}), tmp_path / "out", context)
    earlier = json.loads((tmp_path / "out" / PLAN).read_text(encoding="utf-8"))
    del earlier["list_labels"]  # as written before there was this setting
    (tmp_path / "out" / PLAN).write_text(json.dumps(earlier), encoding="utf-8")
    teach_by_folds(plan, tmp_path / "out", context)
    assert [path.stat().st_mtime_ns for path in paths] == stamps
    assert not np.isnan(merged_probabilities(tmp_path / "out", plan, context)["iest"]["own"]).any()


@pytest.mark.parametrize(
    ("name", "usual", "other"),
    [
        ("list_labels", True, False),
        ("describe_labels", False, True),
        ("bidirectional", False, True),
        ("pooling", "last", "mean"),
        ("following", 0, 2),
        ("lora_rank", 0, 8),
        ("gradient_checkpointing", False, True),
    ],
)
def test_the_plan_reaches_the_decoder(name: str, usual: object, other: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MultiTaskClassifier, "fit", lambda teacher, *_: teacher)
    lessons = {"general": (everyday_examples()[:2], np.zeros((2, len(GENERAL))))}
    for changes, expected in (({}, usual), ({name: other}, other)):
        plan = TeacherPlan.model_validate({"pretrained": "any", **changes})
        settings = fit_teacher([lessons], plan, "any", FitContext()).settings
        assert settings[name] == expected
        assert getattr(NETWORKS["decoder"](sum(map(len, teacher_heads().values())), **settings), name) == expected


def test_wrong_model_is_found_before_anything_is_read(tmp_path: Path) -> None:
    plan = TeacherPlan(pretrained="/nosuch")
    with pytest.raises(EmoscopeError, match="decoder /nosuch: expected a folder with a causal language model"):
        teach_by_folds(plan, tmp_path / "out", FitContext(resources=tmp_path))
    assert not (tmp_path / "out").exists()


def test_folder_without_answers_is_a_one_line_error(data: Path, tmp_path: Path) -> None:
    with pytest.raises(EmoscopeError, match="has no teacher's probabilities"):
        merged_probabilities(tmp_path, TeacherPlan(pretrained="any"), FitContext(resources=data))


@pytest.mark.parametrize("share", [0.4, 0.0])
def test_a_decoder_can_first_be_adapted_to_unlabelled_text(
    share: float, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts: list[str] = []

    def fit(lessons: Any, plan: TeacherPlan, pretrained: str, fit_context: FitContext) -> Any:
        starts.append(Path(pretrained).name)
        return fit_teacher(lessons, plan, pretrained, fit_context)

    monkeypatch.setattr(teacher, "fit_teacher", fit)
    pretrained = str(make_tiny_decoder(tmp_path / "model"))
    plan = TeacherPlan(
        pretrained=pretrained,
        folds=2,
        limit=20,
        adaptation="emocontext+iest+tests",
        adaptation_text=30,
        auxiliary_share=share,
    )
    context = FitContext(device="cpu", resources=data)
    out = tmp_path / "out"
    teach_by_folds(plan, out, context, only=[0])
    assert starts == ([ADAPTED, PRETAUGHT] if share else [ADAPTED])
    learnt = LearntItems.load(out)
    assert learnt is not None and {"text: iest", "text: tests"} <= set(learnt.sources)
    weights = [folder / "model.safetensors" for folder in (tmp_path / "model", out / ADAPTED)]
    assert weights[0].read_bytes() != weights[1].read_bytes()
    if share:  # what comes after it is there
        shutil.rmtree(out / ADAPTED)
    teach_by_folds(plan, out, context, only=[1])
    assert starts[-1] == (PRETAUGHT if share else ADAPTED)
    assert (out / ADAPTED).exists() != bool(share)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"network": "transformer", "adaptation": "iest"}, "adaptation: only a decoder is adapted here"),
        ({"adaptation": "iest", "lora_rank": 4}, "adaptation: trains all weights, which lora_rank is to avoid"),
        ({"adaptation_text": 5}, "adaptation_text: needs adaptation"),
        ({"adaptation": "iest+twets"}, "no unlabelled text 'twets'"),
        ({"adaptation": "dialogues"}, "adaptation: dialogues holds no text"),
    ],
)
def test_wrong_adaptation_is_found_before_a_folder_is_made(
    settings: dict[str, Any], message: str, data: Path, tmp_path: Path
) -> None:
    plan = TeacherPlan(pretrained=str(make_tiny_decoder(tmp_path / "model")), folds=2, **settings)
    with pytest.raises(EmoscopeError, match=message):
        teach_by_folds(plan, tmp_path / "out", FitContext(device="cpu", resources=data))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("setting", ["fold=3", "folds=two", "folds=1", "network=other"])
def test_wrong_setting_is_a_one_line_error(setting: str, data: Path, tmp_path: Path) -> None:
    command = ["distil", "teach", "any", "-o", str(tmp_path / "out"), "--set", setting, "--data", str(data)]
    done = subprocess.run(
        [sys.executable, "-m", "emoscope", *command], capture_output=True, text=True, check=False, env=os.environ
    )
    assert done.returncode == 2
    assert "--set" in done.stderr
    assert f"'{setting.partition('=')[0]}'" in done.stderr
    assert not (tmp_path / "out").exists()
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.slow
def test_each_text_of_the_pool_is_answered_by_the_fold_that_had_not_learnt_it(
    data: Path, encoder: Path, tmp_path: Path
) -> None:
    """And a student learns from what there is, be a fold still missing."""
    plan = TeacherPlan(pretrained=str(encoder), network="transformer", folds=2, max_length=64, limit=60)
    context = FitContext(device="cpu", resources=data)
    parts = ["everyday", "varied", "comments"]
    teach_by_folds(plan, tmp_path / "out", context, only=[0], ask=True, parts=parts)
    taught = everyday_examples()[:60]
    missing = fold_numbers(taught, 2) == 1
    assert 0 < missing.sum() < 60
    files = sorted((tmp_path / "out" / ANSWERS).glob("*.npz"))
    _, _, tables, _ = load_answers(tmp_path / "out" / ANSWERS / "general.npz")
    assert np.array_equal(np.isnan(tables["everyday"]).all(1), missing)
    small = StudentPlan(hard=0.0, everyday=1, limit=60)
    before = gather(files, small, context)
    targets = np.array([target for target in before.tables["general"] if target is not None])[:60]
    assert set(np.unique(targets[missing].max(1))) <= {1.0, 2 / 3}
    assert targets[~missing].max() < 1
    teach_by_folds(plan, tmp_path / "out", context, ask=True, parts=parts)
    for path in files:
        task, _, tables, _ = load_answers(path)
        expected = {part for part in POOL["all"][task] if part in parts} | ({"own"} if task != "general" else set())
        assert set(tables) == expected
        assert not any(np.isnan(table).any() for table in tables.values())
    whole, some, others = (
        gather(files, StudentPlan(everyday=1, limit=60, share=share), replace(context, seed=seed))
        for share, seed in ((1.0, 0), (0.5, 0), (0.5, 1))
    )
    assert len(whole.examples) > len(some.examples) > 60
    assert some.examples != others.examples
    own = load_answers(tmp_path / "out" / ANSWERS / "iest.npz")[2]["own"]
    assert np.array_equal(own, merged_probabilities(tmp_path / "out", plan, context)["iest"]["own"])
    teach_by_folds(plan, tmp_path / "out", context, only=[2])  # learns everything, so that its answers count less
    assert np.array_equal(own, load_answers(tmp_path / "out" / ANSWERS / "iest.npz")[2]["own"])
    assert np.array_equal(own, merged_probabilities(tmp_path / "out", plan, context)["iest"]["own"])


def written(data: Path, name: str, dialogues: list[list[str]]) -> None:
    (data / "written").mkdir(exist_ok=True)
    lines = (json.dumps({"turns": turns}) for turns in dialogues)
    (data / "written" / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("corpora", ["all", "open"])
def test_a_teacher_of_all_data_teaches_a_student(corpora: str, data: Path, encoder: Path, tmp_path: Path) -> None:
    """From the language model to the detector that runs without it."""
    written(data, "everyday", [["my bike is gone"], ["we won", "no way"]])
    written(data, "emocontext", [["hi", "hello", "I am so glad"]])
    written(data, "iest", [["so [#TRIGGERWORD#] that it rained"]])
    context = FitContext(device="cpu", resources=data)
    plan = TeacherPlan(pretrained=str(make_tiny_decoder(tmp_path / "model")), corpora=corpora, limit=24)  # type: ignore[arg-type]
    teach_by_folds(plan, tmp_path / "out", context, only=[9], ask=True)
    files = sorted((tmp_path / "out" / ANSWERS).glob("*.npz"))
    assert {path.stem for path in files} == set(POOL[corpora])
    for path in files:
        task, _, tables, _ = load_answers(path)
        assert ("own" in tables) == (task != "general")
        assert not any(np.isnan(table).any() for table in tables.values())
    heads = ("general",) if corpora == "open" else tuple(HEADS)
    small = StudentPlan(encoder=str(encoder), max_length=24, epochs=1, middle=None, adaptation=None, heads=heads)
    small = small.model_copy(update={"mixture_epochs": 0, "limit": 24})
    targets = gather(files, small, context)
    held_out = {example.context.texts for example in everyday_examples(held_out=True)}
    assert held_out
    assert not held_out & {example.context.texts for example in targets.examples}
    student = fit_student(targets, small, context)
    student.save(tmp_path / "student")
    save_report(tmp_path / "student", {"mix": targets.mix(), "heads": judge(student, context)})
    student_bundle([tmp_path / "student"], tmp_path / "bundle", context, name="mine")
    detector = emoscope.load(tmp_path / "bundle")
    assert detector.labels == GENERAL
    assert sum(detector.detect(["I love you"]).scores.values()) == pytest.approx(1)


def test_a_teacher_can_be_asked_about_one_part_of_the_pool(data: Path, tmp_path: Path) -> None:
    """New text is answered without asking about everything again."""
    written(data, "everyday", [["my bike is gone"], ["we won", "no way"]])
    context = FitContext(device="cpu", resources=data)
    plan = TeacherPlan(pretrained=str(make_tiny_decoder(tmp_path / "model")), corpora="open", limit=8)
    with pytest.raises(EmoscopeError, match="no head labels 'weather'"):
        teach_by_folds(plan, tmp_path / "out", context, only=[9], ask=True, parts=["weather"])
    (data / "written" / "everyday.jsonl").unlink()
    with pytest.raises(EmoscopeError, match=r"everyday\.jsonl"):
        teach_by_folds(plan, tmp_path / "out", context, only=[9], ask=True)
    assert not (tmp_path / "out" / "fold9.npz").exists()
    written(data, "everyday", [["my bike is gone"], ["we won", "no way"]])
    teach_by_folds(plan, tmp_path / "out", context, only=[9], ask=True, parts=["written:everyday"])
    _, _, tables, _ = load_answers(tmp_path / "out" / ANSWERS / "general.npz")
    assert {name: len(table) for name, table in tables.items()} == {"written:everyday": 2}


def test_without_everyday_dialogues_nothing_is_labelled_with_the_seven_emotions(data: Path, tmp_path: Path) -> None:
    context = FitContext(device="cpu", resources=data)
    plan = TeacherPlan(pretrained=str(make_tiny_decoder(tmp_path / "model")), limit=8, everyday_repeats=0)
    teach_by_folds(plan, tmp_path / "out", context, only=[9], ask=True, parts=["meld"])
    files = {path.stem: load_answers(path)[2] for path in (tmp_path / "out" / ANSWERS).glob("*.npz")}
    assert set(files) == set(SPLITS)
    assert "meld" in files["emocontext"]
    with pytest.raises(EmoscopeError, match="no head labels 'comments'"):
        teach_by_folds(plan, tmp_path / "out", context, only=[9], ask=True, parts=["comments"])
