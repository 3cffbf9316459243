"""Chat exports: every format that is read, what is left out and why, and where a dialogue ends."""

import json
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emoscope.core.errors import EmoscopeError
from emoscope.corpus.sources.exports import read_chat
from emoscope.corpus.sources.messages import Message, sessions
from emoscope.tables import read_records
from kits.corpus_command import run


def said(path: Path, format: str, **options: object) -> list[list[str]]:
    """Each dialogue as `speaker: text`."""
    found = read_chat(path, format, **options)  # type: ignore[arg-type]
    return [[f"{turn.speaker}: {turn.text}" for turn in dialogue.turns] for dialogue in found]


@pytest.mark.parametrize(
    ("lines", "times"),
    [
        ("31/12/2023, 21:15 - Ann: hi\n01/01/2024, 09:00 - Ben: ho\n", 2),
        ("12/31/23, 9:15 PM - Ann: hi\n12/31/23, 9:59 PM - Ben: ho\n", 1),
        ("31.12.23, 21:15 - Ann: hi\n31.12.23, 21:16 - Ben: ho\n", 1),
        ("[31/12/2023, 21:15:03] Ann: hi\n\u200e[31/12/2023, 21:16:03] Ben: ho\n", 1),
        ("[2023-12-31, 9:15:03\u202fPM] Ann: hi\n[2023-12-31, 11:15:03\u202fPM] Ben: ho\n", 2),
    ],
)
def test_whatsapp_dates(tmp_path: Path, lines: str, times: int) -> None:
    file = tmp_path / "chat.txt"
    file.write_text(lines, encoding="utf-8")
    found = said(file, "whatsapp")
    assert [line for dialogue in found for line in dialogue] == ["Ann: hi", "Ben: ho"]
    assert len(found) == times


@pytest.mark.parametrize(
    ("dates", "dialogues"),
    [
        (
            ["03/04/2024, 10:00", "04/04/2024, 10:00"],
            2,
        ),  # the 3rd and 4th of April, or of March and April: a day or more
        (["11/01/2024, 10:00", "12/01/2024, 10:00", "13/01/2024, 10:00"], 3),
        (["1/11/24, 10:00 AM", "1/11/24, 10:30 AM", "1/13/24, 10:30 AM"], 2),
    ],
)
def test_the_order_of_day_and_month_is_found(tmp_path: Path, dates: list[str], dialogues: int) -> None:
    file = tmp_path / "chat.txt"
    file.write_text("".join(f"{date} - Ann: {place}\n" for place, date in enumerate(dates)))
    assert len(said(file, "whatsapp")) == dialogues


def test_whatsapp_joins_lines_and_skips_system_messages(tmp_path: Path) -> None:
    file = tmp_path / "Chat with Ann.txt"
    file.write_text(
        "31/12/2023, 21:14 - Messages and calls are end-to-end encrypted.\n"
        "31/12/2023, 21:15 - Ann: one: two\n\nthree\n"
        "31/12/2023, 21:15 - Ben: <Media omitted>\n"
        "31/12/2023, 21:16 - Ben: This message was deleted\n"
        "31/12/2023, 21:16 - Ben: \n"
        "31/12/2023, 21:17 - Ben: ok\n"
    )
    left_out: Counter[str] = Counter()
    assert said(file, "whatsapp", left_out=left_out) == [["Ann: one: two\n\nthree", "Ben: ok"]]
    assert left_out == {
        "said by the system": 1,
        "media without words": 1,
        "deleted by its sender": 1,
        "empty": 1,
    }


def test_iphone_system_messages_are_not_turns(tmp_path: Path) -> None:
    file = tmp_path / "chat.txt"
    file.write_text(
        "[31.12.23, 21:14:01] Ann: \u200eMessages and calls are end-to-end encrypted.\n"
        "[31.12.23, 21:15:01] Ann: I passed! \u200e<This message was edited>\n"
        "\u200e[31.12.23, 21:15:02] Ben: \u200eMissed voice call\n"
        "\u200e[31.12.23, 21:15:03] Ben: \u200eimage omitted\n"
        "[31.12.23, 21:16:04] Ben\u200e: well done\n",
        encoding="utf-8",
    )
    left_out: Counter[str] = Counter()
    assert said(file, "whatsapp", left_out=left_out) == [["Ann: I passed!", "Ben: well done"]]
    assert left_out == {"said by the system": 2, "media without words": 1}


def test_whatsapp_mistakes(tmp_path: Path) -> None:
    file = tmp_path / "chat.txt"
    file.write_text("hello\n")
    with pytest.raises(EmoscopeError, match=r"chat.txt, row 1: is no WhatsApp export"):
        said(file, "whatsapp")
    file.write_text("31/12/2023, 21:15 - Ann: hi\n41/12/2023, 21:15 - Ann: hi\n")
    with pytest.raises(EmoscopeError, match=r"chat.txt, row 2: has no such date"):
        said(file, "whatsapp")


def telegram(text: object, minute: int = 0, **more: object) -> dict[str, object]:
    date = f"2024-03-04T09:{minute:02}:00"
    return {"id": minute, "type": "message", "date": date, "from": "Ann", "from_id": "user1", "text": text, **more}


def test_telegram_one_chat(tmp_path: Path) -> None:
    messages = [
        {
            "id": 0,
            "type": "service",
            "date": "2024-03-04T09:00:00",
            "actor": "Ann",
            "action": "create_group",
            "text": "",
        },
        telegram("hi"),
        telegram(["so ", {"type": "bold", "text": "glad"}, "!"], 1, **{"from": None}),
        telegram("", 2, photo="a.jpg"),
        telegram("", 3),
    ]
    file = tmp_path / "result.json"
    file.write_text(json.dumps({"name": "x", "type": "personal_chat", "id": 1, "messages": messages}))
    left_out: Counter[str] = Counter()
    assert said(file, "telegram", left_out=left_out) == [["Ann: hi", "user1: so glad!"]]
    assert left_out == {"said by the system": 1, "media without words": 1, "empty": 1}


def test_telegram_all_chats(tmp_path: Path) -> None:
    chats = [{"id": number, "messages": [telegram(f"chat {number}")]} for number in (7, 8)]
    file = tmp_path / "result.json"
    file.write_text(json.dumps({"chats": {"list": chats}}))
    assert [dialogue.id for dialogue in read_chat(file, "telegram")] == ["result:7:1", "result:8:1"]


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ("[]", "is no Telegram export"),
        ('{"chats": 1}', "is no Telegram export"),
        ('{"messages": 1}', "expected a list of messages"),
        ('{"messages": [1]}', "message 1: expected an object, found int"),
        ('{"messages": [{"type": "message", "text": 1}]}', "message 1: 'text' must be a string or a list"),
        ('{"messages": [{"type": "message", "text": "a", "date": "now"}]}', "message 1: has no readable time"),
        ('{"messages": ', "is not valid JSON"),
    ],
)
def test_telegram_mistakes(tmp_path: Path, document: str, problem: str) -> None:
    file = tmp_path / "result.json"
    file.write_text(document)
    with pytest.raises(EmoscopeError, match=problem):
        said(file, "telegram")


def test_discord(tmp_path: Path) -> None:
    author = {"id": "1", "name": "ann", "nickname": "Annie"}
    rows: list[tuple[str, str, dict[str, object]]] = [
        ("GuildMemberJoin", "Joined the server.", {}),
        ("Default", "hi", {}),
        ("Reply", "yes", {"author": {"id": "2", "name": "ben", "nickname": None}}),
        ("Default", "", {"attachments": [{"url": "a.png"}]}),
    ]
    messages = [
        {"type": kind, "timestamp": f"2024-03-04T09:0{minute}:00.5+02:00", "content": text, "author": author, **more}
        for minute, (kind, text, more) in enumerate(rows)
    ]
    file = tmp_path / "orders.json"
    file.write_text(json.dumps({"guild": {}, "channel": {}, "messages": messages}))
    left_out: Counter[str] = Counter()
    assert said(file, "discord", left_out=left_out) == [["Annie: hi", "ben: yes"]]
    assert left_out == {"said by the system": 1, "media without words": 1}


def test_slack(tmp_path: Path) -> None:
    channel = tmp_path / "export" / "general"
    channel.mkdir(parents=True)
    (channel.parent / "users.json").write_text('[{"id": "U1", "name": "ann", "profile": {"display_name": "Annie"}}]')

    def message(text: str, at: int, **more: object) -> dict[str, object]:
        return {"type": "message", "user": "U1", "text": text, "ts": f"{1709543000 + at}.000100", **more}

    first = [
        message("<@U1> has joined", 0, subtype="channel_join"),
        message("see <https://x.org|this> &amp; <#C1|orders>", 1, thread_ts="1709543001.000100"),
        message("morning", 2),
    ]
    second = [message("answered later", 90_000, thread_ts="1709543001.000100", user="U9"), message("bye", 90_001)]
    (channel / "2024-03-04.json").write_text(json.dumps(first))
    (channel / "2024-03-05.json").write_text(json.dumps(second))
    found = {str(dialogue.id): dialogue.texts for dialogue in read_chat(channel.parent, "slack")}
    thread = "export:general:1709543001.000100"
    assert found == {
        "export:general:1": ("morning",),
        "export:general:2": ("bye",),
        f"{thread}:1": ("see https://x.org & #orders",),
        f"{thread}:2": ("answered later",),
    }


def test_folder_that_is_not_a_slack_export_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EmoscopeError, match="is no Slack export"):
        said(tmp_path, "slack")
    with pytest.raises(EmoscopeError, match="is no folder"):
        said(tmp_path / "x.json", "slack")
    with pytest.raises(EmoscopeError, match="unknown chat format 'icq'"):
        said(tmp_path, "icq")


def test_the_command(tmp_path: Path) -> None:
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    one.write_text(
        "31/12/2023, 21:15 - Ann: hi\n31/12/2023, 21:40 - Ben: ho\n31/12/2023, 21:41 - Ann: <Media omitted>\n"
    )
    other.write_text("31/12/2023, 21:15 - Cem: hey\n")
    target = tmp_path / "logs.jsonl"
    code, out, _ = run(
        "corpus", "collect", one, other, "-o", target, "--format", "whatsapp", "--gap-minutes", "20", "--json"
    )
    assert code == 0
    assert json.loads(out) == {"dialogues": 3, "turns": 3, "outside": 0, "left_out": {"media without words": 1}}
    assert [record.columns["id"] for record in read_records(str(target))] == ["one:1", "one:2", "other:1"]
    assert next(read_records(str(target))).dialogue.turns[0].speaker == "Ann"


@given(waits=st.lists(st.integers(0, 200), max_size=30), gap=st.integers(1, 120))
def test_every_message_is_in_one_dialogue_which_only_a_pause_ends(waits: list[int], gap: int) -> None:
    at = datetime(2024, 1, 1)
    messages = []
    for number, wait in enumerate(waits):
        at += timedelta(minutes=wait)
        messages.append(Message("A", str(number), at))
    found = list(sessions(messages, "x", gap=timedelta(minutes=gap)))
    assert [text for dialogue in found for text in dialogue.texts] == [str(number) for number in range(len(waits))]
    assert len(found) == (1 + sum(wait > gap for wait in waits[1:]) if waits else 0)
    assert len({dialogue.id for dialogue in found}) == len(found)
