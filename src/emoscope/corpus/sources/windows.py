"""Three turns at a time, user, agent, user, as EmoContext's dialogues were cut from longer ones; and fair samples."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TypeVar

from emoscope.core.dialogue import Dialogue, Turn

T = TypeVar("T")
SIZE = 3


def windows(dialogue: Dialogue, *, user: str | None = None) -> Iterator[Dialogue]:
    """Every window of user, agent, user, from the first to the last.

    Where speakers are known, what one says in a row is one turn, and `user` names whose turns begin and end a window
    (without it, anyone's may). Where they are not, the user begins and the two take turns.

    >>> [window.texts for window in windows(Dialogue.of(["a", "b", "c", "d", "e"]))]
    [('a', 'b', 'c'), ('c', 'd', 'e')]
    """
    known = all(turn.speaker is not None for turn in dialogue.turns)
    turns = _merged(dialogue.turns) if known else dialogue.turns
    for start in range(0, len(turns) - SIZE + 1, 1 if known else 2):
        first, _, last = found = turns[start : start + SIZE]
        if not known or (first.speaker == last.speaker and user in (None, first.speaker)):
            yield Dialogue(found, None if dialogue.id is None else f"{dialogue.id}:{start}")


def _merged(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """What one speaker says in a row, as one turn."""
    return tuple(
        Turn(" ".join(turn.text for turn in said), speaker)
        for speaker, said in groupby(turns, key=lambda turn: turn.speaker)
    )


def sample(items: Iterable[T], size: int, *, seed: int) -> list[T]:
    """So many of the items, each equally likely to be among them, in their order; only these are held in memory.

    >>> sample("abc", 5, seed=1), len(sample(range(1000), 5, seed=1))
    (['a', 'b', 'c'], 5)
    """
    from random import Random

    random = Random(seed)
    kept: list[tuple[int, T]] = []
    for position, item in enumerate(items):
        if position < size:
            kept.append((position, item))
        elif (place := random.randrange(position + 1)) < size:
            kept[place] = (position, item)
    return [item for _, item in sorted(kept, key=lambda pair: pair[0])]
