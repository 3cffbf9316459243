"""A board of 200 teams with long names, and a challenge's pages, in a real browser: phone and desk, light and dark."""

from collections.abc import Iterator
from typing import Any

import pytest

from emoscope.server.store import Store
from kits.browser_kit import expect, follow, new_page, photograph
from kits.crowded_board import crowded_challenge
from kits.server_process import ServerProcess, running_server

axe_library = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-playwright-python")
BOARD = "/challenges/mine/board/practice"
SLOW = 120_000  # milliseconds, on a busy machine


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServerProcess, str]]:
    """A server whose practice phase is over, and the token of a team's member."""
    folder = tmp_path_factory.mktemp("server")
    store = Store.open(folder)
    token = crowded_challenge(store, folder / "source", closed={"practice"})
    store.close()
    with running_server(folder) as server:
        yield server, token


def opened(browser: Any, site: tuple[ServerProcess, str], look: str = "desk", **options: Any) -> Any:
    reader = {"timezone_id": "Asia/Tokyo", "locale": "en-GB"}
    page = new_page(browser, look, base_url=site[0].url, **reader, **options)
    page.set_default_timeout(SLOW)
    page.goto("/sign-in")
    page.fill("input[name=token]", site[1])
    follow(page, "main button.primary")
    return page


def test_nothing_runs_off_and_axe_finds_nothing(browser: Any, site: tuple[ServerProcess, str], look: str) -> None:
    page = opened(browser, site, look, bypass_csp=True)  # for axe, which is put into the page
    paths = {
        "board": f"{BOARD}?q=01",  # axe takes minutes for 200 rows
        "running": "/challenges/mine/board/final?q=01",
        "challenge": "/challenges/mine",
        "report": "/challenges/mine/report",
        "submissions": "/challenges/mine/submissions",
    }
    for name, path in paths.items():
        page.goto(path)
        photograph(page, name, look)
        found = axe_library.Axe().run(page)
        assert found.violations_count == 0, f"{path}: {found.generate_report()}"
    page.goto(BOARD)
    assert page.locator(".board tbody tr").count() == 200
    photograph(page, "board-200", look)
    page.context.close()


def test_rank_team_and_score_stay_in_view_on_a_phone(browser: Any, site: tuple[ServerProcess, str]) -> None:
    page = opened(browser, site, "phone")
    page.goto(BOARD)
    page.evaluate("document.querySelector('.board').scrollLeft = 400")
    for column in ("rank", "team", "score"):
        box = page.locator(f".board tbody tr:first-child .{column}").bounding_box()
        assert 0 <= box["x"] <= 390 - box["width"]
    heading = page.locator(".board thead th.rank")  # with the arrow of the column it is sorted by
    link, cell = heading.locator("a").bounding_box(), heading.bounding_box()
    assert link["x"] + link["width"] <= cell["x"] + cell["width"]
    name = page.locator(".board tbody .cut").first
    assert len(name.get_attribute("title")) == 60
    assert name.evaluate("it => it.scrollWidth > it.clientWidth")  # cut
    page.check("#full-names")
    assert not name.evaluate("it => it.scrollWidth > it.clientWidth")
    page.context.close()


def test_state_and_score_of_a_submission_are_in_view_on_a_phone(browser: Any, site: tuple[ServerProcess, str]) -> None:
    page = opened(browser, site, "phone")
    page.goto("/challenges/mine/submissions")
    for label in ("state", "score"):
        box = page.locator(f"tbody tr:first-child td[data-label={label}]").bounding_box()
        assert 0 <= box["x"] <= 390 - box["width"]
    page.context.close()


def test_a_token_can_be_revoked_on_a_phone(browser: Any, site: tuple[ServerProcess, str]) -> None:
    page = opened(browser, site, "phone")
    page.goto("/challenges/mine/team")
    box = page.get_by_role("button", name="Revoke…").bounding_box()
    assert 0 <= box["x"] <= 390 - box["width"]
    page.context.close()


def test_the_header_begins_where_the_page_does(browser: Any, site: tuple[ServerProcess, str]) -> None:
    page = opened(browser, site)
    for path in (BOARD, "/challenges/mine", "/detect?two=1"):
        page.goto(path)
        brand, title = (page.locator(place).bounding_box()["x"] for place in (".brand", "h1"))
        assert brand == title, path
    page.context.close()


def test_a_board_is_searched_and_sorted_with_the_keyboard(browser: Any, site: tuple[ServerProcess, str]) -> None:
    page = opened(browser, site)
    page.goto(BOARD)
    page.focus("#q")
    page.keyboard.type("007")
    expect(page.locator("#found")).to_have_text("1 of 200 rows")
    expect(page.locator(".board tbody tr:visible")).to_have_count(1)
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.locator(".board thead a", has_text="Team").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**sort=team**")
    assert page.locator("th.team[aria-sort=ascending]").count() == 1
    assert page.locator(".board tbody .cut").first.inner_text().startswith("001 ")
    page.context.close()


def test_times_are_in_the_readers_zone_and_count_down(browser: Any, site: tuple[ServerProcess, str]) -> None:
    page = opened(browser, site)
    page.goto("/challenges/mine")
    expect(page.locator("[data-zone]")).to_have_text("Times are in your time zone, Asia/Tokyo.")
    moment = page.locator(".timeline time").last
    assert moment.get_attribute("title").endswith("UTC")
    assert "UTC" not in moment.inner_text()
    assert page.locator("[role=timer]").inner_text().startswith("in 2 days")
    page.context.close()


def test_pages_are_read_without_scripts(browser: Any, site: tuple[ServerProcess, str]) -> None:
    page = opened(browser, site, "phone", java_script_enabled=False)
    page.goto(f"{BOARD}?sort=team")
    page.fill("#q", "019")
    follow(page, "form[role=search] button")
    assert page.locator(".board tbody tr").count() == 1
    page.goto("/challenges/mine")
    assert "UTC" in page.locator(".timeline time").last.inner_text()
    assert "Fair play" in page.inner_text("main")
    page.context.close()
