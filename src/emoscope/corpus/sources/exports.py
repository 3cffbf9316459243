"""Dialogues from what chat programs export: WhatsApp, Telegram, Slack and Discord.

| format | is |
|---|---|
| `whatsapp` | the .txt of "export chat", from Android or an iPhone |
| `telegram` | `result.json` of Telegram Desktop, of one chat or all |
| `slack` | the folder of a workspace export |
| `discord` | a channel's JSON of DiscordChatExporter |
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.corpus.sources import json_exports as chat_json
from emoscope.corpus.sources import whatsapp as chat_whatsapp
from emoscope.corpus.sources.messages import GAP, Message, sessions

Reader = Callable[[Path, Counter[str]], Iterator[Message]]
CHAT_FORMATS: Mapping[str, Reader] = {
    "whatsapp": chat_whatsapp.read,
    "telegram": chat_json.read_telegram,
    "slack": chat_json.read_slack,
    "discord": chat_json.read_discord,
}


def read_chat(
    path: str | Path, format: str, *, gap: timedelta = GAP, dropped: Counter[str] | None = None
) -> Iterator[Dialogue]:
    """The dialogues of an export, with their speakers; a silence longer than `gap` ends one.

    What is no turn (a photo without words, "Ann joined") is left out, and counted by its reason in `dropped`.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "ann.txt"
    >>> _ = file.write_text("31/12/2023, 21:15 - Ann: hi\\n31/12/2023, 21:16 - Ben: hello\\nyou\\n")
    >>> [(dialogue.id, dialogue.turns[1]) for dialogue in read_chat(file, "whatsapp")]
    [('ann:1', Turn(text='hello\\nyou', speaker='Ben'))]
    """
    if format not in CHAT_FORMATS:
        raise EmoscopeError(f"unknown chat format {format!r}; expected one of: {', '.join(CHAT_FORMATS)}")
    source = Path(path)
    if format == "slack" and not source.is_dir():
        raise InputError(source, "is no folder, expected that of a Slack export")
    messages = CHAT_FORMATS[format](source, Counter() if dropped is None else dropped)
    return sessions(messages, source.stem if format != "slack" else source.name, gap=gap)
