"""A real browser through the real server: start, detect, register, submit, leaderboard.

Needs a chromium (Debian's package, or the one `EMOSCOPE_CHROMIUM` names). With `EMOSCOPE_SHOTS=FOLDER` every stop is
photographed: on a desk, on a phone, and in the dark.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kits.browser_kit import OpenedPage, follow, photograph
from kits.challenge_kit import GOLD, answer, rows_of
from kits.server_process import ServerProcess


@pytest.fixture
def page(browser: Any, challenge_server: ServerProcess) -> Iterator[Any]:
    with OpenedPage(browser, challenge_server, "desk") as made:
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


def test_detect_register_submit_leaderboard(
    browser: Any, challenge_server: ServerProcess, look: str, tmp_path: Path
) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_bytes(answer({"desk": 7, "dark": 6, "phone": 5}[look]).getvalue())
    bad.write_text(rows_of(["glad", *GOLD[1:-1], "sadd"]))
    with OpenedPage(browser, challenge_server, look) as page:
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
        follow(page, "text=Mine")
        page.fill("input[name=team]", f"Team {look}")
        page.fill("input[name=member]", "Ana")
        photograph(page, "register", look)
        follow(page, "text=Register the team")
        page.wait_for_selector("#token")
        assert page.inner_text("#token").startswith("emo_")
        photograph(page, "token", look)
        follow(page, "text=Go to the challenge")
        page.set_input_files("form.upload >> nth=0 >> input[type=file]", bad)
        page.click("form.upload >> nth=0 >> button")
        page.wait_for_selector(".outcome .notice.error li")
        assert "glad" in page.inner_text(".outcome")
        photograph(page, "refused", look)
        page.set_input_files("form.upload >> nth=0 >> input[type=file]", good)
        page.click("form.upload >> nth=0 >> button")
        page.wait_for_selector("#submission[data-final=yes]")
        assert "scored" in page.inner_text("#submission")
        photograph(page, "submission", look)
        page.goto("/challenges/mine/team")
        follow(page, "text=Invite a member")
        page.wait_for_selector("#invitation")
        photograph(page, "team", look)
        invitation = page.inner_text("#invitation")
        page.goto("/challenges/mine/board/practice")
        assert f"Team {look}" in page.inner_text("tr.mine")
        photograph(page, "board", look)
    for member in ("Ben", None):  # the second one finds the invitation used
        with OpenedPage(browser, challenge_server, look) as page:
            page.goto(invitation)
            if member is None:
                page.wait_for_selector(".notice.error")
                assert "already used" in page.inner_text(".notice.error")
                assert page.locator("main button").count() == 0
            else:
                page.wait_for_load_state("networkidle")
                page.fill("input[name=member]", member)
                follow(page, "main button")
                page.wait_for_selector("#token")


def test_a_team_takes_part_without_scripts(browser: Any, challenge_server: ServerProcess, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_bytes(answer(4).getvalue())
    bad.write_text(rows_of(["glad", *GOLD[1:]]))
    with OpenedPage(browser, challenge_server, "phone", java_script_enabled=False) as page:
        page.goto("/challenges/mine")
        assert "UTC" in page.inner_text(".timeline")
        page.fill("input[name=team]", "Team plain")
        page.fill("input[name=member]", "Ana")
        follow(page, "text=Register the team")
        assert page.inner_text("#token").startswith("emo_")
        assert page.locator(".copy").is_hidden()  # it would need a script
        follow(page, "text=Go to the challenge")
        form = "form.upload >> nth=0 >> "
        page.set_input_files(f"{form}input[type=file]", bad)
        page.fill(f"{form}input[name=note]", "our first")
        follow(page, f"{form}button")
        assert "glad" in page.inner_text("form.upload .notice.error")
        assert page.input_value(f"{form}input[name=note]") == "our first"
        assert page.get_attribute(f"{form}input[type=file]", "aria-invalid") == "true"
        photograph(page, "plain-refused", "phone")
        page.set_input_files(f"{form}input[type=file]", good)
        follow(page, f"{form}button")
        while "scored" not in page.inner_text("#submission"):
            page.wait_for_timeout(500)
            page.reload()
        page.fill("input[name=note]", "with emoji")
        follow(page, "form[action$='/note'] button")
        assert "with emoji" in page.inner_text("main")
        follow(page, "form[action$='/choose'] button")
        assert "chosen as the final submission" in page.inner_text("#submission")
        follow(page, "form[action$='/delete'] button")
        follow(page, "form[action$='/restore'] button")
        assert "deleted" not in page.inner_text("#submission")
        photograph(page, "plain-submission", "phone")
        page.goto("/challenges/mine/submissions")
        assert "with emoji" in page.inner_text("tr.chosen")
        page.goto("/challenges/mine/board/practice?q=plain")
        assert "Team plain" in page.inner_text("tr.mine")
        page.goto("/challenges/mine/team")
        follow(page, "form[action$='/revoke'] button")
        page.fill("input[name=confirm]", "Ana")
        follow(page, "button[name=renew]")
        assert page.inner_text("#token").startswith("emo_")
