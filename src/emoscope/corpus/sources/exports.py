"""Dialogues from chat exports: WhatsApp's .txt, from Android or an iPhone; `result.json` of Telegram Desktop, of one
chat or all; the folder of a Slack workspace export; a Discord channel's JSON from DiscordChatExporter.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import check_other_file
from emoscope.corpus.progress import ShowProgress, no_progress
from emoscope.corpus.sources.json_exports import read_discord, read_slack, read_telegram
from emoscope.corpus.sources.messages import GAP, ChatSession, Message, sessions
from emoscope.corpus.sources.sampling import DateRange
from emoscope.corpus.sources.whatsapp import read_whatsapp
from emoscope.tables import open_writer

ChatFormat = Literal["whatsapp", "telegram", "slack", "discord"]
CHAT_FORMATS: Mapping[str, Callable[[Path, Counter[str]], Iterator[Message]]] = {
    "whatsapp": read_whatsapp,
    "telegram": read_telegram,
    "slack": read_slack,
    "discord": read_discord,
}


def read_chat(
    path: str | Path, format: str, *, gap: timedelta = GAP, left_out: Counter[str] | None = None
) -> Iterator[ChatSession]:
    """Read the dialogues of an export, with speakers; a silence longer than `gap` ends a dialogue.

    Entries that are not turns (a photo without text, "Ann joined") are counted by reason in `left_out`.

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
    messages = CHAT_FORMATS[format](source, Counter() if left_out is None else left_out)
    return sessions(messages, source.stem if format != "slack" else source.name, gap=gap)


def collect_chats(
    paths: Sequence[Path],
    output: str,
    *,
    format: ChatFormat,
    gap: timedelta = GAP,
    dates: DateRange | None = None,
    progress: ShowProgress = no_progress,
) -> dict[str, Any]:
    """Write the dialogues of exports of one format as a table, and return the counts.

    With `dates`, write only dialogues that began in that range.
    """
    check_other_file(output, *paths)
    left_out: Counter[str] = Counter()
    dialogues = turns = outside = 0
    with open_writer(output) as writer:
        for path in paths:
            for dialogue in progress(path.name, read_chat(path, format, gap=gap, left_out=left_out)):
                if dates and dialogue.begun is not None and dialogue.begun not in dates:
                    outside += 1
                    continue
                dialogues += 1
                turns += len(dialogue)
                spoken = [{"speaker": turn.speaker, "text": turn.text} for turn in dialogue.turns]
                begun = None if dialogue.begun is None else dialogue.begun.isoformat(timespec="seconds")
                writer.write({"id": dialogue.id, "time": begun, "turns": spoken})
    reasons = {str(reason): left_out[reason] for reason in sorted(left_out)}
    return {"dialogues": dialogues, "turns": turns, "outside": outside, "left_out": reasons}
