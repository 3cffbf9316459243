"""Phrases of self-harm: those the patterns were written from, a held-out half that is only scored, and look-alikes."""

import csv
import re
from pathlib import Path

import pytest

from emoscope.core.self_harm import mentions_self_harm

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
