"""Results of parts in files, so that a killed run resumes.

The parts depend on the input alone, and a file is named by a digest of everything its content depends on. So the
results are the same with any number of workers, and a stale one is never used.
"""

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import TypeVar

from emoscope.core.dialogue import Dialogue, Turn
from emoscope.core.files import write_file
from emoscope.parallel.executor import SERIAL, Executor

T = TypeVar("T")
_DONE = b""


def packed(dialogues: Iterable[Dialogue]) -> bytes:
    """Serialise the turns of dialogues.

    >>> packed([Dialogue.of(["hi", {"speaker": "ann", "text": "hello"}])])
    b'[[["hi", null], ["hello", "ann"]]]'
    """
    return json.dumps([[(turn.text, turn.speaker) for turn in dialogue.turns] for dialogue in dialogues]).encode()


def unpacked(part: bytes) -> list[Dialogue]:
    """Read the dialogues that `packed` wrote.

    >>> unpacked(b'[[["hi", null], ["hello", "ann"]]]')[0].texts
    ('hi', 'hello')
    """
    return [Dialogue(tuple(Turn(text, speaker) for text, speaker in turns)) for turns in json.loads(part)]


@dataclass(frozen=True, slots=True)
class PartFolder:
    """A folder of results, one file per part; `depends` names everything they depend on besides the parts.

    >>> import tempfile
    >>> folder = PartFolder(Path(tempfile.mkdtemp()), "upper case", ".txt")
    >>> [path.read_text() for path in folder.fill([b"a", b"b"], bytes.upper)]
    ['A', 'B']
    """

    folder: Path
    depends: str
    suffix: str

    def fill(
        self, parts: Iterable[bytes], function: Callable[[bytes], bytes], executor: Executor = SERIAL
    ) -> Iterator[Path]:
        """Compute the missing results and yield the files of all parts in order, then remove files of other parts."""
        salt = f"{len(self.depends)} {self.depends}".encode()
        known: set[str] = set()
        waiting: deque[tuple[Path, bool]] = deque()  # parts without a result yet

        def missing() -> Iterator[bytes]:
            for number, part in enumerate(parts):
                digest = blake2b(salt + part, digest_size=16).hexdigest()
                path = self.folder / f"{number:05d}-{digest}{self.suffix}"
                exists = path.exists()
                known.add(path.name)
                waiting.append((path, exists))
                yield _DONE if exists else part

        for result in executor.map(partial(_unless_done, function), missing()):
            path, exists = waiting.popleft()
            if not exists:
                self.folder.mkdir(parents=True, exist_ok=True)
                write_file(path, result)
            yield path
        name = re.compile(rf"\d{{5,}}-[0-9a-f]{{32}}{re.escape(self.suffix)}|\..*\.part")
        for old in self.folder.glob("*"):
            if name.fullmatch(old.name) and old.name not in known:
                old.unlink()


def _unless_done(function: Callable[[bytes], bytes], part: bytes) -> bytes:
    """Skip parts that are already done."""
    return part if part == _DONE else function(part)


def batches(items: Iterable[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the items in lists of `size`, as `itertools.batched` does from Python 3.12 on.

    >>> list(batches("abc", 2))
    [['a', 'b'], ['c']]
    """
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch
