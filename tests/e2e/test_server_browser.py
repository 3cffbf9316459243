"""A real browser through the real server: start, detect, register, submit, leaderboard.

Needs a chromium (Debian's package, or the one `EMOSCOPE_CHROMIUM` names). With `EMOSCOPE_SHOTS=FOLDER` every stop is
photographed: on a desk, on a phone, and in the dark.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kits.browser_kit import LOOKS, OpenedPage, opened_browser, photograph
from kits.challenge_kit import GOLD, answer, rows_of
from kits.challenge_site import prepare
from kits.server_process import ServerProcess, running_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("server")
    prepare(folder)
    with running_server(folder) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with opened_browser() as opened:
        yield opened


@pytest.fixture(params=sorted(LOOKS))
def look(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def page(browser: Any, server: ServerProcess) -> Iterator[Any]:
    with OpenedPage(browser, server, "desk") as made:
        yield made


def test_the_api_can_be_tried(page: Any) -> None:
    page.goto("/docs")
    page.click("#post-v1-detect summary")
    page.click("#post-v1-detect form button")
    page.wait_for_selector("#post-v1-detect pre")
    assert '"label"' in page.inner_text("#post-v1-detect .answer")
    assert "200" in page.inner_text("#post-v1-detect .answer")
    upload = page.locator("#post-v1-challenges-slug-submissions")
    upload.locator("summary").click()
    assert [field.get_attribute("name") for field in upload.locator("input").all()] == ["slug", "file", "phase", "note"]


def test_detect_register_submit_leaderboard(browser: Any, server: ServerProcess, look: str, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_bytes(answer({"desk": 7, "dark": 6, "phone": 5}[look]).getvalue())
    bad.write_text(rows_of(["glad", *GOLD[1:-1], "sadd"]))
    with OpenedPage(browser, server, look) as page:
        page.goto("/")
        photograph(page, "start", look)
        page.goto("/detect")
        page.wait_for_selector("#share:not([hidden])")
        page.click("#example")
        page.wait_for_selector(".turn")
        page.click("#turn-6 summary")
        page.wait_for_selector("#detail-6 .words")
        photograph(page, "detect", look)
        page.goto("/model")
        photograph(page, "model", look)
        page.goto("/docs")
        photograph(page, "docs", look)
        page.goto("/challenges")
        photograph(page, "challenges", look)
        page.click("text=Mine")
        page.fill("input[name=team]", f"Team {look}")
        page.fill("input[name=member]", "Ana")
        photograph(page, "register", look)
        page.click("text=Register the team")
        page.wait_for_selector("#token")
        assert page.inner_text("#token").startswith("emo_")
        photograph(page, "token", look)
        page.click("text=To the challenge")
        page.set_input_files("form.upload >> nth=0 >> input[type=file]", bad)
        page.click("form.upload >> nth=0 >> button")
        page.wait_for_selector(".outcome .notice.error li")
        assert "glad" in page.inner_text(".outcome")
        photograph(page, "refused", look)
        page.set_input_files("form.upload >> nth=0 >> input[type=file]", good)
        page.click("form.upload >> nth=0 >> button")
        page.wait_for_selector("#submission[data-final=yes]", timeout=60_000)
        assert "scored" in page.inner_text("#submission")
        photograph(page, "submission", look)
        page.goto("/challenges/mine/team")
        page.click("text=Invite a member")
        page.wait_for_selector("#invitation")
        photograph(page, "team", look)
        page.goto("/challenges/mine/board/practice")
        assert f"Team {look}" in page.inner_text("tr.mine")
        photograph(page, "board", look)
