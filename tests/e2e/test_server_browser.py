"""A real browser through the real server: detect, register, submit, leaderboard.

Needs a chromium (Debian's package, or the one `EMOSCOPE_CHROMIUM` names). With `EMOSCOPE_SHOTS=FOLDER` every stop is
photographed: on a desk, on a phone, and in the dark.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kits.browser_kit import LOOKS, SHOTS, expect, opened_browser
from kits.challenge_kit import GOLD, answer, rows_of
from kits.challenge_site import prepare
from kits.server_process import ServerProcess, running_server

WHATSAPP = """12/01/2024, 10:11 - Messages and calls are end-to-end encrypted.
12/01/2024, 10:11 - Ana López: I passed the exam!!! 😂
so happy
12/01/2024, 10:12 - Ben: <Media omitted>
12/01/2024, 10:13 - Ben: wow: congrats
"""
IPHONE = """\u200e[12.01.24, 10:11:12] Ana: hello
[12.01.24, 10:12:00] Ben: leave me alone"""
GERMAN = """31.12.23, 21:15 - Ben: <Medien ausgeschlossen>
31.12.23, 21:16 - Ben: IMG-1.jpg (Datei angehängt)
31.12.23, 21:16 - Ben: This message was deleted
31.12.23, 21:17 - Ben: na endlich"""


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
    with _Opened(browser, server, "desk") as made:
        yield made


class _Opened:
    """A page whose every complaint, and every request to elsewhere, fails the test."""

    def __init__(self, browser: Any, server: ServerProcess, look: str) -> None:
        self._context = browser.new_context(base_url=server.url, **LOOKS[look])
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


def test_detect_with_the_keyboard_alone(page: Any) -> None:
    page.goto("/")
    expect(page.locator("#labels option")).to_have_count(1)
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "conversation":
            break
    page.keyboard.type("Ana: I won the first prize!\nBen: wow, congrats\nAna: I am so happy :)", delay=0)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".turn")
    assert "3 turns" in page.inner_text("#status")
    while not page.evaluate("document.activeElement.closest('#turn-2')"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#detail-2 .words")
    assert page.get_attribute("#turn-2 > button", "aria-expanded") == "true"
    assert "happy" in page.inner_text("#detail-2")
    assert page.locator("#chart svg").get_attribute("aria-label").startswith("Probabilities by turn")


def test_the_prior_and_an_empty_conversation(page: Any) -> None:
    page.goto("/")
    expect(page.locator("#labels option")).to_have_count(1)
    page.click("button[type=submit]")
    page.wait_for_selector("#error:not([hidden])")
    assert "first" in page.inner_text("#error")
    page.fill("#conversation", "I will watch a movie")
    page.click("button[type=submit]")
    page.wait_for_selector(".turn")
    page.click("summary")  # the table is not read while it is folded
    before = page.inner_text("#numbers")
    page.select_option("#prior", "even")
    expect(page.locator("#numbers")).not_to_have_text(before, use_inner_text=True)
    page.select_option("#prior", "own")
    page.wait_for_selector("#own-prior:not([hidden]) input")
    page.locator("#own-prior input").first.fill("90")
    page.wait_for_timeout(200)
    assert page.locator("#error").is_hidden()


def test_files_are_read_in_the_browser(page: Any, tmp_path: Path) -> None:
    page.goto("/")
    expect(page.locator("#labels option")).to_have_count(1)
    read = "text => import('/static/conversation.js').then(module => module.readConversations(text))"
    (chat,) = page.evaluate(read, WHATSAPP)
    assert chat["turns"] == [
        {"speaker": "Ana López", "text": "I passed the exam!!! 😂\nso happy"},
        {"speaker": "Ben", "text": "wow: congrats"},
    ]
    (phone,) = page.evaluate(read, IPHONE)
    assert [turn["text"] for turn in phone["turns"]] == ["hello", "leave me alone"]
    (foreign,) = page.evaluate(read, GERMAN)
    assert [turn["text"] for turn in foreign["turns"]] == ["na endlich"]
    (plain,) = page.evaluate(read, "Ana: hi\n\nhow are you: fine?\nsee http://x.y")
    assert plain["turns"] == [
        {"speaker": "Ana", "text": "hi"},
        {"speaker": "how are you", "text": "fine?"},
        {"speaker": None, "text": "see http://x.y"},
    ]
    lines = [["a", "b"], {"turns": [{"speaker": "A", "text": "c"}], "id": "x7"}, {"turn1": "d", "turn2": "e"}]
    many = page.evaluate(read, "\n".join(json.dumps(line) for line in lines))
    assert [[turn["text"] for turn in one["turns"]] for one in many] == [["a", "b"], ["c"], ["d", "e"]]
    one = page.evaluate(read, '{"speaker": "A", "text": "one"}\n{"text": "two"}')
    assert [turn["text"] for turn in one[0]["turns"]] == ["one", "two"]
    file = tmp_path / "chats.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines))
    page.set_input_files("#file", file)
    page.wait_for_selector("#dialogue-choice:not([hidden])")
    page.wait_for_selector(".turn")
    page.select_option("#dialogue", "1")
    expect(page.locator(".turn")).to_have_count(1)
    page.fill("#conversation", file.read_text())  # the same, pasted
    expect(page.locator("#dialogue-choice")).to_be_hidden()
    page.click("button[type=submit]")
    expect(page.locator("#dialogue option")).to_have_count(3)
    expect(page.locator(".turn")).to_have_count(2)
    long = tmp_path / "long.txt"
    long.write_text("\n".join(f"12/01/2024, 10:11 - Ana: line {number}" for number in range(450)))
    page.set_input_files("#file", long)
    page.wait_for_selector("#part-choice:not([hidden])")
    expect(page.locator(".turn")).to_have_count(195)
    page.select_option("#part", "2")
    expect(page.locator(".turn")).to_have_count(60)
    assert "line 449" in page.inner_text("#turn-59")
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"turns": ["a"]}\n{"turns": [')
    page.set_input_files("#file", broken)
    page.wait_for_selector("#error:not([hidden])")
    assert "Line 2 is not valid JSON" in page.inner_text("#error")


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
    with _Opened(browser, server, look) as page:
        page.goto("/")
        page.click("#example")
        page.wait_for_selector(".turn")
        page.click("#turn-6 > button")
        page.wait_for_selector("#detail-6 .words")
        photograph(page, "detect", look)
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
