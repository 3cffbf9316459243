"""The HTML reports: whole, self-contained and safe."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from emoscope.evaluation.charts import WIDTH
from emoscope.evaluation.compare import compare
from emoscope.evaluation.report import comparison_page, evaluation_page
from emoscope.evaluation.score import evaluate, evaluate_labels
from emoscope.tasks import get_task
from kits.task_files import emocontext_file, iest_file, labels_file, run

SIX = ["anger", "disgust", "fear", "joy", "sad", "surprise"]
# Elements that have no end, in HTML.
VOID = {"meta", "br", "link", "img", "input", "hr"}


class Checked(HTMLParser):
    """Collects elements and attributes, and fails where elements do not nest."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def self_contained(page: str) -> Checked:
    found = Checked(page)
    assert not {"script", "link", "img", "iframe", "object", "embed"} & set(found.seen)
    for name, value in found.attributes:
        assert not name.startswith("on")
        if name in {"src", "href", "xlink:href"}:
            assert (value or "").startswith("#")
    # Namespaces are names, not addresses; nothing else may look like one.
    assert set(re.findall(r"https?://[^\"'\s<)]+", page)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert "url(" not in re.sub(r"url\(#", "", page)
    assert "prefers-color-scheme: dark" in page
    return found


def test_the_evaluation_page(tmp_path: Path) -> None:
    gold = iest_file(tmp_path / "gold.csv", [(label, "that") for label in SIX * 4])
    said = labels_file(tmp_path / "my system.txt", [*(SIX * 3), *SIX[:5], "love"])
    result = evaluate(get_task("iest"), gold, said, samples=200)
    found = self_contained(evaluation_page(result))
    text = " ".join(" ".join(found.text).split())
    assert "my system.txt" in text
    assert f"{result.score:.4f}" in text
    assert f"95 % interval {result.interval.low:.4f} to {result.interval.high:.4f}" in text
    assert result.rank is not None
    assert result.rank.sentence in text
    assert str(result.rank.caveat) in text
    assert "counted as wrong: love (1)" in text
    assert "best: Amobee" in text
    # Three charts: the strip of published scores, the bars, the heat map.
    assert found.seen.count("svg") == 3
    assert all(label in text for label in (*SIX, "love"))


def test_charts_are_narrow_and_follow_the_page_colours(tmp_path: Path) -> None:
    page = evaluation_page(evaluate_labels(get_task("iest"), SIX * 2, SIX[1:] * 2 + ["joy", "sad"], samples=50))
    widths = [float(width) for width in re.findall(r'<svg[^>]* width="([\d.]+)"', page)]
    assert widths == [WIDTH] * 3
    # The colours of text, axes and grids are those that the style sheet has a dark counterpart of.
    used = set(re.findall(r'<text[^>]*fill="([^"]+)"', page))
    assert used == {colour for colour in used if f'svg [fill="{colour}"]' in page}
    assert 'fill="white"' not in page


def test_names_from_files_are_escaped(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    said = labels_file(tmp_path / "<b>&amp.txt", [*SIX[:5], evil])
    gold = iest_file(tmp_path / "gold.csv", [(label, "that") for label in SIX])
    task = get_task("iest")
    found = self_contained(evaluation_page(evaluate(task, gold, said, samples=50)))
    assert "<b>&amp.txt" in found.text
    assert evil in " ".join(found.text)
    other = labels_file(tmp_path / "other.txt", SIX)
    found = self_contained(comparison_page(compare(task, gold, [said, other], samples=200)))
    assert "<b>&amp" in found.text


def test_the_comparison_page(tmp_path: Path) -> None:
    gold = iest_file(tmp_path / "gold.csv", [(label, "that") for label in SIX * 30])
    good = labels_file(tmp_path / "good.txt", SIX * 30)
    bad = labels_file(tmp_path / "bad.txt", ["joy"] * 180)
    found = self_contained(comparison_page(compare(get_task("iest"), gold, [bad, good], samples=300)))
    text = " ".join(" ".join(found.text).split())
    assert "2 systems compared" in text
    assert text.index("good") < text.index("bad")
    assert "ties in the order the files were named" in text
    assert ("class", "ends") in found.attributes
    assert found.seen.count("svg") == 1


def test_one_line_separates_clusters(tmp_path: Path) -> None:
    gold = iest_file(tmp_path / "gold.csv", [(label, "that") for label in SIX * 30])
    good = labels_file(tmp_path / "good.txt", SIX * 30)
    twin = labels_file(tmp_path / "twin.txt", SIX * 30)
    bad = labels_file(tmp_path / "bad.txt", ["joy"] * 180)
    task = get_task("iest")
    dashed = 'stroke-dasharray="5,4"'
    assert comparison_page(compare(task, gold, [good, twin, bad], samples=300)).count(dashed) == 1
    assert comparison_page(compare(task, gold, [good, twin], samples=300)).count(dashed) == 0


def test_the_commands_write_it_whole(tmp_path: Path) -> None:
    gold = emocontext_file(tmp_path / "gold.txt", ["happy", "sad", "others"])
    page = tmp_path / "report.html"
    for command in ("evaluate", "compare"):
        result = run(command, gold, "-t", "emocontext", "-g", gold, "--samples", "200", "--html", page)
        assert result.exit_code == 0
        assert f"report: {page}" in result.stderr.replace("\n", "")
        self_contained(page.read_text(encoding="utf-8"))
        page.unlink()
    result = run("evaluate", gold, "-t", "emocontext", "-g", gold, "--html", tmp_path / "no" / "report.html")
    assert "no such folder" in str(result.exception)
    assert list(tmp_path.iterdir()) == [gold]


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_a_report_overwrites_neither_predictions_nor_gold(command: str, tmp_path: Path) -> None:
    gold = emocontext_file(tmp_path / "gold.txt", ["happy", "sad"])
    answers = labels_file(tmp_path / "answers.txt", ["happy", "sad"])
    for target in (gold, answers):
        before = target.read_bytes()
        result = run(command, answers, "-t", "emocontext", "-g", gold, "--samples", "20", "--html", target)
        assert str(result.exception) == f"{target}: is the input itself; write to another file"
        assert target.read_bytes() == before


def test_labels_that_differ_only_in_what_cannot_be_seen_are_told_apart(tmp_path: Path) -> None:
    gold, answers, page = tmp_path / "gold.csv", tmp_path / "answers.txt", tmp_path / "page.html"
    gold.write_text("joy\tI am [#TRIGGERWORD#] that\nsad\tI am [#TRIGGERWORD#] when\n")
    answers.write_bytes("\ufeffjoy\nsad\n".encode())
    result = run("evaluate", answers, "-t", "iest", "-g", gold, "--samples", "20", "--html", page)
    assert result.exit_code == 0, result.output
    for shown in (result.stdout, page.read_text(encoding="utf-8")):
        assert "\ufeff" not in shown
        assert r"\ufeffjoy" in shown


def test_the_same_result_gives_the_same_page() -> None:
    task = get_task("emocontext")
    pages = [evaluation_page(evaluate_labels(task, ["sad", "happy"], ["sad", "sad"], samples=50)) for _ in range(2)]
    assert pages[0] == pages[1]


def test_missing_extra_names_the_install_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gold = emocontext_file(tmp_path / "gold.txt", ["happy", "sad"])
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = run("evaluate", gold, "-t", "emocontext", "-g", gold, "--samples", "20", "--html", tmp_path / "r.html")
    assert str(result.exception) == "this needs jinja2: pip install 'emoscope[plots]'"
