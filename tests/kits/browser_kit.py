"""What every test with a real browser needs: a chromium, how it may look, and where pictures go.

Importing it skips the importing tests where there is no browser (Debian's, or the one `EMOSCOPE_CHROMIUM` names).
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

CHROMIUM = os.environ.get("EMOSCOPE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("no browser: install Debian's chromium", allow_module_level=True)
playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install playwright")
expect = playwright.expect

SHOTS = os.environ.get("EMOSCOPE_SHOTS")
LOOKS: dict[str, dict[str, Any]] = {
    "desk": {"viewport": {"width": 1200, "height": 900}},
    "dark": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True},
}


@contextmanager
def opened_browser() -> Iterator[Any]:
    """A headless chromium, closed afterwards."""
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()
