"""The blend of teachers' folds: what its figures and blind labels are made of."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not in the package")
from benchmarks.common.provenance import made
from benchmarks.quality import teacher
from emoscope.core.errors import EmoscopeError
from emoscope.models.block import one_hot
from emoscope.tasks import get_task

TASK = get_task("emocontext")


def test_the_weights_for_a_fold_are_found_on_the_others() -> None:
    labels = [TASK.labels[number % 4] for number in range(80)]
    gold = one_hot(labels, TASK.labels)
    numbers = np.arange(80) // 4 % 2
    right, wrong = 0.7 * gold + 0.075, 0.7 * np.roll(gold, 1, axis=1) + 0.075
    # In fold 0 the first member is right, in fold 1 the second: each fold is answered by the one that failed in it.
    first = np.where((numbers == 0)[:, None], right, wrong)
    second = np.where((numbers == 0)[:, None], wrong, right)
    members = [{"own": own, "test": own[:1]} for own in (first, second)]
    tables = teacher.blend(members, TASK, labels, numbers)
    assert (tables["own"].argmax(1) != gold.argmax(1)).all()
    assert teacher.blend(members[:1], TASK, labels, numbers) is members[0]


def test_a_fold_that_was_not_trained_has_no_probabilities_and_no_weight() -> None:
    labels = [TASK.labels[number % 4] for number in range(90)]
    gold = one_hot(labels, TASK.labels)
    numbers = np.arange(90) % 3
    good, bad = 0.7 * gold + 0.075, np.full(gold.shape, 0.25)
    first = np.where((numbers == 2)[:, None], np.nan, good)
    members = [{"own": own, "test": good} for own in (first, bad)]
    assert (teacher.answered(members) == (numbers < 2)).all()
    tables = teacher.blend(members, TASK, labels, numbers)
    assert (np.isnan(tables["own"]).all(1) == (numbers == 2)).all()
    assert (tables["own"][numbers < 2].argmax(1) == gold[numbers < 2].argmax(1)).all()
    assert (tables["test"].argmax(1) == gold.argmax(1)).all()
    with pytest.raises(EmoscopeError, match="blending needs two folds"):
        teacher.blend(members, TASK, labels, np.where(numbers == 1, 0, numbers))


def test_figures_are_of_the_folds_that_were_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ["happy\tso glad", "sad\tmy dog died", "angry\tleave me alone", "others\tok"]
    lines = ["id\tturn1\tturn2\tturn3\tlabel"]
    lines += [f"{number}\thi\thello\t{row.split(chr(9))[1]}\t{row.split(chr(9))[0]}" for number, row in enumerate(rows)]
    (tmp_path / "emocontext").mkdir()
    (tmp_path / "emocontext" / "dev.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    order = [TASK.labels.index(row.split("\t")[0]) for row in rows]
    answers = np.eye(4)[order] * 0.9 + 0.025
    answers[1] = np.nan
    trained = np.full(4, 0.25)
    content = teacher.kept_answers(TASK, 2, answers, trained, np.ones(4))
    kept = teacher.KeptAnswers.model_validate_json(content)
    assert kept.rows == [0, 2, 3]
    head = kept.measured(tmp_path)
    assert (head.n, head.score) == (3, 1.0)
    assert any("of 3 of 4 examples" in note for note in head.notes)


def test_members_of_a_single_task_are_added(tmp_path: Path) -> None:
    assert teacher.task_members(TASK.name, tmp_path) == []
    own, test = np.random.default_rng(0).random((2, 5, 2, 4))
    np.savez(tmp_path / f"{TASK.name}.members.npz", held_out=own, test=test)
    members = teacher.task_members(TASK.name, tmp_path)
    assert len(members) == 2
    assert (members[1]["own"] == own[:, 1]).all() and (members[1]["test"] == test[:, 1]).all()


def test_emotions_are_favoured_only_where_they_are_rare_in_real_traffic() -> None:
    own, labels = np.full((8, 4), 0.25), list(TASK.labels) * 2
    factors = teacher.factors_of(TASK, labels, own, np.full(4, 0.25), 1.35)
    assert dict(zip(TASK.labels, factors.tolist(), strict=True)) == {
        "others": 1.0,
        "happy": 1.35,
        "sad": 1.35,
        "angry": 1.35,
    }
    friends = get_task("emotionx-friends")
    assert teacher.factors_of(friends, list(friends.labels) * 2, own, np.full(4, 0.25), 1.35).tolist() == [1.0] * 4


def test_votes_decide_where_the_blend_is_unsure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Path] = []
    monkeypatch.setattr(teacher, "BLIND", tmp_path)
    monkeypatch.setattr(teacher, "keep", lambda path, record: kept.append(path))
    (tmp_path / TASK.name).mkdir()
    (tmp_path / TASK.name / "other.txt").write_text("sad\nsad\n", encoding="utf-8")
    test = np.array([[0.4, 0.1, 0.35, 0.15], [0.8, 0.05, 0.1, 0.05]])
    teacher.write_blind(TASK, "mine", test, ["other"], made(0))
    assert (tmp_path / TASK.name / "mine.txt").read_text(encoding="utf-8").split() == ["sad", "others"]
    assert kept == [tmp_path / TASK.name / "mine.txt"]
