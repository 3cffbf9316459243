"""`human`: people's judgements scored like a system's answers."""

import json
from pathlib import Path

import pytest

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.evaluation.human import compare_with_humans, published_humans, read_judgements
from emoscope.tasks import get_task
from kits.task_files import emocontext_file, emotionx_file, iest_file, labels_file, run

ROWS = [("joy", "that"), ("sad", "when"), ("sad", "because"), ("fear", "that")]
JUDGED = """task,worker,label,other
0,ann,joy,
0,ben,sad,joy;fear
1,ann,sad,joy
1,ben,fear,anger
3,ann,fear,
"""


def crowd(folder: Path, text: str = JUDGED) -> Path:
    path = folder / "crowd.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return iest_file(tmp_path / "gold.csv", ROWS)


def test_judgements_by_hand(gold: Path, tmp_path: Path) -> None:
    system = labels_file(tmp_path / "nano.txt", ["joy", "joy", "anger", "fear"])
    found = compare_with_humans(get_task("iest"), gold, crowd(tmp_path), [system], by="cue")
    people, machine = found.judges
    assert (found.judgements, found.items, found.workers, found.discarded) == (5, 3, 2, 0)
    # Right: 0/ann, 1/ann, 3/ann of five; gold is also among the others in 0/ben.
    assert people.overall.micro_f1 == pytest.approx(3 / 5)
    assert people.overall.top2 == pytest.approx(4 / 5)
    # joy: gold 2, said 1, hit 1: 2/3. sad: gold 2, said 2, hit 1: 1/2. fear: gold 1, said 2, hit 1: 2/3.
    assert people.overall.macro_f1 == pytest.approx((2 / 3 + 1 / 2 + 2 / 3) / 3)
    # The system is scored on items 0, 1 and 3, each once: right on 0 and 3.
    assert (machine.name, machine.overall.items, machine.overall.top2) == ("nano", 3, None)
    assert machine.overall.accuracy == pytest.approx(2 / 3)
    assert {cue: judged.accuracy for cue, judged in people.groups.items()} == pytest.approx(
        {"that": 2 / 3, "when": 1 / 2}
    )
    assert people.groups["that"].top2 == 1
    assert {cue: judged.items for cue, judged in machine.groups.items()} == {"that": 2, "when": 1}


def test_without_other_guesses_there_is_no_top_2(gold: Path, tmp_path: Path) -> None:
    file = crowd(tmp_path, "worker,label,task,seconds\nann,joy,0,12\n")
    found = compare_with_humans(get_task("iest"), gold, file)
    assert found.judges[0].overall.top2 is None
    assert found.judges[0].overall.accuracy == 1


def test_tasks_are_dialogue_ids_where_all_are(tmp_path: Path) -> None:
    gold = emocontext_file(tmp_path / "gold.txt", ["happy", "sad"])
    gold.write_text(gold.read_text().replace("\n0\t", "\n71\t").replace("\n1\t", "\n0\t"))
    task = get_task("emocontext")
    by_id = compare_with_humans(task, gold, crowd(tmp_path, "task,worker,label\n71,w,happy\n0,w,sad\n"))
    assert (by_id.matched_by, by_id.judges[0].overall.accuracy) == ("dialogue id", 1)
    # 1 is no id, so both are positions.
    by_position = compare_with_humans(task, gold, crowd(tmp_path, "task,worker,label\n0,w,happy\n1,w,sad\n"))
    assert (by_position.matched_by, by_position.judges[0].overall.accuracy) == ("position", 1)


def test_utterances_are_named_by_position_and_unscored_ones_left_out(tmp_path: Path) -> None:
    gold = emotionx_file(tmp_path / "gold.json", ["joy", "surprise", "anger"])
    file = crowd(tmp_path, "task,worker,label\n0,w,joy\n1,w,joy\n2,w,joy\n")
    found = compare_with_humans(get_task("emotionx-push"), gold, file)
    assert (found.judgements, found.discarded, found.matched_by) == (2, 1, "position")
    assert found.judges[0].overall.score == 0.5


def test_the_papers_humans() -> None:
    scores = published_humans(get_task("iest")).overall
    # Section 5: macro-F1 45 %, micro-F1 0.47, 3,619 judgements.
    assert (round(scores.macro_f1, 2), round(scores.micro_f1, 2), scores.items) == (0.45, 0.47, 3619)
    with pytest.raises(EmoscopeError, match="emocontext: no human judgements are published"):
        published_humans(get_task("emocontext"))


def test_the_command_prints_people_systems_and_the_paper(gold: Path, tmp_path: Path) -> None:
    system = labels_file(tmp_path / "nano.txt", ["joy", "joy", "anger", "fear"])
    result = run("human", crowd(tmp_path), "-t", "iest", "-g", gold, "-s", system, "--published")
    assert result.exit_code == 0
    assert "5 judgements of 3 items by 2 workers" in result.stdout
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["nano", "3"] in [row[:2] for row in rows]
    assert ["humans", "(Table", "9)", "3,619", "0.4474", "0.4664", "0.4474", "-"] in rows
    assert "By cue" in result.stdout


def test_the_command_as_json(gold: Path, tmp_path: Path) -> None:
    found = json.loads(run("human", crowd(tmp_path), "-t", "iest", "-g", gold, "--json").stdout)
    assert found["by"] == "cue"
    assert found["judges"][0]["top2"] == pytest.approx(0.8)
    assert set(found["judges"][0]["groups"]) == {"that", "when"}
    only = json.loads(run("human", "-t", "iest", "--published", "--json").stdout)
    assert [judge["name"] for judge in only["judges"]] == ["humans (Table 9)"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("task,label\n0,joy\n", "row 1: expected columns task,worker,label[,other], found 'task,label'"),
        ("task,worker,label\n0,w\n", "row 2: expected 3 comma-separated columns, found 2"),
        ("task,worker,label\n0,w,\n", "row 2: 'label' is missing"),
        ("task,worker,label\n0,w,sadness\n", "row 2: unknown label 'sadness'"),
        ("task,worker,label,other\n0,w,joy,sad;glee\n", "row 2: unknown label 'glee'"),
        ("task,worker,label\n0,w,joy\n0,w,sad\n", "row 3: worker 'w' has judged task '0' already in row 2"),
        ('task,worker,label\n0,"w,joy\n', "is not valid CSV"),
        ("task,worker,label\n", "has a header but no rows"),
        ("task,worker,label\n9,w,joy\n", "row 2: task '9' is neither a dialogue's id nor a position from 0 to 3"),
        (f"task,worker,label\n{'9' * 5000},w,joy\n", "is neither a dialogue's id nor a position"),
        ("\x00", "NUL byte"),
        ("", "is empty"),
    ],
)
def test_bad_judgements_are_reported(gold: Path, tmp_path: Path, text: str, problem: str) -> None:
    file = crowd(tmp_path, text)
    with pytest.raises(InputError) as caught:
        compare_with_humans(get_task("iest"), gold, file)
    assert str(caught.value).startswith(str(file))
    assert problem in str(caught.value)


def test_quoted_cells_may_hold_commas(tmp_path: Path) -> None:
    file = crowd(tmp_path, 'task,worker,label\n0,"Ann, B.",joy\n')
    judgements, asked_others = read_judgements(get_task("iest"), file)
    assert (judgements[2].worker, asked_others) == ("Ann, B.", False)


def test_nothing_to_compare_is_reported(tmp_path: Path) -> None:
    assert "name a file of judgements" in str(run("human", "-t", "iest").exception)
