"""What steps hand to each other: dialogues as JSONL, a row each, in `dialogues.jsonl`.

A row has `id`, `turns` (`{"speaker", "text"}`, or `{"text"}` where nobody knows who spoke) and `source`, the id of the
dialogue it was cut from. Steps add `draw` (how it came to be chosen), `label`, `votes`, `soft` and `variants`.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from emoscope.core.dialogue import Dialogue, Turn

ROWS = "dialogues.jsonl"
Row = dict[str, Any]


def read_rows(folder: Path, name: str = ROWS) -> Iterator[Row]:
    """Stream the rows that a step has left."""
    with (folder / name).open(encoding="utf-8", newline="\n") as handle:
        for line in handle:
            yield json.loads(line)


class RowsFile:
    """Writes rows and counts them."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self.written = 0

    def write(self, row: Mapping[str, Any]) -> None:
        """Write one row."""
        self._handle.write(json.dumps(row, ensure_ascii=False) + "\n")
        self.written += 1


@contextmanager
def rows_file(folder: Path, name: str = ROWS) -> Iterator[RowsFile]:
    """The file a step writes its rows into; the folder as a whole appears only when the step is done."""
    with (folder / name).open("w", encoding="utf-8", newline="\n") as handle:
        yield RowsFile(handle)


def dialogue_of(row: Mapping[str, Any]) -> Dialogue:
    """A row's dialogue.

    >>> dialogue_of({"id": "a:1", "turns": [{"speaker": "user", "text": "hi"}]}).turns
    (Turn(text='hi', speaker='user'),)
    """
    return Dialogue(tuple(Turn(turn["text"], turn.get("speaker")) for turn in row["turns"]), row["id"])


def turns_of(dialogue: Dialogue) -> list[dict[str, str]]:
    """A dialogue's turns as a row holds them.

    >>> turns_of(Dialogue.of(["hi"]))
    [{'text': 'hi'}]
    """
    return [
        {"text": writable(turn.text)}
        if turn.speaker is None
        else {"speaker": turn.speaker, "text": writable(turn.text)}
        for turn in dialogue.turns
    ]


def writable(text: str) -> str:
    """The text without halves of characters, as broken JSON holds them: UTF-8 cannot write those."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def text_of(row: Mapping[str, Any]) -> str:
    r"""What a row's dialogue says, a turn a line.

    >>> text_of({"turns": [{"text": "hi"}, {"text": "hello"}]})
    'hi\nhello'
    """
    return "\n".join(turn["text"] for turn in row["turns"])


def wordings_of(row: Mapping[str, Any]) -> Iterator[str]:
    """What a row says, and what it says with its last turn in each of its other wordings."""
    yield text_of(row)
    for variant in row.get("variants", {}).values():
        yield "\n".join([*(turn["text"] for turn in row["turns"][:-1]), variant])
