"""`corpus human-study`: people against gold, alone and together, and as a system on the leaderboard."""

import json
from pathlib import Path

import pytest

from emoscope.core.errors import EmoscopeError
from emoscope.core.judgement import Judgement
from emoscope.corpus.annotation.human_study import human_study
from emoscope.corpus.annotation.study_sample import write_study_sample
from emoscope.evaluation.human import compare_with_humans
from emoscope.tasks import get_task
from kits.annotation_kit import Worker, opened, tokens
from kits.corpus_command import run
from kits.task_files import emotionx_file, iest_file

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


def test_a_stratified_sample(tmp_path: Path) -> None:
    source = tmp_path / "trial.csv"
    cues, labels = ("because", "that", "when"), ("joy", "sad")
    source.write_text(
        "".join(f"{label}\tso [#TRIGGERWORD#] {cue} {n}\n" for label in labels for cue in cues for n in range(5))
    )
    counts = write_study_sample(source, tmp_path / "study", task="iest", size=4)
    assert counts == {label: dict.fromkeys(cues, 4) for label in labels}
    items = (tmp_path / "study" / "items.csv").read_text().splitlines()
    gold = (tmp_path / "study" / "gold.csv").read_text().splitlines()
    assert len(items) == len(gold) == 25
    assert "joy" not in "".join(items)
    with pytest.raises(EmoscopeError, match="5 items have the label joy and the cue 'because', expected 6"):
        write_study_sample(source, tmp_path / "more", task="iest", size=6)
