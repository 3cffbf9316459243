"""Scenes that will be scored are removed from other corpora, their shortest lines included."""

from emoscope.core.dialogue import Dialogue, Example
from emoscope.tasks.datasets.affect import plain, unknown_examples


def scene(*lines: str) -> list[Example]:
    dialogue = Dialogue.of(list(lines))
    return [Example(dialogue, place, "joy") for place in range(len(lines))]


def test_short_lines_of_a_known_scene_are_known_too() -> None:
    known = {plain("We got the flat!")}
    shared = scene("we got the FLAT", "Oh my!", "what will it cost us")
    other = scene("Oh my!", "you look tired today")
    kept = unknown_examples([*shared, *other], known)
    # MELD has EmotionX's scenes with the same labels: "Oh my!" after the flat would give its answer away.
    assert [example.text for example in kept] == ["what will it cost us", "Oh my!", "you look tired today"]


def test_short_line_alone_is_not_a_known_scene() -> None:
    assert len(unknown_examples(scene("Oh my!"), {plain("We got the flat!")})) == 1
