"""Work on millions of dialogues in parts: a file for each part's result, so that a run that was killed goes on.

The parts depend on the input alone, and a file is named by all that its content depends on: what is done, and to what.
So the results are the same from any number of processes, and no result is ever used for something else.
"""

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Protocol, TypeVar

from emoscope.core.dialogue import Dialogue, Turn
from emoscope.core.files import atomic_write

P = TypeVar("P")
R = TypeVar("R")
Work = Callable[[bytes], bytes]
_NOTHING = b""


class Spread(Protocol):
    """`map`, or something like it that works on several parts at once, perhaps on other machines.

    It then pickles the function and the parts; the results come in the order of the parts either way.
    """

    def __call__(self, function: Callable[[P], R], parts: Iterable[P], /) -> Iterator[R]:
        """The results."""


def in_this_process(function: Callable[[P], R], parts: Iterable[P], /) -> Iterator[R]:
    """Part after part.

    >>> list(in_this_process(abs, [-1, 2]))
    [1, 2]
    """
    return map(function, parts)


def packed(dialogues: Iterable[Dialogue]) -> bytes:
    """The turns of dialogues as a part.

    >>> packed([Dialogue.of(["hi", {"speaker": "ann", "text": "hello"}])])
    b'[[["hi", null], ["hello", "ann"]]]'
    """
    return json.dumps([[(turn.text, turn.speaker) for turn in dialogue.turns] for dialogue in dialogues]).encode()


def unpacked(part: bytes) -> list[Dialogue]:
    """The dialogues whose turns were packed.

    >>> unpacked(b'[[["hi", null], ["hello", "ann"]]]')[0].texts
    ('hi', 'hello')
    """
    return [Dialogue(tuple(Turn(text, speaker) for text, speaker in turns)) for turns in json.loads(part)]


@dataclass(frozen=True, slots=True)
class PartFolder:
    """A folder of results. `depends` is all that they depend on besides the parts; `suffix` ends their names.

    >>> import tempfile
    >>> folder = PartFolder(Path(tempfile.mkdtemp()), "upper case", ".txt")
    >>> [path.read_text() for path in folder.fill([b"a", b"b"], bytes.upper)]
    ['A', 'B']
    """

    folder: Path
    depends: str
    suffix: str

    def fill(self, parts: Iterable[bytes], work: Work, spread: Spread = in_this_process) -> Iterator[Path]:
        """Work on the parts without a result; the files of all, in order. At the end, files of other parts go."""
        known: set[str] = set()
        waiting: deque[tuple[Path, bool]] = deque()  # those that are read and not done

        def missing() -> Iterator[bytes]:
            for number, part in enumerate(parts):
                path = self.folder / f"{number:05d}-{self._digest(part)}{self.suffix}"
                there = path.exists()
                known.add(path.name)
                waiting.append((path, there))
                yield _NOTHING if there else part

        for result in spread(_Unless(work), missing()):
            path, there = waiting.popleft()
            if not there:
                self.folder.mkdir(parents=True, exist_ok=True)
                with atomic_write(path, "wb") as handle:
                    handle.write(result)
            yield path
        name = re.compile(rf"\d{{5,}}-[0-9a-f]{{32}}{re.escape(self.suffix)}|\..*\.part")
        for old in self.folder.glob("*"):
            if name.fullmatch(old.name) and old.name not in known:
                old.unlink()

    def _digest(self, part: bytes) -> str:
        digest = blake2b(f"{len(self.depends)} {self.depends}".encode(), digest_size=16)
        digest.update(part)
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class _Unless:
    """The work, unless there is nothing to do: parts that are done take their turn, but no time."""

    work: Work

    def __call__(self, part: bytes) -> bytes:
        return part if part == _NOTHING else self.work(part)


def batches(items: Iterable[R], size: int) -> Iterator[Sequence[R]]:
    """The items, so many at a time.

    >>> list(batches("abc", 2))
    [['a', 'b'], ['c']]
    """
    found: list[R] = []
    for item in items:
        found.append(item)
        if len(found) == size:
            yield found
            found = []
    if found:
        yield found
