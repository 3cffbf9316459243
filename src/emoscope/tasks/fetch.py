"""Fetch a task's files from their public home, complete and checked or not at all. The only code that goes online.

Not with pooch: it unpacks a `.gz` that a server declares as compressed in transit, sends a password without being
asked, has no size limit, and ignores `Retry-After`.
"""

import gzip
import os
import stat
import tempfile
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Literal

from emoscope.core.errors import EmoscopeError
from emoscope.core.files import atomic_write
from emoscope.tasks.base import Task
from emoscope.tasks.data import SUMS, check_file, data_folder, first_sums, published_sums, sha256_of
from emoscope.tasks.metadata import DataDownload

# No task's data come near this size, sent or unpacked; anything larger is a mistake or a zip bomb.
MAX_BYTES = 1 << 30

Progress = Callable[[str, int, int | None], None]  # file name, bytes so far, total bytes if known

_CHUNK = 1 << 16
_TIMEOUT = (10, 60)  # seconds to connect, seconds of silence
_LONGEST_WAIT = 30.0
_TRANSIENT = {429, 500, 502, 503, 504}


@dataclass(frozen=True, slots=True)
class Fetched:
    """The result for one file."""

    path: Path
    state: Literal["fetched", "present", "skipped"]
    note: str = ""


class _NothingSavedError(EmoscopeError):
    def __init__(self, url: str, problem: str) -> None:
        super().__init__(f"{url}: {problem}; nothing was saved")


class _LoginNeededError(Exception):
    """The server requires a name and password."""


class _TransientError(Exception):
    """A failure that may be gone at another try, after at least `wait` seconds."""

    def __init__(self, problem: str, wait: float = 0.0) -> None:
        super().__init__(problem)
        self.wait = wait


def needed(task: Task, root: Path | None = None) -> list[DataDownload]:
    """The downloads with files that are missing or differ from the published ones.

    >>> from emoscope.tasks import get_task
    >>> [download.saves[0] for download in needed(get_task("emocontext"), Path("no-such-folder"))]
    ['train.txt', 'dev.txt', 'test.txt']
    """
    folder = data_folder(task, root)
    published, first = published_sums(task.metadata), first_sums(folder)
    return [
        download
        for download in _downloads(task)
        if not all(check_file(folder / name, published[name], first).usable for name in download.saves)
    ]


def fetch(
    task: Task,
    root: Path | None = None,
    *,
    mirror: str | None = None,
    login: tuple[str, str] | None = None,
    retries: int = 2,
    pause: float = 1.0,
    progress: Progress = lambda _name, _done, _total: None,
) -> list[Fetched]:
    """Download a task's files to its data folder; correct files that exist are kept.

    `mirror` replaces all but the last part of each URL; `login` is sent only to a server that asks for it.

    >>> from emoscope.tasks import get_task
    >>> fetch(get_task("emocontext"), progress=print)  # doctest: +SKIP
    [Fetched(path=PosixPath('.../emocontext/train.txt'), state='fetched', note='checksum ok'), ...]
    """
    if mirror is not None and not mirror.startswith(("http://", "https://")):
        raise EmoscopeError(f"{mirror}: a mirror's address starts with http:// or https://")
    folder = data_folder(task, root)
    missing = needed(task, root)
    results: list[Fetched] = []
    for download in _downloads(task):
        if download not in missing:
            results += [Fetched(folder / name, "present") for name in download.saves]
            continue
        url = download.url if mirror is None else f"{mirror.rstrip('/')}/{download.url.rsplit('/', 1)[1]}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch-", ignore_cleanup_errors=True) as stage:
                sent = Path(stage, "sent")
                _transfer(url, sent, login, retries, pause, progress)
                results += _install(task, folder, download, url, sent)
        except _LoginNeededError:
            note = "asks for a name and password, which its organisers give out: --user NAME"
            results += [Fetched(folder / name, "skipped", note) for name in download.saves]
        except OSError as error:
            raise EmoscopeError(f"{folder}: cannot be written to ({error.strerror or error})") from None
    return results


def _downloads(task: Task) -> list[DataDownload]:
    return list(dict.fromkeys(download for revision in task.metadata.revisions for download in revision.downloads))


def _install(task: Task, folder: Path, download: DataDownload, url: str, sent: Path) -> list[Fetched]:
    """Check and unpack a download beside the target, and then move it into place."""
    _refuse_pages_and_pointers(url, sent)
    _check_sha256(download.sha256, sent, url, "the published file")
    files = _unpack(url, sent, download.saves, sent.parent)
    published, first = published_sums(task.metadata), first_sums(folder)
    notes: dict[str, str] = {}
    fresh: dict[str, str] = {}
    for name, path in files.items():
        where = url if url.endswith(f"/{name}") else f"{name} of {url}"
        if expected := published[name]:
            _check_sha256(expected, path, where, "the published file")
            notes[name] = "checksum ok"
        elif name in first:
            whose = f"what was first downloaded (to accept the change, remove it from {folder / SUMS})"
            _check_sha256(first[name], path, where, whose)
            notes[name] = "checksum ok, the same as the first download"
        else:
            fresh[name] = sha256_of(path)
            notes[name] = f"no checksum is published; trusted, and later downloads are held to it ({SUMS})"
    if fresh:
        with atomic_write(folder / SUMS) as handle:
            handle.writelines(f"{sha256}  {name}\n" for name, sha256 in sorted((first | fresh).items()))
    for name, path in files.items():
        with path.open("rb+") as handle:
            os.fsync(handle.fileno())  # a power cut must not leave an empty file under the final name
        path.replace(folder / name)
    return [Fetched(folder / name, "fetched", note) for name, note in notes.items()]


def _refuse_pages_and_pointers(url: str, path: Path) -> None:
    """Refuse what web servers send instead of data: HTML pages and Git LFS pointers."""
    with path.open("rb") as handle:
        start = handle.read(1024).removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if not start:
        raise _NothingSavedError(url, "the answer is empty")
    if start.startswith((b"<!doctype html", b"<html", b"<head")) or (start.startswith(b"<") and b"<html" in start):
        problem = "answered with a web page, not with data (a login page, a proxy or a moved file?)"
        raise _NothingSavedError(url, problem)
    if start.startswith(b"version https://git-lfs"):
        raise _NothingSavedError(url, "answered with a Git LFS pointer, not with the file itself")


def _check_sha256(expected: str | None, path: Path, url: str, whose: str) -> None:
    if expected is not None and (actual := sha256_of(path)) != expected:
        raise _NothingSavedError(url, f"is not {whose}: sha256 {actual[:12]}..., expected {expected[:12]}...")


def _unpack(url: str, sent: Path, saves: Sequence[str], stage: Path) -> dict[str, Path]:
    """The unpacked files by name, under `stage`."""
    try:
        if url.endswith(".gz"):
            with gzip.open(sent) as source:
                return {saves[0]: _copy(url, source, stage / "0")}
        if url.endswith(".zip"):
            with zipfile.ZipFile(sent) as archive:
                return {
                    name: _copy(url, archive.open(member), stage / str(number))
                    for number, (name, member) in enumerate(_members(url, archive, saves).items())
                }
    except EmoscopeError:
        raise
    except Exception as error:  # a damaged archive can make zipfile raise nearly anything
        reason = str(error).rstrip(".") or type(error).__name__
        raise _NothingSavedError(url, f"cannot be unpacked ({reason})") from None
    return {saves[0]: sent}


def _copy(url: str, source: IO[bytes] | gzip.GzipFile, target: Path) -> Path:
    size = 0
    with source, target.open("wb") as handle:
        while chunk := source.read(_CHUNK):
            size += len(chunk)
            if size > MAX_BYTES:
                raise _NothingSavedError(url, f"unpacks to more than {MAX_BYTES:,} bytes")
            handle.write(chunk)
    return target


def _members(url: str, archive: zipfile.ZipFile, saves: Sequence[str]) -> dict[str, zipfile.ZipInfo]:
    """The archive's member for each file to save, found by its base name in any folder."""
    members: dict[str, list[zipfile.ZipInfo]] = {}
    for member in archive.infolist():
        path = PurePosixPath(member.filename.replace("\\", "/"))
        drive = PureWindowsPath(member.filename).drive
        link = stat.S_ISLNK(member.external_attr >> 16)
        # Harmless, because we choose the names we write to; but no honest archive has such a path.
        if path.is_absolute() or ".." in path.parts or drive or link:
            raise _NothingSavedError(url, f"holds an unsafe path, {member.filename!r}")
        if not member.is_dir():
            members.setdefault(path.name, []).append(member)
    for name in saves:
        if len(members.get(name, [])) != 1:
            count = "no" if name not in members else "more than one"
            held = ", ".join(repr(member) for member in sorted(members)[:10]) or "nothing"
            raise _NothingSavedError(url, f"holds {count} {name}; it holds {held}")
    return {name: members[name][0] for name in saves}


def _transfer(
    url: str, target: Path, login: tuple[str, str] | None, retries: int, pause: float, progress: Progress
) -> None:
    for attempt in range(retries + 1):
        try:
            return _stream(url, target, login, progress)
        except _TransientError as trouble:
            if attempt == retries:
                tries = f", tried {retries + 1} times" if retries else ""
                raise _NothingSavedError(url, f"{trouble}{tries}") from None
            time.sleep(min(max(pause * 2**attempt, trouble.wait), _LONGEST_WAIT))


def _stream(url: str, target: Path, login: tuple[str, str] | None, progress: Progress) -> None:
    # Imported here, so that nothing else goes online or waits for the imports.
    import requests
    import urllib3

    name = url.rsplit("/", 1)[1]
    # Compression in transit would hide the length and could be confused with the file's own.
    headers = {"Accept-Encoding": "identity", "User-Agent": "emoscope"}
    try:
        response = requests.get(url, stream=True, timeout=_TIMEOUT, headers=headers)
        if response.status_code == 401 and login is not None:
            response.close()
            response = requests.get(url, stream=True, timeout=_TIMEOUT, headers=headers, auth=login)
        with response:
            _refuse_status(url, response.status_code, response.headers.get("Retry-After"), login is not None)
            chunked = "Transfer-Encoding" in response.headers  # has no length, but marks its end
            length = None if chunked else _number(response.headers.get("Content-Length"))
            response.raw.enforce_content_length = False  # not every urllib3 does, so it is checked below
            with target.open("wb") as handle:
                for chunk in response.raw.stream(_CHUNK, decode_content=not url.endswith(".gz")):
                    handle.write(chunk)
                    if handle.tell() > MAX_BYTES:
                        raise _NothingSavedError(url, f"is larger than {MAX_BYTES:,} bytes")
                    progress(name, response.raw.tell() or handle.tell(), length)
            received = response.raw.tell()
            if length is not None and received != length:
                raise _TransientError(f"the transfer was cut off after {received:,} of {length:,} bytes")
    except (requests.Timeout, urllib3.exceptions.TimeoutError):
        raise _TransientError("the server did not answer in time") from None
    except requests.exceptions.SSLError:
        raise _NothingSavedError(url, "the server's certificate is not valid") from None
    except requests.ConnectionError:
        raise _TransientError("cannot be reached (behind a firewall, --mirror URL takes another address)") from None
    except urllib3.exceptions.HTTPError:
        raise _TransientError("the transfer was cut off") from None
    except requests.RequestException as error:
        raise _NothingSavedError(url, f"cannot be fetched ({error})") from None


def _refuse_status(url: str, status: int, retry_after: str | None, logged_in: bool) -> None:
    if status == 200:
        return
    if status in _TRANSIENT:
        raise _TransientError(f"the server answered with error {status}", _number(retry_after) or 0)
    if status == 401 and not logged_in:
        raise _LoginNeededError
    reason = {
        401: "the name or password was not accepted",
        403: "the server refuses access (403)",
        404: "there is no such file (404); it may have moved",
    }.get(status, f"the server answered with status {status}")
    raise _NothingSavedError(url, reason)


def _number(header: str | None) -> int | None:
    return int(header) if header is not None and header.isdecimal() else None
