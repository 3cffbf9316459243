"""Check every page with axe-core: on a desk and on a phone, in light and in dark.

    python -m benchmarks.serving.axe [--write]

Starts a server with a challenge and an annotation study, with made-up content, and visits their pages as whoever they
are for. `--write` puts the table into docs/results/serving.md. Needs chromium, playwright and axe-playwright-python.
tests/e2e/test_accessibility.py visits the same pages.
"""

import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.common.options import command_line
from benchmarks.common.pages import printed_section
from benchmarks.serving.local import say
from benchmarks.serving.site import READERS, Site, example_site
from benchmarks.serving.visits import visits

LOOKS: dict[str, dict[str, Any]] = {
    f"{width} px, {scheme}": {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    for width in (1280, 390)
    for scheme in ("light", "dark")
}


def violations(page: Any) -> dict[str, int]:
    """The rules of axe-core that a page breaks, with the number of elements that do.

    >>> violations(page)  # doctest: +SKIP
    {'color-contrast': 2}
    """
    from axe_playwright_python.base import AXE_SCRIPT

    page.evaluate(AXE_SCRIPT)
    result = page.evaluate("axe.run({ resultTypes: ['violations'] })")
    return {rule["id"]: len(rule["nodes"]) for rule in result["violations"]}


def table(site: Site) -> Iterator[str]:
    """A row for each page, a column for each look: the rules broken, or 0."""
    from playwright.sync_api import sync_playwright

    cells: dict[str, list[str]] = {}
    with sync_playwright() as driver:
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for (look, options), reader in zip(LOOKS.items(), READERS, strict=True):
            say(look)
            for name, page in visits(partial(_page, browser, options), site, reader):
                broken = violations(page)
                shown = ", ".join(f"{rule} ({count})" for rule, count in broken.items()) or "0"
                cells.setdefault(name, []).append(shown)
        browser.close()
    yield f"| page | {' | '.join(LOOKS)} |"
    yield "|---" * (len(LOOKS) + 1) + "|"
    for name, row in cells.items():
        yield f"| {name} | {' | '.join(row)} |"


def _page(browser: Any, look: dict[str, Any], url: str) -> Any:
    page = browser.new_context(base_url=url, **look).new_page()
    page.set_default_timeout(120_000)  # milliseconds, on a busy machine
    return page


def main() -> None:
    parser = command_line(__doc__, "write")
    options = parser.parse_args()
    with (
        printed_section("serving", "axe", write=options.write),
        tempfile.TemporaryDirectory() as folder,
        example_site(Path(folder)) as site,
    ):
        for line in table(site):
            print(line)


if __name__ == "__main__":
    main()
