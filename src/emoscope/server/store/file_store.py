"""Files named by the hash of their content, synced to disk before anything refers to them."""

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from emoscope.server.errors import StoreUnavailable, TooLarge

if TYPE_CHECKING:
    from _typeshed import SupportsRead

Area = Literal["submissions", "unlabelled", "gold"]
_CHUNK = 1 << 16
_LARGEST = 1 << 32  # of the operator's files
_STRAY_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that was synced to disk."""

    sha256: str
    size: int
    path: Path


class FileStore:
    """Private folders for submissions, unlabelled data and gold files.

    >>> import io, tempfile
    >>> store = FileStore(Path(tempfile.mkdtemp()))
    >>> with store.incoming(io.BytesIO(b"happy"), limit=10) as part:
    ...     stored = store.keep(part, "submissions")
    >>> store.path("submissions", stored.sha256).read_bytes()
    b'happy'
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        try:
            for name in ("incoming", "submissions", "unlabelled", "gold"):
                folder = root / name
                folder.mkdir(parents=True, exist_ok=True)
                folder.chmod(0o700)
        except OSError as error:
            raise StoreUnavailable(f"{root}: cannot keep files here ({error.strerror})") from None

    def path(self, area: Area, sha256: str) -> Path:
        """The path of the file with this hash."""
        return self.root / area / sha256[:2] / sha256

    @contextmanager
    def incoming(self, upload: "SupportsRead[bytes]", *, limit: int) -> Iterator[StoredFile]:
        """Receive an upload into a temporary file, which is removed after the block."""
        with _disk_errors():
            descriptor, name = tempfile.mkstemp(dir=self.root / "incoming", suffix=".part")
        part, digest, size = Path(name), hashlib.sha256(), 0
        try:
            with _disk_errors(), os.fdopen(descriptor, "wb") as handle:
                while chunk := upload.read(_CHUNK):
                    size += len(chunk)
                    if size > limit:
                        raise TooLarge(f"the file is larger than the limit of {limit:,} bytes", field="file")
                    digest.update(chunk)
                    handle.write(chunk)
                handle.flush()
                os.fsync(handle.fileno())
            yield StoredFile(digest.hexdigest(), size, part)
        finally:
            part.unlink(missing_ok=True)

    def keep(self, part: StoredFile, area: Area) -> StoredFile:
        """Move a received file to its place, and sync it to disk."""
        target = self.path(area, part.sha256)
        with _disk_errors():
            if not target.exists():
                target.parent.mkdir(mode=0o700, exist_ok=True)
                link = target.with_name(f"{target.name}.{part.path.stem}")
                os.link(part.path, link)
                link.replace(target)
            for folder in (target.parent, target.parent.parent):
                _sync_folder(folder)
        return StoredFile(part.sha256, part.size, target)

    def keep_file(self, source: Path, area: Area) -> StoredFile:
        """Copy a local file into the store."""
        with source.open("rb") as handle, self.incoming(handle, limit=_LARGEST) as part:
            return self.keep(part, area)

    @contextmanager
    def received(self, uploads: Mapping[str, "SupportsRead[bytes]"]) -> Iterator[Path]:
        """Uploads by name in a private folder, which is removed after the block."""
        with ExitStack() as stack:
            with _disk_errors("files"):
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=self.root / "incoming")))
                for name, upload in uploads.items():
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    with (folder / name).open("wb") as handle:
                        shutil.copyfileobj(upload, handle)
            yield folder

    def sweep(self, now: float | None = None) -> int:
        """Remove files of interrupted uploads; returns their number."""
        old = (time.time() if now is None else now) - _STRAY_SECONDS
        removed = 0
        for part in (self.root / "incoming").iterdir():
            try:
                if part.stat().st_mtime < old:
                    shutil.rmtree(part) if part.is_dir() else part.unlink()
                    removed += 1
            except FileNotFoundError:  # another process swept it
                continue
        return removed


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows cannot open folders, and needs no sync
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _disk_errors(what: str = "file") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(f"the {what} could not be stored ({error.strerror}); nothing was accepted") from None
