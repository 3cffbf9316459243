"""No score on learnt items: from training through predictions to the refused rank."""

import json
from pathlib import Path

import pytest

import emoscope
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.fit_context import FitContext
from emoscope.core.learnt import LearntItems, Overlap
from emoscope.distil.pool import source_items
from emoscope.evaluation.provenance import learnt_of, write_provenance
from emoscope.evaluation.score import evaluate, read_gold
from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.models.features.scores import ClassifierScores
from emoscope.models.features.word_ratings import WordRatings
from emoscope.models.linear.classifier import LinearClassifier
from emoscope.runs.crossvalidate import crossvalidate
from emoscope.runs.export import export_run
from emoscope.runs.train import train
from emoscope.systems.ntua_slp import NtuaSlp
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split
from emoscope.tasks.datasets.auxiliary import source_examples
from kits.corpus_command import run
from kits.emocontext_files import make_corpus
from kits.task_files import labels_file

pytest.importorskip("sklearn")

SPLITS = [
    *(("emocontext", split) for split in ("train", "dev", "test")),
    *((task, split) for task in ("emotionx-friends", "emotionx-push") for split in ("train", "test")),
    *(("iest", split) for split in ("train", "dev", "test")),
]
RESEARCH_ONLY = ("meld", "isear", "semeval2017-4a", "tweeteval-emotion", "tweeteval-irony", "tweeteval-emoji")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_corpus(tmp_path_factory.mktemp("learnt"))


@pytest.fixture(scope="module")
def model(data: Path) -> Path:
    train("nano", "emocontext", data.parent / "run", root=data)
    return data.parent / "run"


def predict(model: str | Path, data: Path, split: str, out: Path) -> str:
    code, _, said = run("predict", model, "--task", "emocontext", "--split", split, "--data", data, "-o", out)
    assert code == 0
    return said


def evaluated(out: Path, data: Path, split: str, *options: str) -> tuple[str, str]:
    code, shown, said = run("evaluate", out, "--task", "emocontext", "--split", split, "--data", data, *options)
    assert code == 0
    return shown, " ".join(said.split())


def test_a_run_records_its_items(model: Path) -> None:
    learnt = LearntItems.load(model)
    assert learnt is not None
    assert dict(learnt.sources) == {"emocontext/train": 96}
    assert len(learnt) == 96


def test_learnt_items_get_a_warning_and_no_rank(model: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    assert "warning: out.txt: the model learnt 96 of 96 items" in predict(model, data, "train", out)
    shown, said = evaluated(out, data, "train")
    assert (
        "warning: the model learnt 96 of 96 items, itself or through its teachers: a score on them says nothing" in said
    )
    assert "of what the model learnt, so no rank" in shown
    assert "would rank" not in shown
    content = json.loads(evaluated(out, data, "train", "--json")[0])
    assert content["learnt"] == {"items": 96, "of": 96}
    assert content["rank"] is None


def test_new_items_get_a_rank_and_a_record_that_says_why(model: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    predict(model, data, "train", out)
    assert "warning" not in predict(model, data, "dev", out)
    assert json.loads((tmp_path / "out.txt.learnt.json").read_text())["learnt"] == {"items": 0, "of": 16}
    shown, said = evaluated(out, data, "dev")
    assert "would rank" in shown
    assert "learnt" not in shown + said
    content = json.loads(evaluated(out, data, "dev", "--json")[0])
    assert content["learnt"] == {"items": 0, "of": 16}
    assert content["no_rank"] is None


def test_without_a_record_there_is_a_rank_on_the_test_set_or_a_named_file_only(data: Path, tmp_path: Path) -> None:
    dev = data / "emocontext" / "dev.txt"
    out = tmp_path / "out.txt"
    out.write_text("others\n" * 16)
    shown, _ = evaluated(out, data, "dev")
    assert "would rank" not in shown
    assert "no rank: nothing tells what the model that made these predictions learnt (keep FILE.learnt.json" in shown
    content = json.loads(evaluated(out, data, "dev", "--json")[0])
    assert content["rank"] is None and "nothing tells" in content["no_rank"]
    pytest.importorskip("altair")
    evaluated(out, data, "dev", "--html", str(tmp_path / "out.html"))
    assert "no rank: nothing tells" in (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "would rank" in run("evaluate", out, "--task", "emocontext", "--gold", dev)[1]
    assert "would rank" in evaluated(out, copy_with_a_test_set(data, tmp_path), "test")[0]


@pytest.mark.data
def test_no_rank_for_a_moved_file_however_the_gold_is_named(data_folder: Path, tmp_path: Path) -> None:
    """A copy of the dev set, or a part of a split, is known by its items."""
    task = get_task("emocontext")
    dev = data_folder / "emocontext" / "dev.txt"
    part, shuffled = tmp_path / "part.txt", tmp_path / "shuffled.txt"
    header, *rows = dev.read_text(encoding="utf-8").splitlines()
    part.write_text("\n".join([header, *rows[:300]]) + "\n", encoding="utf-8")
    shuffled.write_text("\n".join([header, *rows[::-1]]) + "\n", encoding="utf-8")
    for gold in (dev, part, shuffled):
        labels = ["happy"] * len(read_gold(task, gold).labels)
        found = evaluate(task, gold, labels, samples=10)
        assert found.rank is None
        assert "nothing tells" in (found.no_rank or "")


def test_a_list_of_labels_as_long_as_the_dev_set_gives_no_rank(tmp_path: Path) -> None:
    """IEST's dev labels are published as a list, which cannot be known by its items."""
    task = get_task("iest")
    dev = task.metadata.revisions[0].splits["dev"].examples
    assert dev is not None
    for length, ranked in ((dev, False), (dev - 1, True)):
        gold = labels_file(tmp_path / "gold.labels", ["joy", "sad", "anger"] * (length // 3) + ["fear"] * (length % 3))
        found = evaluate(task, gold, ["joy"] * length, samples=10)
        assert (found.rank is not None) == ranked
        assert ("nothing tells" in (found.no_rank or "")) != ranked


def test_labels_in_memory_know_what_their_model_learnt(model: Path, data: Path) -> None:
    labels = emoscope.predict(model, "emocontext", split="dev", data=data)
    found = emoscope.evaluate(labels, "emocontext", split="dev", data=data, samples=10)
    assert found.learnt == Overlap(0, 16)
    assert found.rank is not None
    found = emoscope.evaluate(list(labels), "emocontext", split="dev", data=data, samples=10)
    assert found.rank is None and "nothing tells" in (found.no_rank or "")
    with pytest.warns(UserWarning, match="the model learnt 96 of 96 items"):
        labels = emoscope.predict(model, "emocontext", split="train", data=data)
    found = emoscope.evaluate(labels, "emocontext", split="train", data=data, samples=10)
    assert found.is_learnt and found.rank is None


def copy_with_a_test_set(data: Path, folder: Path) -> Path:
    copied = folder / "copied" / "emocontext"
    copied.mkdir(parents=True)
    (copied / "test.txt").write_bytes((data / "emocontext" / "dev.txt").read_bytes())
    return copied.parent


def test_training_data_give_no_rank_whoever_predicts_them(model: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    predict(model, data, "train", out)
    write_provenance(out, "a model of other data", Overlap(0, 96))
    shown, _ = evaluated(out, data, "train")
    assert "no rank: this is training data" in shown
    assert "would rank" not in shown


def test_a_copy_is_recognised_by_its_content(model: Path, data: Path, tmp_path: Path) -> None:
    out, copy = tmp_path / "out.txt", tmp_path / "copy.txt"
    predict(model, data, "train", out)
    copy.write_bytes(out.read_bytes())
    (tmp_path / "broken.txt.learnt.json").write_text("{}")
    assert learnt_of(copy) == Overlap(96, 96)
    assert "of what the model learnt, so no rank" in evaluated(copy, data, "train")[0]
    write_provenance(copy, "another model with the same answers", Overlap(0, 96))
    assert learnt_of(copy) == Overlap(0, 96)
    (tmp_path / "third.txt").write_bytes(out.read_bytes())
    assert learnt_of(tmp_path / "third.txt") == Overlap(96, 96)
    moved = tmp_path / "elsewhere" / "out.txt"
    moved.parent.mkdir()
    out.rename(moved)
    assert learnt_of(moved) is None


def test_a_note_about_other_predictions_is_not_heeded(model: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    predict(model, data, "train", out)
    assert learnt_of(out) == Overlap(96, 96)
    with out.open("a") as handle:
        handle.write("\n")
    assert learnt_of(out) is None
    (tmp_path / "out.txt.learnt.json").write_text("{}")
    with pytest.raises(InputError, match=r"out.txt.learnt.json: is not what `emoscope predict` writes"):
        learnt_of(out)


def test_compare_marks_what_was_learnt(model: Path, data: Path, tmp_path: Path) -> None:
    learnt, other = tmp_path / "mine.txt", tmp_path / "other.txt"
    predict(model, data, "train", learnt)
    other.write_text("others\n" * 96)
    options = ("--task", "emocontext", "--split", "train", "--data", data, "--samples", "200")
    code, shown, said = run("compare", other, learnt, *options)
    assert code == 0
    assert "mine (learnt)" in shown and "other (learnt)" not in shown
    assert "warning: mine: the model learnt 96 of 96 items" in said
    rows = json.loads(run("compare", other, learnt, *options, "--json")[1])["rows"]
    assert [row["learnt"] for row in rows] == [{"items": 96, "of": 96}, None]  # best first
    options_of_dev = ("--task", "emocontext", "--split", "dev", "--data", data, "--samples", "200")
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("others\n" * 16)
    said = run("compare", tmp_path / "a.txt", tmp_path / "b.txt", *options_of_dev)[2]
    assert "note: a, b: nothing tells what the model learnt, perhaps these items" in said
    other.write_bytes(learnt.read_bytes())
    assert "warning: other: the model learnt 96 of 96 items" in run("compare", other, learnt, *options)[2]
    for command in (("errors", learnt, *options[:6]),):
        assert "warning: mine.txt: the model learnt 96 of 96 items" in run(*command)[2]


def test_a_report_has_the_warning_and_no_rank(model: Path, data: Path, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    predict(model, data, "train", tmp_path / "out.txt")
    evaluated(tmp_path / "out.txt", data, "train", "--html", str(tmp_path / "out.html"))
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "the model learnt 96 of 96 items" in page
    assert "Official score of what the model learnt" in page
    assert "Among the published results" not in page


def test_model_without_a_record_says_nothing(model: Path, data: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    for path in model.rglob("*"):
        if path.is_file() and path.name != "learnt.npz":
            (old / path.relative_to(model)).parent.mkdir(exist_ok=True)
            (old / path.relative_to(model)).write_bytes(path.read_bytes())
    assert "warning" not in predict(old, data, "train", tmp_path / "out.txt")
    assert learnt_of(tmp_path / "out.txt") is None
    predict(old, data, "dev", tmp_path / "dev.txt")
    assert "no rank: nothing tells" in evaluated(tmp_path / "dev.txt", data, "dev")[0]
    code, _, said = run("distil", "learnt", old)
    assert code == 2
    assert "has no record of what it learnt" in said
    code, shown, _ = run("distil", "learnt", old, "--add", "emocontext/train", "--data", data)
    assert code == 0
    assert "learnt 96 labelled items" in shown
    assert "warning" in predict(old, data, "train", tmp_path / "out.txt")
    shown = run("distil", "learnt", old, "--json")[1]
    assert json.loads(shown)["sources"] == {"emocontext/train": 96}
    assert "the pool has no part 'nowhere'" in run("distil", "learnt", old, "--add", "nowhere", "--data", data)[2]


def test_an_export_keeps_the_record(model: Path, data: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    export_run(model, tmp_path / "exported", int8=False, root=data)
    assert "the model learnt 96 of 96 items" in predict(tmp_path / "exported", data, "train", tmp_path / "out.txt")


def test_a_dev_set_that_was_learnt_gives_no_score(data: Path, tmp_path: Path) -> None:
    """It is known by its items, whatever the file was called that it was learnt from."""
    assert train("nano", "emocontext", tmp_path / "a", root=data, splits=("train", "dev")).dev is None
    assert dict((LearntItems.load(tmp_path / "a") or LearntItems()).sources) == {
        "emocontext/train": 96,
        "emocontext/dev": 16,
    }
    copied = make_corpus(tmp_path)
    (copied / "emocontext" / "train.txt").write_bytes((data / "emocontext" / "dev.txt").read_bytes())
    assert train("nano", "emocontext", tmp_path / "b", root=copied).dev is None
    assert train("nano", "emocontext", tmp_path / "c", root=data, limit=40).dev is not None
    assert len(LearntItems.load(tmp_path / "c") or ()) == 40


def test_cross_validation_counts_what_was_learnt_all_the_same(data: Path, tmp_path: Path) -> None:
    (result,) = crossvalidate("nano", "emocontext", folds=2, root=data)
    assert result.learnt == 0
    file = make_corpus(tmp_path) / "emocontext" / "train.txt"
    header, *rows = file.read_text(encoding="utf-8").splitlines()
    # Other dialogues to the folds, but the same items.
    wide = [f"again{row}".replace("\thi ", "\t\uff48\uff49 ") for row in rows]
    file.write_text("\n".join([header, *rows, *wide]) + "\n", encoding="utf-8")
    code, shown, said = run("crossvalidate", "nano", "-t", "emocontext", "--folds", "2", "--data", tmp_path / "data")
    assert code == 0, said
    assert "mean" in shown
    assert "held-out items were learnt anyway" in said


def test_blocks_name_the_corpora_they_learn_from() -> None:
    scores, ratings = ClassifierScores(questions=["sentiment"]), WordRatings(source="intensity")
    both: list[Block] = [LinearClassifier(["a", "b"], [scores]), LinearClassifier(["a", "b"], [ratings])]
    assert Mean(both).corpora() == {"semeval2017-4a", "goemotions-ekman"}
    assert LinearClassifier(["a", "b"], [WordRatings(source="vad")]).corpora() == frozenset()


def test_a_transferred_network_names_its_sources() -> None:
    pytest.importorskip("torch")
    assert NtuaSlp(get_task("iest")).build().corpora() == {"semeval2017-4a"}


def test_unknown_source_is_a_one_line_error(data: Path) -> None:
    with pytest.raises(EmoscopeError, match="emocontext has no split 'nowhere'"):
        source_items("emocontext/nowhere", FitContext(resources=data))


@pytest.mark.parametrize(("name", "items"), [("default", 80_000), ("nano", 29_000)])
def test_the_embedded_models_have_a_record(name: str, items: int) -> None:
    from emoscope.detector.bundle import resolve

    learnt = LearntItems.load(resolve(name))
    assert learnt is not None
    assert len(learnt) > items


@pytest.mark.data
def test_open_learnt_no_item_of_a_corpus_for_research_only(data_folder: Path) -> None:
    """Whatever its sources are called: its items are compared with those of every other corpus."""
    from emoscope.detector.bundle import resolve

    learnt = LearntItems.load(resolve("open"))
    assert learnt is not None
    context = FitContext(resources=data_folder)
    corpora = {f"{name}/{split}": read_split(get_task(name), split, data_folder) for name, split in SPLITS}
    corpora |= {name: source_examples(name, context) for name in RESEARCH_ONLY}
    for name, examples in corpora.items():
        overlap = learnt.overlap(examples)
        assert overlap.items <= 1e-3 * overlap.of, (name, overlap)  # people write the same things
    assert learnt.overlap(source_examples("goemotions-ekman", context)).is_learnt


@pytest.mark.data
def test_the_default_model_gets_no_rank_on_what_it_learnt(data_folder: Path, tmp_path: Path) -> None:
    """It was said to rank first of 31 with 0.8021."""
    from emoscope.detector.bundle import resolve
    from emoscope.runs.predict import learnt_overlap
    from emoscope.tasks.data import read_split

    def share(task: str, split: str) -> Overlap:
        found = learnt_overlap(resolve("default"), get_task(task), read_split(get_task(task), split, data_folder))
        assert found is not None
        return found

    assert share("iest", "dev").is_learnt
    assert share("emotionx-friends", "train").is_learnt
    assert share("emocontext", "dev").is_learnt  # by its teachers, and its temperature was fitted there
    assert share("emotionx-push", "train").is_learnt and share("emocontext", "train").is_learnt
    for task in ("emotionx-friends", "emotionx-push", "iest", "emocontext"):
        assert not share(task, "test").is_learnt
