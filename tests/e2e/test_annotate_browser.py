"""Two annotators at once in a real browser, one of them failing the gold questions; a phone; whole dialogues; a kill.

Needs a chromium, as `test_server_browser.py` does. With `EMOSCOPE_SHOTS=FOLDER` every stop is photographed.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kits.annotate_command import served
from kits.browser_kit import LOOKS, SHOTS, expect, new_page, press
from kits.corpus_command import run

# The second half of a double tap: it falls on a label the moment the next item is there.
SECOND_TAP = """() => new MutationObserver((_, observer) => {
  observer.disconnect();
  document.querySelector("[data-label=joy]").click();
  document.body.dataset.tapped = "yes";
}).observe(document.getElementById("count"), { childList: true })"""


class Window:
    """A browser window of one annotator; whatever it complains about fails the test."""

    def __init__(self, browser: Any, link: str, look: str = "desk") -> None:
        self.page = new_page(browser, look)
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._heard)
        self.page.on("request", lambda request: self._asked(request, link))
        self.look = look
        self.page.goto(link)

    def _heard(self, message: Any) -> None:
        expected = ("the server responded with a status of 4", "ERR_CONNECTION_REFUSED")
        if message.type == "error" and not any(part in message.text for part in expected):
            self.complaints.append(message.text)

    def _asked(self, request: Any, link: str) -> None:
        if not request.url.startswith(link.partition("/annotate")[0]):
            self.complaints.append(f"asked for {request.url}")

    def __enter__(self) -> "Window":
        return self

    def __exit__(self, *_: object) -> None:
        self.page.context.close()
        assert self.complaints == []

    @property
    def text(self) -> str:
        return str(self.page.inner_text("#turns"))

    def count(self, judged: int) -> None:
        expect(self.page.locator("#count")).to_contain_text(f"{judged} judged")

    def photograph(self, name: str) -> None:
        """No page is wider than the screen; where wanted, keep how it looks."""
        assert self.page.evaluate("document.documentElement.scrollWidth") <= LOOKS[self.look]["viewport"]["width"]
        if SHOTS:
            self.page.screenshot(path=Path(SHOTS) / f"annotate-{name}-{self.look}.png")


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    rows = ["id,turn1,turn2,turn3"]
    rows += [f"d{n},I lost key number {n},oh no!,and now my phone is gone too" for n in range(6)]
    rows += [f"g{n},I won prize number {n},wow,I am so happy :)" for n in range(6)]
    path = tmp_path / "tasks.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.csv"
    path.write_text("task,label\n" + "".join(f"g{n},happy\n" for n in range(6)), encoding="utf-8")
    return path


def exported(folder: Path, *options: str) -> list[str]:
    """The lines of the study's CSV, without the header."""
    target = folder.parent / "said.csv"
    assert run("corpus", "annotate-export", folder, "-o", target, *options)[0] == 0
    return target.read_text(encoding="utf-8").splitlines()[1:]


def test_two_annotators_at_once_one_failing_the_gold_questions(
    browser: Any, tasks: Path, gold: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "study"
    options: list[str | Path] = ["-a", "good", "-a", "bad", "--judges", "1", "--gold", gold]
    options += ["--gold-share", "0.5", "--min-gold-answers", "3"]
    with (
        served(folder, tasks, *options) as study,
        Window(browser, study.links["good"]) as good,
        Window(browser, study.links["bad"]) as bad,
    ):
        for window in (good, bad):
            expect(window.page.locator("#turns li")).to_have_count(3)
        assert good.text != bad.text or "prize" in good.text  # an item is in front of one of them only
        good.photograph("item")
        judged, refused = 0, False
        for _ in range(20):
            if not refused:
                was_gold = "prize" in bad.text
                press(bad.page, "2")
                if was_gold:
                    expect(bad.page.locator("#check")).to_be_visible()
                    assert "the expected answer is happy" in bad.page.inner_text("#check-list")
                    bad.photograph("check")
                    press(bad.page, "Enter")
                refused = bad.page.locator("#end").is_visible()
            if good.page.locator("#turns").is_visible():
                was_gold = "prize" in good.text
                press(good.page, "1" if was_gold else "2")
                judged += 1
                good.count(judged)
                expect(good.page.locator("#praise")).to_be_visible(visible=was_gold)
                if was_gold:
                    good.photograph("praise")
        expect(bad.page.locator("#end")).to_contain_text("0 of your 3 answers to check questions")
        expect(bad.page.locator("#end")).to_contain_text("70\u00a0%")
        expect(bad.page.locator("#labels")).to_be_hidden()
        bad.photograph("refused")
        bad.page.reload()
        expect(bad.page.locator("#end")).to_contain_text("Your answers will not be used")
        # What the refused worker had judged has come back to the other one.
        if good.page.locator("#look").is_visible():
            good.page.click("#look")
        while good.page.locator("#turns").is_visible():
            press(good.page, "1" if "prize" in good.text else "2")
        expect(good.page.locator("#end")).to_contain_text("No more items for now")
        good.photograph("end")
    rows = [line.split(",") for line in exported(folder)]
    assert {worker for _, worker, _ in rows} == {"good"}
    assert Counter(label for task, _, label in rows if task.startswith("d")) == {"sad": 6}
    assert any(line.split(",")[1] == "bad" for line in exported(folder, "--with-refused"))


def test_skip_undo_and_a_link_that_is_wrong(browser: Any, tasks: Path, tmp_path: Path) -> None:
    with served(tmp_path / "study", tasks, "-a", "ann", "--judges", "3") as study:
        with Window(browser, study.links["ann"]) as ann:
            expect(ann.page.locator("#turns li")).to_have_count(3)
            first = ann.text
            expect(ann.page.locator("#undo")).to_be_disabled()
            press(ann.page, "s")
            expect(ann.page.locator("#turns")).not_to_have_text(first, use_inner_text=True)
            press(ann.page, "u")
            expect(ann.page.locator("#turns")).to_have_text(first, use_inner_text=True)
            press(ann.page, "3")
            ann.count(1)
            press(ann.page, "u")
            ann.count(0)
            expect(ann.page.locator("#labels .best")).to_contain_text("angry")
            press(ann.page, "Enter")  # keeps what was said
            ann.count(1)
            ann.page.keyboard.press("Control+1")
            ann.page.keyboard.press("x")
            ann.count(1)
            ann.page.reload()
            ann.count(1)
        with Window(browser, study.links["ann"] + "x") as stranger:
            expect(stranger.page.locator("#error")).to_contain_text("link is not valid")
        with Window(browser, study.links["ann"].partition("#")[0]) as nobody:
            expect(nobody.page.locator("#error")).to_contain_text("open your personal link")


def test_best_guess_and_others_on_a_phone(browser: Any, tasks: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    options = ["-a", "ann", "--judges", "3", "--other-labels", "--labels", "anger,disgust,fear,joy,sad,surprise"]
    with served(folder, tasks, *options) as study, Window(browser, study.links["ann"], "phone") as ann:
        expect(ann.page.locator("#turns li")).to_have_count(3)
        ann.photograph("others-before")
        expect(ann.page.locator("kbd:visible")).to_have_count(0)  # a finger presses no keys
        expect(ann.page.locator("#next")).to_be_disabled()
        ann.page.wait_for_timeout(350)
        ann.page.tap("[data-label=sad]")
        ann.page.tap("[data-label=fear]")
        ann.page.tap("[data-label=joy]")
        ann.page.tap("[data-label=joy]")
        expect(ann.page.locator("#labels .best")).to_have_text("sad", use_inner_text=True)
        expect(ann.page.locator("#labels .also")).to_have_count(1)
        ann.photograph("others")
        for button in ann.page.locator("#labels button:visible, .tools button:visible").all():
            assert button.bounding_box()["height"] >= 44  # a thumb's width
        ann.page.evaluate(SECOND_TAP)
        ann.page.tap("#next")
        ann.count(1)
        expect(ann.page.locator("body")).to_have_attribute("data-tapped", "yes")
        expect(ann.page.locator("#labels .best")).to_have_count(0)
    (line,) = exported(folder)
    assert line.endswith(",ann,sad,fear")


@pytest.mark.parametrize("look", ["dark", "phone"])
def test_a_whole_dialogue_survives_a_reload_and_a_killed_server(browser: Any, tmp_path: Path, look: str) -> None:
    tasks, folder = tmp_path / "tasks.jsonl", tmp_path / "study"
    talk = [("Ana", "I passed the exam!"), ("Ben", "wow"), ("Ana", "but you failed..."), ("Ben", "leave me alone")]
    turns = [{"speaker": speaker, "text": text} for speaker, text in talk * 3]
    tasks.write_text("".join(json.dumps({"id": f"t{n}", "turns": turns}) + "\n" for n in range(2)), encoding="utf-8")
    options = ["-a", "ann", "--judges", "1", "--whole-dialogues"]
    with served(folder, tasks, *options) as study:
        port = study.server.port
        with Window(browser, study.links["ann"], look) as ann:
            expect(ann.page.locator("#turns li")).to_have_count(12)
            for key in "1423":
                ann.page.keyboard.press(key)
            expect(ann.page.locator(".chosen span")).to_have_count(4)
            ann.page.keyboard.press("u")
            ann.page.keyboard.press("ArrowUp")
            ann.page.keyboard.press("1")  # another label for the turn before, then on to the one without
            expect(ann.page.locator("#turns li").nth(2)).to_contain_text("happy")
            ann.photograph("whole")
            ann.page.reload()
            expect(ann.page.locator(".chosen span")).to_have_count(3)
            expect(ann.page.locator("#turns li.current")).to_have_count(1)
            ann.page.keyboard.press("Enter")  # not before every turn has its label
            for _ in range(9):
                ann.page.keyboard.press("2")
            expect(ann.page.locator(".chosen span")).to_have_count(12)
            study.server.kill()
            ann.page.keyboard.press("Enter")
            expect(ann.page.locator("#error")).to_contain_text("cannot be reached")
            ann.photograph("unreachable")
            with served(folder, tasks, *options, port=port) as again:
                ann.page.click("#again")
                ann.count(1)
                again.server.kill()
    rows = [line.split(",") for line in exported(folder)]
    assert len(rows) == 12
    assert [label for task, _, label in rows if task.endswith((":0", ":1", ":2", ":3"))] == [
        "happy",
        "others",
        "happy",
        "sad",
    ]
