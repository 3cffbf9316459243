"""axe-core finds nothing on any page, on a desk and on a phone, in light and in dark."""

from typing import Any

import pytest

from benchmarks.serving.axe import PAGES, violations
from kits.browser_kit import EVERY_LOOK, follow, new_page
from kits.challenge_kit import answer
from kits.server_process import ServerProcess

pytest.importorskip("axe_playwright_python", reason="no axe-core: pip install axe-playwright-python")
CHALLENGE = ("/challenges/mine", "/challenges/mine/board/practice")  # before somebody registers
TEAM = ("/challenges/mine", "/challenges/mine/team", "/challenges/mine/submissions", "/challenges/mine/board/practice")


@pytest.mark.parametrize("look", EVERY_LOOK)
def test_axe_finds_nothing(browser: Any, challenge_server: ServerProcess, look: str, tmp_path: Any) -> None:
    page = new_page(browser, look, base_url=challenge_server.url)
    found = {}
    for name, address, act in PAGES:
        page.goto(address)
        if act is not None:
            act(page)
        found[name] = violations(page)
        if address.startswith("/detect"):
            page.evaluate("sessionStorage.clear()")
    for address in CHALLENGE:
        page.goto(address)
        found[address] = violations(page)
    page.goto("/challenges/mine")
    page.fill("input[name=team]", f"Team {look}")
    page.fill("input[name=member]", "Ana")
    follow(page, "text=Register the team")
    page.wait_for_selector("#token")
    found["token"] = violations(page)
    file = tmp_path / "good.txt"
    file.write_bytes(answer(7).getvalue())
    page.goto("/challenges/mine")
    page.set_input_files("form.upload >> nth=0 >> input[type=file]", file)
    page.click("form.upload >> nth=0 >> button")
    page.wait_for_selector("#submission[data-final=yes]")
    found["submission"] = violations(page)
    for address in TEAM:
        page.goto(address)
        found[f"{address} of a team"] = violations(page)
    page.context.close()
    print({name: broken or "clean" for name, broken in found.items()})
    assert {name: broken for name, broken in found.items() if broken} == {}
