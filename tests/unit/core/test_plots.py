"""Charts: saved files are self-contained, and every figure of a corpus can be drawn."""

import json
import math
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from emoscope.core import plots
from emoscope.core.colours import COLOURS, colours_of
from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError, MissingExtraError
from emoscope.corpus.describe.figures import emoticon_name, figures
from emoscope.corpus.describe.statistics import CorpusStatistics, describe
from emoscope.corpus.describe.word_wheel import ring_values, wheel


def chart(text: str = "joy") -> Any:
    alt = plots.altair()
    bars = alt.Chart(plots.rows([{"label": text, "share": 0.25}, {"label": "fear", "share": 0.5}])).mark_bar(clip=True)
    return plots.titled(bars.encode(x="share:Q", y="label:N"), "A <title> & more", "one line", "another")


def texts(drawing: str) -> list[str]:
    """Every line of text in a drawing; a text of several lines has a `tspan` for each."""
    parts = (element for element in ElementTree.fromstring(drawing).iter() if element.tag.endswith(("}text", "}tspan")))
    return [part.text for part in parts if part.text]


def test_svg_is_well_formed_and_has_the_text() -> None:
    found = texts(plots.svg(chart()))
    assert {"joy", "fear", "one line", "another", "A <title> & more"} <= set(found)


def test_svg_is_the_same_each_time_and_ids_are_its_own() -> None:
    first, second = plots.svg(chart()), plots.svg(chart("anger"))
    assert plots.svg(chart()) == first
    ids = [set(re.findall(r'\bid="([^"]+)"', drawing)) for drawing in (first, second)]
    assert ids[0] and not ids[0] & ids[1]
    assert set(re.findall(r"url\(#([^)]+)\)", first)) == ids[0]


def test_png_is_a_png(tmp_path: Path) -> None:
    path = plots.save(chart(), tmp_path / "a.PNG")
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_html_is_self_contained(tmp_path: Path) -> None:
    page = plots.save(chart(), tmp_path / "a.html").read_text("utf-8")
    assert "<title>A &lt;title&gt; &amp; more</title>" in page
    assert "<svg" in page and "<script" not in page
    # Addresses name XML's vocabularies; none is loaded.
    assert set(re.findall(r"https?://[^\"' ]+", page)) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_chart_json_has_the_data_and_our_theme(tmp_path: Path) -> None:
    saved = json.loads(plots.save(chart(), tmp_path / "a.json").read_text("utf-8"))
    assert saved["config"]["font"].startswith("Liberation Sans")
    assert "url" not in saved["data"]


def test_a_charts_own_settings_win() -> None:
    config = plots.spec(chart().configure_axis(labelFontSize=30).configure_view(stroke="red"))["config"]
    assert config["axis"]["labelFontSize"] == 30 and config["axis"]["labelColor"] == plots.QUIET
    assert config["view"]["stroke"] == "red"


@pytest.mark.parametrize("name", ["a.gif", "a"])
def test_an_unknown_ending_is_one_clear_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(EmoscopeError, match=r"expected one of \.png, \.svg, \.html, \.json"):
        plots.save(chart(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_behind_when_drawing_fails(tmp_path: Path) -> None:
    broken = plots.altair().Chart("http://127.0.0.1:9/none.csv").mark_bar().encode(x="a:Q")
    with pytest.raises(ValueError, match="not allowed"):  # a chart may not fetch its data
        plots.save(broken, tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


def test_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'emoscope\[plots\]'"):
        plots.altair()


# Colours


def test_every_label_of_every_task_has_its_own_colour() -> None:
    for labels in (
        ("others", "happy", "sad", "angry"),
        ("anger", "disgust", "fear", "joy", "sad", "surprise"),
        ("neutral", "joy", "sadness", "anger", "surprise", "fear", "disgust", "non-neutral"),
    ):
        assert set(labels) <= set(COLOURS)
        assert len(set(colours_of(labels).values())) == len(labels)


def test_unknown_labels_get_spare_colours_that_differ() -> None:
    found = colours_of(["joy", "boredom", "envy", "boredom"])
    assert found["joy"] == COLOURS["joy"]
    assert len(set(found.values())) == 3


def test_the_colour_scale_keeps_the_order_of_labels() -> None:
    scale = plots.label_colours(["sad", "joy"]).to_dict()
    assert scale == {"domain": ["sad", "joy"], "range": [COLOURS["sad"], COLOURS["joy"]]}


# Figures


def split() -> CorpusStatistics:
    said = [
        ("the bus is late today", "others", 1),
        ("hahaha that is so funny 😂", "happy", 2),
        ("hahaha great 😂😂", "happy", 3),
        ("i cry alone :(", "sad", 2),
        ("they cry 💔", "sad", 3),
    ]
    examples = (
        Example(
            Dialogue.of([*["hi"] * turns, text]), turns, label, votes={"happy": turns, "sad": 3 - turns, "others": 0}
        )
        for text, label, turns in said
    )
    return describe(examples, ("others", "happy", "sad"), neutral="others", common=4)


def test_a_labelled_corpus_has_every_figure() -> None:
    unlabelled = describe([Example(Dialogue.of(["no label here"]), 0)], ("others", "happy", "sad"))
    found = figures({"train": split(), "test": unlabelled}, "mine")
    assert list(found) == [
        "labels",
        "train-words",
        "train-unigrams",
        "train-emoticons",
        "train-turns",
        "train-agreement",
        "train-votes",
        "test-words",
    ]
    drawn = {name: set(texts(plots.svg(chart))) for name, chart in found.items()}
    assert {"train (5)", "40.0% (2)", "20.0% (1)"} <= drawn["labels"]
    assert any("without labels: test (1)" in text for text in drawn["labels"])
    assert {"hahaha", "cry", "2 utterances"} <= drawn["train-unigrams"]
    assert {"face with tears of joy", "broken heart", ":(", "100.0%"} <= drawn["train-emoticons"]
    assert "words in the utterance, emoticons removed" in drawn["train-words"]
    assert {"Turns per dialogue: mine, train", "turns in the dialogue"} <= drawn["train-turns"]
    assert {"3 of 3", "2 of 3", "40.0%", "60.0%"} <= drawn["train-agreement"]
    assert {"final label", "vote of an annotator"} <= drawn["train-votes"]
    assert "all utterances" in drawn["test-words"]


def test_an_empty_split_can_still_be_drawn() -> None:
    found = figures({"train": describe([], ("happy", "sad"))}, "empty")
    assert list(found) == ["train-words"]
    assert plots.svg(found["train-words"]).startswith("<svg")


def test_long_words_are_cut_in_the_wheel() -> None:
    drawn = texts(plots.svg(wheel("joy", [("a" * 40, 3.0), ("short", 1.0)], "#e6a100", caption="n")))
    assert "a" * 14 + "…" in drawn and "short" in drawn


def test_bars_of_the_wheel_are_as_long_as_words_are_frequent() -> None:
    spokes = [("one", 10.0), ("two", 5.0), ("three", 0.0)]
    bars = plots.spec(wheel("joy", spokes, "#e6a100"))["layer"][1]["data"]["values"]
    hole, longest = bars[2]["radius"], bars[0]["radius"]
    assert bars[1]["radius"] == pytest.approx((hole + longest) / 2)
    assert all(later["start"] == pytest.approx(bar["end"]) for bar, later in pairwise(bars))


def test_words_of_the_wheel_are_never_upside_down() -> None:
    spokes = [(f"w{number}", 30.0 - number) for number in range(25)]
    bars = plots.spec(wheel("joy", spokes, "#e6a100"))["layer"][1]["data"]["values"]
    assert all(math.cos(math.radians(bar["angle"])) >= -1e-9 for bar in bars)
    assert bars[-1]["end"] < 2 * math.pi


@given(st.floats(1e-3, 1e6))
@example(999.9999999999)
@example(1000.0)
def test_rings_are_few_and_inside(top: float) -> None:
    values = ring_values(top)
    assert 1 <= len(values) <= 4
    assert all(0 < value <= top * (1 + 1e-6) for value in values)


@pytest.mark.parametrize(("text", "name"), [("💔", "broken heart"), (":)", ":)"), ("<3", "<3")])
def test_emoticons_are_named(text: str, name: str) -> None:
    assert emoticon_name(text) == name
