"""What every test with a real browser needs: a chromium, how it may look, and where pictures go.

Importing it skips the importing tests where there is no browser (Debian's, or the one `EMOSCOPE_CHROMIUM` names).
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kits.server_process import ServerProcess

CHROMIUM = os.environ.get("EMOSCOPE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("no browser: install Debian's chromium", allow_module_level=True)
playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install playwright")
expect = playwright.expect

SHOTS = os.environ.get("EMOSCOPE_SHOTS")
LOOKS: dict[str, dict[str, Any]] = {
    "desk": {"viewport": {"width": 1280, "height": 900}},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True},
}


@contextmanager
def opened_browser() -> Iterator[Any]:
    """A headless chromium, closed afterwards."""
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


class OpenedPage:
    """A page whose every complaint, and every request to elsewhere, fails the test."""

    def __init__(self, browser: Any, server: ServerProcess, look: str, **options: Any) -> None:
        self._context = browser.new_context(base_url=server.url, **LOOKS[look], **options)
        self._server = server
        self.complaints: list[str] = []

    def __enter__(self) -> Any:
        made = self._context.new_page()
        made.set_default_timeout(15_000)
        made.on("pageerror", lambda error: self.complaints.append(str(error)))
        made.on("console", self._heard)
        made.on("request", self._asked)
        return made

    def _heard(self, message: Any) -> None:
        # An answer of 4xx is reported as an error too; the tests ask for some.
        if message.type == "error" and "the server responded with a status of 4" not in message.text:
            self.complaints.append(message.text)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self._server.url, "data:")):
            self.complaints.append(f"asked for {request.url}")

    def __exit__(self, *_: object) -> None:
        self._context.close()
        assert self.complaints == []


def photograph(page: Any, name: str, look: str) -> None:
    """No page is wider than the screen; where wanted, keep how it looks."""
    page.wait_for_load_state("load")  # a page without its style sheet yet would be as wide as its longest line
    assert page.evaluate("document.documentElement.scrollWidth") <= LOOKS[look]["viewport"]["width"]
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}-{look}.png", full_page=True)
