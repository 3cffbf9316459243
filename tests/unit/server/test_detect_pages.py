"""The start, detect and model pages as a browser without scripts sees them, and what the script asks for."""

import csv
import html
import io
import json
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest
from fastapi.testclient import TestClient

from emoscope import __version__
from emoscope.server.app import create_app
from emoscope.server.settings import Limits, Settings

CHAT = "Ana: I am so happy :)\nBen: I am so sad :(\nAna: ok"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    settings = Settings(model="nano", data_dir=tmp_path_factory.mktemp("data"), limits=Limits(max_turns=20))
    with TestClient(create_app(settings)) as opened:
        yield opened


def posted(client: TestClient, file: tuple[str, bytes] | None = None, /, two: bool = False, **fields: str) -> Any:
    data = {"labels": "", "prior": "model", **{name.replace("__", "-"): value for name, value in fields.items()}}
    files = {"file": file or ("", b"")}
    return client.post("/detect?two=1" if two else "/detect", data=data, files=files, headers={"Accept": "text/html"})


def rows(page: str) -> list[tuple[str, str]]:
    """What was said, and its label, of each row of the results."""
    found = re.findall(
        r'class="turn".*?data-label="([^"]*)".*?class="text-said">(.*?)</span></summary>', page, re.DOTALL
    )
    return [(html.unescape(text), label) for label, text in found]


def test_a_posted_chat_is_answered_with_a_whole_page(client: TestClient) -> None:
    found = posted(client, text=CHAT)
    assert found.status_code == 200
    assert rows(found.text) == [("I am so happy :)", "happy"), ("I am so sad :(", "sad"), ("ok", "others")]
    assert "3 turns: " in found.text
    assert re.search(r'<svg class="timeline".*?aria-label="Probabilities by turn', found.text)
    speakers = found.text[found.text.index("Speakers</h2>") :]
    assert re.search(r'scope="row">Ana</th><td>2</td>', speakers)
    assert "✂" not in found.text
    assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=", found.text)
    assert CHAT.splitlines()[0] in html.unescape(found.text)  # the text can be changed and sent again


def test_a_posted_table_is_read_by_its_columns(client: TestClient) -> None:
    table = b"nr;wer;was\n1;Ana;I am so happy\n2;Ben;I am so sad"
    found = posted(client, ("x.csv", table))
    assert [text for text, _ in rows(found.text)] == ["I am so happy", "I am so sad"]
    assert "2 conversations" in found.text
    assert "Read as a table." in found.text
    names = re.search(r'name="columns" value="([^"]*)"', found.text)
    assert names is not None
    chosen: dict[str, Any] = {
        "column__text": "2",
        "column__speaker": "1",
        "column__conversation": "all",
        "column__header": "yes",
    }
    again = posted(client, text=table.decode(), columns=names[1], **chosen)
    assert "2 turns: " in again.text
    assert re.search(r'scope="row">Ben</th>', again.text)
    other = posted(client, text="id,text\n1,hi\n2,no", columns="nr|wer|was", **chosen)  # chosen for another table
    assert "2 conversations" in other.text


def test_one_conversation_of_many_and_one_part_of_many(client: TestClient) -> None:
    lines = "\n".join(json.dumps({"id": f"c{number}", "turns": ["hi", f"no {number}"]}) for number in range(3))
    all_of_them = posted(client, text=lines).text
    assert [text for text, _ in rows(all_of_them)] == ["no 0", "no 1", "no 2"]
    assert re.findall(r'<summary><span class="speaker">([^<]*)', all_of_them) == ["c0", "c1", "c2"]
    assert [text for text, _ in rows(posted(client, text=lines, dialogue="2").text)] == ["hi", "no 2"]
    long = "\n".join(f"line {number}" for number in range(40))
    first = posted(client, text=long).text
    assert (len(rows(first)), "16 to 30" in first) == (15, True)
    last = posted(client, text=long, part="2").text
    assert [text for text, _ in rows(last)] == [f"line {number}" for number in range(30, 40)]
    assert ">31</th>" in last


def test_two_conversations_side_by_side(client: TestClient) -> None:
    found = posted(client, two=True, text=CHAT, text__b="I am so sad")
    assert 'id="turn-0-b"' in found.text
    assert len(rows(found.text)) == 4
    ids = re.findall(r'\sid="([^"]+)"', found.text)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        (("x.csv", b"text,a\nhi"), "x.csv, row 2: expected 2 columns, found 1"),
        (("x.txt", b"\xff\x00\x01"), "not UTF-8"),
        (("x.txt", b"a\x00b"), "not a text file"),
        (("x.csv", "text\nZoë".encode("latin-1")), "x.csv is not UTF-8 text: save it as UTF-8"),
        (("x.csv", b""), "No turns were found in x.csv"),
        (("x.csv", b"speaker,text\n"), "No turns were found in x.csv"),
        (("x.jsonl", b'{"turns": ["a"]}\n{'), "Line 2 is not valid JSON"),
        (None, "Type or paste a conversation first"),
    ],
)
def test_unreadable_input_is_reported_on_the_page(
    client: TestClient, file: tuple[str, bytes] | None, problem: str
) -> None:
    found = posted(client, file, text="")
    assert found.status_code == 422
    assert problem in html.unescape(found.text)


def test_scissors_only_where_something_was_not_read(client: TestClient) -> None:
    chat = [f"turn {number}" for number in range(9)]
    assert "✂" not in posted(client, text="\n".join(chat)).text
    chat[4] = "word " * 3000
    page = posted(client, text="\n".join(chat)).text
    cut = [number for number, row in enumerate(page.split('class="turn"')[1:]) if "only a part was read" in row]
    assert cut == [4, 5, 6]  # the long turn, and those whose context it is


def asked(*turns: str, **options: Any) -> dict[str, Any]:
    return {"dialogues": [{"turns": list(turns)}], **options}


def test_the_script_gets_a_piece_of_a_page(client: TestClient) -> None:
    found = client.post("/detect/results", json=asked("I am so happy", "ok", skip=1, first=8))
    assert found.status_code == 200
    assert "<html" not in found.text
    assert rows(found.text) == [("ok", "others")]
    assert ">8</th>" in found.text
    brief = client.post("/detect/results?brief=1", json=asked("I am so happy <b>"))
    assert "&lt;b&gt;" in brief.text
    assert "happy" in brief.text
    assert client.post("/detect/results", json={"dialogues": []}).status_code == 422
    assert client.post("/detect/results", json=asked(*["a"] * 21)).status_code == 422
    two = {"dialogues": [{"turns": ["a"]}] * 2}
    assert client.post("/detect/results", json=two).status_code == 422
    assert client.post("/detect/results", json={**two, "each_turn": False}).status_code == 200


def test_downloads(client: TestClient) -> None:
    question = asked("=1+1", "I am so happy")
    files = {}
    for kind in ("csv", "json", "svg"):
        found = client.post(f"/detect/results.{kind}", data={"asked": json.dumps(question)})
        assert found.headers["content-disposition"] == f'attachment; filename="emotions.{kind}"'
        files[kind] = found.text
    table = list(csv.DictReader(io.StringIO(files["csv"])))
    assert table[0]["text"] == "'=1+1"  # no formula
    assert table[1]["label"] == "happy"
    assert float(table[1]["happy"]) > 0.5
    document = json.loads(files["json"])
    assert [turn["text"] for turn in document["turns"]] == ["=1+1", "I am so happy"]
    assert document["model"] == "nano"
    drawing = ElementTree.fromstring(files["svg"])
    assert drawing.tag.endswith("svg")
    assert "happy" in files["svg"]
    assert client.post("/detect/results.exe", data={"asked": json.dumps(question)}).status_code == 404
    assert client.post("/detect/results.csv", data={"asked": "{}"}).status_code == 422


def test_the_start_page_shows_what_it_is_and_a_live_answer(client: TestClient) -> None:
    page = client.get("/").text
    assert "emotion in a conversation" in page
    assert page.count('class="chip"') == 6
    assert 'action="/detect"' in page


def test_the_footer_leads_to_the_version_the_card_and_the_reference(client: TestClient) -> None:
    footer = client.get("/").text.partition("<footer")[2]
    assert f"emoscope {__version__}" in footer
    for address in re.findall(r'href="([^"]+)"', footer):
        assert client.get(address).status_code == 200
    assert '"/model"' in footer
    card = client.get("/model").text
    assert "Model card:" in card
    assert "<table>" in card
    assert "style=" not in card
    # Text to the left, numbers to the right.
    assert '<th class="text">labels</th>' in card
    assert "<th>score</th>" in card


def test_the_detect_page_says_under_which_terms_and_marks_the_model_to_use_instead(client: TestClient) -> None:
    page = client.get("/detect").text
    assert "May I use it? Research use." in page
    assert "For a product, use <code>open</code>" in page
    assert "`" not in page.partition("May I use it?")[2].partition("</p>")[0]


def test_tampered_form_does_not_crash_the_page(client: TestClient) -> None:
    digits = "9" * 5000
    table: dict[str, Any] = {"text": "a,text\n1,hi\n2,no", "columns": "a|text", "column__header": "yes"}
    for fields in (
        {"text": "a\nb", "dialogue": digits, "part": digits},
        {**table, "column__text": digits},
        {**table, "column__text": "turns"},
        {**table, "column__conversation": "-1"},
        {"text": "hi", "labels": "none"},
        {"text": "hi", "prior": "none"},
        {"text": '{"id": "\\ud800", "turns": ["a"]}'},
    ):
        assert posted(client, **fields).status_code in (200, 422)
    assert client.post("/detect", content=b"junk", headers={"Content-Type": "multipart/form-data"}).status_code == 400
    assert client.get("/detect?two=maybe").status_code == 422
