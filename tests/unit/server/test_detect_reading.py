"""Pasted text and uploads are read as conversations."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emoscope.core.errors import EmoscopeError
from emoscope.server.detect.reading import read

EMOCONTEXT = 'id\tturn1\tturn2\tturn3\tlabel\n0\thi\t"so\twhat\thappy\n1\tno\tyes\t\tsad'


def texts(said: str, name: str = "", **chosen: str) -> list[list[tuple[str | None, str]]]:
    return [[(turn.speaker, turn.text) for turn in one.turns] for one in read(said, name, chosen).conversations]


def test_a_table_is_not_one_conversation() -> None:
    found = read(EMOCONTEXT)
    assert found.format == "tsv"
    assert [one.id for one in found.conversations] == ["0", "1"]
    assert texts(EMOCONTEXT) == [[(None, "hi"), (None, '"so'), (None, "what")], [(None, "no"), (None, "yes")]]
    assert texts('speaker,text\nAna,"so, you won"\nBen,yes') == [[("Ana", "so, you won"), ("Ben", "yes")]]
    assert texts("text;n\nich freue mich;1\nna toll;2") == [[(None, "ich freue mich")], [(None, "na toll")]]
    for named in ("", "x.csv"):
        assert texts("nr|text\n1|so, so\n2|nein", named) == [[(None, "so, so")], [(None, "nein")]]
    grouped = texts("chat_id,user,message\n7,Ana,hi\n8,Ben,yo\n7,Ben,hello")
    assert grouped == [[("Ana", "hi"), ("Ben", "hello")], [("Ben", "yo")]]


def test_commas_and_semicolons_do_not_make_a_chat_a_table() -> None:
    for chat in ("Hello, Ben\nYes, Ana", "message, please\nok, fine", "oh; no\nwell; yes", "a, b, c\nd, e, f\ng, h, i"):
        assert read(chat).format == "lines"
    with pytest.raises(EmoscopeError, match=r"row 2: expected 2 columns, found 1"):
        read("id,text\nok")  # a table with a broken row: said rather than guessed
    for table in ("nr;wer;was\n1;Ana;hi there\n2;Ben;hello", "Ana,hi there\nBen,hello\nAna,so", "1,2,3\n4,5,6"):
        assert read(table).format == "csv"


def test_the_reader_chooses_columns() -> None:
    table = "when,a,b\nMon,Ana,how are you\nTue,Ben,I am sad"
    assert texts(table, "x.csv") == [[(None, "how are you")], [(None, "I am sad")]]
    one = texts(table, "x.csv", text="2", speaker="1", conversation="all", header="yes")
    assert one == [[("Ana", "how are you"), ("Ben", "I am sad")]]
    assert texts(table, "x.csv", text="1", header="")[0] == [(None, "a")]
    assert read("a,b c\n1,2", "x.csv").table is not None  # a file is a table if its name says so
    nameless = read("how are you,Ana\nI am sad,Ben", "x.csv")
    assert nameless.columns is not None
    assert not nameless.columns.header
    assert nameless.table is not None
    assert nameless.table.names == ("column 1", "column 2")


def test_json_of_many_shapes() -> None:
    lines = [["a", "b"], {"turns": [{"speaker": "A", "text": "c"}], "id": "x7"}, {"turn1": "d", "turn2": "e"}]
    found = texts("\n".join(map(json.dumps, lines)))
    assert [[text for _, text in one] for one in found] == [["a", "b"], ["c"], ["d", "e"]]
    assert texts('{"speaker": "A", "text": "one"}\n{"text": "two"}') == [[("A", "one"), (None, "two")]]
    assert texts('["one", "two"]') == [[(None, "one"), (None, "two")]]
    assert texts('{"messages": [{"role": "user", "content": "hi"}]}') == [[("user", "hi")]]
    assert texts('[{"id": 3, "message": "hi"}, {"id": 4, "message": null}]') == [[(None, "hi")]]
    for broken, problem in [
        ('{"turns": ["a"]}\n{"turns": [', "line 2 is not valid JSON"),
        ('[["a"], 7]', "conversation 2 has no turns"),
        ("[1, 2]", "expected conversations"),
        ('{"turns": [7]}', "a turn must be a string"),
        ("[" * 100_000, "nested too deeply|not valid"),
        ('{"id": "\\ud800", "turns": ["a"]}', "half of a character"),
    ]:
        with pytest.raises(EmoscopeError, match=problem):
            read(broken)


def test_exports() -> None:
    telegram = {
        "messages": [
            {"type": "service", "text": ""},
            {"type": "message", "from": "Ana", "date_unixtime": "1700000000", "text": ["so ", {"text": "happy"}]},
            {"type": "message", "from": "Ben", "date_unixtime": "1700000001", "text": "", "photo": "x.jpg"},
        ]
    }
    found = read(json.dumps(telegram))
    assert (found.format, found.left_out) == ("telegram", 2)
    assert texts(json.dumps(telegram)) == [[("Ana", "so happy")]]
    chats = {"chats": {"list": [{"id": 1, **telegram}, {"id": 2, **telegram}]}}
    assert [one.id for one in read(json.dumps(chats)).conversations] == ["1", "2"]
    whatsapp = "cut off\n31.12.23, 21:15 - Ben: <Medien ausgeschlossen>\n[31.12.23, 21:17:01] Ana\u200e: na endlich\nja"
    assert read(whatsapp).format == "whatsapp"
    assert texts(whatsapp) == [[("Ana", "na endlich\nja")]]
    added = "\u200e[31.12.23, 21:15:01] Ana: \u200eMissed voice call\n[31.12.23, 21:16:01] Ana: ok \u200e"
    added += "<This message was edited>"
    assert (texts(added), read(added).left_out) == ([[("Ana", "ok")]], 1)


@given(
    st.text(st.sampled_from("ab \"'{}[]:,;\t\n0129/.-\u200e") | st.characters(codec="utf-8"), max_size=80),
    st.sampled_from(["", "x.csv", "x.tsv", "x.json", "x"]),
    st.dictionaries(st.sampled_from(["text", "speaker", "conversation", "header"]), st.text(max_size=5)),
)
def test_anything_is_read_or_refused_in_a_sentence(text: str, name: str, chosen: dict[str, str]) -> None:
    try:
        found = read(text, name, chosen)
    except EmoscopeError:
        return
    assert all(one.turns for one in found.conversations)


def test_a_long_table_is_read_quickly() -> None:
    table = "speaker,text\n" + "Ana,hi there\n" * 60_000
    started = time.process_time()
    assert len(read(table).conversations[0]) == 60_000
    assert time.process_time() - started < 5
