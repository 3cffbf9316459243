"""No page is wider than the screen and axe-core finds nothing on any, on a desk and on a phone, in light and in dark.

With `EMOSCOPE_SHOTS=FOLDER` every page is photographed.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.serving.axe import violations
from benchmarks.serving.site import READERS, Site, example_site
from benchmarks.serving.visits import visits
from kits.browser_kit import EVERY_LOOK, new_page, photograph

pytest.importorskip("axe_playwright_python", reason="no axe-core: pip install axe-playwright-python")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with example_site(tmp_path_factory.mktemp("site")) as running:
        yield running


@pytest.mark.parametrize(("look", "reader"), list(zip(EVERY_LOOK, READERS, strict=True)))
def test_every_page_fits_and_is_accessible(browser: Any, site: Site, look: str, reader: str) -> None:
    complaints: list[str] = []

    def open_page(url: str) -> Any:
        page = new_page(browser, look, base_url=url)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    broken = {}
    for name, page in visits(open_page, site, reader):
        photograph(page, re.sub(r"\W+", "-", name), look)
        if rules := violations(page):
            broken[name] = rules
    assert broken == {}
    assert complaints == []
