"""The behaviour suite: its cases, when they pass, what is reported, and what training must leave out."""

import json
from collections import Counter

import pytest
from typer.testing import CliRunner

import emoscope
from emoscope.cli.app import app
from emoscope.core.dialogue import Detection, Dialogue
from emoscope.core.significance import wilson_interval
from emoscope.evaluation.behaviour import near_copies, read_suite, run_suite
from emoscope.evaluation.behaviour.cases import EMOTIONS, Direction, Functionality, Invariance, labels_for
from emoscope.evaluation.behaviour.edits import EDITS
from emoscope.evaluation.card import card_text
from kits.model_results import model_results

FOUR = ("others", "happy", "sad", "angry")


def answer(**scores: float) -> Detection:
    return Detection(max(scores, key=scores.__getitem__), scores)


def pair(emotion: str, change: str) -> Direction:
    texts = Dialogue.of(["fine"]), Dialogue.of(["not fine"])
    return Direction("negation", "fine", texts, (emotion,), change)  # type: ignore[arg-type]


# The cases


def test_there_are_enough_cases_of_every_type_and_kind() -> None:
    cases = read_suite()
    types = Counter(case.type for case in cases)
    assert len(cases) >= 650
    assert types["functionality"] >= 450 and types["invariance"] >= 100 and types["direction"] >= 100
    kinds = Counter((case.type, case.kind) for case in cases)
    assert len(kinds) >= 30 and min(kinds.values()) >= 15
    assert set(EDITS) <= {kind for type_, kind in kinds if type_ == "invariance"}


def test_every_case_has_a_name_of_its_own_and_known_emotions() -> None:
    cases = read_suite()
    assert len({(case.type, case.kind, case.situation) for case in cases}) == len(cases)
    for case in cases:
        assert case.applies(EMOTIONS), case
        assert len(set(case.dialogues)) == len(case.dialogues), case
        assert all(text.strip() == text != "" for dialogue in case.dialogues for text in dialogue.texts), case
        if not isinstance(case, Invariance):
            assert set(case.emotions) <= set(EMOTIONS) and case.emotions, case  # type: ignore[attr-defined]
        assert len(case.dialogues) == 1 if isinstance(case, Functionality) else len(case.dialogues) >= 2
        assert "{" not in str(case.dialogues)


def test_long_complaints_are_long() -> None:
    lengths = [len(case.dialogues[0].texts[-1].split()) for case in read_suite() if case.kind == "long complaint"]
    assert len(lengths) >= 24 and min(lengths) >= 60 and max(lengths) <= 200


def test_words_of_self_harm_are_never_anger_or_joy() -> None:
    cases = [case for case in read_suite() if case.kind.startswith("self-harm")]
    assert len(cases) >= 40
    assert not any({"anger", "joy"} & labels_for(case.emotions, EMOTIONS) for case in cases)  # type: ignore[attr-defined]


def test_no_two_written_cases_are_near_copies() -> None:
    written = [case for case in read_suite() if isinstance(case, Functionality) and "never" not in case.kind]
    copies = near_copies((case.dialogues[0] for case in written), written)
    assert all(written[copy.position] == copy.case for copy in copies)


# When they pass


def test_a_set_of_labels_that_cannot_express_a_case_skips_it() -> None:
    fear = Functionality("fear", "dark", (Dialogue.of(["it is so dark"]),), ("fear",))
    assert fear.applies(FOUR) and fear.passes([answer(others=0.9, sad=0.1)])
    assert not fear.applies(("neutral", "joy", "sadness", "anger"))
    assert pair("joy", "falls").applies(FOUR)
    assert not pair("fear", "rises").applies(FOUR)  # others is not fear: its probability says nothing


def test_invariance_needs_one_label() -> None:
    case = Invariance("typos", "one", (Dialogue.of(["glad"]), Dialogue.of(["gald"])))
    assert case.passes([answer(happy=0.9, sad=0.1), answer(happy=0.6, sad=0.4)])
    assert not case.passes([answer(happy=0.9, sad=0.1), answer(happy=0.4, sad=0.6)])
    assert not case.passes([Detection(None, {"happy": 0.5, "sad": 0.5})] * 2)  # to abstain is no answer


@pytest.mark.parametrize(
    ("change", "before", "after", "expected"),
    [
        ("rises", 0.3, 0.45, True),
        ("rises", 0.3, 0.35, False),
        ("rises", 0.95, 0.96, True),  # there is no room for more
        ("falls", 0.9, 0.7, True),
        ("falls", 0.9, 0.85, False),
        ("falls", 0.05, 0.04, True),
        ("becomes", 0.9, 0.6, True),
        ("becomes", 0.9, 0.4, False),
    ],
)
def test_direction(change: str, before: float, after: float, expected: bool) -> None:
    answers = [answer(happy=share, sad=1 - share) for share in (before, after)]
    assert pair("joy", change).passes(answers) is expected


# The report


def test_a_report_counts_what_passed_failed_and_was_skipped() -> None:
    detector = emoscope.load("nano")
    report = run_suite(detector)
    *kinds, functionality, invariance, direction, everything = report.figures()
    assert [each.type for each in (functionality, invariance, direction)] == [
        "functionality",
        "invariance",
        "direction",
    ]
    assert everything.n == len(report.outcomes) == sum(each.n for each in kinds)
    assert everything.passed == len(report.outcomes) - len(report.failures) == sum(each.passed for each in kinds)
    assert everything.skipped == len(report.skipped) > 0
    assert everything.n + everything.skipped == len(read_suite())
    assert all(each.low <= each.passed / each.n <= each.high for each in kinds if each.n)
    outcome = report.failures[0]
    assert outcome.answers == tuple(detector.detect(dialogue) for dialogue in outcome.case.dialogues)


def test_wilson_interval_of_all_and_none() -> None:
    low, high = wilson_interval(10, 10)
    assert (round(low, 4), high) == (0.7225, 1.0)
    assert wilson_interval(0, 10) == pytest.approx((0.0, 1 - low))
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_the_command_prints_a_table_and_failures() -> None:
    plain = CliRunner().invoke(app, ["behaviour", "nano"])
    assert plain.exit_code == 0, plain.output
    assert "long complaint" in plain.output and "cases were skipped" in plain.output and "expected" not in plain.output
    listed = CliRunner().invoke(app, ["behaviour", "nano", "--failures"]).output
    assert "(functionality): expected" in listed


def test_the_command_prints_json() -> None:
    found = json.loads(CliRunner().invoke(app, ["behaviour", "nano", "--json", "--failures"]).stdout)
    assert found["head"] == "emocontext"
    total = found["figures"][-1]
    assert total["n"] - total["passed"] == len(found["failures"])
    assert {"kind", "situation", "expected", "answers"} <= set(found["failures"][0])
    assert "failures" not in json.loads(CliRunner().invoke(app, ["behaviour", "nano", "--json"]).stdout)


def test_an_unknown_set_of_labels_is_refused_in_one_line() -> None:
    result = CliRunner().invoke(app, ["behaviour", "nano", "--labels", "moods"])
    assert isinstance(result.exception, emoscope.EmoscopeError) and "moods" in str(result.exception)


def test_a_card_shows_the_default_labels() -> None:
    case = Functionality("short", "one", (Dialogue.of(["I am so happy :)"]),), ("joy",))
    figures = run_suite(emoscope.load("nano"), [case]).figures()
    other = figures[0].model_copy(update={"head": "other", "kind": "joy"})
    card = card_text(model_results(behaviour=(*figures, other)))
    assert "with the default labels `emocontext`" in card
    assert "| functionality | short | 1 of 1 |" in card and "| joy |" not in card
    assert "## Behaviour suite" not in card_text(model_results())


# What training must leave out


def test_near_copies_of_single_messages() -> None:
    text = "They offered me the job and I start on the first of March!"
    texts = ["a cup of tea", text, "they offered me the JOB and i start on the first of may", "They offered me tea"]
    assert [copy.position for copy in near_copies(texts)] == [1, 2]
    assert near_copies([text])[0].case.situation == "new-job"


def test_near_copies_by_last_turn_or_whole() -> None:
    whole = ["I think we should see other people", "oh", "ok"]
    assert [copy.case.situation for copy in near_copies([whole])] == ["ok-breakup"]
    # A short last turn says nothing by itself, a long one does.
    assert near_copies([["shall we go", "now?", "ok"]]) == []
    assert near_copies([["where is he?", "I'm hiding in the wardrobe and trying not to scream"]])
    assert near_copies([["I'm fine :)"]]) == []
    assert [copy.case.situation for copy in near_copies(["😱", "🙈"])] == ["scream"]


def test_near_copies_of_every_version_are_found() -> None:
    for case in read_suite():
        for dialogue in case.dialogues:
            assert case in [copy.case for copy in near_copies([dialogue], [case])], case
