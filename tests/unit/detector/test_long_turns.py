"""Long turns and long dialogues: how much of them is read, at what cost, and that it is said what was not."""

import numpy as np
import pytest

import emoscope
from emoscope.core.dialogue import Dialogue, Example
from emoscope.detector.detector import Detector
from emoscope.detector.long_turns import (
    READ_CHARACTERS,
    READINGS,
    SHORT_SENTENCE,
    pooled,
    read_spans,
    readings,
    shortened,
)
from emoscope.models.block import LONG_MESSAGE, Block

REPORT = (
    "On Tuesday I ordered a lamp on your website. The parcel was sent on Wednesday. It came on Friday at ten. "
    "The lamp has a metal base and a paper shade. There is a switch on the cable. The cable is two metres long. "
    "I put it on the table in the hall. The table stands next to the door. I read the leaflet that came with it. "
    "It has twelve pages and is printed in four languages. The lamp takes a bulb of forty watts. "
)
FURIOUS = "I am absolutely furious and I hate you for this!"


@pytest.fixture(params=["default", "open", "nano"])
def detector(request: pytest.FixtureRequest) -> Detector:
    return emoscope.load(request.param)


def _count(detector: Detector, monkeypatch: pytest.MonkeyPatch) -> list[Example]:
    """All examples that the block is asked about from now on."""
    asked: list[Example] = []
    block = detector._block
    infer = type(block).infer

    def counted(self: Block, examples: list[Example]):  # type: ignore[no-untyped-def]
        asked.extend(examples)
        return infer(self, examples)

    monkeypatch.setattr(type(block), "infer", counted)
    return asked


@pytest.mark.parametrize(
    "text",
    ["😂" * 3_000_000, "a" * 3_000_000, "no way! " * 400_000, ". ".join(map(str, range(100_000)))],
    ids=["emoji", "letters", "words", "sentences"],
)
def test_cost_is_bounded(detector: Detector, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _count(detector, monkeypatch)
    found = detector.detect(["hi", text, text])
    assert found.truncated
    assert len(asked) <= 2 + 2 * READ_CHARACTERS // SHORT_SENTENCE
    assert max(len(turn.text) for example in asked for turn in example.dialogue.turns) <= READ_CHARACTERS + 1
    assert len(detector.predict_examples([Example.last(Dialogue.of([text]))])) == 1


def test_start_and_end_are_kept() -> None:
    text = "first " + "x " * 5_000 + "last"
    kept = shortened(text)
    assert kept.startswith("first x") and kept.endswith("x last") and len(kept) <= READ_CHARACTERS + 1
    (start, end), (later, last) = read_spans(text)
    assert (start, last) == (0, len(text)) and text[end] == " " and text[later - 1] == " "


@pytest.mark.parametrize("place", ["start", "middle", "end"])
def test_long_turn_is_read_to_its_end(detector: Detector, place: str) -> None:
    even = detector.with_(prior=dict.fromkeys(detector.labels, 1.0))
    half = REPORT.index("The lamp has")
    texts = {"start": f"{FURIOUS} {REPORT}", "middle": f"{REPORT[:half]}{FURIOUS} {REPORT[half:]}"}
    found = even.detect([texts.get(place, REPORT + FURIOUS)])
    assert found.label in ("angry", "anger")
    assert found.score > even.detect([REPORT]).scores[found.label] + 0.2
    assert not found.truncated


def test_windows_do_not_depend_on_the_batch(detector: Detector) -> None:
    dialogues = [["hello"], ["hi", REPORT + FURIOUS], [FURIOUS], [REPORT], ["x " * 9_000]]
    together = list(detector.detect_many(dialogues))
    assert together == [detector.detect(dialogue) for dialogue in dialogues]
    assert together[::-1] == list(detector.detect_many(dialogues[::-1]))


def test_short_turns_are_asked_once_and_as_they_are(detector: Detector, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _count(detector, monkeypatch)
    dialogue = Dialogue.of(["hi", "how are you", "fine " * 50])
    detector.detect(dialogue)
    assert [example.dialogue for example in asked] == [dialogue]
    assert len(dialogue.turns[-1].text) <= LONG_MESSAGE


def test_readings_cover_the_text() -> None:
    for text in (REPORT, " ".join(map(str, range(300))), "x" * 150, "One.\n\nTwo.\nThree.", ""):
        for texts in zip(*readings(text), strict=True):
            assert "".join("".join(dict.fromkeys(texts)).split()) == "".join(text.split())
            assert all(len(each) <= 2 * 320 for each in texts)


def test_sentence_is_read_alone_and_in_its_windows() -> None:
    for sentence, *around in readings(REPORT + FURIOUS):
        assert all(sentence in window for window in around)
    assert readings("I am fine. " * 100) == [("I am fine.",) * READINGS]


def test_plain_sentences_do_not_outvote_an_emotion() -> None:
    mix = np.array([0.8, 0.1, 0.1])
    plain, angry = [[0.97, 0.02, 0.01]] * READINGS, [[0.02, 0.96, 0.02]] * READINGS
    assert pooled(np.array([plain] * 9 + [angry]), mix).argmax() == 1
    assert pooled(np.array([plain] * 10), mix) == pytest.approx(plain[0])


def test_an_emotion_shows_alone_and_in_its_windows() -> None:
    mix = np.array([0.8, 0.1, 0.1])
    plain, angry = [0.97, 0.02, 0.01], [0.1, 0.8, 0.1]
    assert pooled(np.array([[plain] * READINGS] * 9 + [[angry, plain, plain]]), mix).argmax() == 0


def test_plain_report_has_no_emotion(detector: Detector) -> None:
    usual = max(detector.training_prior, key=lambda label: detector.training_prior[label])
    for text in (REPORT, "I am fine. " * 100):
        assert detector.detect([text]).label == usual


def test_masked_turn_is_kept_whole() -> None:
    detector = emoscope.load("default", labels="iest")
    text = "[#TRIGGERWORD#] " + "so it goes " * 60
    asked = [Example.last(Dialogue.of([text])), Example.last(Dialogue.of([text[:400]]))]
    assert np.allclose(*detector.predict_examples(asked), atol=1e-9)  # both are cut to the same tokens


def test_timeline_is_linear(detector: Detector, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _count(detector, monkeypatch)
    turns = [f"turn {number}" for number in range(400)]
    found = detector.timeline(turns)
    assert sum(len(example.dialogue) for example in asked) <= 4 * len(turns)
    assert [each.truncated for each in found] == [number >= 3 for number in range(len(turns))]
    for number in (0, 2, 3, 4, 399):
        assert found[number] == detector.detect(turns[: number + 1])


def test_explanation_of_a_very_long_turn() -> None:
    detector = emoscope.load("nano")
    text = "I am so happy " + "x " * 500_000 + "thank you"
    found = detector.explain([text])
    words = found.turns[-1].words
    assert words[0].text == "I" and (words[-1].start, words[-1].end) == (len(text) - 3, len(text))
    assert len(words) < READ_CHARACTERS
    assert sum(word.contribution for word in words) + found.baseline == pytest.approx(found.log_odds)
