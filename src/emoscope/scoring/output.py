"""The folder a run writes: each file whole or not at all, here or at an address such as `s3://bucket/scores`."""

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
from emoscope.tables.files import address, file_system, is_local, is_store, open_parquet

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
    """The copy of an input, by its number in the plan, while a run needs it."""
    return f"{STAGED}/file-{number:05d}.parquet"


def rejects_file(part: int) -> str:
    """The file of a part's rejects; there is none if all its rows were scored."""
    return f"{REJECTS}/part-{part:05d}.jsonl"


class OutputFolder:
    """A folder of files, by their names in it."""

    def __init__(self, root: str) -> None:
        self._system, self._root = file_system(root)
        self._local = is_local(self._system)
        self.path = address(self._system, self._root)

    def __reduce__(self) -> tuple[type["OutputFolder"], tuple[str]]:
        return OutputFolder, (self.path,)

    def lock(self) -> AbstractContextManager[None]:
        """Hold the folder against other runs."""
        bucket = self._root.strip("/").split("/")[0]
        with self._reached(), suppress(PermissionError):  # who may write need not be allowed to look
            if is_store(self._system) and not self._system.exists(bucket):  # or it cannot be reached, which `ls` says
                try:
                    self._system.ls(bucket, detail=False)
                except FileNotFoundError:  # more likely mistyped than to be made
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
        """Remove what killed workers of this run, or of the one it continues, left half written."""
        if self._local:
            for folder in (SCORES, REJECTS, STAGED):
                for begun in Path(self._at(folder)).glob(".*.part"):
                    begun.unlink(missing_ok=True)

    def remove_staged(self) -> None:
        """Remove the copies of inputs, once all is scored."""
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
        """The files of a folder, by their names in the whole, and their sizes; asked for all at once."""
        with self._reached():
            self._system.invalidate_cache()
            if not self._system.exists(self._at(folder)):
                return {}
            listed = self._system.ls(self._at(folder), detail=True)
            return {f"{folder}/{PurePosixPath(info['name']).name}": int(info["size"] or 0) for info in listed}

    @contextmanager
    def write(self, name: str) -> Iterator[IO[bytes]]:
        """Open a file that appears, whole, when the block ends without an error."""
        if self._local:
            with atomic_write(self._at(name), "wb") as handle:
                yield handle
            return
        try:
            # Elsewhere a file appears whole when its upload ends, which begins when all is written.
            with tempfile.NamedTemporaryFile(suffix=".part") as handle:
                yield handle
                handle.flush()
                self._system.put_file(handle.name, self._at(name))
        except OSError as error:
            raise EmoscopeError(f"{self.path}/{name}: could not be written ({error.strerror or error})") from None

    def write_json(self, name: str, value: Mapping[str, Any]) -> None:
        """Write a JSON object, each item of its lists on a line of its own: quick also where there are a million."""
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
            raise EmoscopeError(f"{self.path}/{name}: is not what a run wrote ({error})") from None

    @contextmanager
    def parquet(self, name: str) -> Iterator[Any]:
        with open_parquet(self.at(name)) as file:
            yield file

    def at(self, name: str) -> str:
        """The address of a file."""
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
