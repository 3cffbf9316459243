"""`errors`: what all systems get right, what none does, and scores by parts of the data."""

import json
from pathlib import Path

import pytest

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.evaluation.error_analysis import analyse_errors
from emoscope.evaluation.slices import SLICES, DataSlice, by_cue, by_emoji, by_length
from emoscope.tasks import get_task
from kits.task_files import emocontext_file, iest_file, labels_file, run

ROWS = [
    ("joy", "that you came"),
    ("joy", "because of you 😂"),
    ("joy", "when it rains"),
    ("sad", "that you left :("),
    ("sad", "thats all"),
]
ONE = ["joy", "sad", "joy", "anger", "sad"]
TWO = ["joy", "sad", "sad", "fear", "sad"]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    return (
        iest_file(tmp_path / "gold.csv", ROWS),
        labels_file(tmp_path / "one.txt", ONE),
        labels_file(tmp_path / "two.txt", TWO),
    )


def by_first_letter() -> DataSlice:
    return DataSlice("first letter", (), lambda example: example.text[:1])


by_letter = by_first_letter()


def test_items_all_get_right_and_none_does(files: tuple[Path, Path, Path]) -> None:
    gold, one, two = files
    found = analyse_errors(get_task("iest"), gold, [one, two], show=5)
    joy, sad = found.classes["joy"], found.classes["sad"]
    # joy: item 0 right in both, 1 in neither, 2 in one. sad: 3 in neither, 4 in both.
    assert (joy.items, joy.all_right, joy.none_right) == (3, 1, 1)
    assert (sad.items, sad.all_right, sad.none_right) == (2, 1, 1)
    assert [item.position for item in joy.easy] == [0]
    assert [(item.position, dict(item.answers)) for item in joy.hard] == [(1, {"sad": 2})]
    assert [dict(item.answers) for item in sad.hard] == [{"anger": 1, "fear": 1}]
    assert found.classes["fear"].items == 0


def test_examples_are_drawn_by_the_seed_in_file_order(tmp_path: Path) -> None:
    gold = emocontext_file(tmp_path / "gold.txt", ["sad"] * 50)
    task = get_task("emocontext")
    drawn = [
        [item.position for item in analyse_errors(task, gold, [gold], show=5, seed=seed).classes["sad"].easy]
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert all(positions == sorted(positions) and len(positions) == 5 for positions in drawn)


def test_the_context_is_shown(tmp_path: Path) -> None:
    gold = emocontext_file(tmp_path / "gold.txt", ["sad"])
    found = analyse_errors(get_task("emocontext"), gold, [gold])
    assert found.classes["sad"].easy[0].turns == ("a0", "b0", "c0")


def test_scores_by_cue_word(files: tuple[Path, Path, Path]) -> None:
    gold, one, two = files
    found = analyse_errors(get_task("iest"), gold, [one, two], by=["cue", "emoji"])
    cue = found.slices["cue"].groups
    assert list(cue) == ["because", "that", "when"]
    assert [cue[word]["one"].items for word in cue] == [1, 3, 1]
    assert [cue[word]["one"].accuracy for word in cue] == pytest.approx([0, 2 / 3, 1])
    assert [cue[word]["two"].accuracy for word in cue] == pytest.approx([0, 2 / 3, 0])
    # "that", first system: gold joy, sad, sad and said joy, anger, sad. F1 joy 1, sad 2/3, anger 0.
    assert cue["that"]["one"].score == cue["that"]["one"].macro_f1 == pytest.approx((1 + 2 / 3 + 0) / 3)
    emoji = found.slices["emoji"].groups
    assert {group: scores["one"].items for group, scores in emoji.items()} == {"emoji": 2, "no emoji": 3}


@pytest.mark.parametrize(
    ("chosen", "text", "group"),
    [
        (by_cue, "so [#TRIGGERWORD#] because it", "because"),
        (by_cue, "so [#triggerword#]  WHENEVER it", "when"),
        (by_cue, "so [#TARGETWORD#] thats it", "that"),
        (by_cue, "because [#TRIGGERWORD#] and that", "none"),
        (by_length, "", "no words"),
        (by_length, "a b", "1-2 words"),
        (by_length, "a b c", "3-5 words"),
        (by_length, "a " * 10, "6-10 words"),
        (by_length, "a " * 20, "11-20 words"),
        (by_length, "a " * 21, "over 20 words"),
        (by_emoji, "hi 🙂", "emoji"),
        (by_emoji, "hi :-(", "emoji"),
        (by_emoji, "hi (you)", "no emoji"),
    ],
)
def test_groups(chosen: DataSlice, text: str, group: str) -> None:
    example = Example(Dialogue.of(["😂 because", text]), turn=1)
    assert chosen.group_of(example) == group
    assert chosen.positions([example]) == {group: [0]}


def test_groups_are_in_order() -> None:
    texts = ["a " * 30, "a", "a b c d"]
    groups = by_length.positions([Example(Dialogue.of([text]), turn=0) for text in texts])
    assert groups == {"1-2 words": [1], "3-5 words": [2], "over 20 words": [0]}


def test_a_slice_can_be_added(files: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SLICES, "_entries", dict(SLICES._entries))
    SLICES.add("letter", f"{__name__}:by_letter")
    found = analyse_errors(get_task("iest"), files[0], [files[1]], by=["letter"])
    assert {group: scores["one"].items for group, scores in found.slices["letter"].groups.items()} == {"I": 5}


def test_the_command(files: tuple[Path, Path, Path]) -> None:
    gold, one, two = files
    result = run("errors", one, two, "-t", "iest", "-g", gold, "--by", "cue", "--by", "length", "--show", "1")
    assert result.exit_code == 0
    assert "iest, 2 systems: items all get right, items none does" in result.stdout
    assert "joy + 0 I am [#TRIGGERWORD#] that you came" in result.stdout
    assert "joy - 1 I am [#TRIGGERWORD#] because of you 😂 (sad 2)" in result.stdout
    assert "By cue: cue word right after the masked word" in result.stdout
    assert "By length" in result.stdout


def test_the_command_as_json(files: tuple[Path, Path, Path]) -> None:
    gold, one, two = files
    found = json.loads(run("errors", one, two, "-t", "iest", "-g", gold, "--by", "cue", "--json").stdout)
    assert found["systems"] == ["one", "two"]
    assert found["classes"]["joy"]["hard"] == [
        {"position": 1, "turns": ["I am [#TRIGGERWORD#] because of you 😂"], "answers": {"sad": 2}}
    ]
    assert found["slices"]["cue"]["groups"]["when"]["one"]["accuracy"] == 1


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    gold = iest_file(tmp_path / "gold.csv", [("joy", "that \x1b[31m[red]x")])
    said = labels_file(tmp_path / "said.txt", ["joy"])
    result = run("errors", said, "-t", "iest", "-g", gold)
    assert "\x1b" not in result.stdout
    assert "[31m[red]x" in result.stdout


def test_mistakes_are_reported(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    gold, one, _ = files
    with pytest.raises(EmoscopeError, match="no slice named 'que'; did you mean 'cue'"):
        analyse_errors(get_task("iest"), gold, [one], by=["que"])
    labels = labels_file(tmp_path / "gold.labels", ONE)
    with pytest.raises(InputError, match="has only labels; this needs the file with the text"):
        analyse_errors(get_task("iest"), labels, [one])


@pytest.mark.data
def test_every_tweet_has_a_cue_word(data_folder: Path) -> None:
    examples = list(get_task("iest").read(data_folder / "iest" / "trial.csv"))
    groups = by_cue.positions(examples)
    # The tweets were gathered by these three words (section 3.1 of the paper).
    assert set(groups) == {"because", "that", "when"}
    assert sum(map(len, groups.values())) == 9591


def test_the_help_names_every_slice() -> None:
    shown = run("errors", "--help").output
    assert [name for name in SLICES if name not in shown] == []
