"""The files of a step's folder, mainly the rows passed between steps, as JSONL in `dialogues.jsonl`.

A row has `id`, `turns` (`{"speaker", "text"}`, or `{"text"}` if the speaker is unknown) and `source`, the id of the
dialogue it was cut from. Steps add `draw` (how it was chosen), `label`, `votes`, `soft` and `variants`.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from emoscope.core.dialogue import Dialogue, Turn
from emoscope.tasks.data import sha256_of

ROWS, COUNTS, RECORD = "dialogues.jsonl", "counts.json", "step.json"
Row = dict[str, Any]


def read_rows(folder: Path, name: str = ROWS) -> Iterator[Row]:
    """Stream the rows of a step's folder."""
    with (folder / name).open(encoding="utf-8", newline="\n") as handle:
        for line in handle:
            yield json.loads(line)


def digests(folder: Path) -> dict[str, str]:
    """The sha256 of every file in a step's folder, except its own record."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / RECORD)
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in files}


def dialogue_of(row: Mapping[str, Any]) -> Dialogue:
    """A row's dialogue.

    >>> dialogue_of({"id": "a:1", "turns": [{"speaker": "user", "text": "hi"}]}).turns
    (Turn(text='hi', speaker='user'),)
    """
    return Dialogue(tuple(Turn(turn["text"], turn.get("speaker")) for turn in row["turns"]), row["id"])


def turns_of(dialogue: Dialogue) -> list[dict[str, str]]:
    """A dialogue's turns in row format.

    >>> turns_of(Dialogue.of(["hi"]))
    [{'text': 'hi'}]
    """
    return [
        {
            **({} if turn.speaker is None else {"speaker": turn.speaker}),
            # Broken JSON may contain lone surrogates, which UTF-8 cannot encode.
            "text": turn.text.encode("utf-8", "replace").decode("utf-8"),
        }
        for turn in dialogue.turns
    ]


def text_of(row: Mapping[str, Any]) -> str:
    r"""The text of a row's dialogue, one turn per line.

    >>> text_of({"turns": [{"text": "hi"}, {"text": "hello"}]})
    'hi\nhello'
    """
    return "\n".join(turn["text"] for turn in row["turns"])


def paraphrases_of(row: Mapping[str, Any]) -> Iterator[str]:
    """The text of a row's dialogue, then its text with each variant of the last turn."""
    yield text_of(row)
    for variant in row.get("variants", {}).values():
        yield "\n".join([*(turn["text"] for turn in row["turns"][:-1]), variant])
