"""A real browser through the organisers' console: texts, files, and a challenge run by keyboard alone.

With `EMOSCOPE_SHOTS=FOLDER` pages are photographed; `test_accessibility.py` visits all of them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.serving.axe import violations
from benchmarks.serving.site import SLUG, fill_challenge
from kits.browser_kit import EVERY_LOOK, follow, new_page, photograph
from kits.challenge_kit import GOLD, rows_of
from kits.server_process import ServerProcess, running_server


@pytest.fixture(scope="module")
def token_and_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, ServerProcess]]:
    folder = tmp_path_factory.mktemp("console") / "data"
    token, _ = fill_challenge(folder)
    with running_server(folder, EMOSCOPE_MAIL_URL="console:") as running:
        yield token, running


def _signed_in(browser: Any, server: ServerProcess, token: str, look: str, **options: Any) -> Any:
    page = new_page(browser, look, base_url=server.url, **options)
    page.goto("/sign-in")
    page.fill("input[name=token]", token)
    page.keyboard.press("Enter")
    page.wait_for_url("**/challenges**")
    return page


@pytest.mark.parametrize("look", EVERY_LOOK)
def test_texts_and_files(browser: Any, token_and_server: tuple[str, ServerProcess], look: str, tmp_path: Path) -> None:
    token, server = token_and_server
    scripts = look != "phone"  # the pages need none, axe does
    page = _signed_in(browser, server, token, look, java_script_enabled=scripts)
    page.goto(f"/challenges/{SLUG}/organise/texts")
    table = f"| a | b |\n|---|---|\n| {'long ' * 30} | 2 |"
    page.fill("textarea[name=rules]", f"# Rules of {look}\n\n- be **fair**\n\n{table}")
    page.fill("textarea[name=faq]", "")
    follow(page, "text=Preview")
    assert page.inner_text("#preview-rules + .text-of h3") == f"Rules of {look}"
    photograph(page, "console-preview", look)
    found = violations(page) if scripts else {}
    follow(page, "main button.primary")
    assert "saved" in page.inner_text("[role=status]")
    (tmp_path / f"train-{look}.txt").write_text("some data")
    page.goto(f"/challenges/{SLUG}/organise/files")
    page.set_input_files("input[type=file]", tmp_path / f"train-{look}.txt")
    page.fill("input[name=title]", "Training data, with a description that is longer than the phone is wide, by far")
    follow(page, "main button.primary")
    assert "Teams can download it now" in page.inner_text("[role=status]")
    photograph(page, "console-file", look)
    found |= violations(page) if scripts else {}
    page.goto(f"/challenges/{SLUG}")
    assert f"Rules of {look}" in page.inner_text("main")
    assert f"train-{look}.txt" in page.inner_text(".files")
    page.goto(f"/challenges/{SLUG}/organise/files")
    follow(page, f"tr:has-text('train-{look}.txt') button")
    assert f"train-{look}.txt is no longer available" in page.inner_text("[role=status]")
    page.context.close()
    assert found == {}


def test_times_are_in_the_organisers_zone(browser: Any, token_and_server: tuple[str, ServerProcess]) -> None:
    token, server = token_and_server
    for scripts in (True, False):
        page = _signed_in(
            browser, server, token, "desk", java_script_enabled=scripts, timezone_id="Asia/Tokyo", locale="en-GB"
        )
        page.goto(f"/challenges/{SLUG}/organise/audit")
        moment = page.locator("main time").first
        assert ("UTC" in moment.inner_text()) != scripts
        assert page.locator("[data-zone]").inner_text() == (
            "Times are in your time zone, Asia/Tokyo." if scripts else ""
        )
        if scripts:
            assert moment.get_attribute("title").endswith("UTC")
        page.context.close()


def test_days_of_the_calendar_are_numbers(browser: Any, token_and_server: tuple[str, ServerProcess]) -> None:
    token, server = token_and_server
    page = _signed_in(browser, server, token, "desk", timezone_id="America/Los_Angeles", locale="en-GB")
    page.goto(f"/challenges/{SLUG}/organise/phases?month=2030-05")
    days = page.locator(".calendar td:not(.outside) time").all_inner_texts()
    assert days == [str(day) for day in range(1, 32)]
    page.context.close()


def test_a_challenge_is_run_by_keyboard_without_javascript(
    browser: Any, token_and_server: tuple[str, ServerProcess], tmp_path: Path
) -> None:
    (tmp_path / "given.txt").write_text(rows_of(None))
    (tmp_path / "gold.txt").write_text(rows_of(GOLD))
    token, server = token_and_server
    page = _signed_in(browser, server, token, "phone", java_script_enabled=False)

    def focus(selector: str) -> Any:
        """Reach a thing with the tab key alone."""
        for _ in range(120):
            page.keyboard.press("Tab")
            if page.locator(f"{selector}:focus").count():
                return page.locator(selector)
        raise AssertionError(f"{selector} cannot be reached with the keyboard")

    page.goto("/organise")
    focus("a[href='/organise/new']")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('New challenge')")
    for name, text in (("title", "By keyboard"), ("slug", "keys")):
        focus(f"input[name={name}]")
        page.keyboard.type(text)
    for name, text in (("title", "Practice"), ("name", "practice")):
        focus(f"input[name='phases.0.{name}']")
        page.keyboard.type(text)
    focus("input[name='phases.0.unlabelled']").set_input_files(tmp_path / "given.txt")
    focus("input[name='phases.0.gold']").set_input_files(tmp_path / "gold.txt")
    focus("input[name='phases.0.public_share']")
    page.keyboard.type("1")
    focus("main button.primary")
    page.keyboard.press("Enter")
    page.wait_for_url("**/challenges/keys/organise")
    page.goto("/challenges/keys/organise/phases")
    focus("form[action$='/phases/practice/open'] button")
    page.keyboard.press("Enter")
    page.wait_for_selector("input[name=confirm]")
    focus("input[name=confirm]") if not page.locator("input[name=confirm]:focus").count() else None
    page.keyboard.type("practice")
    page.keyboard.press("Enter")
    page.wait_for_selector("section#practice .state.open")
    focus("#practice input[type=file]").set_input_files(tmp_path / "gold.txt")
    focus("#practice input[name=confirm]")
    page.keyboard.type("practice")
    page.keyboard.press("Enter")
    page.wait_for_selector("[role=status]")
    assert "were replaced" in page.inner_text("[role=status]")
    page.goto("/challenges/keys/organise/announcements")
    focus("input[name=title]")
    page.keyboard.type("Hello")
    focus("textarea[name=text]")
    page.keyboard.type("All of you")
    focus("main button.primary")
    page.keyboard.press("Enter")
    page.wait_for_selector("[role=status]")
    page.goto("/challenges/keys")
    assert "All of you" in page.inner_text("main")
    page.context.close()
