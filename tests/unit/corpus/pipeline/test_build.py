"""The whole chain on a small made-up log: one command, reruns, and plans with mistakes."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from emoscope.core.errors import EmoscopeError
from emoscope.corpus.pipeline.build import build
from emoscope.corpus.pipeline.plan import STEPS, load_plan
from emoscope.corpus.pipeline.step import PipelineStep, Stage, StepContext, WaitingError
from kits.corpus_command import run
from kits.corpus_tree import EXAMPLE, folders, tree, with_apertium, without_step

HEAD = """
name = "small"
title = "Small"
description = "Made up."
labels = ["others", "happy"]
neutral = "others"
terms = "None."
"""


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example, so that nothing is written beside it."""
    folder = tmp_path_factory.mktemp("example")
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def built(example: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "build"
    build(load_plan(example / "plan.toml"), folder)
    return folder


def test_one_command_runs_the_whole_chain(example: Path, built: Path, tmp_path: Path) -> None:
    code, out, _ = run("corpus", "build", example / "plan.toml", "-o", tmp_path / "b", "--json")
    assert code == 0
    answer = json.loads(out)
    assert answer["waiting"] is None
    used = [step.name for step in load_plan(example / "plan.toml").steps]
    assert [step["counts"]["step"] for step in answer["steps"]] == used
    # Every row is accounted for, but where rows are cut or repeated.
    for step in answer["steps"]:
        counts = step["counts"]
        if counts["step"] not in ("windows", "split"):
            assert counts["in"] - sum(counts["dropped"].values()) == counts["out"], counts["step"]
    assert tree(tmp_path / "b") == tree(built)


def test_a_rerun_runs_nothing(example: Path, built: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in built.rglob("*") if path.is_file() and path.name != ".lock"}
    assert all(step.skipped for step in build(load_plan(example / "plan.toml"), built))
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_example_uses_every_kind_of_labelling_step(example: Path) -> None:
    used = {step.name for step in load_plan(example / "plan.toml").steps}
    assert set(STEPS) - used <= {"distant", "augment"}  # the one needs no people, the other an engine


def test_every_step_is_known_by_its_own_name() -> None:
    assert {name: STEPS[name].__name__ for name in STEPS} == {name: f"{name.title()}Step" for name in STEPS}


class ShoutStep(PipelineStep):
    """A step from outside the package."""

    takes = frozenset({Stage.DIALOGUES})
    mark: str = "!"

    def run(self, context: StepContext) -> None:
        with context.output() as out:
            for row in context.rows("shouting"):
                out.write({**row, "turns": [{"text": turn["text"].upper() + self.mark} for turn in row["turns"]]})


def test_a_step_is_a_class_and_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(STEPS, "_entries", {**STEPS._entries, "shout": f"{__name__}:ShoutStep"})
    (tmp_path / "log.jsonl").write_text('["a", "b", "c"]\n')
    (tmp_path / "plan.toml").write_text(HEAD + COLLECT + step('use = "shout"\nmark = "?"'))
    done = build(load_plan(tmp_path / "plan.toml"), tmp_path / "b")[-1]
    assert (done.name, done.counts) == ("02-shout", {"step": "shout", "in": 1, "out": 1, "dropped": {}})
    assert [turn["text"] for turn in rows(done.folder / "dialogues.jsonl")[0]["turns"]] == ["A?", "B?", "C?"]


def test_only_what_a_change_touches_is_run_again(example: Path, built: Path, tmp_path: Path) -> None:
    folder, plans = tmp_path / "b", tmp_path / "plans"
    shutil.copytree(built, folder)
    shutil.copytree(example, plans)
    plan = plans / "plan.toml"
    plan.write_text(plan.read_text().replace("dev = 0.2", "dev = 0.1"))
    done = {step.counts["step"]: step.skipped for step in build(load_plan(plan), folder, until="split")}
    assert [name for name, skipped in done.items() if not skipped] == ["split"]
    # A judgement more, and what was read before it stays.
    with (plans / "judgements" / "ann.csv").open("a") as handle:
        handle.write("no-such-task,ann,happy\n")
    done = {step.counts["step"]: step.skipped for step in build(load_plan(plan), folder, until="aggregate")}
    assert [name for name, skipped in done.items() if not skipped] == ["aggregate"]


def test_altered_file_is_created_again(example: Path, built: Path, tmp_path: Path) -> None:
    folder = tmp_path / "b"
    shutil.copytree(built, folder)
    altered = folder / "steps" / "02-windows" / "dialogues.jsonl"
    altered.write_bytes(altered.read_bytes().replace(b"tea", b"rum"))
    again = build(load_plan(example / "plan.toml"), folder)
    # What it had been made into since is right again, and need not be made once more.
    assert [step.name for step in again if not step.skipped] == ["02-windows"]
    assert tree(folder) == tree(built)


def test_a_step_that_the_plan_no_longer_has_leaves_nothing(example: Path, built: Path, tmp_path: Path) -> None:
    folder, plan = tmp_path / "b", example / "shorter.toml"
    shutil.copytree(built, folder)
    plan.write_text(without_step(without_step((example / "plan.toml").read_text(), "sample"), "filter"))
    build(load_plan(plan), folder, until="annotate")
    left = {path.name for path in (folder / "steps").iterdir()}
    assert left <= set(load_plan(plan).step_names)
    assert not any("sample" in name for name in left)


def test_every_dialogue_that_is_left_after_the_random_draw_is_mined(built: Path) -> None:
    counts = json.loads((next((built / "steps").glob("*-mine")) / "counts.json").read_text())
    same_dialogue = counts["dropped"]["of the same dialogue as a natural one"]
    assert counts["mined"]["read"] == counts["in"] - counts["natural"] - same_dialogue


# Labels


def test_build_waits_for_judgements_and_resumes(example: Path, built: Path, tmp_path: Path) -> None:
    plans = tmp_path / "plans"
    shutil.copytree(example, plans)
    shutil.move(plans / "judgements", tmp_path / "judgements")
    code, out, _ = run("corpus", "build", plans / "plan.toml", "-o", tmp_path / "b")
    assert code == 1
    tasks = next((tmp_path / "b" / "steps").glob("*-annotate")) / "tasks.jsonl"
    assert f"label {tasks}" in out.replace("\n", "")
    assert rows(tasks)[0]["turns"][0]["speaker"] == "user"
    assert not (tmp_path / "b" / "corpus").exists()
    with pytest.raises(WaitingError, match=r"judgements/\*\.csv"):
        build(load_plan(plans / "plan.toml"), tmp_path / "b")
    shutil.move(tmp_path / "judgements", plans / "judgements")
    code, out, _ = run("corpus", "build", plans / "plan.toml", "-o", tmp_path / "b", "--until", "split", "--json")
    assert code == 0
    skipped = [step["counts"]["step"] for step in json.loads(out)["steps"] if step["skipped"]]
    assert skipped[-1] == "annotate"
    assert tree(tmp_path / "b" / "steps") == tree(built / "steps")


def test_annotators_who_fail_gold_questions_are_not_counted(built: Path) -> None:
    folder = next((built / "steps").glob("*-aggregate"))
    counts = json.loads((folder / "counts.json").read_text())
    assert counts["annotators"] == 4
    assert counts["annotators_refused"] == 1
    refused = [worker["worker"] for worker in json.loads((folder / "workers.json").read_text()) if worker["refused"]]
    assert refused == ["dan"]


def test_gold_label_that_is_not_the_plans_is_refused(example: Path, tmp_path: Path) -> None:
    plans = tmp_path / "plans"
    shutil.copytree(example, plans)
    (plans / "gold.csv").write_text((plans / "gold.csv").read_text().replace("gold-2,angry", "gold-2,angri"))
    with pytest.raises(EmoscopeError, match=r"gold\.csv: task 'gold-2' has the label 'angri', .*did you mean 'angry'"):
        build(load_plan(plans / "plan.toml"), tmp_path / "b")


# What is given away


def test_nothing_is_in_two_splits(built: Path) -> None:
    split = next((built / "steps").glob("*-split"))
    was = {line.split(",")[0]: line.split('"')[1] for line in (split / "ids.csv").read_text().splitlines()[1:]}
    sources: dict[str, set[str]] = {}
    texts: dict[str, set[str]] = {}
    for name in ("train", "dev", "test"):
        found = rows(split / f"{name}.jsonl")
        sources[name] = {was[row["id"].partition("-")[0]].rpartition(":")[0] for row in found}
        texts[name] = {" ".join(turn["text"].lower() for turn in row["turns"]) for row in found}
    for one, other in (("train", "dev"), ("train", "test"), ("dev", "test")):
        assert not sources[one] & sources[other]
        assert not texts[one] & texts[other]


def test_evaluation_is_drawn_at_random_and_train_has_more_of_the_rare_labels(built: Path) -> None:
    shares = {}
    for name in ("train", "dev", "test"):
        found = rows(built / "corpus" / f"{name}.jsonl")
        shares[name] = sum(row["label"] != "others" for row in found) / len(found)
        if name != "train":
            assert {row["draw"] for row in found} == {"random"}
    assert shares["train"] > 1.5 * max(shares["dev"], shares["test"])


def test_names_of_speakers_annotators_and_logs_are_not_revealed(built: Path) -> None:
    for path in (built / "corpus").iterdir():
        text = path.read_text(encoding="utf-8")
        for name in ("Rosa", "Joris", "Ines", "mina", "whatsapp:", "telegram:", '"ann"', '"dan"'):
            assert name not in text, (path.name, name)


# Mistakes


def step(text: str) -> str:
    return f"\n[[steps]]\n{text}\n"


COLLECT = step('use = "collect"\ninputs = [{ path = "log.jsonl" }]')


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        ("name = ", "plan.toml: is not valid TOML"),
        (
            HEAD + COLLECT + step('use = "filter"\noffensive = false\nthreshold = 0.5'),
            r"step 2 \(filter\): 'threshold' is for the offensive filter, and 'offensive' is false",
        ),
        (
            HEAD + COLLECT + step('use = "windows"') + step('use = "filter"\nlanguage_by_user = true'),
            r"step 3 \(filter\): 'language_by_user' needs to know who speaks, which 'windows' drops; filter before it",
        ),
        (HEAD, r"plan.toml: names no steps"),
        (HEAD + step("a = 1"), "plan.toml, step 1: has no 'use'; there are: aggregate"),
        (HEAD + step('use = "colect"'), "plan.toml, step 1: no step named 'colect'; did you mean 'collect'?"),
        (
            HEAD + COLLECT + step('use = "windows"\nusr = "a"'),
            r"step 2 \(windows\): unknown key 'usr'; did you mean 'users'",
        ),
        (HEAD + COLLECT + step('use = "sample"'), r"step 2 \(sample\): 'size' is missing"),
        (HEAD + COLLECT + step('use = "sample"\nsize = 0'), r"step 2 \(sample\): 'size': input should be greater"),
        (HEAD + COLLECT + COLLECT, r"step 2 \(collect\): takes nothing, but the steps before it give dialogues"),
        (HEAD + COLLECT + step('use = "split"'), r"step 2 \(split\): takes labelled dialogues, but .* give dialogues"),
        (
            HEAD + step('use = "collect"\ninputs = [{ path = "no*.csv" }]'),
            r"step 1 \(collect\): no file matches 'no\*.csv'",
        ),
        (HEAD + step('use = "collect"\ninputs = [{ path = "log.jsonl", format = "icq" }]'), "'inputs.0.format'"),
        (HEAD + 'labls = ["a"]' + COLLECT, "plan.toml: unknown key 'labls'; did you mean 'labels'?"),
        (
            HEAD.replace('neutral = "others"', 'neutral = "none"') + COLLECT,
            "neutral label 'none' is not one of the labels",
        ),
        (HEAD.replace('"small"', '"Not Small"') + COLLECT, "'name': string should match pattern"),
        (HEAD.replace('terms = "None."', "") + COLLECT, "'terms' is missing"),
    ],
)
def test_mistake_in_a_plan_is_a_one_line_error(tmp_path: Path, plan: str, problem: str) -> None:
    (tmp_path / "log.jsonl").write_text('["a", "b", "c"]\n')
    (tmp_path / "plan.toml").write_text(plan)
    with pytest.raises(EmoscopeError, match=problem) as found:
        load_plan(tmp_path / "plan.toml")
    assert "\n" not in str(found.value)


def test_languages_by_user_need_named_speakers(tmp_path: Path) -> None:
    def log(speaker: str) -> None:
        turns = [{"turns": [{"speaker": speaker, "text": text}]} for text in ("je ne sais pas quoi faire", "ok lol")]
        (tmp_path / "log.jsonl").write_text("".join(json.dumps(each) + "\n" for each in turns))

    (tmp_path / "plan.toml").write_text(HEAD + COLLECT + step('use = "filter"\nlanguage_by_user = true'))
    log("user")
    with pytest.raises(EmoscopeError, match=r"plan.toml: no speaker with a name, .*; leave 'language_by_user' out"):
        build(load_plan(tmp_path / "plan.toml"), tmp_path / "out")
    log("Luc")
    done = build(load_plan(tmp_path / "plan.toml"), tmp_path / "out")
    assert done[-1].counts["dropped"] == {"other language": 2}


def test_a_bad_row_of_a_log_is_named_and_leaves_what_was_done(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('["a", "b", "c"]\n{"turns": 3}\n')
    (tmp_path / "plan.toml").write_text(HEAD + COLLECT)
    with pytest.raises(EmoscopeError, match=r"log.jsonl, row 2: 'turns' must be a list"):
        build(load_plan(tmp_path / "plan.toml"), tmp_path / "b")
    assert folders(tmp_path / "b") == {"steps"}


def test_folder_with_other_content_is_not_touched(example: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(EmoscopeError, match="holds other files"):
        build(load_plan(example / "plan.toml"), tmp_path)
    with pytest.raises(EmoscopeError, match="is a file"):
        build(load_plan(example / "plan.toml"), tmp_path / "thesis.txt")
    with pytest.raises(EmoscopeError, match="has no step 'fly'"):
        build(load_plan(example / "plan.toml"), tmp_path / "b", until="fly")


@pytest.mark.skipif(os.name == "nt", reason="no such locks")
def test_two_runs_in_one_folder(example: Path, tmp_path: Path) -> None:
    import fcntl

    build(load_plan(example / "plan.toml"), tmp_path / "b", until="collect")
    with (tmp_path / "b" / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(EmoscopeError, match="another run is at work"):
            build(load_plan(example / "plan.toml"), tmp_path / "b")


# Other ways to labels


def test_distant_supervision_in_a_chain(tmp_path: Path) -> None:
    says = [f"I am {word} that {place} {word[:2]} came" for place in range(40) for word in ("happy", "sad")]
    (tmp_path / "tweets.csv").write_text("tweet\n" + "".join(f"{text}\n" for text in [*says, "happy", *says[:3]]))
    head = HEAD.replace('["others", "happy"]', '["joy", "sad"]').replace('neutral = "others"', 'metric = "macro-f1"')
    collect = step('use = "collect"\ninputs = [{ path = "tweets.csv", column = "tweet" }]')
    (tmp_path / "plan.toml").write_text(
        head + collect + step('use = "distant"') + step('use = "split"\nthreshold = 1.0')
    )
    done = build(load_plan(tmp_path / "plan.toml"), tmp_path / "b")
    assert done[1].counts["out"] == 80
    assert done[1].counts["dropped"]["duplicate"] == 3
    found = rows(tmp_path / "b" / "steps" / "03-split" / "train.jsonl")
    assert all("[#TRIGGERWORD#] that" in row["turns"][0]["text"] for row in found)
    assert {row["label"] for row in found} == {"joy", "sad"}


@pytest.mark.parametrize(
    ("settings", "out"), [("", 1), ('duplicates = "exact"', 2), ("joined = true", 2), ("cue_beginnings = true", 3)]
)
def test_settings_of_distant_supervision(tmp_path: Path, settings: str, out: int) -> None:
    texts = [
        "@ann so sad that it ends",
        "@ben so sad that it ends",
        "unhappy that it ends",
        "sad thats it",
        "sad whenever",
    ]
    (tmp_path / "tweets.csv").write_text("tweet\n" + "".join(f"{text}\n" for text in texts))
    head = HEAD.replace('["others", "happy"]', '["joy", "sad"]').replace('neutral = "others"', 'metric = "macro-f1"')
    collect = step('use = "collect"\ninputs = [{ path = "tweets.csv", column = "tweet" }]')
    labelled = step(f'use = "distant"\n{settings}')
    (tmp_path / "plan.toml").write_text(head + collect + labelled + step('use = "split"'))
    assert build(load_plan(tmp_path / "plan.toml"), tmp_path / "b", until="distant")[1].counts["out"] == out


def test_labels_outside_the_plan_are_counted(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text("".join(f'["{place}", "b", "c {place}"]\n' for place in range(4)))
    said = {"log:1": ["happy", "happy"], "log:2": ["angry"], "log:3": ["happy"], "else": ["happy"]}
    lines = [f"{task},{worker},{label}\n" for task, labels in said.items() for worker, label in enumerate(labels)]
    (tmp_path / "said.csv").write_text("task,worker,label\n" + "".join(lines))
    aggregate = step('use = "aggregate"\njudgements = ["said.csv"]\nmin_votes = 1')
    (tmp_path / "plan.toml").write_text(HEAD + COLLECT + step('use = "annotate"') + aggregate)
    counts = build(load_plan(tmp_path / "plan.toml"), tmp_path / "b")[-1].counts
    assert (counts["in"], counts["out"]) == (4, 2)
    assert counts["dropped"] == {"label 'angry' is not the plan's": 1, "no judgement": 1}
    assert counts["judgements_of_other_tasks"] == 1


@pytest.mark.skipif(shutil.which("apertium") is None, reason="Apertium is not installed")
def test_other_wordings_are_for_training_only(example: Path, built: Path, tmp_path: Path) -> None:
    plans = tmp_path / "plans"
    shutil.copytree(example, plans)
    plan = plans / "plan.toml"
    plan.write_text(with_apertium(plan.read_text()))
    folder = tmp_path / "b"
    shutil.copytree(built, folder)
    done = build(load_plan(plan), folder, until="split")
    assert done[-2].counts["variants"]["es"]["kept"] > 0
    train, test = (rows(done[-1].folder / f"{name}.jsonl") for name in ("train", "test"))
    assert any(row.get("variants", {}).get("es") for row in train)
    assert not any("variants" in row for row in test)
