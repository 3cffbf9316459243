"""What a long run has done so far: a file beside the output that grows batch by batch and outlives a kill."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError


class Journal:
    """Entries, a line each, of a run with certain settings; what a run with other settings left is thrown away.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "journal"
    >>> Journal(path, {"seed": 1}).append([1, 2])
    >>> list(Journal(path, {"seed": 1}).entries()), list(Journal(path, {"seed": 2}).entries())
    ([[1, 2]], [])
    """

    def __init__(self, path: str | Path, settings: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self._header = (json.dumps(settings, sort_keys=True) + "\n").encode()
        try:
            self.length = self._kept_entries()
        except OSError as error:
            raise EmoscopeError(f"{self.path}: cannot be written ({error.strerror or error})") from None

    def _kept_entries(self) -> int:
        """Count the whole entries of such a run, and cut off what a kill left half written."""
        if not self.path.parent.is_dir():
            raise EmoscopeError(f"{self.path.parent}: no such folder to write into")
        if self.path.exists():
            with self.path.open("r+b") as handle:
                if handle.readline() == self._header:
                    length, end = 0, handle.tell()
                    for line in handle:
                        if not line.endswith(b"\n"):
                            break
                        length, end = length + 1, end + len(line)
                    handle.truncate(end)
                    return length
        self.path.write_bytes(self._header)
        return 0

    def append(self, entry: Any) -> None:
        """Add an entry; it is on the disk when this returns."""
        with self.path.open("ab") as handle:
            handle.write((json.dumps(entry, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass"))
            handle.flush()
            os.fsync(handle.fileno())
        self.length += 1

    def entries(self) -> Iterator[Any]:
        """All entries, streamed, first to last."""
        with self.path.open("rb") as handle:
            handle.readline()
            for line in handle:
                yield json.loads(line.decode("utf-8", "surrogatepass"))

    def remove(self) -> None:
        """Take the file away: the run is complete."""
        self.path.unlink(missing_ok=True)
