"""What a student with a held-out tenth may learn from."""

import pytest

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.fit_context import FitContext
from emoscope.distil import student
from emoscope.distil.student import StudentPlan, is_held_out, learnable


def scene(*texts: str) -> Example:
    return Example(Dialogue.of(texts), len(texts) - 1, label="joy")


def test_nothing_judged_is_learnt_from_another_edition(monkeypatch: pytest.MonkeyPatch) -> None:
    """MELD has scenes of EmotionX with other dashes and quotes; a short line is told by the turns before it."""
    scenes = [scene(f"so we meet again on day {day}", f"we really do, don't we, {day}") for day in range(40)]
    scenes += [scene(f"so this is what you wanted on day {day}", "Oh yes!") for day in range(40)]
    monkeypatch.setattr(student, "own_examples", lambda name, _: scenes if name == "iest" else [])
    own, elsewhere = learnable(StudentPlan(hold_out=True), FitContext())
    held_out = [each for each in scenes if is_held_out(each)]
    assert 0 < len(held_out) < len(scenes)
    assert {each.text for each in held_out} > {"Oh yes!"}
    for each in scenes:
        other_edition = scene(*(text.upper().replace("'", "’") + " –" for text in each.dialogue.texts))
        assert own(each) is not is_held_out(each)
        assert elsewhere(other_edition) is not is_held_out(each)
    assert elsewhere(scene("what did she say then", "Oh yes!"))


def test_without_a_tenth_held_out_all_may_be_learnt() -> None:
    assert all(judge(scene("we won")) for judge in learnable(StudentPlan(), FitContext()))
