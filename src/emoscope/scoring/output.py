"""The output folder of a run, local or remote (`s3://bucket/scores`); files are written whole or not at all."""

import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, Any

from emoscope.core.errors import EmoscopeError
from emoscope.core.files import atomic_write
from emoscope.scoring.lock import LOCK, lock_address, lock_folder
from emoscope.tables.files import address, file_system, is_local, is_store

PLAN, MANIFEST = "plan.json", "manifest.json"
SCORES, REJECTS = "scores", "rejects"
STAGED = "staged"
UNREADABLE = f"{REJECTS}/files.jsonl"


def scores_file(part: int) -> str:
    """The file of a part's scores.

    >>> scores_file(7)
    'scores/part-00007.parquet'
    """
    return f"{SCORES}/part-{part:05d}.parquet"


def staged_file(number: int) -> str:
    """The temporary copy of an input, by its number in the plan."""
    return f"{STAGED}/file-{number:05d}.parquet"


def rejects_file(part: int) -> str:
    """The file of a part's rejects; it does not exist if all rows were scored."""
    return f"{REJECTS}/part-{part:05d}.jsonl"


class OutputFolder:
    """A local or remote folder, whose files are named relative to it."""

    def __init__(self, root: str) -> None:
        self._system, self._root = file_system(root)
        self._local = is_local(self._system)
        self.path = address(self._system, self._root)

    def __reduce__(self) -> tuple[type["OutputFolder"], tuple[str]]:
        return OutputFolder, (self.path,)

    def lock(self) -> AbstractContextManager[None]:
        """Lock the folder against other runs."""
        bucket = self._root.strip("/").split("/")[0]
        with self._reached(), suppress(PermissionError):  # we may be allowed to write but not to list
            if is_store(self._system) and not self._system.exists(bucket):  # or it is unreachable, which `ls` reports
                try:
                    self._system.ls(bucket, detail=False)
                except FileNotFoundError:  # more likely a typo than a bucket to create
                    raise EmoscopeError(f"{self.path}: there is no bucket {bucket!r}") from None
        if self._local and sys.platform != "win32":
            return lock_folder(Path(self._root))
        return self._lock_address()

    @contextmanager
    def _lock_address(self) -> Iterator[None]:
        with ExitStack() as stack:
            with self._reached():
                stack.enter_context(lock_address(self._system, self._root, self.path))
            yield

    def prepare(self) -> None:
        with self._reached():
            for folder in (SCORES, REJECTS, STAGED) if not is_store(self._system) else ():  # stores have no folders
                self._system.makedirs(self._at(folder), exist_ok=True)

    def tidy(self) -> None:
        """Remove partial files that killed workers left behind."""
        if self._local:
            for folder in (SCORES, REJECTS, STAGED):
                for partial in Path(self._at(folder)).glob(".*.part"):
                    partial.unlink(missing_ok=True)

    def remove_staged(self) -> None:
        """Remove the copies of inputs."""
        with suppress(FileNotFoundError):
            self._system.rm(self._at(STAGED), recursive=True)

    def is_empty(self) -> bool:
        with self._reached():
            self._system.invalidate_cache()
            if not self._system.exists(self._root):
                return True
            return all(PurePosixPath(path).name == LOCK for path in self._system.ls(self._root, detail=False))

    def has(self, name: str) -> bool:
        with self._reached():
            return bool(self._system.exists(self._at(name)))

    def sizes(self, folder: str) -> dict[str, int]:
        """The sizes of a folder's files by name, from one listing."""
        with self._reached():
            self._system.invalidate_cache()
            if not self._system.exists(self._at(folder)):
                return {}
            listed = self._system.ls(self._at(folder), detail=True)
            return {f"{folder}/{PurePosixPath(info['name']).name}": int(info["size"] or 0) for info in listed}

    @contextmanager
    def write(self, name: str) -> Iterator[IO[bytes]]:
        """Open a file that appears only when the block ends without an error."""
        if self._local:
            with atomic_write(self._at(name), "wb") as handle:
                yield handle
            return
        try:
            # A remote file appears when its upload ends, which starts when everything is written.
            with tempfile.NamedTemporaryFile(suffix=".part") as handle:
                yield handle
                handle.flush()
                self._system.put_file(handle.name, self._at(name))
        except OSError as error:
            raise EmoscopeError(f"{self.path}/{name}: could not be written ({error.strerror or error})") from None

    def write_json(self, name: str, value: Mapping[str, Any]) -> None:
        """Write a JSON object with one line per list item; fast even with a million items."""
        with self.write(name) as handle:
            handle.writelines(text.encode() for text in _json_text(value))

    def write_jsonl(self, name: str, rows: Iterable[Any]) -> None:
        with self.write(name) as handle:
            handle.writelines((json.dumps(row, ensure_ascii=False) + "\n").encode() for row in rows)

    def read_json(self, name: str) -> Any:
        """Read what `write_json` wrote."""
        try:
            return json.loads(self._system.cat_file(self._at(name)))
        except (OSError, ValueError) as error:
            raise EmoscopeError(f"{self.path}/{name}: was not written by a run ({error})") from None

    def at(self, name: str) -> str:
        """The path or URL of a file."""
        return address(self._system, self._at(name))

    @contextmanager
    def _reached(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise EmoscopeError(f"{self.path}: cannot write here ({error.strerror or error})") from None

    def _at(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"


def _json_text(value: Mapping[str, Any]) -> Iterator[str]:
    before = "{\n "
    for key, content in value.items():
        yield f"{before}{json.dumps(key)}: "
        if isinstance(content, list) and content:
            for number, item in enumerate(content):
                yield f"{',' if number else '['}\n  {json.dumps(item, ensure_ascii=False)}"
            yield "\n ]"
        else:
            yield json.dumps(content, ensure_ascii=False)
        before = ",\n "
    yield "\n}\n"
