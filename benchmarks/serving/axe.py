"""Check the pages with axe-core: on a desk and on a phone, in light and in dark.

    python -m benchmarks.serving.axe [URL] [--write]

Without a URL a server of its own is started, with the smallest model. `--write` puts the table into
docs/results/serving.md. Needs chromium, playwright and axe-playwright-python. The pages of a challenge are checked by
tests/e2e/test_accessibility.py, in the same way.
"""

import argparse
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from benchmarks.common.pages import printed_section
from benchmarks.serving.local import free_port, our_server, started

LOOKS: dict[str, dict[str, Any]] = {
    f"{width} px, {scheme}": {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    for width in (1280, 390)
    for scheme in ("light", "dark")
}
TABLE = "chat_id,user,message\n7,Ana,I am so happy\n8,Ben,leave me alone\n7,Ben,I am sad"


def _example(page: Any) -> None:
    page.wait_for_selector("#share:not([hidden])")
    page.click("#example")
    page.wait_for_selector(".turn")
    page.click("#turn-2 summary")
    page.wait_for_selector("#detail-2 .words")
    page.click("#share")
    page.wait_for_selector("#link:not([hidden])")


def _two(page: Any) -> None:
    page.wait_for_selector("#share:not([hidden])")
    page.fill("#conversation", "Ana: I am so happy\nBen: I am so sad")
    page.fill("#conversation-b", TABLE)
    page.wait_for_selector("#turns .turn")
    page.wait_for_selector("#turns-b .turn")
    page.select_option("#prior", "own")


def _operation(page: Any) -> None:
    page.click("#post-v1-detect summary")
    page.click("#post-v1-detect form button")
    page.wait_for_selector("#post-v1-detect pre")


# What is looked at: a name, an address, and what is done there first.
PAGES: tuple[tuple[str, str, Callable[[Any], None] | None], ...] = (
    ("start", "/", None),
    ("detect", "/detect", None),
    ("detect, an answer", "/detect", _example),
    ("detect, two and a table", "/detect?two=1", _two),
    ("model card", "/model", None),
    ("API reference", "/docs", _operation),
    ("challenges", "/challenges", None),
    ("sign in", "/sign-in", None),
    ("join", "/join", None),
    ("not found", "/nowhere", None),
)


def violations(page: Any) -> dict[str, int]:
    """The rules of axe-core that a page breaks, with the number of elements that do.

    >>> violations(page)  # doctest: +SKIP
    {'color-contrast': 2}
    """
    from axe_playwright_python.base import AXE_SCRIPT

    page.evaluate(AXE_SCRIPT)
    found = page.evaluate("axe.run({ resultTypes: ['violations'] })")
    return {rule["id"]: len(rule["nodes"]) for rule in found["violations"]}


def table(url: str) -> Iterator[str]:
    """A row for each page, a column for each look: the rules broken, or a dash."""
    from playwright.sync_api import sync_playwright

    yield f"| page | {' | '.join(LOOKS)} |"
    yield "|---" * (len(LOOKS) + 1) + "|"
    with sync_playwright() as driver:
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for name, address, act in PAGES:
            cells = []
            for look in LOOKS.values():
                context = browser.new_context(base_url=url, **look)
                page = context.new_page()
                page.goto(address)
                if act is not None:
                    act(page)
                broken = violations(page)
                cells.append(", ".join(f"{rule} ({count})" for rule, count in broken.items()) or "0")
                context.close()
            yield f"| {name} | {' | '.join(cells)} |"
        browser.close()


@contextmanager
def _own_server() -> Iterator[str]:
    port = free_port()
    with tempfile.TemporaryDirectory() as folder, started(our_server("nano", port, folder), port):
        yield f"http://127.0.0.1:{port}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", nargs="?")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with (
        printed_section("serving", "axe", write=options.write),
        nullcontext(options.url) if options.url else _own_server() as url,
    ):
        for line in table(url):
            print(line)


if __name__ == "__main__":
    main()
