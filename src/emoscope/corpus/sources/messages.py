"""Chat messages, and how they are grouped into dialogues: a long silence ends a dialogue."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import groupby

from emoscope.core.dialogue import Dialogue, Turn

GAP = timedelta(hours=1)


class NoTurn(StrEnum):
    """Why an entry of a chat export is not a turn."""

    SYSTEM = "said by the system"
    MEDIA = "media without words"
    DELETED = "deleted by its sender"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Message:
    """A message and its time; `place` is the chat, channel or thread within an export."""

    speaker: str
    text: str
    time: datetime
    place: str = ""


@dataclass(frozen=True, slots=True)
class ChatSession(Dialogue):
    """A dialogue from a chat, and the time of its first message."""

    begun: datetime | None = None


def sessions(messages: Iterable[Message], name: str, *, gap: timedelta = GAP) -> Iterator[ChatSession]:
    """The dialogues of a chat: messages in one place, each at most `gap` after the previous one.

    >>> at = datetime(2024, 1, 1, 9)
    >>> messages = [Message("A", "hi", at), Message("B", "hello", at), Message("A", "back", at + timedelta(days=1))]
    >>> [(dialogue.id, dialogue.texts) for dialogue in sessions(messages, "chat")]
    [('chat:1', ('hi', 'hello')), ('chat:2', ('back',))]
    """
    for place, chat in groupby(messages, key=lambda message: message.place):
        prefix = f"{name}:{place}:" if place else f"{name}:"
        number = 1
        turns: list[Turn] = []
        begun = last = None
        for message in chat:
            # A clock set back is not a silence.
            if last is not None and message.time - last > gap:
                yield ChatSession(tuple(turns), f"{prefix}{number}", begun)
                number += 1
                turns, begun = [], None
            turns.append(Turn(message.text, message.speaker))
            begun, last = begun or message.time, message.time
        yield ChatSession(tuple(turns), f"{prefix}{number}", begun)
