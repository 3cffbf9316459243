"""Cut dialogues into three-turn windows of user, agent, user, as in EmoContext; random samples."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from random import Random
from typing import TypeVar

from emoscope.core.dialogue import Dialogue, Turn
from emoscope.core.errors import InputError
from emoscope.core.files import check_other_file
from emoscope.corpus.progress import ShowProgress, no_progress
from emoscope.tables import PIPE, Record, open_writer, read_records

T = TypeVar("T")
SIZE = 3
_SPEAKERS, _NAMED = 1000, 8  # names remembered for an error message, and names it lists


def windows(dialogue: Dialogue, *, user: str | None = None) -> Iterator[Dialogue]:
    """Every window of user, agent, user, in order.

    If speakers are known, consecutive turns of one speaker are merged, and `user` names who begins and ends a window
    (by default, anyone). If not, the user is assumed to begin and the two to alternate; with a named `user` there are
    then no windows.

    >>> [window.texts for window in windows(Dialogue.of(["a", "b", "c", "d", "e"]))]
    [('a', 'b', 'c'), ('c', 'd', 'e')]
    """
    known = all(turn.speaker is not None for turn in dialogue.turns)
    if user is not None and not known:
        return
    turns = _merged(dialogue.turns) if known else dialogue.turns
    for start in range(0, len(turns) - SIZE + 1, 1 if known else 2):
        first, _, last = window = turns[start : start + SIZE]
        if not known or (first.speaker == last.speaker and user in (None, first.speaker)):
            yield Dialogue(window, None if dialogue.id is None else f"{dialogue.id}:{start}")


def _merged(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    return tuple(
        Turn(" ".join(turn.text for turn in consecutive), speaker)
        for speaker, consecutive in groupby(turns, key=lambda turn: turn.speaker)
    )


def sample(items: Iterable[T], size: int, *, seed: int) -> list[T]:
    """Draw a uniform random sample of a stream, in its order; only the sample is held in memory.

    >>> sample("abc", 5, seed=1), len(sample(range(1000), 5, seed=1))
    (['a', 'b', 'c'], 5)
    """
    random = Random(seed)
    drawn: list[tuple[int, T]] = []
    for position, item in enumerate(items):
        if position < size:
            drawn.append((position, item))
        elif (place := random.randrange(position + 1)) < size:
            drawn[place] = (position, item)
    return [item for _, item in sorted(drawn, key=lambda pair: pair[0])]


def write_windows(
    source: str,
    output: str,
    *,
    user: str | None = None,
    size: int | None = None,
    seed: int = 1,
    format: str | None = None,
    progress: ShowProgress = no_progress,
) -> dict[str, int]:
    """Cut every dialogue of a table, write all windows or a sample of `size`, and return the counts."""
    if PIPE not in (source, output):
        check_other_file(output, source)
    counts = {"read": 0, "without": 0, "windows": 0, "written": 0}
    speakers: Counter[str] = Counter()

    def cut_windows(records: Iterator[Record]) -> Iterator[Dialogue]:
        for record in records:
            speakers.update(
                turn.speaker
                for turn in record.dialogue.turns
                if turn.speaker is not None and (turn.speaker == user or len(speakers) < _SPEAKERS)
            )
            name = record.columns.get("id")
            cuts = list(windows(Dialogue(record.dialogue.turns, str(record.row if name is None else name)), user=user))
            counts["read"] += 1
            counts["without"] += not cuts
            counts["windows"] += len(cuts)
            yield from cuts
        if user is not None and user not in speakers:
            raise InputError(source, f"no turn of the user {user!r}; {_listed(speakers)}")

    with open_writer(output) as writer:
        cuts = cut_windows(progress("dialogues", read_records(source, format)))
        for window in cuts if size is None else sample(cuts, size, seed=seed):
            turns = {f"turn{number}": text for number, text in enumerate(window.texts, start=1)}
            writer.write({"id": window.id, **turns})
            counts["written"] += 1
    return counts


def _listed(speakers: Counter[str]) -> str:
    if not speakers:
        return "its turns name no speakers"
    shown = ", ".join(repr(name) for name, _ in speakers.most_common(_NAMED))
    return f"its speakers are {shown}" + (" and others" if len(speakers) > _NAMED else "")
