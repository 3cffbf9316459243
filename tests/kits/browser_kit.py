"""What every test with a real browser needs: a chromium, how it may look, and where pictures go.

Importing it skips the importing tests where there is no browser (Debian's, or the one `EMOSCOPE_CHROMIUM` names).

Scripts come late on a phone: a test that does not wait for them then fails on every machine, not only on a slow one.
`EMOSCOPE_SCRIPT_DELAY=1000` delays them by as many milliseconds in every look. `page.goto` waits for a page's scripts;
after a click that leads to another page, `follow` does.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from kits.server_process import ServerProcess

CHROMIUM = os.environ.get("EMOSCOPE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("no browser: install Debian's chromium", allow_module_level=True)
playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install playwright")
expect = playwright.expect
PATIENCE = 60_000  # milliseconds; a condition that comes takes no longer for it
expect.set_options(timeout=PATIENCE)

SHOTS = os.environ.get("EMOSCOPE_SHOTS")
LOOKS: dict[str, dict[str, Any]] = {
    "desk": {"viewport": {"width": 1280, "height": 900}},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True},
}
EVERY_LOOK = LOOKS | {"dark phone": LOOKS["phone"] | {"color_scheme": "dark"}}
SCRIPT_DELAY = os.environ.get("EMOSCOPE_SCRIPT_DELAY")


@contextmanager
def opened_browser() -> Iterator[Any]:
    """A headless chromium, closed afterwards."""
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


def new_page(browser: Any, look: str, **options: Any) -> Any:
    """A page in a window of its own, which waits for a minute and may get its scripts late."""
    context = browser.new_context(**EVERY_LOOK[look], **options)
    if SCRIPT_DELAY is not None or "phone" in look:
        delay = 200.0 if SCRIPT_DELAY is None else float(SCRIPT_DELAY)
        context.route("**/*.js", lambda route: _come_late(route, delay))
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    return page


def _come_late(route: Any, delay: float) -> None:
    with suppress(playwright.Error):  # the test has gone on to another page, or closed it
        route.request.frame.page.wait_for_timeout(delay)  # lets the test go on meanwhile, as a sleep would not
        route.continue_()


def follow(page: Any, selector: str) -> None:
    """Click what leads to another page, and wait until that page is whole and its scripts have run."""
    with page.expect_event("load"):
        page.click(selector)


def press(page: Any, *keys: str) -> None:
    """Press keys on the annotation page, waiting each time until the server has answered what a key asked for."""
    for key in keys:
        page.keyboard.press(key)
        expect(page.locator("body")).not_to_have_attribute("aria-busy", "true")


class OpenedPage:
    """A page whose every complaint, and every request to elsewhere, fails the test."""

    def __init__(self, browser: Any, server: ServerProcess, look: str, **options: Any) -> None:
        self._page = new_page(browser, look, base_url=server.url, **options)
        self._server = server
        self.complaints: list[str] = []

    def __enter__(self) -> Any:
        self._page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self._page.on("console", self._heard)
        self._page.on("request", self._asked)
        return self._page

    def _heard(self, message: Any) -> None:
        # An answer of 4xx is reported as an error too; the tests ask for some.
        if message.type == "error" and "the server responded with a status of 4" not in message.text:
            self.complaints.append(message.text)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self._server.url, "data:")):
            self.complaints.append(f"asked for {request.url}")

    def __exit__(self, *_: object) -> None:
        self._page.context.close()
        assert self.complaints == []


def photograph(page: Any, name: str, look: str) -> None:
    """No page is wider than the screen; where wanted, keep how it looks."""
    page.wait_for_load_state("load")  # a page without its style sheet yet would be as wide as its longest line
    assert page.evaluate("document.documentElement.scrollWidth") <= EVERY_LOOK[look]["viewport"]["width"], name
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}-{look}.png", full_page=True)
