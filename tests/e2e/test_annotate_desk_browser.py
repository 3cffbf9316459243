"""A study from the briefing to the last decision in a real browser: three annotators and a manager.

Needs a chromium, as `test_server_browser.py` does. With `EMOSCOPE_SHOTS=FOLDER` every stop is photographed; with
axe-playwright-python installed, axe-core looks at every stop.
"""

import csv
import importlib
import importlib.util
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kits.annotate_command import Served, served
from kits.browser_kit import EVERY_LOOK, SHOTS, expect, follow, new_page, press
from kits.corpus_command import run

Axe: Any = None
if importlib.util.find_spec("axe_playwright_python") is not None:
    Axe = importlib.import_module("axe_playwright_python.sync_playwright").Axe


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Served]:
    rows = [f"d{n},I lost key number {n},oh no!,and now my phone is gone too" for n in range(4)]
    rows += ["t0,we won,really?,yes!!!", "q0,he left me,oh dear,I cannot stop crying"]
    files = {
        "tasks.csv": "id,turn1,turn2,turn3\n" + "\n".join(rows) + "\n",
        "training.csv": "task,label,why\nt0,happy,she has won\n",
        "qualification.csv": "task,label\nq0,sad\n",
        "guidelines.md": "# Labels\n\n- **happy**: joy\n\n### Example\n\n> we won\n> really?\n",
        "consent.md": "Your answers are kept.",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    options = [part for stem in ("training", "qualification") for part in (f"--{stem}", tmp_path / f"{stem}.csv")]
    options += [part for stem in ("guidelines", "consent") for part in (f"--{stem}", tmp_path / f"{stem}.md")]
    people = [part for name in ("ann", "ben", "cleo") for part in ("-a", name)]
    with served(tmp_path / "study", tmp_path / "tasks.csv", *people, "--judges", "3", *options) as running:
        yield running


class Window:
    """A browser window; whatever it or axe-core complains about fails the test."""

    def __init__(self, browser: Any, address: str, look: str, **options: Any) -> None:
        self.page = new_page(browser, look, **options)
        self.look = look
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda said: self.complaints.extend([said.text] if said.type == "error" else []))
        self.page.goto(address)

    def __enter__(self) -> "Window":
        return self

    def __exit__(self, *_: object) -> None:
        self.page.context.close()
        assert self.complaints == []

    def stop(self, name: str) -> None:
        """Nothing is wider than the screen, and axe-core finds nothing."""
        assert self.page.evaluate("document.documentElement.scrollWidth") <= EVERY_LOOK[self.look]["viewport"]["width"]
        if SHOTS:
            self.page.screenshot(path=Path(SHOTS) / f"desk-{name}-{self.look}.png", full_page=True)
        if Axe is not None:
            found = Axe().run(self.page)
            assert found.violations_count == 0, f"{name}, {self.look}: {found.generate_report()}"


def begin(window: Window) -> None:
    """Read, agree, and go through training and qualification, all by keyboard."""
    page = window.page
    expect(page.locator("#begin")).to_be_visible()
    window.stop("briefing")
    page.locator("#agree").focus()
    press(page, "Space", "Tab", "Enter")
    expect(page.locator("#count")).to_have_text("Training: 0 of 1")
    press(page, "2")
    expect(page.locator("#check-title")).to_have_text("Not quite")
    expect(page.locator("#check-list")).to_contain_text("she has won")
    window.stop("training")
    press(page, "Enter")
    expect(page.locator("#count")).to_have_text("Qualification: 0 of 1")
    press(page, "2")
    expect(page.locator("#praise")).to_contain_text("You qualified with 1 of 1 correct")


def test_three_annotators_and_a_manager(browser: Any, study: Served, tmp_path: Path) -> None:
    said = {"ann": "2222", "ben": "2223", "cleo": "2224"}
    for (name, keys), look in zip(said.items(), ("desk", "phone", "dark"), strict=True):
        with Window(browser, study.links[name], look) as window:
            page = window.page
            # The training is failed on purpose; the qualification decides.
            begin(window)
            window.stop("item")
            if name == "ben":
                press(page, "/")
                window.stop("remark")
                page.keyboard.type("is this meant?")
                page.get_by_role("button", name="Flag for the managers").click()
                expect(page.locator("#praise")).to_contain_text("The managers will see it")
            for judged, key in enumerate(keys, start=1):
                press(page, key)
                expect(page.locator("#count")).to_contain_text(f"{judged} judged")
            expect(page.locator("#end-title")).to_contain_text("No more items")
            if name == "ann":  # the item before the last one was a slip
                press(page, "ArrowLeft")
                expect(page.locator("#revisited")).to_be_visible()
                press(page, "ArrowLeft")
                window.stop("earlier")
                page.wait_for_timeout(350)
                press(page, "4")
                expect(page.locator("#praise")).to_have_text("Answer changed.")
                page.locator("#earlier").click()
                expect(page.locator("#earlier-list li")).to_have_count(6)
                expect(page.locator("#earlier-list")).to_contain_text("others")
                window.stop("list")
                press(page, "Escape", "?")
                expect(page.locator("#guidelines")).to_be_visible()
                press(page, "Escape")
    for look in EVERY_LOOK:
        with Window(browser, study.desk, look) as window:
            page = window.page
            expect(page.locator("#live")).to_contain_text("12 of 12 judgements")
            assert "emo_m" not in page.url
            window.stop("overview")
            for path in ("items", "queue", "annotators", "guidelines", "files"):
                page.goto(f"{study.server.url}/annotate/desk/{path}")
                window.stop(path)
    # What is left to do works without a script.
    with Window(browser, f"{study.server.url}/annotate", "desk", java_script_enabled=False) as window:
        expect(window.page.locator("#guidelines")).to_contain_text("happy: joy")
        page = window.page
        page.goto(study.desk.partition("#")[0])
        page.locator("input[name=token]").fill(study.desk)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("link", name="Adjudicate 2").click()
        expect(page.locator(".remarks")).to_contain_text("is this meant?")
        for _ in range(2):  # the one that was flagged, and the one on which nobody agrees
            page.locator("input[value=angry]").check()
            follow(page, "text=Save and continue")
        expect(page.locator("h1")).to_have_text("Nothing to adjudicate")
    assert run("corpus", "annotate-export", tmp_path / "study", "--labels", tmp_path / "labels.csv")[0] == 0
    with (tmp_path / "labels.csv").open(encoding="utf-8") as handle:
        decided = Counter((row["decided"], row["label"]) for row in csv.DictReader(handle))
    assert decided == {("adjudicated", "angry"): 2, ("majority", "sad"): 1, ("unanimous", "sad"): 1}
