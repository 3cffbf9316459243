"""Labelled examples as JSONL, a line each: the files of a corpus.

| key | is |
|---|---|
| `id` | the example's name, once in a file |
| `turns` | the dialogue: a list of texts, or of `{"speaker", "text"}` |
| `turn` | which turn the label is of, from 0; the last, if not given |
| `label` | the label; absent where it is not known |
| `votes` | how many annotators chose each label |
| `variants` | other wordings of that turn, such as back-translations, by name |

Other keys are left alone.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.tables.reading import Record, read_records
from emoscope.tables.turns import turn_list


def read_labelled(path: str | Path) -> Iterator[Example]:
    """Stream the examples of a file; the first bad row is an InputError.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "train.jsonl"
    >>> _ = file.write_text('{"id": "7", "turns": ["hi", "I lost my keys"], "label": "sad"}\\n')
    >>> [(example.dialogue.id, example.text, example.label) for example in read_labelled(file)]
    [('7', 'I lost my keys', 'sad')]
    """
    seen: set[str] = set()
    for record in read_records(str(path), "jsonl"):
        example = _example(path, record)
        name = str(example.dialogue.id)
        if name in seen:
            raise InputError(path, f"id {name!r} was used already", row=record.row)
        seen.add(name)
        yield example


def _example(path: str | Path, record: Record) -> Example:
    columns = record.columns
    name, label = columns.get("id"), columns.get("label")
    if not isinstance(name, str | int) or isinstance(name, bool) or not str(name).strip():
        raise InputError(path, "'id' is missing", row=record.row)
    if label is not None and (not isinstance(label, str) or not label.strip()):
        raise InputError(path, "'label' must be a string", row=record.row)
    votes = _mapping(path, record, "votes", int)
    variants = _mapping(path, record, "variants", str)
    turn = columns.get("turn", len(record.dialogue) - 1)
    if not isinstance(turn, int) or isinstance(turn, bool):
        raise InputError(path, "'turn' must be a whole number", row=record.row)
    if "turn" in columns and len(record.dialogue) != len(turn_list(columns.get("turns", [*record.dialogue.turns]))):
        problem = "'turn' counts turns, but messages of the roles system, developer and tool are none"
        raise InputError(path, problem, row=record.row)
    try:
        return Example(Dialogue(record.dialogue.turns, str(name)), turn, label, votes, variants)
    except EmoscopeError as error:
        raise InputError(path, str(error), row=record.row) from None


def _mapping(path: str | Path, record: Record, name: str, kind: type) -> Mapping[str, Any]:
    value = record.columns.get(name) or {}
    if not isinstance(value, dict) or not all(type(item) is kind for item in value.values()):
        raise InputError(path, f"{name!r} must be an object of {kind.__name__} values", row=record.row)
    return MappingProxyType(value)
