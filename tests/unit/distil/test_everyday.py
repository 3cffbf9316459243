"""Everyday dialogues written for training, and that nothing of what is shown or checked is among them."""

import json
from collections import Counter
from pathlib import Path

import emoscope
from emoscope.core.dialogue import Dialogue
from emoscope.core.learnt import LearntItems
from emoscope.detector.bundle import resolve
from emoscope.distil.everyday import (
    GENERAL,
    JOINED_CHARACTERS,
    everyday_examples,
    exclaimed_examples,
    joined_examples,
    surrounded_examples,
    vote_shares,
)
from emoscope.evaluation.behaviour import near_copies
from emoscope.evaluation.behaviour.cases import Functionality


def test_situations_are_taught_whole_or_not_at_all() -> None:
    taught, held_out = everyday_examples(), everyday_examples(held_out=True)
    assert len(taught) > 5000
    assert 0.08 < len(held_out) / len(taught) < 0.2
    counts = Counter(example.label for example in held_out)
    assert set(counts) == set(GENERAL)
    assert min(counts.values()) >= 30
    assert not {e.context.texts for e in taught} & {e.context.texts for e in held_out}
    assert (vote_shares(taught).sum(1).round(6) == 1).all()


def test_longer_messages_are_joined_from_what_is_taught() -> None:
    joined = joined_examples(400)
    assert joined == joined_examples(400)
    assert [example.label == "neutral" for example in joined] == [True, False] * 200
    assert max(len(example.text) for example in joined) <= JOINED_CHARACTERS + 20
    taught = {example.text.rstrip(".!?") for example in everyday_examples() if example.turn == 0}
    assert all(any(text in example.text for text in taught) for example in joined[:20])


def test_messages_without_joy_are_repeated_with_exclamation_marks() -> None:
    exclaimed = exclaimed_examples(300)
    assert exclaimed == exclaimed_examples(300)
    assert len({example.text for example in exclaimed}) == 300
    assert all(example.text.endswith("!") and example.text[-4:] != "!!!!" for example in exclaimed)
    assert {"neutral", "fear", "anger", "sadness"} <= {example.label for example in exclaimed}
    assert not any({"joy", "surprise"} & set(example.votes) for example in exclaimed)
    taught = {example.text.rstrip("."): example.label for example in everyday_examples() if example.turn == 0}
    assert all(taught[example.text.rstrip("!")] == example.label for example in exclaimed[:50])


def test_messages_are_repeated_after_turns_of_other_dialogues_with_another_emotion() -> None:
    surrounded = surrounded_examples(200)
    assert surrounded == surrounded_examples(200)
    messages = {example.text: example.votes for example in everyday_examples() if example.turn == 0}
    for example in surrounded:
        first, _, last = example.dialogue.texts
        assert messages[last] == example.votes
        assert not set(example.votes) & set(messages[first])
        assert len(last.split()) >= 4
    held_out = {example.text for example in everyday_examples(held_out=True)}
    for example in surrounded_examples(50, held_out=True):
        assert set(example.dialogue.texts) <= held_out


def test_no_case_of_the_behaviour_suite_is_nearly_taught() -> None:
    assert near_copies([example.context for example in everyday_examples()]) == []


def test_no_dialogue_of_the_demo_is_taught() -> None:
    demo = json.loads((Path(emoscope.__file__).parent / "cli" / "demo.json").read_text(encoding="utf-8"))
    shown = {tuple(turn.lower() for turn in entry["turns"]) for entry in demo["misleading"]}
    assert len(shown) == 3
    taught = {tuple(turn.lower() for turn in example.context.texts) for example in everyday_examples()}
    assert not shown & taught
    assert not {turns[0] for turns in shown} & {turn for turns in taught for turn in turns}
    dialogues = [*shown, tuple(turn["text"] for turn in demo["conversation"])]
    cases = [Functionality("demo", turns[0], (Dialogue.of(turns),), ("joy",)) for turns in dialogues]
    assert near_copies([example.context for example in everyday_examples()], cases) == []


def test_open_learnt_only_from_what_allows_any_use() -> None:
    learnt = LearntItems.load(resolve("open"))
    assert learnt is not None
    ours = {"emoscope, everyday dialogues", "emoscope, written like everyday"}
    allowed = {
        "goemotions-ekman",
        "text: comments",
        "teacher: goemotions-ekman",
        *ours,
        *(f"teacher: {n}" for n in ours),
    }
    assert set(learnt.sources) <= allowed
    assert learnt.sources["goemotions-ekman"] > 30_000
