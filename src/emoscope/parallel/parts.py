"""Results of parts in files, so that a run that was killed resumes.

The parts depend on the input alone, and a file is named by a digest of all that its content depends on. So the results
are the same from any number of workers, and none is ever used for something else.
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
    """A folder of results, one file a part; `depends` names all that they depend on besides the parts.

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
        """Compute what is missing, and yield the files of all parts in order. At the end, files of other parts go."""
        salt = f"{len(self.depends)} {self.depends}".encode()
        known: set[str] = set()
        waiting: deque[tuple[Path, bool]] = deque()  # parts that were read and have no result yet

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
    """Parts that are done take their turn, but no time."""
    return part if part == _DONE else function(part)


def batches(items: Iterable[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the items in lists of `size`, as `itertools.batched` does from Python 3.12 on.

    >>> list(batches("abc", 2))
    [['a', 'b'], ['c']]
    """
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch
