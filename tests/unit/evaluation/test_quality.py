"""The quality benchmark: what it reads, measures and renders."""

import json
import shutil
from pathlib import Path

import pytest

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.fit_context import FitContext
from emoscope.detector.bundle import PRESETS, resolve
from emoscope.distil.everyday import GENERAL, everyday_examples
from emoscope.distil.pool import TASKS, add_sources
from emoscope.distil.student import HEADS
from emoscope.evaluation.behaviour import near_copies, read_suite
from emoscope.evaluation.behaviour.cases import Functionality
from emoscope.evaluation.card import card_text
from emoscope.evaluation.results import read_results
from kits.affect_files import make_data
from kits.task_files import emocontext_file

pytest.importorskip("benchmarks", reason="the benchmarks are not in the package")

from benchmarks.common.paths import PAGES, RESULTS
from benchmarks.common.tables import write_rows
from benchmarks.quality import places, quantisation
from benchmarks.quality.behaviour import read_checks
from benchmarks.quality.card_numbers import unsupported_numbers
from benchmarks.quality.data_sets import DATA_SETS, OUTSIDERS, goemotions_test, held_out_tenths, outsider_examples
from benchmarks.quality.facts import renewed
from benchmarks.quality.render import render
from benchmarks.quality.run import rerun_behaviour, run, run_behaviour


@pytest.fixture
def quality(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The benchmark writes into a folder of the test."""
    for name in ("TABLES", "RESULTS", "PAGES", "ASSETS"):
        folder = tmp_path / name.lower()
        folder.mkdir()
        monkeypatch.setattr(places, name, folder)
    for page in ("quality.md", "tried.md"):
        shutil.copy(PAGES / page, tmp_path / "pages")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "emocontext"
    folder.mkdir(parents=True)
    emocontext_file(folder / "dev.txt", ["others", "sad", "happy", "angry"] * 3)
    emocontext_file(folder / "train.txt", ["others", "sad", "happy", "angry"])
    return tmp_path / "data"


@pytest.mark.usefixtures("quality")
def test_run_and_render(data: Path, tmp_path: Path) -> None:
    speed = {"model": "nano", "figure": "alone", "value": 0.5, "unit": "ms", "machine": "a test"}
    write_rows(tmp_path / "tables" / "speed.csv", [speed, {**speed, "model": "default"}])
    (tmp_path / "assets" / "nano").mkdir()
    run("nano", "nano", data, [], 50)
    results = read_results(tmp_path / "results" / "nano.json")
    assert [(head.head, head.data, head.n) for head in results.heads] == [("emocontext", "EmoContext", 12)]
    assert results.speed is not None and len(results.speed.figures) == 1
    assert results.size_bytes is not None
    assert {check.head for check in results.checks} == {"emocontext"}
    assert {figure.head for figure in results.behaviour} == {"emocontext"}
    trial = {
        "idea": "nano: more",
        "task": "iest",
        "metric": "f1",
        "before": 0.5,
        "after": 0.6,
        "runs": 2,
        "kept": False,
    }
    again = {**trial, "idea": "nano: the same", "task": "dev", "after": 0.4, "runs": 1, "note": "why"}
    write_rows(tmp_path / "tables" / "tried.csv", [trial, again])
    render()
    assert (tmp_path / "pages" / "card-nano.md").read_text(encoding="utf-8") == card_text(results)
    assert (tmp_path / "assets" / "nano" / "card.md").read_text(encoding="utf-8") == card_text(results)
    page = (tmp_path / "pages" / "quality.md").read_text(encoding="utf-8")
    tried = (tmp_path / "pages" / "tried.md").read_text(encoding="utf-8")
    assert (
        "### nano\n\n- **more**\n    - iest, f1: 0.5000 → 0.6000 (+0.1000, 2 runs), not kept\n"
        "    - dev, f1: 0.5000 → 0.4000 (-0.1000), not kept; why\n"
    ) in tried
    assert "[nano](card-nano.md)" in page
    assert "| type | kind | nano, emocontext |" in page


@pytest.mark.usefixtures("quality")
def test_behaviour_is_measured_alone(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(EmoscopeError, match="no results yet"):
        rerun_behaviour("nano", "nano")
    before = run("nano", "nano", data, [], 50)
    file = tmp_path / "results" / "nano.json"
    file.write_text(before.model_copy(update={"checks": (), "behaviour": ()}).model_dump_json())
    capsys.readouterr()
    assert rerun_behaviour("nano", "nano") == before == read_results(file)
    printed = capsys.readouterr().out
    assert "emocontext on the 84: " in printed and "emocontext on the suite: all " in printed


def kept(path: Path, **changes: object) -> Path:
    rows = [[0.4, 0.3, 0.2, 0.1], [0.1, 0.1, 0.7, 0.1], [0.1, 0.7, 0.1, 0.1], [0.3, 0.1, 0.1, 0.25]]
    content = {
        "head": "emocontext",
        "task": "emocontext",
        "splits": ["train"],
        "split": "train, out of fold",
        "labels": ["others", "happy", "sad", "angry"],
        "probabilities": rows,
        "seeds": [0],
        "notes": ["ours"],
    }
    path.write_text(json.dumps(content | changes))
    return path


@pytest.mark.usefixtures("quality")
def test_kept_answers_are_scored_with_the_others(data: Path, tmp_path: Path) -> None:
    run("nano", "nano", data, [], 50)
    found = run("nano", "nano", data, [kept(tmp_path / "oof.json")], 50)
    assert [head.split for head in found.heads] == ["dev (Test1)", "train, out of fold"]
    # others, sad and happy right; angry taken for others: 2 hits of 3 gold and 2 said.
    assert found.heads[1].score == pytest.approx(0.8)
    assert found.heads[1].notes == ("ours",)
    again = run("nano", "nano", data, [], 50)
    assert [head.split for head in again.heads] == ["dev (Test1)", "train, out of fold"]
    decided = kept(tmp_path / "oof.json", decision={"angry": 1.3})
    assert run("nano", "nano", data, [decided], 50).heads[1].score == 1.0


@pytest.mark.usefixtures("quality")
def test_kept_answers_under_the_training_prior_are_shifted(data: Path, tmp_path: Path) -> None:
    labels = ("others", "happy", "sad", "angry")
    priors = {
        "training_prior": dict(zip(labels, (0.4, 0.2, 0.2, 0.2), strict=True)),
        "prior": dict(zip(labels, (0.25, 0.25, 0.25, 0.25), strict=True)),
    }
    found = run("nano", "nano", data, [kept(tmp_path / "oof.json", **priors)], 50)
    assert found.heads[1].score == pytest.approx(2 * 3 / (3 + 4))  # "others" falls behind: 0.4 / 1.6 < 0.3 / 0.8
    assert found.heads[1].ece_training_prior not in (None, found.heads[1].ece)


@pytest.mark.usefixtures("quality")
def test_a_model_known_by_its_answers_alone(data: Path, tmp_path: Path) -> None:
    found = run("elsewhere", "default", data, [kept(tmp_path / "oof.json")], 50)
    assert found.size_bytes is None
    assert found.checks == ()
    with pytest.raises(EmoscopeError, match="is neither an embedded model nor a folder"):
        run("elsewhere", "default", data, [], 50)


@pytest.mark.usefixtures("quality")
def test_too_few_answers_are_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(EmoscopeError, match="4 examples but 1 answers"):
        run("nano", "nano", data, [kept(tmp_path / "oof.json", probabilities=[[1, 0, 0, 0]])], 50)


def test_goemotions_is_read(tmp_path: Path) -> None:
    comments = tmp_path / "auxiliary" / "goemotions" / "ekman" / "test.tsv"
    comments.parent.mkdir(parents=True)
    comments.write_text("so glad\t3\tid1\nboth\t3,5\tid2\nhm\t4\tid3\n", encoding="utf-8")
    assert [(item.text, item.label) for item in goemotions_test(tmp_path)] == [
        ("so glad", "joy"),
        ("hm", "neutral"),
    ]
    comments.write_text("so glad\t3\n", encoding="utf-8")
    with pytest.raises(InputError, match="row 1: expected 3 tab-separated columns, found 2"):
        goemotions_test(tmp_path)


@pytest.mark.data
def test_the_real_test_sets_are_whole(data_folder: Path) -> None:
    sizes = {data.name: len(data.read(data_folder)) for data in DATA_SETS}
    tenths = {data.name.rpartition(" ")[2]: len(data.read(data_folder)) for data in held_out_tenths()}
    assert tenths["Friends"] == 916
    assert tenths["EmotionPush"] == 1368
    assert (sizes["EmoContext"], sizes["GoEmotions"]) == (2755, 5427 - 459)
    assert sizes["Everyday messages"] + sizes["Everyday dialogues"] == len(everyday_examples(held_out=True))


def test_no_hand_written_check_is_nearly_taught() -> None:
    assert near_copies([example.context for example in everyday_examples()], read_checks()) == []


@pytest.mark.parametrize(("name", "count"), [("by an outsider", 402), ("by a second outsider", 324)])
def test_the_outsiders_dialogues_are_whole_and_none_is_nearly_taught(name: str, count: int) -> None:
    examples = outsider_examples(OUTSIDERS[name])
    assert len(examples) == count
    assert {example.label for example in examples} == set(GENERAL)
    cases = [Functionality("outsider", "", (each.context,), tuple(each.votes)) for each in examples]
    assert near_copies((example.context for example in everyday_examples()), cases) == []


@pytest.mark.usefixtures("quality")
def test_rendering_needs_results() -> None:
    with pytest.raises(EmoscopeError, match="no results yet"):
        render()


def test_the_committed_cards_state_only_what_was_measured() -> None:
    folder = RESULTS / "models"
    names = [path.stem for path in folder.glob("*.json")]
    assert "nano" in names
    for name in names:
        results = read_results(folder / f"{name}.json")
        card = (PAGES / f"card-{name}.md").read_text(encoding="utf-8")
        assert card == card_text(results), f"{name}: run `python -m benchmarks.quality render`"
        assert unsupported_numbers(card, results) == []


@pytest.mark.usefixtures("quality")
def test_the_committed_page_is_what_the_results_render_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "TABLES", RESULTS)
    shutil.copytree(RESULTS / "models", tmp_path / "results", dirs_exist_ok=True)
    render()
    assert (tmp_path / "pages" / "quality.md").read_text() == (PAGES / "quality.md").read_text()


def test_the_committed_figures_are_of_the_present_behaviour_suite() -> None:
    nano = read_results(RESULTS / "models" / "nano.json")
    assert run_behaviour("nano") == (list(nano.checks), list(nano.behaviour)), (
        "run: python -m benchmarks.quality behaviour"
    )
    cases = len(read_suite())
    for name in PRESETS:
        totals = [each for each in read_results(RESULTS / "models" / f"{name}.json").behaviour if each.type == "all"]
        assert totals and all(each.n + each.skipped == cases for each in totals), name


def test_every_figure_of_a_card_has_one_source() -> None:
    """Size and record are those of the model's folder, speed that of the speed benchmark, words those of its file."""
    for path in sorted((RESULTS / "models").glob("*.json")):
        results = read_results(path)
        assert renewed(results) == results, f"{path.name}: run `python -m benchmarks.quality render`"
        text = card_text(results)
        assert text.count(" dialogues/s |") == (2 if results.speed else 0)
        sizes = [figure for figure in (results.speed.figures if results.speed else ()) if "file" in figure.name]
        assert not sizes, "the size of the files stands in the first lines of the card"
    for name in ("default", "nano"):
        inside = (places.ASSETS / name / "card.md").read_text(encoding="utf-8")
        assert inside == (PAGES / f"card-{name}.md").read_text(encoding="utf-8")


def test_speed_page_and_cards_agree() -> None:
    page = (PAGES / "speed.md").read_text(encoding="utf-8")
    rates = next(line for line in page.splitlines() if line.startswith("| throughput, best batch (dialogues/s)"))
    for name in ("default", "nano"):
        results = read_results(RESULTS / "models" / f"{name}.json")
        assert results.speed is not None and results.size_bytes is not None
        assert f" {results.speed.figures[0].value:,.0f} (batch" in rates
        assert f" {results.size_bytes / 1e6:.1f} MB " in page


@pytest.mark.usefixtures("quality")
def test_render_renews_what_other_files_say(data: Path, tmp_path: Path) -> None:
    run("nano", "nano", data, [], 50)
    speed = {"model": "nano", "figure": "alone", "value": 0.25, "unit": "ms", "machine": "a test"}
    write_rows(tmp_path / "tables" / "speed.csv", [speed])
    shutil.copytree(resolve("nano"), tmp_path / "assets" / "nano")
    (tmp_path / "assets" / "nano" / "more.bin").write_bytes(bytes(10_000_000))
    render()
    card = (tmp_path / "assets" / "nano" / "card.md").read_text(encoding="utf-8")
    assert "| alone | 0.25 ms |" in card
    assert "Version 0.1.0, 10.6 MB." in card
    assert "| emocontext/train | 30,160 |" in card


@pytest.mark.usefixtures("quality")
def test_items_the_model_learnt_are_not_scored(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(resolve("nano"), model)
    rows = [f"{n}\tdo you know {n}\tno, tell me\tI won the race\thappy" for n in range(5)]
    text = "\n".join(["id\tturn1\tturn2\tturn3\tlabel", *rows]) + "\n"
    (data / "emocontext" / "dev.txt").write_text(text, encoding="utf-8")
    run(str(model), "nano", data, [], 50)
    add_sources(model, ["emocontext/dev"], FitContext(resources=data))
    with pytest.raises(EmoscopeError, match=r"dev \(Test1\): the model learnt 5 of 5 items; they are no test of it"):
        run(str(model), "nano", data, [], 50)
    scored = run(str(model), "nano", data, [], 50, optimistic=True).heads[0]
    assert scored.notes == ("optimistic: its teachers, or versions that it continues, learnt 5 of 5 items",)


def test_quantisation_is_measured_on_every_task(tmp_path: Path) -> None:
    context = FitContext(resources=make_data(tmp_path))
    parts = list(quantisation.parts(tuple(HEADS), context))
    assert [name for name, *_ in parts] == ["general", *TASKS, "emocontext"]
    assert all(examples for *_, examples in parts)
    assert [name for name, *_ in quantisation.parts(["general"], context)] == ["general"]
