"""Annotation files of every kind, EmotionX files with their vote strings among them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from emoscope.core.errors import EmoscopeError, InputError

if TYPE_CHECKING:
    from emoscope.corpus.annotation.annotations import Judgement

FilesArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Judgements: CSV (task,worker,label), Label Studio JSON, doccano JSONL, folders of these, EmotionX JSON.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True)
class Panel:
    """The votes on each task and, unless they were cast without names, the judgements behind them."""

    votes: Mapping[str, Mapping[str, int]]
    judgements: "tuple[Judgement, ...]" = ()


def read_panel(paths: Sequence[Path]) -> Panel:
    """All files as one: annotations, or EmotionX files, whose tasks are `file:dialogue:turn`."""
    from emoscope.corpus.annotation.annotations import votes_of
    from emoscope.corpus.annotation.files import files_in, read_annotations

    files = files_in(paths)
    nameless = [_is_emotionx(path) for path in files]
    if all(nameless):
        return Panel(_emotionx_votes(files))
    if any(nameless):
        raise EmoscopeError(f"{files[nameless.index(True)]}: votes without names cannot be mixed with other files")
    said = read_annotations(files).judgements
    if not said:
        raise EmoscopeError(f"{', '.join(map(str, paths))}: no judgements")
    return Panel(votes_of(said), said)


def _is_emotionx(path: Path) -> bool:
    """EmotionX files are lists of lists, Label Studio's are lists of objects."""
    from emoscope.core.files import existing_file

    if path.suffix != ".json":
        return False
    with existing_file(path).open("rb") as handle:
        return b"".join(handle.read(1 << 12).removeprefix(b"\xef\xbb\xbf").split()).startswith(b"[[")


def _emotionx_votes(files: Sequence[Path]) -> dict[str, Mapping[str, int]]:
    from emoscope.tasks import get_task

    task = get_task("emotionx-friends")  # both have the same format
    found: dict[str, Mapping[str, int]] = {}
    for path in files:
        before = len(found)
        for example in task.read(path):
            if any(example.votes.values()):
                name = f"{path.stem}:{example.dialogue.id}:{example.turn}"
                if name in found:
                    raise InputError(path, "was read already")
                found[name] = example.votes
        if len(found) == before:
            raise InputError(path, "holds no votes: no utterance has an 'annotation'")
    return found
