"""Phrases of self-harm: those the patterns were written from, a held-out half that is only scored, and look-alikes."""

import csv
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import from_regex

from emoscope.core.self_harm import is_worth_checking, mentions_self_harm
from emoscope.core.word_lists import filled, read_toml
from emoscope.detector.notes import _screen, notes_of_all
from emoscope.models.native.screen import HARMLESS

with (Path(__file__).parent / "self_harm.tsv").open(encoding="utf-8", newline="") as lines:
    ROWS = [(row["kind"], row["text"]) for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)]
GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "detect.md"


@pytest.mark.parametrize("text", [text for kind, text in ROWS if kind == "known"])
def test_known_phrase_is_found(text: str) -> None:
    assert mentions_self_harm(text)


@pytest.mark.parametrize("text", [text for kind, text in ROWS if kind == "harmless"])
def test_look_alike_is_not_self_harm(text: str) -> None:
    assert not mentions_self_harm(text)


def test_guide_says_how_many_held_out_phrases_are_found() -> None:
    found = [mentions_self_harm(text) for kind, text in ROWS if kind == "held out"]
    stated = re.search(r"finds (\d+) of (\d+) held-out", " ".join(GUIDE.read_text(encoding="utf-8").split()))
    assert stated is not None
    assert (int(stated[1]), int(stated[2])) == (sum(found), len(found))


@pytest.mark.parametrize(
    "text", ["i feel suicidal😭", "i wanna die😔😔", "thinking about #suicide", "suicide/selfharm", "im suicidal<3"]
)
def test_what_is_glued_to_a_word_does_not_hide_it(text: str) -> None:
    assert mentions_self_harm(text)
    assert notes_of_all([text])


FILE = read_toml("self_harm.toml")
PATTERNS = [filled(pattern, FILE["parts"]) for key in ("patterns", "despair") for pattern in FILE[key]]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_quick_check_hides_no_pattern(pattern: str) -> None:
    """Whatever a pattern can match passes the checks that come first, in C too, whatever stands around its words."""

    @settings(max_examples=60, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(from_regex(re.compile(examples_of(pattern)), fullmatch=True))
    def check(text: str) -> None:
        lowered = text.lower()
        glued = [lowered, f"{lowered}\U0001f62d", f"#{lowered}", f"\u201c{lowered}\u201d\u2014why", f"ok/{lowered}<3"]
        for each in (*glued, lowered.replace(" ", "  "), lowered.replace(" ", "\n")):
            assert is_worth_checking(each), each
        if screen is not None:
            assert not any(flags & HARMLESS for flags in screen.sure(glued)), glued

    screen = _screen()
    check()


def examples_of(pattern: str) -> str:
    """A pattern that makes up texts: without what it only looks for around a match, and with real words."""
    pattern = pattern.replace("(?:my|your|him|her|them)sel(?:f|ves)", "myself|yourself|himself|herself|themselves")
    pattern = pattern.replace(
        r"(?:harm|injur|mutilat)\w*", "(?:harm(?:s|ed|ing|ers?)?|injur(?:y|es?|ed|ing)|mutilat(?:es?|ed|ing|ion))"
    )
    pattern = pattern.replace(r"\w*", "s?").replace(r"\w+", "[a-z]{2,8}").replace(r"\b", "")
    while found := re.search(r"\(\?<?[=!]", pattern):
        depth, end = 0, found.start()
        for end in range(found.start(), len(pattern)):
            depth += (pattern[end] == "(") - (pattern[end] == ")")
            if not depth:
                break
        pattern = pattern[: found.start()] + pattern[end + 1 :]
    return re.sub(r"\.(?:\{\d+,\d+\}|\*)", "(?:[a-z]{2,8} ){0,2}", pattern)
