"""`corpus human-study`: people against gold, alone and together, and as a system on the leaderboard."""

import json
import re
from pathlib import Path

import pytest

from emoscope.core.errors import EmoscopeError
from emoscope.core.judgement import Judgement
from emoscope.corpus.annotation.human_study import human_study
from emoscope.corpus.annotation.study_sample import write_study_sample
from emoscope.corpus.annotation.workers import read_gold
from emoscope.evaluation.human import compare_with_humans
from emoscope.tasks import get_task
from kits.annotation_kit import Worker, opened, tokens
from kits.corpus_command import run
from kits.task_files import emotionx_file, iest_file

CUES, LABELS = ("because", "that", "when"), ("joy", "sad")
SAID = [
    Judgement("0", "ann", "joy"),
    Judgement("0", "ben", "sad", ("joy", "fear")),
    Judgement("0", "cal", "joy"),
    Judgement("1", "ann", "fear", ("sad",)),
    Judgement("1", "ben", "fear", ("anger",)),
    Judgement("1", "cal", "sad", ("joy",)),
    Judgement("2", "ann", "anger", ("fear",)),
    Judgement("2", "ben", "joy", ("fear",)),
    Judgement("9", "ann", "joy"),
]
GOLD = {"0": "joy", "1": "sad", "2": "sad", "3": "fear"}
CSV = "task,worker,label,other\n" + "".join(
    f"{said.task},{said.worker},{said.label},{';'.join(said.others)}\n" for said in SAID if said.task != "9"
)


def test_scores_by_hand() -> None:
    found, answers = human_study(SAID, GOLD, group_of=lambda task: "even" if int(task) % 2 == 0 else "odd")
    alone, together = found.alone, found.together
    assert (alone.answers, found.items, found.workers) == (8, 3, 3)
    assert (found.without_gold, found.unjudged) == (1, 1)
    # Right at once: 0/ann, 0/cal, 1/cal; the gold label is among the others in 0/ben and 1/ann.
    assert (alone.top1, alone.top2) == (3 / 8, 5 / 8)
    assert found.labels_named == pytest.approx((8 + 7) / 8)
    # Together: joy (2 of 3); fear (2 of 3), with sad second; anger and joy tie, and joy has more votes on all tasks.
    assert answers == {"0": "joy", "1": "fear", "2": "joy"}
    assert (together.answers, together.top1, together.top2) == (3, 1 / 3, 2 / 3)
    # joy: gold 3, said 3, hit 2. sad: gold 5, said 2, hit 1. fear and anger: never gold, F1 0.
    assert alone.macro_f1 == pytest.approx((2 / 3 + 2 / 7 + 0 + 0) / 4)
    assert found.per_label["joy"].right == pytest.approx(2 / 3)
    assert found.per_label["sad"].f1 == pytest.approx(2 / 7)
    assert {label: dict(row) for label, row in found.confusion.items()} == {
        "anger": {"anger": 0, "fear": 0, "joy": 0, "sad": 0},
        "fear": {"anger": 0, "fear": 0, "joy": 0, "sad": 0},
        "joy": {"anger": 0, "fear": 0, "joy": 2, "sad": 1},
        "sad": {"anger": 1, "fear": 2, "joy": 1, "sad": 1},
    }
    assert {name: part.alone.top1 for name, part in found.groups.items()} == pytest.approx(
        {"even": 2 / 5, "odd": 1 / 3}
    )


def test_without_other_guesses_there_is_no_top_2_alone() -> None:
    found, _ = human_study([Judgement("0", "ann", "joy")], GOLD)
    assert found.alone.top2 is None
    assert found.together.top2 == 1


def test_judgements_of_other_tasks_are_reported() -> None:
    with pytest.raises(EmoscopeError, match="none of the judged tasks has a gold label"):
        human_study([Judgement("x", "ann", "joy")], GOLD)


@pytest.fixture
def said(tmp_path: Path) -> Path:
    path = tmp_path / "said.csv"
    path.write_text(CSV, encoding="utf-8")
    return path


def test_a_table_of_gold_and_of_answers(said: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    texts = ["[#TRIGGERWORD#] that it is", "[#TRIGGERWORD#] because of it", "[#TRIGGERWORD#] when it is"]
    rows = [f'{task},{label},"{text}"' for (task, label), text in zip(GOLD.items(), texts, strict=False)]
    gold.write_text("task,label,text\n" + "\n".join(rows) + "\n", encoding="utf-8")
    answers = tmp_path / "answers.csv"
    code, out, _ = run("corpus", "human-study", said, "-g", gold, "--by", "cue", "-o", answers, "--json")
    assert code == 0
    found = json.loads(out)
    assert set(found["groups"]) == {"that", "because", "when"}
    assert found["groups"]["because"]["alone"]["top2"] == pytest.approx(2 / 3)
    assert answers.read_text() == "task,label\n0,joy\n1,fear\n2,joy\n"
    shown = run("corpus", "human-study", said, "-g", gold, "--by", "cue")[1]
    assert "8 judgements of 3 items by 3 workers" in shown
    assert "By cue" in shown
    _, matrix = shown.split("Confusion matrix")
    lines = [line.split() for line in matrix.splitlines()]
    assert ["anger", "fear", "joy", "sad"] in lines
    assert ["sad", "1", "2", "1", "1"] in lines
    assert found["confusion"]["sad"] == {"anger": 1, "fear": 2, "joy": 1, "sad": 1}


def test_the_same_figures_as_the_leaderboards_humans(said: Path, tmp_path: Path) -> None:
    gold = iest_file(tmp_path / "gold.csv", [("joy", "that"), ("sad", "when"), ("sad", "because")])
    found = json.loads(run("corpus", "human-study", said, "-g", gold, "-t", "iest", "--json")[1])
    board = compare_with_humans(get_task("iest"), gold, said, by="cue").judges[0]
    assert found["by"] == "cue"
    assert found["alone"]["top1"] == board.overall.micro_f1
    assert found["alone"]["macro_f1"] == pytest.approx(board.overall.score)
    assert found["alone"]["top2"] == board.overall.top2
    assert {cue: part["alone"]["top1"] for cue, part in found["groups"].items()} == {
        cue: judged.accuracy for cue, judged in board.groups.items()
    }


def test_answers_become_a_submission(said: Path, tmp_path: Path) -> None:
    gold = iest_file(tmp_path / "gold.csv", [("joy", "that"), ("sad", "when"), ("sad", "because")])
    sent = tmp_path / "humans.txt"
    assert run("corpus", "human-study", said, "-g", gold, "-t", "iest", "-o", sent)[0] == 0
    assert get_task("iest").verify(sent, gold) == []
    assert sent.read_text() == "joy\nfear\njoy\n"
    more = iest_file(tmp_path / "more.csv", [("joy", "that")] * 5)
    code, _, message = run("corpus", "human-study", said, "-g", more, "-t", "iest", "-o", tmp_path / "x.txt")
    assert code == 2
    assert "2 of 5 were not judged (the first is '3')" in message
    assert not (tmp_path / "x.txt").exists()


def test_from_the_page_to_a_submission(tmp_path: Path) -> None:
    gold = emotionx_file(tmp_path / "friends.json", ["joy", "neutral", "anger"])
    folder, files = tmp_path / "study", tmp_path / "people"
    labels = "neutral,joy,sadness,anger"
    arguments = ["-t", "emotionx-friends", "-o", folder, "-a", "ann", "--labels", labels, "--no-serve"]
    assert run("corpus", "annotate", gold, *arguments)[0] == 0
    with opened(folder) as client:
        worker = Worker(client, tokens(folder)["ann"])
        worker.look()
        while worker.view["state"] == "item":
            worker.judge(*["joy"] * len(worker.view["turns"]))
    run("corpus", "annotate-export", folder, "-o", files, "--per-annotator", ".jsonl")
    sent = tmp_path / "humans.json"
    code, out, _ = run("corpus", "human-study", files, "-g", gold, "-t", "emotionx-friends", "-o", sent, "--json")
    assert code == 0
    assert json.loads(out)["alone"]["top1"] == pytest.approx(1 / 3)
    assert get_task("emotionx-friends").read_predictions(sent) == ["joy"] * 3


def test_votes_without_names_are_not_a_study(tmp_path: Path) -> None:
    votes = emotionx_file(tmp_path / "friends.json", ["joy"])
    rows = json.loads(votes.read_text())
    for row in rows[0]:
        row["annotation"] = "0500000"
    votes.write_text(json.dumps(rows))
    gold = tmp_path / "gold.csv"
    gold.write_text("task,label\n0,joy\n")
    assert "needs the judges' names" in run("corpus", "human-study", votes, "-g", gold)[2]


def labelled_tweets(path: Path, size: int) -> Path:
    texts = (f"{label}\tso [#TRIGGERWORD#] {cue} {n}\n" for label in LABELS for cue in CUES for n in range(size))
    path.write_text("".join(texts))
    return path


def test_a_stratified_sample(tmp_path: Path) -> None:
    source = labelled_tweets(tmp_path / "trial.csv", 5)
    counts = write_study_sample(source, tmp_path / "study", task="iest", size=4)
    assert counts == {label: dict.fromkeys(CUES, 4) for label in LABELS}
    items = (tmp_path / "study" / "items.csv").read_text().splitlines()
    gold = (tmp_path / "study" / "gold.csv").read_text().splitlines()
    assert len(items) == len(gold) == 25
    assert "joy" not in "".join(items)
    with pytest.raises(EmoscopeError, match=r"items\.csv: exists already; write to another folder"):
        write_study_sample(source, tmp_path / "study", task="iest", size=3)
    assert (tmp_path / "study" / "items.csv").read_text().splitlines() == items
    short = r"trial.csv: 5 items with the label joy and the cue 'because', expected 6; give a smaller --size, or other"
    with pytest.raises(EmoscopeError, match=f"{short} --groups of because, that, when$"):
        write_study_sample(source, tmp_path / "more", task="iest", size=6)
    with pytest.raises(EmoscopeError, match=r"no slice named 'cues'[^-]*$"):
        write_study_sample(source, tmp_path / "more", task="iest", by="cues")
    (tmp_path / "blind.csv").write_text(re.sub("^(joy|sad)\t", "unknown\t", source.read_text(), flags=re.MULTILINE))
    with pytest.raises(EmoscopeError, match=r"blind\.csv: has no labels"):
        write_study_sample(tmp_path / "blind.csv", tmp_path / "more", task="iest")
    assert not (tmp_path / "more").exists()


def test_label_that_gold_does_not_have_is_named(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("task,label\n1,joy\n2,sad\n")
    (tmp_path / "j.csv").write_text("task,worker,label\n1,ann,joy\n2,ann,sda\n")
    code, shown, _ = run("corpus", "human-study", tmp_path / "j.csv", "--gold", tmp_path / "gold.csv")
    assert code == 0
    assert "no judged item has the gold label 'sda', given in 1 judgement: is it misspelt there?" in shown


def test_gold_questions_of_a_sample_are_those_of_the_page(tmp_path: Path) -> None:
    source, study = labelled_tweets(tmp_path / "trial.csv", 10), tmp_path / "study"
    command = ("corpus", "human-sample", source, "--task", "iest", "--size", 10, "-o", study)
    assert run(*command[:-1], tmp_path / "without")[0] == 0
    assert not (tmp_path / "without" / "gold-questions.csv").exists()
    code, shown, problem = run(*command, "--gold-share", 0.05)
    assert code == 0, problem
    assert "put your own best guess as label" in " ".join(shown.split())
    gold, questions = (read_gold(study / name) for name in ("gold.csv", "gold-questions.csv"))
    assert (len(gold), len(questions)) == (60, 3)
    assert questions.items() <= gold.items()
    page = ("corpus", "annotate", study / "items.csv", "--labels", "joy,sad", "-a", "ann", "--no-serve")
    code, _, problem = run(*page, "-o", tmp_path / "all", "--gold", study / "gold.csv")
    assert (code, "nothing left to annotate" in problem) == (2, True)
    code, _, problem = run(*page, "-o", tmp_path / "some", "--gold", study / "gold-questions.csv")
    assert code == 0, problem
    for share in (0.001, 1):
        code, _, problem = run(*command[:-1], tmp_path / "no", "--gold-share", share)
        assert (code, f"--gold-share {share:g} would make" in problem) == (2, True)
    assert not (tmp_path / "no").exists()
