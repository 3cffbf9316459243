"""A model that is taught more: it begins with what it knows, and is reminded of it."""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import emoscope
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.core.learnt import LearntItems
from emoscope.detector.bundle import Bundle, resolve
from emoscope.detector.model import FittedModel
from emoscope.distil.everyday import GENERAL, everyday_examples, vote_shares
from emoscope.distil.judge import calibration
from emoscope.distil.pool import (
    ASKED,
    HEAD_OF,
    REMEMBERED,
    TEACHER,
    add_sources,
    known_answers,
    load_answers,
    pool_part,
    save_answers,
    source_items,
)
from emoscope.distil.student import HEADS, REPORT, UNNAMED, StudentPlan, gather, save_report
from emoscope.models.probabilities import softmax
from emoscope.models.torch.multitask import MultiTaskClassifier
from emoscope.models.torch.reopened import reopen
from emoscope.models.torch.transformer import Transformer
from kits.affect_files import make_data
from kits.exported import tiny_headed
from kits.task_files import run


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("data"))


@pytest.mark.parametrize("name", ["default", "open"])
def test_an_embedded_model_opens_as_the_network_it_was(name: str) -> None:
    """Its answers are those of the plain graph, but for the rounding of what comes in to a layer."""
    folder, examples = resolve(name), everyday_examples(held_out=True)[:40]
    classifier, exported = reopen(folder, "general"), FittedModel.load(folder).block
    scores, answers = classifier.scores(examples), exported.infer(examples).probabilities
    columns = classifier.columns("general")
    plain = softmax(scores[:, columns])
    difference = np.abs(plain - answers[:, exported.columns("general")])
    assert difference.mean() < 0.003
    assert difference.max() < 0.1
    assert classifier.learnt is not None
    assert classifier.learnt.sources == LearntItems.load(folder).sources  # type: ignore[union-attr]


def test_only_a_student_opens_again() -> None:
    with pytest.raises(EmoscopeError, match="nano: cannot be trained further"):
        reopen(resolve("nano"), "emocontext")


def test_everyday_dialogues_that_no_teacher_answered_are_taught_by_their_labels() -> None:
    plan = StudentPlan(everyday=2, joined=0, exclaimed=0, surrounded=0, limit=5, heads=("general",))
    targets = gather([], plan, FitContext())
    examples = everyday_examples()[:5]
    assert targets.examples == 2 * examples
    assert np.array_equal(targets.table(), np.tile(vote_shares(examples), (2, 1)))


def test_a_student_learns_from_chosen_parts_alone(data: Path, tmp_path: Path) -> None:
    context = FitContext(resources=data)
    parts = {name: pool_part(name, context)[:4] for name in ("comments", "tweets")}
    tables = {name: np.full((len(part), len(GENERAL)), 1 / len(GENERAL)) for name, part in parts.items()}
    save_answers(tmp_path / "general.npz", "general", GENERAL, tables)
    plan = StudentPlan(everyday=0, limit=4, heads=("general",), parts=("comments",))
    targets = gather([tmp_path / "general.npz"], plan, context)
    assert targets.examples == parts["comments"]
    assert targets.sources.keys() == {"goemotions-ekman"}


def test_a_student_inherits_what_its_teachers_learnt(data: Path, tmp_path: Path) -> None:
    """The teacher learnt EmoContext's dev, though no text of it is among its answers."""
    context = FitContext(resources=data)
    dev = source_items("emocontext/dev", context)
    part = pool_part("comments", context)[:4]
    tables = {"comments": np.full((len(part), len(GENERAL)), 1 / len(GENERAL))}
    learnt = LearntItems.of({"emocontext/dev": dev, "text: tweets": []})
    plan = StudentPlan(everyday=0, limit=4, heads=("general",), parts=("comments",))
    save_answers(tmp_path / "general.npz", "general", GENERAL, tables, learnt)
    teachers = gather([tmp_path / "general.npz"], plan, context).teachers
    assert dict(teachers.sources) == {"teacher: emocontext/dev": len(dev), "text: tweets": 0}
    assert len(dev) and teachers.overlap(dev).is_learnt
    save_answers(tmp_path / "general.npz", "general", GENERAL, tables)
    assert dict(gather([tmp_path / "general.npz"], plan, context).teachers.sources) == {f"{TEACHER}{UNNAMED}": 0}
    with np.load(tmp_path / "general.npz") as kept:  # a file of an earlier version
        about = {"task": "general", "labels": list(GENERAL), "sources": {"meld": 7}}
        np.savez(tmp_path / "old.npz", about=np.array(json.dumps(about)), comments=kept["comments"])
    assert dict(gather([tmp_path / "old.npz"], plan, context).teachers.sources) == {"teacher: meld": 7}


def test_what_calibrates_a_student_is_in_its_record(data: Path) -> None:
    learnt = calibration(FitContext(resources=data))
    assert set(learnt.sources) == {"calibration: emocontext/dev", "calibration: emocontext"}
    assert learnt.overlap(source_items("emocontext/dev", FitContext(resources=data))).is_learnt


def test_a_source_can_be_added_as_learnt_by_teachers_or_in_calibration(data: Path, tmp_path: Path) -> None:
    context = FitContext(resources=data)
    dev = source_items("emocontext/dev", context)
    learnt = add_sources(tmp_path, ["teacher: emocontext/dev", "calibration: emocontext/dev"], context)
    assert dict(learnt.sources) == dict.fromkeys(("teacher: emocontext/dev", "calibration: emocontext/dev"), len(dev))
    assert learnt.overlap(dev).is_learnt


def test_open_is_reminded_with_the_texts_it_may_learn_from_alone(data: Path) -> None:
    model = FittedModel.load(resolve("open"))
    known = list(known_answers(model, FitContext(resources=data), limit=2))
    assert [(task, set(answers)) for task, _, answers in known] == [("general", {"comments"})]


def test_pool_predictions_are_collected_if_asked(data: Path) -> None:
    model = FittedModel.load(resolve("default"))
    for task, _, answers in known_answers(model, FitContext(resources=data), limit=2, pool=True):
        assert set(answers) == ({"own", *ASKED[task]} if task in ASKED else set(REMEMBERED[True]))


def test_a_model_labels_the_parts_it_is_asked_for(data: Path, tmp_path: Path) -> None:
    known = ["distil", "remember", "default", "-o", tmp_path / "known", "--limit", "2", "--data", data]
    done = run(*known, "--part", "everyday", "--part", "comments")
    assert done.exit_code == 0, done.output
    assert [path.name for path in (tmp_path / "known").iterdir()] == ["general.npz"]
    task, _, tables, _ = load_answers(tmp_path / "known" / "general.npz")
    assert (task, {name: len(table) for name, table in tables.items()}) == ("general", {"everyday": 2, "comments": 2})
    assert str(run(*known, "--part", "everyday", "--pool").exception) == "--pool and --part: choose one"
    assert str(run(*known, "--part", "moods").exception) == "the pool has no part 'moods'"
    without = run("distil", "remember", "nano", "-o", tmp_path / "none", "--part", "everyday", "--data", data)
    assert str(without.exception) == "nano: has no head `general` to label parts of the pool with"


@pytest.mark.slow
def test_a_model_is_taught_more_and_keeps_what_it_knows(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run("distil", "remember", "default", "-o", tmp_path / "known", "--limit", "6", "--data", data, "--json")
    assert done.exit_code == 0, done.output
    assert set(json.loads(done.stdout)["answers"]) == {
        "emocontext",
        "emotionx-friends",
        "emotionx-push",
        "iest",
        "general",
    }
    task, labels, tables, _ = load_answers(tmp_path / "known" / "general.npz")
    assert (task, labels, set(tables)) == ("general", HEADS["general"], set(REMEMBERED[True]))
    before = reopen(resolve("default"), "general")
    wider = before.fitted().encoder.model.config.intermediate_size + 128
    plan = ["start=default", 'heads=["general"]', f"middle={wider}", "word_dropout=0.1", "epochs=1", "limit=6"]
    plan.append("precision=bfloat16")
    shares = []
    read = Transformer._tokens
    monkeypatch.setattr(
        Transformer, "_tokens", lambda self, ids: shares.append(self.settings.word_dropout) or read(self, ids)
    )
    more = [word for setting in plan for word in ("--set", setting)]
    known = tmp_path / "known" / "general.npz"
    done = run("distil", "student", known, "-o", tmp_path / "student", *more, "--data", data, "--device", "cpu")
    assert done.exit_code == 0, done.output
    mix = json.loads((tmp_path / "student" / REPORT).read_text())["mix"]
    assert mix["general"] == Bundle.load(resolve("default")).head("general").trained
    assert set(shares) == {0.1}
    after = MultiTaskClassifier.load(tmp_path / "student")
    assert after.heads == {"general": HEADS["general"]}
    assert after.fitted().encoder.model.config.intermediate_size == wider
    examples = everyday_examples(held_out=True)[:60]
    columns = before.columns("general")
    same = before.scores(examples)[:, columns].argmax(1) == after.scores(examples)[:, columns].argmax(1)
    assert same.mean() > 0.8
    assert after.learnt is not None
    assert before.learnt is not None
    assert set(before.learnt.sources) <= set(after.learnt.sources)
    assert not any(name.startswith(("teacher: teacher: ", "teacher: text: ")) for name in after.learnt.sources)


@pytest.mark.slow
def test_students_of_some_heads_become_one_model(data: Path, tmp_path: Path) -> None:
    """Both start from `default` and keep its word embeddings, so the model stores them once."""
    run("distil", "remember", "default", "-o", tmp_path / "known", "--limit", "6", "--data", data)
    sets = {"general": ("general",), "tasks": ("emocontext", "emotionx", "iest")}
    for name, heads in sets.items():
        files = [tmp_path / "known" / f"{task}.npz" for task, head in HEAD_OF.items() if head in heads]
        plan = ("start=default", f"heads={json.dumps(heads)}", "freeze_embeddings=true", "epochs=1", "limit=6")
        more = [word for setting in plan for word in ("--set", setting)]
        done = run("distil", "student", *files, "-o", tmp_path / name, *more, "--data", data, "--device", "cpu")
        assert done.exit_code == 0, done.output
    done = run("distil", "average", tmp_path / "general", tmp_path / "tasks", "-o", tmp_path / "mean", "--data", data)
    assert str(done.exception) == f"{tmp_path / 'tasks'}: has other heads or layers than {tmp_path / 'general'}"
    students = [MultiTaskClassifier.load(tmp_path / name) for name in sets]
    assert [tuple(student.heads) for student in students] == list(sets.values())
    before = reopen(resolve("default"), "general")
    tables = [each.fitted().encoder.model.get_input_embeddings().weight for each in (before, *students)]
    assert all(torch.equal(tables[0], table) for table in tables)
    done = run("distil", "bundle", tmp_path / "general", tmp_path / "tasks", "-o", tmp_path / "model", "--data", data)
    assert done.exit_code == 0, done.output
    detector = emoscope.load(tmp_path / "model")
    assert detector.heads == tuple(HEADS)
    assert detector.with_(labels="iest").detect("so happy").label in HEADS["iest"]
    done = run("distil", "bundle", tmp_path / "tasks", tmp_path / "tasks", "-o", tmp_path / "same", "--data", data)
    assert str(done.exception) == "students of one model must have different heads"
    done = run("distil", "bundle", tmp_path / "general", "default", "-o", tmp_path / "more", "--data", data)
    assert done.exit_code == 0, done.output
    kept, more = (Bundle.load(folder) for folder in (resolve("default"), tmp_path / "more"))
    assert [head.name for head in more.heads] == list(HEADS)
    for head in sets["tasks"]:
        settings = [(each.head(head).temperature, each.head(head).decision) for each in (kept, more)]
        assert settings[0] == settings[1]
        asked = [example.dialogue for example in everyday_examples(held_out=True)[:40]]
        answers = [list(emoscope.load(name, labels=head).detect_many(asked)) for name in ("default", tmp_path / "more")]
        assert answers[0] == answers[1]  # its graphs are copied, not quantised again
    done = run("distil", "bundle", "open", "open", "-o", tmp_path / "none", "--data", data)
    assert str(done.exception) == "open: has no heads besides those of the students"


def test_the_mean_of_students(data: Path, tmp_path: Path) -> None:
    students = []
    for seed, source in enumerate(("emoscope", "goemotions")):
        student = tiny_headed(tmp_path)
        torch.manual_seed(seed)
        for parameter in student.fitted().parameters():
            parameter.data += 0.1 * torch.randn(parameter.shape)
        student.learnt = LearntItems({source: 5})
        student.save(tmp_path / str(seed))
        save_report(tmp_path / str(seed), {"mix": {"tone": {"up": 1.0, "down": 0.0}}, "heads": {}})
        students.append(student.fitted().state_dict())
    done = run("distil", "average", tmp_path / "0", tmp_path / "1", "-o", tmp_path / "mean", "--data", data)
    assert done.exit_code == 0, done.output
    mean = MultiTaskClassifier.load(tmp_path / "mean")
    for name, weight in mean.fitted().state_dict().items():
        assert torch.allclose(weight, (students[0][name] + students[1][name]) / 2, atol=1e-6), name
    assert mean.learnt is not None
    assert set(mean.learnt.sources) == {"emoscope", "goemotions"}
    shares = ("--share", "3", "--share", "1")
    done = run("distil", "average", tmp_path / "0", tmp_path / "1", "-o", tmp_path / "more", *shares, "--data", data)
    assert done.exit_code == 0, done.output
    for name, weight in MultiTaskClassifier.load(tmp_path / "more").fitted().state_dict().items():
        assert torch.allclose(weight, 0.75 * students[0][name] + 0.25 * students[1][name], atol=1e-6), name
    done = run("distil", "average", tmp_path / "0", tmp_path / "1", "-o", tmp_path / "none", *shares[:2])
    assert str(done.exception) == "expected 2 shares, one for each student, not below 0 and not all 0"
    done = run("distil", "average", "default", tmp_path / "0", "-o", tmp_path / "none")
    assert str(done.exception).startswith("default: expected the folder of a student first")
    assert json.loads((tmp_path / "mean" / REPORT).read_text())["mix"] == {"tone": {"up": 1.0, "down": 0.0}}


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("epoch=5", "--set: no setting 'epoch'; did you mean 'epochs'?"),
        ("epochs=many", "--set 'epochs': Input should be a valid integer"),
        ('heads=["mood"]', "--set 'heads': Value error, expected some of general, emocontext, emotionx, iest"),
        ("word_dropout=2", "--set 'word_dropout': Input should be less than 1"),
        ("hard=1.5", "--set 'hard': Input should be less than or equal to 1"),
        ("share=0", "--set 'share': Input should be greater than 0"),
        ("rate=-1", "--set 'rate': Input should be greater than 0"),
        ("epochs=0", "--set 'epochs': Input should be greater than or equal to 1"),
        ("limit=-3", "--set 'limit': Input should be greater than or equal to 1"),
        ("precision=half", "--set 'precision': Input should be 'auto', 'full' or 'bfloat16'"),
        ('shares={"general": -1}', "--set 'shares.general': Input should be greater than or equal to 0"),
        ('shares={"mood": 1}', "--set 'shares': Value error, expected weights of some of general, emocontext"),
    ],
)
def test_wrong_settings_of_a_student_are_a_one_line_error(setting: str, message: str, tmp_path: Path) -> None:
    done = run("distil", "student", tmp_path / "answers.npz", "-o", tmp_path / "student", "--set", setting)
    assert isinstance(done.exception, EmoscopeError)
    assert message in str(done.exception)
