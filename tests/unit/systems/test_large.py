"""emoscope's own models: what they learn from, how they decide, and how a large one teaches a small one."""

import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from kits.affect_files import SHARED_LINE, make_data
from kits.tiny_decoder import make_tiny_decoder
from kits.tiny_encoder import make_tiny_encoder

torch = pytest.importorskip("torch")

from safetensors.torch import load_file

import emoscope
from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.learnt import LearntItems
from emoscope.core.metrics import confusion_matrix
from emoscope.detector.model import FittedModel
from emoscope.distil.bundle import student_bundle
from emoscope.distil.everyday import everyday_examples, vote_shares
from emoscope.distil.judge import judge
from emoscope.distil.pool import (
    load_answers,
    own_examples,
    pool_part,
    recombined,
    save_answers,
    teach,
    varied,
)
from emoscope.distil.student import (
    HEADS,
    StudentPlan,
    Targets,
    fit_student,
    gather,
    is_held_out,
    save_report,
)
from emoscope.models.block import FitContext
from emoscope.models.decision import choose_multipliers
from emoscope.models.ensembles.blend import Blend
from emoscope.models.torch.classifier import NeuralClassifier
from emoscope.models.torch.losses import ClassLoss, MultiTaskLoss
from emoscope.models.torch.multitask import MultiTaskClassifier
from emoscope.runs.predict import predictor
from emoscope.runs.train import official_score, train
from emoscope.systems.large import Large
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split
from emoscope.tasks.datasets.affect import AUXILIARY, affect_corpora, affect_labels, auxiliary_corpora, by_head
from emoscope.tasks.datasets.auxiliary import EKMAN
from emoscope.tasks.emocontext import EmoContext
from emoscope.tasks.metadata import TaskMetadata

NAN = float("nan")
AUXILIARY_NAMES = {name for names in AUXILIARY.values() for name in names}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("data"), repeats=12)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(make_tiny_encoder(tmp_path_factory.mktemp("encoder")))


@pytest.fixture
def fit_context(data: Path) -> FitContext:
    return FitContext(seed=1, device="cpu", resources=data)


# What is learnt beside the task


def test_the_mixture_is_of_auxiliary_tasks_without_lines_of_friends(fit_context: FitContext) -> None:
    mixture = by_head(auxiliary_corpora(fit_context))
    assert "emocontext" not in mixture
    texts = [example.text for example in mixture["ekman"]]
    assert SHARED_LINE not in texts
    assert "Oh my god what is it" in texts


def test_held_out_items_are_not_trained_on(data: Path) -> None:
    judged = FitContext(resources=data, unseen=frozenset({"Oh my god: what is it?"}))
    assert "Oh my god what is it" not in {example.text for example in by_head(auxiliary_corpora(judged))["ekman"]}


def test_a_model_of_all_tasks_learns_from_the_benchmarks_too_but_not_from_what_is_judged(
    fit_context: FitContext,
) -> None:
    everything = by_head(affect_corpora(fit_context))
    assert set(everything) == set(affect_labels())
    some = by_head(affect_corpora(fit_context, keep=lambda example: not example.text.endswith(("3", "5"))))
    assert 0 < len(some["emocontext"]) < len(everything["emocontext"])
    assert not any(example.text.endswith("3") for example in some["emocontext"])


def test_iest_gets_more_masked_words_from_tweets(fit_context: FitContext) -> None:
    made = {(example.text, example.label) for example in by_head(auxiliary_corpora(fit_context))["iest"]}
    assert ("I am so [#TRIGGERWORD#] that it works", "joy") in made
    assert ("he is [#TRIGGERWORD#] because of you", "anger") in made


def test_an_encoder_is_taught_once_and_shared(data: Path, encoder: str, tmp_path: Path) -> None:
    settings = {**SMALL, "encoder": encoder, "layouts": [{"context": 1}], "taught": str(tmp_path / "taught")}
    train("large", "iest", tmp_path / "one", settings=settings, root=data)
    weights = tmp_path / "taught" / "model.safetensors"
    with pytest.raises(EmoscopeError, match="was trained with other settings"):
        Large(get_task("iest"), settings={**settings, "dropout": 0.3})._taught(FitContext()).__enter__()
    before = weights.stat().st_mtime_ns
    train("large", "emocontext", tmp_path / "two", settings=settings, root=data)
    assert weights.stat().st_mtime_ns == before


# One network with several heads


def test_the_loss_asks_only_what_a_row_has_targets_for() -> None:
    scores = torch.tensor([[2.0, -1.0, 0.3, 0.1, 0.0], [0.0, 1.0, 5.0, 0.0, -5.0]])
    targets = torch.tensor([[1.0, 0.0, NAN, NAN, NAN], [NAN, NAN, 0.0, 0.5, 0.5]])
    by_hand = ClassLoss()(scores[:1, :2], targets[:1, :2]) + 3 * ClassLoss()(scores[1:, 2:], targets[1:, 2:])
    assert MultiTaskLoss([2, 3], [1.0, 3.0])(scores, targets) == pytest.approx(float(by_hand) / 2)


def test_heads_learn_apart_and_are_kept(encoder: str, tmp_path: Path) -> None:
    rows = {
        "mood": [Example(Dialogue.of([text]), 0, label) for text, label in (("so happy", "up"), ("so sad", "down"))]
        * 8,
        "speech": [Example(Dialogue.of([text]), 0, label) for text, label in (("hello hi", "hi"), ("bye", "bye"))] * 8,
    }
    model = MultiTaskClassifier(
        {"mood": ["up", "down"], "speech": ["hi", "bye"]},
        settings={"encoder": encoder, "pooling": "mean+focus", "max_length": 16, "dropout": 0.0},
        training={"epochs": 12, "batch_size": 8, "learning_rate": 3e-3},
    )
    examples, targets = model.targets(rows)
    assert np.isnan(targets[:16, 2:]).all()
    assert np.isnan(targets[16:, :2]).all()
    model.fit(examples, targets, FitContext(device="cpu"))
    for head, found in rows.items():
        said = [model.heads[head][best] for best in model.predict_proba(found, head).argmax(1)]
        assert said == [example.label for example in found]
    model.save(tmp_path / "model")
    again = MultiTaskClassifier.load(tmp_path / "model")
    assert np.array_equal(again.scores(examples), model.scores(examples))
    with pytest.raises(EmoscopeError, match="no head 'tone'; there are: mood, speech"):
        model.predict_proba(examples, "tone")
    with pytest.raises(EmoscopeError, match="holds no model with heads"):
        MultiTaskClassifier.load(tmp_path)


# Deciding


def test_multipliers_are_chosen_where_they_help() -> None:
    """Answers that are sure of others too often: where an emotion has 0.3, it is right in 6 of 10."""
    task = get_task("emocontext")
    draw = np.random.default_rng(0)
    labels, rows = [], []
    for _ in range(3000):
        hidden = draw.random() < 0.25
        happy = hidden and draw.random() < 0.6
        labels.append("happy" if happy else "others")
        rows.append([0.7, 0.3, 0.0, 0.0] if hidden else [0.95, 0.02, 0.02, 0.01])
    answers = np.array(rows)
    prior = np.array([labels.count(label) for label in task.labels], float)
    prior = (prior + 1e-9) / (prior + 1e-9).sum()
    found = choose_multipliers(task.metric, task.labels, labels, answers, prior)
    assert found is not None
    assert (answers[np.array(rows)[:, 1] == 0.3][0] * found).argmax() == 1
    before, after = (
        task.metric(confusion_matrix(labels, [task.labels[best] for best in each.argmax(1)], task.labels), task.labels)
        for each in (answers, answers * found)
    )
    assert after > before


def test_multipliers_are_left_alone_where_the_best_answer_is_best() -> None:
    task = get_task("emotionx-friends")
    labels = list(task.labels) * 50
    sure = np.eye(4)[[task.labels.index(label) for label in labels]] * 0.9 + 0.025
    assert choose_multipliers(task.metric, task.labels, labels, sure, np.full(4, 0.25)) is None


# Training, teaching, and the student

SMALL = {
    "epochs": 1,
    "batch_size": 8,
    "folds": 2,
    "repeats": 1,
    "max_length": 24,
    "lm_batch_size": 16,
    "pretraining_text": 4,
}
SMALL |= {"adaptation": None, "words": False}


def test_a_run_keeps_its_held_out_score_and_teaches(data: Path, encoder: str, tmp_path: Path) -> None:
    settings = {**SMALL, "encoder": encoder, "layouts": [{"context": 2, "learning_rate": 1e-3}]}
    record = train("large", "iest", tmp_path / "run", splits=("train", "dev"), settings=settings, root=data)
    assert record.dev is None
    assert record.held_out is not None
    assert record.held_out["examples"] == 144
    learnt = LearntItems.load(tmp_path / "run")
    assert learnt is not None
    assert {"iest/train", "iest/dev", "meld", "goemotions-ekman", "isear"} <= set(learnt.sources)
    assert learnt.sources["iest/train"] + learnt.sources["iest/dev"] == 144
    assert max(count for name, count in learnt.sources.items() if "/" not in name) == SMALL["pretraining_text"]
    task = get_task("iest")
    fit_context = FitContext(resources=data, device="cpu")
    answers = teach(FittedModel.load(tmp_path / "run").block, task, fit_context)
    assert answers["own"].shape == (144, 6)
    assert np.allclose(answers["own"].sum(1), 1)
    assert len(answers["masked-words"]) == len(pool_part("masked-words", fit_context))
    assert np.allclose(answers["varied:0"].sum(1), 1)
    assert len(answers["varied:0"]) == len(pool_part("varied", fit_context))
    save_answers(tmp_path / "iest.npz", "iest", task.labels, answers, learnt)
    name, labels, tables, again = load_answers(tmp_path / "iest.npz")
    assert (again.sources, len(again)) == (learnt.sources, len(learnt))
    assert (name, labels) == ("iest", task.labels)
    assert np.allclose(tables["own"], answers["own"], atol=1e-3)
    curve = json.loads((tmp_path / "run/model/member0/fold0/curve.json").read_text())
    assert curve[-1]["epoch"] == 1
    network = json.loads((tmp_path / "run/model/member0/fold0/block.json").read_text())["config"]
    assert network["settings"]["context"] == 2
    assert network["training"]["learning_rate"] == 1e-3


def test_each_task_has_its_members() -> None:
    """Two layouts, several times, and n-grams; a network over word vectors where it is known to help."""
    for task, words in (("emocontext", 1), ("iest", 0)):
        block = Large(get_task(task), seed=0, settings={"repeats": 2}).build("encoder")
        assert isinstance(block, Blend)
        networks = [each.network_name for each in block.members if isinstance(each, NeuralClassifier)]
        assert networks == ["transformer"] * 4 + ["semi-hierarchical"] * words
        assert len(block.members) == 5 + words


def test_settings_of_the_language_model_reach_it() -> None:
    chosen = {"decoder": "any", "describe_labels": True, "bidirectional": True, "decoder_pooling": "mean"}
    block = Large(get_task("iest"), settings=chosen).build("encoder")
    assert isinstance(block, Blend)
    decoder = block.members[-1]
    assert isinstance(decoder, NeuralClassifier)
    assert decoder.network_name == "decoder"
    assert decoder.settings["describe_labels"] is decoder.settings["bidirectional"] is True
    assert decoder.settings["pooling"] == "mean"


def test_wrong_decoder_is_found_before_anything_is_trained(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Large, "_teach", lambda *_: pytest.fail("was trained first"))
    with pytest.raises(EmoscopeError, match="decoder /nosuch: expected a folder with a causal language model"):
        train("large", "iest", tmp_path / "run", settings={"decoder": "/nosuch"}, root=data)


class OtherTask(EmoContext):
    """A task that `large` has never heard of."""

    metadata: ClassVar[TaskMetadata] = EmoContext.metadata.model_copy(update={"name": "other"})


def test_a_task_without_layouts_of_its_own_gets_the_usual_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Large.metadata.model_copy(update={"tasks": (*Large.metadata.tasks, "other")})
    monkeypatch.setattr(Large, "metadata", known)
    block = Large(OtherTask(), settings={"repeats": 1}).build("encoder")
    assert isinstance(block, Blend)
    networks = [each for each in block.members if isinstance(each, NeuralClassifier)]
    assert [each.settings.get("reverse", False) for each in networks] == [False, True]
    assert all(each.settings["context"] == 3 for each in networks)
    assert len(block.members) == 3


def test_the_encoder_reads_unlabelled_text_before_it_is_taught(data: Path, encoder: str, tmp_path: Path) -> None:
    """Guessing masked words leaves another encoder behind than the auxiliary tasks alone."""
    kept = {}
    for adaptation in (None, "emotionpush"):
        taught = tmp_path / str(adaptation)
        settings = {**SMALL, "encoder": encoder, "taught": str(taught), "layouts": [{"context": 1}]}
        settings |= {"ngrams": False, "adaptation": adaptation, "lm_batch_size": 2}
        train("large", "iest", tmp_path / f"run-{adaptation}", settings=settings, root=data)
        kept[adaptation] = load_file(taught / "model.safetensors")
    assert any(not torch.equal(kept[None][name], kept["emotionpush"][name]) for name in kept[None])


def test_a_teacher_of_other_data_is_refused(data: Path, encoder: str, tmp_path: Path) -> None:
    settings = {**SMALL, "encoder": encoder, "pretraining_text": 0, "layouts": [{"context": 1}]}
    train("large", "iest", tmp_path / "run", settings=settings, root=data)
    with pytest.raises(EmoscopeError, match="was trained on 72 examples, but the data here have 144"):
        teach(FittedModel.load(tmp_path / "run").block, get_task("iest"), FitContext(resources=data, device="cpu"))
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    with pytest.raises(InputError, match="is not a teacher's file"):
        load_answers(tmp_path / "bad.npz")


def test_recombined_dialogues_know_where_their_last_turn_came_from(fit_context: FitContext) -> None:
    whole = pool_part("emocontext", fit_context)
    made = list(recombined(whole, 40))
    assert made == list(recombined(whole, 40))
    assert {len(example.dialogue) for example in made} == {1, 2, 3}
    assert all(example.dialogue.turns[-1].text == example.family[-1] for example in made)


def test_the_same_text_is_one_row_with_several_targets() -> None:
    targets = Targets(context=2)
    example = Example(Dialogue.of(["a", "b", "c"]), 2)
    targets.add("emocontext", [example], np.array([[1.0, 0, 0, 0]]))
    targets.add("emotionx", [Example(Dialogue.of(["x", "b", "c"]), 2)], np.array([[0, 1.0, 0, 0]]))
    targets.add("general", [example], np.full((1, 7), np.nan))
    assert len(targets.examples) == 1
    assert np.nan_to_num(targets.table(), nan=-1).tolist() == [[-1] * 7 + [1, 0, 0, 0, 0, 1, 0, 0] + [-1] * 6]


def test_rows_that_count_more_are_rows_of_their_own() -> None:
    targets = Targets(context=3)
    example = Example(Dialogue.of(["a", "b", "c"]), 2)
    targets.add("emotionx", [example], np.array([[0, 1.0, 0, 0]]))
    targets.repeat("emocontext", [example], np.array([[0, 0, 1.0, 0]]), 2)
    assert len(targets.examples) == 3
    assert np.isnan(targets.table()[:, 7:11]).all(1).tolist() == [True, False, False]


def test_none_of_the_84_is_learnt() -> None:
    behaviour = pytest.importorskip("benchmarks.quality.behaviour", reason="the benchmarks are not in the package")
    learnt = {tuple(example.context.texts) for example in everyday_examples()}
    assert not learnt & {dialogue.texts for check in behaviour.read_checks() for dialogue in check.dialogues}


def small_plan(encoder: str, **changes: Any) -> StudentPlan:
    """A plan for the tiny encoder."""
    made = StudentPlan(encoder=encoder, max_length=24, epochs=1, batch=32, middle=None, adaptation=None, everyday=0)
    return made.model_copy(update={"mixture_batch": 16, "mixture_epochs": 1, **changes})


@pytest.fixture
def even_answers(fit_context: FitContext, tmp_path: Path) -> Path:
    """A teacher of IEST that does not know."""
    file = tmp_path / "even.npz"
    table = np.full((len(own_examples("iest", fit_context)), 6), 1 / 6)
    save_answers(file, "iest", get_task("iest").labels, {"own": table})
    return file


def test_a_student_is_gone_on_from(fit_context: FitContext, encoder: str, even_answers: Path, tmp_path: Path) -> None:
    plan = small_plan(encoder, mixture_epochs=0, limit=5)
    rows = own_examples("iest", fit_context)[:4]
    one = fit_student(gather([even_answers], plan, fit_context), plan, fit_context)
    one.save(tmp_path / "one")
    going_on = fit_student(
        gather([even_answers], plan, fit_context),
        plan.model_copy(update={"start": str(tmp_path / "one"), "rate": 0.0}),
        fit_context,
    )
    assert np.allclose(going_on.scores(rows), one.scores(rows), atol=1e-6)
    other = MultiTaskClassifier({"other": ["x", "y"]}, "transformer", one.settings)
    other.fit(rows, np.full((4, 2), 0.5), fit_context).save(tmp_path / "other")
    with pytest.raises(EmoscopeError, match="its network has the heads other, not general"):
        fit_student(
            gather([even_answers], plan, fit_context),
            plan.model_copy(update={"start": str(tmp_path / "other")}),
            fit_context,
        )


def test_a_prepared_encoder_is_kept_and_gone_on_from(
    fit_context: FitContext, encoder: str, even_answers: Path, tmp_path: Path
) -> None:
    """The mixture is learnt once; a second student from the same folder is the same as the first."""
    plan = small_plan(encoder, limit=5, prepared=str(tmp_path / "prepared"), adaptation="emocontext", middle=24)
    rows = own_examples("iest", fit_context)[:4]
    first = fit_student(gather([even_answers], plan, fit_context), plan, fit_context)
    weights = tmp_path / "prepared" / "weights.safetensors"
    before = weights.stat().st_mtime_ns
    second = fit_student(gather([even_answers], plan, fit_context), plan, fit_context)
    assert weights.stat().st_mtime_ns == before
    assert first.learnt is not None and second.learnt is not None
    assert first.learnt.sources == second.learnt.sources
    assert {"iest", "meld", "text: emocontext"} <= set(second.learnt.sources)
    assert np.array_equal(first.learnt.fingerprints, second.learnt.fingerprints)
    assert np.allclose(first.scores(rows), second.scores(rows), atol=1e-5)
    again = fit_student(
        gather([even_answers], plan, fit_context),
        plan.model_copy(update={"prepared": None, "adaptation": None}),
        fit_context,
    )
    assert not np.allclose(first.scores(rows), again.scores(rows), atol=1e-5)


def test_several_teachers_count_the_same() -> None:
    targets = Targets(context=1)
    example = Example(Dialogue.of(["a"]), 0)
    for said in ([1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 0]):
        targets.add("emocontext", [example], np.array([said]))
    assert np.allclose(targets.table()[0, 7:11], [1 / 3, 1 / 3, 1 / 3, 0])


def test_new_wordings_keep_the_trigger_and_know_their_original(fit_context: FitContext) -> None:
    own = own_examples("iest", fit_context)
    made = list(varied(own, 3))
    assert made == list(varied(own, 3)) == pool_part("varied", fit_context) == pool_part("varied:0", fit_context)
    assert made != pool_part("varied:1", fit_context)
    assert len(made) == 3 * len(own)
    assert all(example.text.count("[#TRIGGERWORD#]") == 1 for example in made)
    assert [example.family for example in made[::3]] == [example.family for example in own]
    known = {word for example in own for word in example.text.split()}
    assert {word for example in made for word in example.text.split()} <= known
    assert any(example.text != own[number // 3].text for number, example in enumerate(made))
    assert list(varied([Example(Dialogue.of(["no trigger here"]), 0)], 3)) == []


def test_votes_become_shares() -> None:
    example = Example(Dialogue.of(["hi"]), 0, votes={"joy": 3, "neutral": 1})
    assert vote_shares([example], EKMAN).tolist() == [[0, 0, 0, 0.75, 0.25, 0, 0]]


@pytest.mark.slow
def test_student_is_evaluated_on_unseen_items(data: Path, encoder: str, tmp_path: Path) -> None:
    fit_context = FitContext(seed=2, device="cpu", resources=data)
    files, files_of_tasks = [], ("emocontext", "emotionx-friends", "emotionx-push", "iest")
    for name in files_of_tasks:
        own = own_examples(name, fit_context)
        labels = get_task(name).labels
        table = np.full((len(own), len(labels)), 1 / len(labels))
        files.append(tmp_path / f"{name}.npz")
        save_answers(files[-1], name, labels, {"own": table})
    plan = small_plan(encoder, hold_out=True)
    plan = plan.model_copy(update={"epochs": 2, "batch": 16})
    pool = gather(files, plan, fit_context)
    judged = {
        e.context.texts[-3:]
        for name in ("emocontext", "iest")
        for e in own_examples(name, fit_context)
        if is_held_out(e)
    }
    assert judged
    assert not judged & {example.context.texts[-3:] for example in pool.examples}
    student = fit_student(pool, plan, fit_context)
    report = judge(student, fit_context)
    assert set(report) == set(HEADS)
    task, dev = get_task("emocontext"), read_split(get_task("emocontext"), "dev", data)
    gold = [str(example.label) for example in own_examples("emocontext", fit_context)]
    prior = np.array([gold.count(label) / len(gold) for label in task.labels])
    natural = np.array([dict(task.metadata.natural_prior or {})[label] for label in task.labels])
    logits = student.scores(dev)[:, student.columns("emocontext")] / report["emocontext"]["temperature"]
    best = (logits + np.log(natural / prior)).argmax(1)
    assert report["emocontext"]["dev"] == pytest.approx(official_score(task, dev, [task.labels[n] for n in best]))
    assert all(0.05 < about["temperature"] < 20 for about in report.values())

    student.save(tmp_path / "student")
    save_report(tmp_path / "student", {"mix": pool.mix(), "heads": report})
    student_bundle([tmp_path / "student"], tmp_path / "bundle", fit_context)
    rows = own_examples("iest", fit_context)[:8]
    bundle = emoscope.load(tmp_path / "bundle", labels="iest")
    assert bundle.heads == tuple(HEADS)
    said = bundle.predict_proba([example.context for example in rows])
    scores = student.scores(rows)[:, student.columns("iest")] / report["iest"]["temperature"]
    expected = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    assert np.abs(said - expected).max() < 0.05
    learnt = LearntItems.load(tmp_path / "bundle")
    assert learnt is not None
    calibrated = {"calibration: emocontext", "calibration: emocontext/dev"}  # both choose the labels
    assert set(learnt.sources) == {*AUXILIARY_NAMES, *files_of_tasks, "teacher: not named", *calibrated}
    iest = own_examples("iest", fit_context)  # the test's dialogues of EmotionX begin alike
    assert learnt.overlap([e for e in iest if not is_held_out(e)]).items
    assert learnt.overlap([e for e in iest if is_held_out(e)]).items == 0
    assert learnt.overlap([e for e in own_examples("emocontext", fit_context) if is_held_out(e)]).is_learnt
    assert learnt.overlap(dev).is_learnt
    emocontext = emoscope.load(tmp_path / "bundle", labels="emocontext")
    assert emocontext.prior["others"] == pytest.approx(0.8486, abs=1e-3)
    predict = predictor(tmp_path / "bundle", get_task("emotionx-push"))
    assert set(predict(own_examples("emotionx-push", fit_context)[:5])) <= set(HEADS["emotionx"])
    (tmp_path / "report.json").write_text("{}")
    with pytest.raises(InputError, match=r"report.json: expected a student's report"):
        student_bundle([tmp_path / "student"], tmp_path / "other", fit_context, report=tmp_path / "report.json")


def test_a_language_model_is_a_member(data: Path, encoder: str, tmp_path: Path) -> None:
    settings = {**SMALL, "encoder": encoder, "pretraining_text": 0, "layouts": [{"context": 1}], "ngrams": False}
    settings["decoder"] = str(make_tiny_decoder(tmp_path / "decoder"))
    train("large", "iest", tmp_path / "run", settings=settings, root=data)
    detector = emoscope.load(tmp_path / "run")
    assert sum(detector.detect(["so [#TRIGGERWORD#] that it rains"]).scores.values()) == pytest.approx(1)
    block = FittedModel.load(tmp_path / "run").block
    assert isinstance(block, Blend)
    networks = [copies[0] for copies in block.fitted]
    assert all(isinstance(network, NeuralClassifier) for network in networks)
    assert [getattr(network, "network_name", None) for network in networks] == ["transformer", "decoder"]
