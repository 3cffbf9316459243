"""Chat exports in JSON: Telegram Desktop's, Slack's folder, and DiscordChatExporter's."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeGuard

from emoscope.core.errors import InputError
from emoscope.core.files import read_json
from emoscope.corpus.sources.messages import Message, NoTurn
from emoscope.corpus.sources.sampling import as_moment

_SLACK_LINK = re.compile(r"<([@#!]?)([^|<>]+)(?:\|([^<>]*))?>")
_SLACK_MARKS = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
_SLACK_TURNS = (None, "thread_broadcast", "me_message")  # subtypes
_DISCORD_TURNS = {"Default", "Reply"}


def read_telegram(path: Path, left_out: Counter[str]) -> Iterator[Message]:
    """Stream the messages of `result.json`: one chat, or all chats of an account."""
    return telegram_messages(path, read_json(path), left_out)


def telegram_messages(path: str | Path, document: Any, left_out: Counter[str]) -> Iterator[Message]:
    """Stream the messages of a parsed export; `path` is its name in error messages.

    >>> said = {"type": "message", "from": "Ann", "text": ["hi ", {"text": "Ben"}], "date_unixtime": "1700000000"}
    >>> [message.text for message in telegram_messages("result.json", {"messages": [said]}, Counter())]
    ['hi Ben']
    """
    several = isinstance(document, dict) and "messages" not in document
    listed = document.get("chats") if several else None
    chats: Any = (listed.get("list") if isinstance(listed, dict) else None) if several else [document]
    if not isinstance(chats, list) or not isinstance(document, dict):
        raise InputError(path, "is no Telegram export: expected 'messages', or 'chats' with a 'list'")
    for chat_number, chat in enumerate(chats, start=1):
        place = str(chat.get("id", chat_number)) if several and isinstance(chat, dict) else ""
        for where, entry in _objects(path, chat, "messages", f"chat {chat_number}, " if several else ""):
            text = _joined(path, where, entry.get("text", "")).strip() if entry.get("type") == "message" else None
            if not _is_turn(text, {"file", "photo", "media_type"} & entry.keys(), left_out):
                continue
            # A deleted account has no name, but still has an id.
            speaker = str(entry.get("from") or entry.get("from_id") or "unknown")
            yield Message(speaker, text, _time(path, where, entry.get("date_unixtime") or entry.get("date")), place)


def read_discord(path: Path, left_out: Counter[str]) -> Iterator[Message]:
    """Stream the messages of one channel, as written by DiscordChatExporter."""
    document = read_json(path)
    for where, entry in _objects(path, document, "messages", ""):
        text = str(entry.get("content") or "").strip() if entry.get("type") in _DISCORD_TURNS else None
        if not _is_turn(text, entry.get("attachments") or entry.get("stickers"), left_out):
            continue
        author = entry.get("author")
        if not isinstance(author, dict):
            raise InputError(path, "has no 'author'", row=where)
        speaker = str(author.get("nickname") or author.get("name") or author.get("id") or "unknown")
        yield Message(speaker, text, _time(path, where, entry.get("timestamp")))


def read_slack(folder: Path, left_out: Counter[str]) -> Iterator[Message]:
    """Stream the messages of an export folder: `users.json`, and a folder per channel with a file per day.

    A thread is a separate place; its messages come after the channel's.
    """
    names = _slack_names(folder / "users.json")
    channels = sorted(path for path in folder.iterdir() if path.is_dir() and any(path.glob("*.json")))
    if not channels:
        raise InputError(folder, "is no Slack export: expected folders of channels with a .json file a day")
    for channel in channels:
        threads: dict[str, list[Message]] = {}
        for day in sorted(channel.glob("*.json")):
            for where, entry in _objects(day, {"messages": read_json(day)}, "messages", ""):
                spoken = entry.get("type") == "message" and entry.get("subtype") in _SLACK_TURNS
                text = _slack_text(str(entry.get("text") or ""), names).strip() if spoken else None
                if not _is_turn(text, entry.get("files"), left_out):
                    continue
                user = str(entry.get("user") or entry.get("bot_id") or "unknown")
                thread = entry.get("thread_ts")
                place = f"{channel.name}:{thread}" if thread else channel.name
                message = Message(names.get(user, user), text, _time(day, where, entry.get("ts")), place)
                if thread:
                    threads.setdefault(place, []).append(message)
                else:
                    yield message
        for place in sorted(threads):
            yield from sorted(threads[place], key=lambda message: message.time)


def _slack_text(text: str, names: dict[str, str]) -> str:
    """The text as Slack displays it: `<@U1>` is a user's name, `<https://x|there>` a link.

    >>> _slack_text("<@U1> see <https://x.org|this> &amp; that", {"U1": "ann"})
    '@ann see https://x.org & that'
    """

    def shown(link: re.Match[str]) -> str:
        kind, target, words = link.groups()
        if kind == "@":
            return f"@{names.get(target, words or target)}"
        return f"{kind.replace('!', '@')}{words or target}" if kind else target

    text = _SLACK_LINK.sub(shown, text)
    for mark, character in _SLACK_MARKS:
        text = text.replace(mark, character)
    return text


def _slack_names(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    names: dict[str, str] = {}
    for where, user in _objects(path, {"users": read_json(path)}, "users", ""):
        if not isinstance(user.get("id"), str):
            raise InputError(path, "has no 'id'", row=where)
        profile = user.get("profile")
        display_name = profile.get("display_name") if isinstance(profile, dict) else None
        names[user["id"]] = str(display_name or user.get("name") or user["id"])
    return names


def _is_turn(text: str | None, media: object, left_out: Counter[str]) -> TypeGuard[str]:
    """Whether a message has text; otherwise, count it in `left_out` by reason."""
    if not text:
        left_out[NoTurn.SYSTEM if text is None else NoTurn.MEDIA if media else NoTurn.EMPTY] += 1
    return bool(text)


def _objects(path: str | Path, holder: Any, key: str, within: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a list, each with its location for error messages."""
    entries = holder.get(key) if isinstance(holder, dict) else None
    if not isinstance(entries, list):
        raise InputError(path, f"{within}expected a list of {key}")
    for number, entry in enumerate(entries, start=1):
        where = f"{within}{key.removesuffix('s')} {number:,}"
        if not isinstance(entry, dict):
            raise InputError(path, f"expected an object, found {type(entry).__name__}", row=where)
        yield where, entry


def _joined(path: str | Path, where: str, text: Any) -> str:
    """Telegram's text: a string, or a list of strings and objects (bold text, links, mentions)."""
    parts = [text] if isinstance(text, str) else text
    if not isinstance(parts, list):
        raise InputError(path, "'text' must be a string or a list", row=where)
    return "".join(part if isinstance(part, str) else str(part.get("text", "")) for part in parts)


def _time(path: str | Path, where: str, value: Any) -> datetime:
    """Parse seconds since 1970 or an ISO 8601 date, in UTC unless it has a time zone."""
    moment = as_moment(value)
    if moment is None:
        raise InputError(path, f"has no readable time, found {str(value)[:40]!r}", row=where)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
