"""Three-turn windows of longer dialogues, and samples."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emoscope.core.dialogue import Dialogue, Turn
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.sources.windows import sample, windows, write_windows
from kits.corpus_command import run, stdout_of
from kits.jsonl import write_jsonl


def said(script: str) -> Dialogue:
    """A dialogue of one-letter turns: "Ua Ab" is U saying a, then A saying b."""
    return Dialogue(tuple(Turn(part[1:], part[0]) for part in script.split()), "d")


def found(script: str, user: str | None = None) -> list[str]:
    return [
        " ".join(f"{turn.speaker}{turn.text}" for turn in window.turns) for window in windows(said(script), user=user)
    ]


def test_without_speakers_the_user_begins_and_they_take_turns() -> None:
    cut = list(windows(Dialogue.of(list("abcdef"), id="x")))
    assert [(window.id, window.texts) for window in cut] == [("x:0", ("a", "b", "c")), ("x:2", ("c", "d", "e"))]
    assert list(windows(Dialogue.of(["a", "b"]))) == []


def test_with_speakers() -> None:
    assert found("Ua Ab Uc Ad Ue") == ["Ua Ab Uc", "Ab Uc Ad", "Uc Ad Ue"]
    assert found("Ua Ab Uc Ad Ue", user="U") == ["Ua Ab Uc", "Uc Ad Ue"]
    assert found("Ua Ab Uc Ad Ue", user="A") == ["Ab Uc Ad"]
    assert found("Ua Ab Uc", user="nobody") == []


def test_consecutive_messages_of_a_speaker_are_one_turn() -> None:
    assert [window.texts for window in windows(said("Ua Ub Ac Ud Ue"))] == [("a b", "c", "d e")]


def test_dialogue_with_a_third_speaker_has_no_window() -> None:
    assert found("Ua Ab Cc Ud") == []


@given(speakers=st.lists(st.sampled_from("UAB"), min_size=1, max_size=20), user=st.sampled_from(["U", None]))
def test_every_window_is_user_agent_user_and_in_the_dialogue(speakers: list[str], user: str | None) -> None:
    whole = Dialogue(tuple(Turn(str(place), speaker) for place, speaker in enumerate(speakers)))
    for window in windows(whole, user=user):
        first, agent, last = window.turns
        assert first.speaker == last.speaker != agent.speaker
        assert user in (None, first.speaker)
        places = [int(place) for turn in window.turns for place in turn.text.split()]
        assert places == list(range(places[0], places[-1] + 1))


@given(number=st.integers(0, 60), size=st.integers(1, 20), seed=st.integers(0, 1000))
def test_a_sample_is_in_order_and_repeatable(number: int, size: int, seed: int) -> None:
    drawn = sample(iter(range(number)), size, seed=seed)
    assert drawn == sorted(set(drawn))
    assert len(drawn) == min(number, size)
    assert drawn == sample(range(number), size, seed=seed)


def test_each_item_is_equally_likely() -> None:
    drawn = Counter(item for seed in range(4000) for item in sample(range(10), 3, seed=seed))
    # 1200 expected of each; the standard deviation is sqrt(4000 * 0.3 * 0.7) = 29.
    assert all(abs(drawn[item] - 1200) < 5 * 29 for item in range(10))


def test_the_command(tmp_path: Path) -> None:
    turns = [{"speaker": "UA"[place % 2], "text": str(place)} for place in range(7)]
    rows = [{"id": "x", "turns": turns}, {"id": "y", "turns": turns[:2]}]
    source = tmp_path / "log.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    target = tmp_path / "windows.csv"
    answer = json.loads(stdout_of("corpus", "windows", str(source), "-o", str(target), "--user", "U", "--json"))
    assert answer == {"read": 2, "without": 1, "windows": 3, "written": 3, "seed": 1}
    assert target.read_text() == "id,turn1,turn2,turn3\nx:0,0,1,2\nx:2,2,3,4\nx:4,4,5,6\n"
    answer = json.loads(
        stdout_of("corpus", "windows", str(source), "-o", str(target), "--sample", "2", "--seed", "3", "--json")
    )
    assert (answer["windows"], answer["written"]) == (5, 2)
    once = target.read_bytes()
    stdout_of("corpus", "windows", str(source), "-o", str(target), "--sample", "2", "--seed", "3")
    assert target.read_bytes() == once


def test_a_bad_row_leaves_the_old_file(tmp_path: Path) -> None:
    source, target = tmp_path / "log.jsonl", tmp_path / "windows.csv"
    source.write_text('["a", "b", "c"]\n{"turns": 3}\n')
    target.write_text("old")
    with pytest.raises(Exception, match="row 2: 'turns' must be a list"):
        stdout_of("corpus", "windows", str(source), "-o", str(target))
    assert target.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.jsonl", "windows.csv"]


def test_the_input_is_not_overwritten(tmp_path: Path) -> None:
    source = tmp_path / "log.jsonl"
    source.write_text('["a", "b", "c"]\n')
    with pytest.raises(EmoscopeError, match="is the input itself"):
        stdout_of("corpus", "windows", str(source), "-o", str(source))


def test_unknown_user_is_an_error(tmp_path: Path) -> None:
    turns = [{"speaker": name, "text": "hi"} for name in ("Customer", "Agent", "Customer")]
    source = write_jsonl(tmp_path / "log.jsonl", [{"turns": turns}])
    target = tmp_path / "windows.csv"
    code, _, message = run("corpus", "windows", source, "-o", target, "--user", "customer")
    assert code == 2
    assert "no turn of the user 'customer'; its speakers are 'Customer', 'Agent'" in message
    assert not target.exists()


def test_a_user_that_no_turn_names_is_one_clear_line(tmp_path: Path) -> None:
    plain = tmp_path / "plain.csv"
    plain.write_text("turn1,turn2,turn3\na,b,c\n")
    with pytest.raises(EmoscopeError, match="no turn of the user 'Ann'; its turns name no speakers"):
        write_windows(str(plain), str(tmp_path / "out.csv"), user="Ann")
    named = tmp_path / "named.jsonl"
    turns = [{"speaker": name, "text": "hi"} for name in ("Ben", "Cal", "Ben")]
    named.write_text(json.dumps({"turns": turns}) + "\n")
    with pytest.raises(EmoscopeError, match="no turn of the user 'Ann'; its speakers are 'Ben', 'Cal'"):
        write_windows(str(named), str(tmp_path / "out.csv"), user="Ann")
    assert not (tmp_path / "out.csv").exists()
    assert write_windows(str(named), str(tmp_path / "out.csv"), user="Ben")["written"] == 1


def test_a_user_has_no_window_where_speakers_are_not_known() -> None:
    assert list(windows(Dialogue.of(["a", "b", "c"]), user="Ann")) == []
