"""`explain`: contributions that sum to the answer, whatever model gave it."""

import itertools
import json
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from rich.console import Console
from typer.testing import CliRunner

import emoscope
from emoscope.cli.app import app
from emoscope.cli.explanation import show_explanation
from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.errors import EmoscopeError
from emoscope.detector import Detector
from emoscope.detector.explain import MAX_PARTS, Explanation, coalitions, explain, word_spans
from emoscope.models.block import Prediction

Floats = NDArray[np.float64]
LABELS = ("good", "bad")


def model(log_odds: Callable[[Dialogue], float]) -> Callable[[list[Dialogue]], Floats]:
    """A model of two labels that is nothing but its log-odds."""

    def predict(dialogues: list[Dialogue]) -> Floats:
        good = np.array([1 / (1 + math.exp(-log_odds(dialogue))) for dialogue in dialogues])
        return np.stack([good, 1 - good], axis=1)

    return predict


def explained(log_odds: Callable[[Dialogue], float], turns: Sequence[str], **options: bool) -> Explanation:
    return explain(model(log_odds), Dialogue.of(turns), LABELS, "good", **options)


def by_word(explanation: Explanation) -> list[dict[str, float]]:
    return [{word.text: round(word.contribution, 6) for word in turn.words} for turn in explanation.turns]


@pytest.fixture(scope="module")
def nano() -> Detector:
    return emoscope.load("nano")


def assert_sums(explanation: Explanation) -> None:
    total = explanation.baseline + sum(turn.contribution for turn in explanation.turns)
    assert total == pytest.approx(explanation.log_odds, abs=1e-9)
    for turn in explanation.turns:
        assert sum(word.contribution for word in turn.words) == pytest.approx(turn.contribution, abs=1e-9)
        for word in turn.words:
            assert turn.turn.text[word.start : word.end] == word.text


def test_an_additive_model_gives_each_word_its_own_weight() -> None:
    weights = {"fine": 1.0, "awful": -2.0, "so": 0.25}

    def log_odds(dialogue: Dialogue) -> float:
        return 0.5 + sum(weights.get(word, 0.0) for text in dialogue.texts for word in text.split())

    found = explained(log_odds, ["so fine", "oh", "so awful"])
    assert by_word(found) == [{"so": 0.25, "fine": 1.0}, {"oh": 0.0}, {"so": 0.25, "awful": -2.0}]
    assert found.baseline == pytest.approx(0.5)
    assert [turn.contribution for turn in found.turns] == pytest.approx([1.25, 0.0, -1.75])


def test_an_interaction_is_shared_between_turns_and_then_between_words() -> None:
    # 1.2 only when "not" and "bad" of the last turn stand beside "is it" of the first: the two turns share it equally,
    # 0.6 each; "not" and "bad" are needed alike, 0.3 each, and so are "is" and "it".
    def log_odds(dialogue: Dialogue) -> float:
        return 1.2 * (dialogue.texts[0] == "is it" and dialogue.texts[1] == "not bad")

    assert by_word(explained(log_odds, ["is it", "not bad"])) == [{"is": 0.3, "it": 0.3}, {"not": 0.3, "bad": 0.3}]


def test_against_owens_formula_by_brute_force() -> None:
    turns = ["a b", "c", "d e f"]
    words = [text.split() for text in turns]
    rng = np.random.default_rng(3)
    table = {
        tuple(kept): rng.normal()
        for kept in itertools.product(*(itertools.product((0, 1), repeat=len(each)) for each in words))
    }

    def log_odds(dialogue: Dialogue) -> float:
        kept = [text.split() for text in dialogue.texts]
        return float(
            table[tuple(tuple(int(word in there) for word in all_) for all_, there in zip(words, kept, strict=True))]
        )

    # Owen's value is the mean over orders of the words in which the words of a turn stay together.
    expected = {word: 0.0 for each in words for word in each}
    orders = [
        [word for turn in order for word in turn]
        for turn_order in itertools.permutations(words)
        for order in itertools.product(*(itertools.permutations(turn) for turn in turn_order))
    ]
    for order in orders:
        there: list[str] = []
        for word in order:
            before = log_odds(Dialogue.of([" ".join(w for w in each if w in there) for each in words]))
            there.append(word)
            after = log_odds(Dialogue.of([" ".join(w for w in each if w in there) for each in words]))
            expected[word] += (after - before) / len(orders)
    found = {word: value for turn in by_word(explained(log_odds, turns)) for word, value in turn.items()}
    assert found == pytest.approx(expected, abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=8))
def test_contributions_sum_to_the_answer_for_any_text(nano: Detector, turns: list[str]) -> None:
    found = nano.explain(turns)
    detection = nano.detect(turns)
    assert found.label == detection.label
    assert found.score == detection.scores[found.label]
    assert len(found.turns) == len(turns)
    assert_sums(found)


@pytest.mark.parametrize("count", [7, MAX_PARTS // 3, MAX_PARTS * 4])
def test_sampled_words_sum_too_and_every_call_agrees(nano: Detector, count: int) -> None:
    turns = ["how are you", " ".join(f"happy{n % 13} not {n}" for n in range(count)), "so sad"]
    found = nano.explain(turns)
    assert_sums(found)
    assert found == nano.explain(turns)
    assert len(found.turns[1].words) == 3 * count


def test_sampling_approximates_the_exact_values(monkeypatch: pytest.MonkeyPatch, nano: Detector) -> None:
    turns = ["what now", "I am not sad but so very happy 😂"]
    monkeypatch.setattr("emoscope.detector.explain.VARIANTS", 10_000)
    exact = [word.contribution for word in nano.explain(turns).turns[1].words]
    monkeypatch.setattr("emoscope.detector.explain.VARIANTS", 500)
    sampled = [word.contribution for word in nano.explain(turns).turns[1].words]
    assert sampled != exact
    assert np.sqrt(np.mean(np.square(np.subtract(sampled, exact)))) < 0.1 * np.max(np.abs(exact))


def test_many_turns_are_sampled_and_sum() -> None:
    found = explained(lambda dialogue: math.sin(sum(map(len, dialogue.texts))), [f"turn {n} said" for n in range(9)])
    assert_sums(found)


def test_turns_that_are_not_read_have_no_part_in_it(nano: Detector) -> None:
    found = nano.explain(["I hate you", "😡😡", "hi", "there", "so happy"])
    assert [turn.read for turn in found.turns] == [False, False, True, True, True]
    assert [turn.contribution for turn in found.turns[:2]] == [0.0, 0.0]
    assert found.turns[0].words == ()
    assert_sums(found)


def test_very_long_turn_is_handled(nano: Detector) -> None:
    found = nano.explain(["hi", "happy " * 100_000])
    assert found.label == "happy"
    assert len(found.turns[1].words) < 1000
    assert_sums(found)


def test_nothing_said_is_the_baseline(nano: Detector) -> None:
    found = nano.explain(["", "  "])
    assert found.log_odds == found.baseline
    assert [(turn.contribution, turn.words) for turn in found.turns] == [(0.0, ()), (0.0, ())]


def test_the_speakers_stay_while_words_go() -> None:
    seen: set[str | None] = set()

    def log_odds(dialogue: Dialogue) -> float:
        seen.update(turn.speaker for turn in dialogue.turns)
        assert len(dialogue) == 2
        return 0.0

    explain(model(log_odds), Dialogue((Turn("a b", "Ann"), Turn("c", "Bob"))), LABELS, "good")
    assert seen == {"Ann", "Bob"}


def test_masked_word_is_never_removed_by_an_explanation() -> None:
    def log_odds(dialogue: Dialogue) -> float:
        assert dialogue.texts[0].count("[#TRIGGERWORD#]") == 1
        return float(len(dialogue.texts[0].split()))

    found = explained(log_odds, ["I un[#TRIGGERWORD#] that it works"])
    assert [word.text for word in found.turns[0].words] == ["I", "un", "that", "it", "works"]
    assert found.baseline == pytest.approx(1.0)


def test_certain_answers_stay_finite() -> None:
    def predict(dialogues: list[Dialogue]) -> Floats:
        return np.array([[1.0, 0.0] if "yes" in dialogue.texts[0] else [0.0, 1.0] for dialogue in dialogues])

    found = explain(predict, Dialogue.of(["yes"]), LABELS, "good")
    assert math.isfinite(found.log_odds) and math.isfinite(found.baseline)
    assert found.turns[0].contribution > 40
    json.dumps(found.as_dict(), allow_nan=False)


def test_another_label(nano: Detector) -> None:
    turns = ["how are you", "tell me", "sad, I am so happy"]
    answer = nano.explain(turns)
    happy = nano.explain(turns, label="happy")
    assert (answer.label, happy.label) == ("sad", "happy")
    assert happy.score == nano.detect(turns).scores["happy"]
    assert by_word(happy)[-1]["happy"] > 0 > by_word(happy)[-1]["sad,"]
    assert by_word(answer)[-1]["sad,"] > 0 > by_word(answer)[-1]["happy"]
    with pytest.raises(EmoscopeError, match="no label 'glad' to explain; expected one of: angry, happy, others, sad"):
        nano.explain(turns, label="glad")


def test_abstaining_is_explained_by_the_likeliest_label() -> None:
    unsure = emoscope.load("nano", abstain_below=1.0)
    turns = ["hm", "so happy"]
    assert unsure.detect(turns).label is None
    assert unsure.explain(turns).label == "happy"


@pytest.mark.parametrize("players", [1, 3, 5])
def test_coalitions_weigh_one_for_each_player(players: int) -> None:
    exact = coalitions(players, exact=5, orders=0, rng=np.random.default_rng(0))
    sampled = coalitions(players, exact=0, orders=6, rng=np.random.default_rng(0))
    for found in (exact, sampled):
        assert [sum(weights.values()) for weights in found] == pytest.approx([1.0] * players)
        for player, weights in enumerate(found):
            assert not any(there >> player & 1 for there in weights)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  two  words ", ["two", "words"]),
        ("ok😂😂😭!", ["ok", "😂😂", "😭", "!"]),
        ("👍🏽 👍🏽", ["👍🏽", "👍🏽"]),
        ("a[#TARGETWORD#]b", ["a", "b"]),
        ("क्या बात", ["क्या", "बात"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in word_spans(text)] == expected


# On the screen


def shown(explanation: Explanation, **options: object) -> str:
    console = Console(width=120, **options)  # type: ignore[arg-type]
    with console.capture() as capture:
        show_explanation(console, explanation)
    return capture.get()


def test_marks_without_colour_and_pens_with_it(nano: Detector) -> None:
    found = nano.explain(["how was it", "tell me", "so [sad] 😂😂"], label="happy")
    plain = shown(found, force_terminal=False)
    assert "\x1b" not in plain
    assert "😂😂[+" in plain
    assert "[sad][-" in plain
    coloured = shown(found, force_terminal=True, color_system="truecolor")
    assert "48;2;55;179;91m😂😂" in coloured
    assert "48;2;" in coloured.split("[sad]")[0].rsplit("m", 2)[-2]
    assert "[+" not in coloured.replace("\x1b", "")
    standard = shown(found, force_terminal=True, color_system="standard")
    assert "\x1b[1;32m😂😂" in standard


def test_unread_turns_are_reported(nano: Detector) -> None:
    plain = shown(nano.explain(["one", "two", "three", "so happy"]), force_terminal=False)
    assert "      -  one" in plain
    assert "older than what the model reads" in plain


def test_the_command() -> None:
    done = CliRunner().invoke(app, ["detect", "-m", "nano", "--explain", "--json", "how are you", "so happy 😂"])
    assert done.exit_code == 0
    answer = json.loads(done.stdout)
    assert (answer["label"], answer["unit"]) == ("happy", "log-odds")
    assert [word["text"] for word in answer["turns"][1]["words"]] == ["so", "happy", "😂"]
    total = answer["baseline"] + sum(turn["contribution"] for turn in answer["turns"])
    assert total == pytest.approx(answer["log_odds"])
    done = CliRunner().invoke(app, ["detect", "-m", "nano", "--explain-label", "sad", "how are you", "so happy 😂"])
    assert done.stdout.startswith("sad ")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--explain", "--timeline", "hi"], "--timeline and --explain: choose one"),
        (["--explain", "-"], "standard input: is empty"),  # files and pipes are explained row by row
        (["--explain-label", "glad", "hi"], "no label 'glad' to explain"),
        (["--labels", "ekman", "hi"], "model nano has no labels named 'ekman'; it has: emocontext"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], expected: str) -> None:
    done = CliRunner().invoke(app, ["detect", "--model", "nano", *arguments])
    assert isinstance(done.exception, EmoscopeError)
    assert expected in str(done.exception)
    assert "\n" not in str(done.exception)


def test_evaluations_bound_how_often_the_model_reads() -> None:
    words = " ".join(f"word{number} happy" for number in range(20))
    asked: list[int] = []

    def odds(dialogue: Dialogue) -> float:
        asked.append(1)
        return 0.1 * sum(text.count("happy") for text in dialogue.texts) - 1

    whole = explain(model(odds), Dialogue.of([words, "yes"]), LABELS, "good")
    unbounded = len(asked)
    asked.clear()
    found = explain(model(odds), Dialogue.of([words, "yes"]), LABELS, "good", evaluations=200)
    assert len(asked) < 260 < unbounded
    assert found.log_odds == pytest.approx(found.baseline + sum(turn.contribution for turn in found.turns))
    assert found.score == whole.score


def test_windows_that_variants_of_a_long_turn_share_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from emoscope.models.onnx.exported import Exported

    read: list[int] = []
    infer = Exported.infer

    def counted(self: Exported, examples: Sequence[Example]) -> Prediction:
        read.append(len(examples))
        return infer(self, examples)

    detector = emoscope.load("default")
    sentences = [f"The parcel number {number} did not come and nobody answers my calls at all." for number in range(8)]
    long, other = " ".join(sentences), " ".join([*sentences[:-1], "I am so happy that it came today, thank you!"])
    alone = [detector.detect(each) for each in (long, other, "hi")]
    monkeypatch.setattr(Exported, "infer", counted)
    together = list(detector.detect_many([long, "hi", other, long]))
    assert [together[0], together[2], together[1]] == alone
    assert together[3] == together[0]
    # Eight sentences, four windows and two larger ones; then a sentence and the windows it is in; and "hi".
    assert sum(read) == (8 + 4 + 2) + 3 + 1
