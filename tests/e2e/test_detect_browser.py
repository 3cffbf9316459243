"""The detect and start pages in a real browser: typing, files, columns, filters, links, drafts, downloads."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emoscope.core.errors import EmoscopeError
from emoscope.server.detect.reading import read
from kits.browser_kit import OpenedPage, expect, follow, photograph
from kits.server_process import ServerProcess, running_server

WHATSAPP = """12/01/2024, 10:11 - Messages and calls are end-to-end encrypted.
12/01/2024, 10:11 - Ana López: I passed the exam!!! 😂
so happy
12/01/2024, 10:12 - Ben: <Media omitted>
12/01/2024, 10:13 - Ben: wow: congrats
"""
IPHONE = """\u200e[12.01.24, 10:11:12] Ana: hello
[12.01.24, 10:12:00] Ben: leave me alone \u200e<This message was edited>
[12.01.24, 10:13:00] Ben: \u200eMissed voice call"""
GERMAN = """31.12.23, 21:15 - Ben: <Medien ausgeschlossen>
31.12.23, 21:16 - Ben: IMG-1.jpg (Datei angehängt)
31.12.23, 21:16 - Ben: This message was deleted
31.12.23, 21:17 - Ben: na endlich"""
TELEGRAM = {
    "name": "Ana",
    "messages": [
        {"type": "service", "action": "phone_call", "text": ""},
        {"type": "message", "from": "Ana", "date_unixtime": "1700000000", "text": ["so ", {"text": "happy"}]},
        {"type": "message", "from": None, "from_id": "u7", "date_unixtime": "1700000001", "text": "ok"},
        {"type": "message", "from": "Ben", "date_unixtime": "1700000002", "text": "", "photo": "x.jpg"},
    ],
}
LINES = [["a", "b"], {"turns": [{"speaker": "A", "text": "c"}], "id": "x7"}, {"turn1": "d", "turn2": "e"}]
TABLE = 'chat_id,user,message\n7,Ana,I am so happy\n8,Ben,leave me alone\n7,Ben,"well, I am sad"\n'
SAMPLES = [
    ("", WHATSAPP),
    ("", IPHONE),
    ("", GERMAN),
    ("result.json", json.dumps(TELEGRAM)),
    ("", json.dumps({"chats": {"list": [{"id": 4, **TELEGRAM}, {"id": 5, "messages": []}]}})),
    ("", "Ana: hi\n\nhow are you: fine?\nsee http://x.y"),
    ("x.jsonl", "\n".join(map(json.dumps, LINES))),
    ("", '{"speaker": "A", "text": "one"}\n{"text": "two"}'),
    ("", '["one", "two"]'),
    ("", '[{"id": 3, "message": "hi"}, {"id": 4, "message": null, "more": [1]}]'),
    ("", '{"messages": [{"role": "user", "content": "hi"}]}'),
    ("chats.csv", TABLE),
    ("", TABLE),
    ("", 'id\tturn1\tturn2\tturn3\n0\thi\t"so\twhat\n1\tno\tyes\t'),
    ("x.csv", "how are you;Ana\nI am sad;Ben"),
    ("", 'text,turns\nx,"[""a"", {""text"": ""b"", ""speaker"": ""B""}]"'),
    ("", "nr;wer;was\n1;Ana;hi there\n2;Ben;hello"),
    ("", "Hello, Ben\nYes, Ana"),
    ("", "a\tb\nc"),
    ("only.csv", "text\nhello you\n\nbye"),
    ("", " \n "),
    ("x.csv", "text,a\nhi"),
    ("x.csv", 'text,a\n"hi,b'),
    ("", '{"turns": ["a"]}\n{"turns": ['),
    ("", '[["a"], 7]'),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with running_server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def page(browser: Any, server: ServerProcess) -> Iterator[Any]:
    with OpenedPage(browser, server, "desk") as made:
        yield made


def opened(page: Any, address: str = "/detect") -> Any:
    page.goto(address)
    page.wait_for_selector("#share:not([hidden])")
    return page


def said(page: Any, pane: str = "") -> list[str]:
    return [row.inner_text() for row in page.locator(f"#turns{pane} .turn:visible .text-said").all()]


def test_detect_with_the_keyboard_alone(page: Any) -> None:
    opened(page)
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "conversation":
            break
    page.keyboard.type("Ana: I won the first prize!\nBen: wow, congrats\nAna: I am so happy :)", delay=0)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".turn")).to_have_count(3)
    assert "3 turns" in page.inner_text("#status")
    while not page.evaluate("document.activeElement.closest('#turn-2')"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#detail-2 .words")
    assert "happy" in page.inner_text("#detail-2")
    assert page.locator("#chart svg").get_attribute("aria-label").startswith("Probabilities by turn")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # another label's words
    expect(page.locator("#detail-2 .scores button").nth(1)).to_have_attribute("aria-pressed", "true")
    page.wait_for_selector("#detail-2 .words")


def test_the_prior_and_an_empty_conversation(page: Any) -> None:
    opened(page)
    page.click("button[type=submit]")
    page.wait_for_selector("#error:not([hidden])")
    assert "first" in page.inner_text("#error")
    page.fill("#conversation", "I will watch a movie")
    page.click("button[type=submit]")
    page.wait_for_selector(".turn")
    page.click("text=Show as a table")  # the table is not read while it is folded
    before = page.inner_text("#numbers")
    page.select_option("#prior", "even")
    expect(page.locator("#numbers")).not_to_have_text(before, use_inner_text=True)
    page.select_option("#prior", "own")
    page.wait_for_selector("#own-prior:not([hidden]) input")
    page.locator("#own-prior input").first.fill("90")
    page.wait_for_timeout(200)
    assert page.locator("#error").is_hidden()


def test_the_script_reads_as_the_server_does(page: Any) -> None:
    opened(page)
    script = """([name, text]) => import('/static/detect/read.js').then(({ read }) => {
        try {
            const { format, conversations, leftOut, columns } = read(text, name);
            return { format, conversations, leftOut, columns: columns ?? null };
        } catch (error) { return error.message; }
    })"""
    for name, text in SAMPLES:
        in_browser = page.evaluate(script, [name, text])
        try:
            found = read(text, name)
        except EmoscopeError as error:
            assert isinstance(in_browser, str), (text, in_browser)
            assert in_browser.split(":")[0] == str(error).split(":")[0]  # the same place
            continue
        columns = found.columns and {key: getattr(found.columns, key) for key in found.columns.__slots__}
        turns = [
            {"name": one.id, "turns": [{"speaker": turn.speaker, "text": turn.text} for turn in one.turns]}
            for one in found.conversations
        ]
        expected = {"format": found.format, "conversations": turns, "leftOut": found.left_out, "columns": columns}
        assert in_browser == expected, text


def test_a_table_shows_its_columns_and_a_preview(page: Any, tmp_path: Path) -> None:
    opened(page)
    file = tmp_path / "chats.csv"
    file.write_text(TABLE)
    page.set_input_files("#file", file)
    expect(page.locator(".turn")).to_have_count(2)  # the last turn of each conversation
    assert said(page) == ["well, I am sad", "leave me alone"]
    assert page.inner_text("#preview").split("\n")[0].split() == ["chat_id", "user", "message"]
    assert page.input_value("[name=column-conversation]") == "0"
    page.select_option("[name=column-conversation]", "all")
    expect(page.locator(".turn")).to_have_count(3)
    expect(page.locator("#speakers tr")).to_have_count(3)
    page.select_option("[name=column-speaker]", "")
    expect(page.locator("#speakers")).to_have_count(0)
    page.uncheck("[name=column-header]")
    expect(page.locator(".turn")).to_have_count(4)
    page.fill("#conversation", "Ana: hi")  # the table is gone
    expect(page.locator("#columns")).to_be_hidden()
    expect(page.locator(".turn")).to_have_count(1)


def test_files_are_opened_and_dropped(page: Any, tmp_path: Path) -> None:
    opened(page)
    file = tmp_path / "chats.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in LINES))
    page.set_input_files("#file", file)
    page.wait_for_selector("#dialogue-choice:not([hidden])")
    expect(page.locator("#format")).to_have_text(f"{file.name}: Read as JSON.")
    expect(page.locator(".turn")).to_have_count(3)
    page.select_option("#dialogue", "1")
    expect(page.locator(".turn")).to_have_count(1)
    page.fill("#conversation", WHATSAPP)
    page.click("button[type=submit]")
    expect(page.locator("#dialogue-choice")).to_be_hidden()
    expect(page.locator("#format")).to_contain_text("WhatsApp export. 2 entries without text skipped.")
    long = tmp_path / "long.txt"
    long.write_text("\n".join(f"12/01/2024, 10:11 - Ana: line {number} {'x' * 300}" for number in range(450)))
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
    data = page.evaluate_handle(
        "text => { const d = new DataTransfer(); d.items.add(new File([text], 'result.json')); return d; }",
        json.dumps(TELEGRAM),
    )
    page.dispatch_event(".pane", "drop", {"dataTransfer": data})
    expect(page.locator("#format")).to_contain_text("Telegram export")
    expect(page.locator(".turn")).to_have_count(2)


def test_unreadable_file_is_reported(page: Any, tmp_path: Path) -> None:
    opened(page)
    content = {
        "excel.csv": ("text\nZoë is so happy".encode("latin-1"), "excel.csv is not UTF-8 text: save it as UTF-8"),
        "empty.csv": (b"", "No turns were found in empty.csv."),
        "names.csv": (b"speaker,text\n", "No turns were found in names.csv."),
        "picture.txt": (b"a\x00b", "picture.txt is not a text file."),
    }
    for name, (data, problem) in content.items():
        (tmp_path / name).write_bytes(data)
        page.set_input_files("#file", tmp_path / name)
        expect(page.locator("#error")).to_contain_text(problem)
    (tmp_path / "wide.csv").write_bytes("speaker\ttext\nZoë\tI am so happy\n".encode("utf-16"))
    page.set_input_files("#file", tmp_path / "wide.csv")
    expect(page.locator("#speakers")).to_contain_text("Zoë")


def test_rows_are_filtered(page: Any) -> None:
    opened(page)
    page.click("#example")
    expect(page.locator(".turn")).to_have_count(12)
    page.fill(".filter-text", "HAPPY")
    assert said(page) == ["I passed!!! I am so happy 😂😂"]
    assert page.inner_text(".shown") == "1 of 12 shown"
    page.fill(".filter-text", "")
    page.select_option(".filter-speaker", "Tom")
    assert len(said(page)) == 6
    page.select_option(".filter-label", "happy")
    assert said(page) == ["wow, congratulations :)"]
    page.select_option(".filter-speaker", "")
    page.select_option(".filter-label", "")
    page.select_option(".filter-sure", "0.9")
    shown = len(said(page))
    assert 0 < shown < 12
    page.click("#chart .column >> nth=10")  # a column opens its row, also one that was filtered out
    assert page.evaluate("document.activeElement.closest('.turn').id") == "turn-10"


def test_predictions_update_while_typing_and_drafts_survive_a_reload(page: Any) -> None:
    opened(page)
    page.locator("#conversation").press_sequentially("Ana: I am so happy")
    expect(page.locator("#status")).to_contain_text("1 happy")
    page.locator("#conversation").press_sequentially("\nBen: I am so sad")
    expect(page.locator("#status")).to_contain_text("1 sad")
    page.uncheck("#live")
    page.locator("#conversation").press_sequentially("\nAna: ok")
    page.wait_for_timeout(700)
    expect(page.locator(".turn")).to_have_count(2)
    page.reload()
    expect(page.locator(".turn")).to_have_count(3)
    assert page.input_value("#conversation") == "Ana: I am so happy\nBen: I am so sad\nAna: ok"
    assert not page.is_checked("#live")
    page.click("#clear")
    expect(page.locator("#results")).to_be_hidden()
    page.reload()
    page.wait_for_selector("#share:not([hidden])")
    assert page.input_value("#conversation") == ""


def test_a_link_carries_the_text_and_no_server_sees_it(page: Any, browser: Any, server: ServerProcess) -> None:
    opened(page)
    page.fill("#conversation", "Zoë: I am so happy 😂\nBen: why?")
    page.select_option("#prior", "even")
    page.click("#share")
    page.wait_for_selector("#link:not([hidden])")
    link = page.input_value("#link-address")
    carried = link.partition("#t=")[2]
    assert carried
    with OpenedPage(browser, server, "desk") as other:
        asked: list[str] = []
        other.on("request", lambda request: asked.append(f"{request.url} {request.headers.get('referer', '')}"))
        other.goto(link)
        expect(other.locator(".turn")).to_have_count(2)
        assert other.input_value("#conversation") == "Zoë: I am so happy 😂\nBen: why?"
        assert other.input_value("#prior") == "even"
        assert not any(carried[:20] in address.partition("#")[0] for address in asked)
        other.goto("/detect#t=damaged")
        other.reload()
        expect(other.locator("#error")).to_contain_text("damaged")


def test_two_conversations_side_by_side(page: Any) -> None:
    opened(page)
    page.fill("#conversation", "Ana: I am so happy")
    follow(page, "text=Compare two")
    expect(page.locator("#turns .turn")).to_have_count(1)  # the draft came along
    page.fill("#conversation-b", "Ben: I am so sad\nAna: why?")
    expect(page.locator("#turns-b .turn")).to_have_count(2)
    left, right = page.locator("#answer").bounding_box(), page.locator("#answer-b").bounding_box()
    assert right["x"] >= left["x"] + left["width"]
    follow(page, "text=Show one conversation")
    follow(page, "text=Compare two")
    expect(page.locator("#turns-b .turn")).to_have_count(2)


@pytest.mark.parametrize("scripts", [True, False])
def test_files_are_downloaded(browser: Any, server: ServerProcess, scripts: bool) -> None:
    with OpenedPage(browser, server, "desk", java_script_enabled=scripts) as page:
        page.goto("/detect?example=1")
        if not scripts:
            page.click("button[type=submit]")
        page.wait_for_selector(".turn")
        for button, kind in (("CSV", "csv"), ("JSON", "json"), ("Chart (SVG)", "svg")):
            with page.expect_download() as download:
                page.click(f".downloads >> text={button}")
            assert download.value.suggested_filename == f"emotions.{kind}"
            content = Path(download.value.path()).read_text()
            assert "happy" in content


def test_without_scripts(browser: Any, server: ServerProcess, look: str, tmp_path: Path) -> None:
    with OpenedPage(browser, server, look, java_script_enabled=False) as page:
        page.goto("/")
        assert page.locator(".brief li").count() == 6
        page.fill("#example", "I am so happy")
        follow(page, "text=Open in Detect")
        assert said(page) == ["I am so happy"]
        assert page.locator("#live-choice").is_hidden()
        file = tmp_path / "chats.csv"
        file.write_text(TABLE)
        page.set_input_files("#file", file)
        follow(page, "button[type=submit]")
        assert said(page) == ["well, I am sad", "leave me alone"]
        page.select_option("[name=column-conversation]", "all")
        follow(page, "button[type=submit]")
        assert len(said(page)) == 3
        page.click("#turn-0 summary")
        assert page.locator("#detail-0 .scores").is_visible()
        photograph(page, "plain", look)


def test_the_start_page_answers_while_typing(page: Any) -> None:
    page.goto("/")
    assert page.locator(".brief li").count() == 6
    page.fill("#example", "I am so happy\nI am so sad")
    expect(page.locator(".brief li")).to_have_count(2)
    assert "sad" in page.inner_text(".brief li >> nth=1")


def test_nothing_runs_off_the_screen(browser: Any, server: ServerProcess, look: str) -> None:
    with OpenedPage(browser, server, look) as page:
        opened(page, "/detect?two=1")
        page.fill("#conversation", f"{'A' * 40}: {'word' * 200}\nBen: {'ha ' * 400}\nhttp://x.y/{'z' * 300}")
        page.fill("#conversation-b", TABLE.replace("user", "u" * 60))
        expect(page.locator("#turns .turn")).to_have_count(3)
        page.wait_for_selector("#turns-b .turn")
        photograph(page, "two", look)
