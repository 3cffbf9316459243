"""Fetching from a local HTTP server; no test uses the network."""

import gzip
import hashlib
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from emoscope.core.errors import EmoscopeError
from emoscope.tasks import fetch as fetch_module
from emoscope.tasks import get_task
from emoscope.tasks.base import Task
from emoscope.tasks.data import SUMS, check_files
from emoscope.tasks.emocontext import EmoContext
from emoscope.tasks.fetch import Fetched, fetch, needed
from emoscope.tasks.metadata import DataDownload, DataFile, DataRevision, TaskMetadata
from kits.local_server import (
    OTHER,
    SUM,
    TEXT,
    Answer,
    Handler,
    Server,
    body,
    chunked,
    keep_to,
    left_in,
    reset_midway,
    serving,
    status,
    zipped,
)


@pytest.fixture(autouse=True)
def own_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    keep_to(tmp_path, monkeypatch)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


def toy(url: str, saves: dict[str, str | None], sha256: str | None = None) -> Task:
    """A task whose data are one download; `saves` gives each file's published sum."""
    revision = DataRevision(
        name="only",
        note="for tests",
        splits={name.split(".")[0]: DataFile(name=name, sha256=known) for name, known in saves.items()},
        downloads=(DataDownload(url=url, sha256=sha256, saves=tuple(saves)),),
    )

    class Toy(EmoContext):
        metadata: ClassVar[TaskMetadata] = EmoContext.metadata.model_copy(
            update={"name": "toy", "folder": "toy", "revisions": (revision,)}
        )

    return Toy()


def refused(task: Task, root: Path, **options: Any) -> str:
    """The one line with which a fetch fails, having left nothing behind."""
    before = left_in(root)
    with pytest.raises(EmoscopeError) as caught:
        fetch(task, root, **{"retries": 0, "pause": 0.0, **options})
    assert left_in(root) == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


# What goes well


def test_a_plain_file(server: Server, tmp_path: Path) -> None:
    server.on("a.txt", body(TEXT))
    assert fetch(toy(f"{server.url}/a.txt", {"a.txt": SUM}, SUM), tmp_path) == [
        Fetched(tmp_path / "toy" / "a.txt", "fetched", "checksum ok")
    ]
    assert (tmp_path / "toy" / "a.txt").read_bytes() == TEXT
    assert left_in(tmp_path) == ["toy/a.txt"]


def test_a_gz_is_unpacked(server: Server, tmp_path: Path) -> None:
    server.on("a.txt.gz", body(gzip.compress(TEXT)))
    fetch(toy(f"{server.url}/a.txt.gz", {"a.txt": SUM}), tmp_path)
    assert (tmp_path / "toy" / "a.txt").read_bytes() == TEXT
    assert left_in(tmp_path) == ["toy/a.txt"]


def test_a_zip_gives_its_members_by_base_name_and_no_others(server: Server, tmp_path: Path) -> None:
    members = {"Deep/er/a.json": TEXT, "Deep/b.json": OTHER, "Deep/README.md": b"hello", "__MACOSX/Deep/._a.json": b"?"}
    server.on("all.zip", body(zipped(members)))
    fetch(toy(f"{server.url}/all.zip", {"a.json": SUM, "b.json": None}), tmp_path)
    assert (tmp_path / "toy" / "a.json").read_bytes() == TEXT
    assert (tmp_path / "toy" / "b.json").read_bytes() == OTHER
    assert left_in(tmp_path) == ["toy/SHA256SUMS", "toy/a.json", "toy/b.json"]


def test_saved_files_have_ordinary_permissions(server: Server, tmp_path: Path) -> None:
    server.on("all.zip", body(zipped({"a.json": TEXT})))
    fetch(toy(f"{server.url}/all.zip", {"a.json": SUM}), tmp_path)
    plain = tmp_path / "plain"
    plain.write_text("made the ordinary way")
    assert stat.S_IMODE((tmp_path / "toy" / "a.json").stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_a_second_run_asks_for_nothing(server: Server, tmp_path: Path) -> None:
    server.on("a.txt", body(TEXT))
    task = toy(f"{server.url}/a.txt", {"a.txt": SUM})
    fetch(task, tmp_path)
    assert needed(task, tmp_path) == []
    assert [file.state for file in fetch(task, tmp_path)] == ["present"]
    assert len(server.asked) == 1


def test_failed_run_resumes_with_the_missing_parts(server: Server, tmp_path: Path) -> None:
    server.on("trial-v3.csv.gz", body(gzip.compress(TEXT)))
    server.on("trial-v3.labels.gz", status(404), body(gzip.compress(TEXT)))
    server.on("test-text-labels.csv.gz", body(gzip.compress(TEXT)))
    server.on("train-v3.csv.gz", body(gzip.compress(TEXT)))
    with pytest.raises(EmoscopeError, match=r"trial-v3\.labels\.gz: there is no such file"):
        fetch(get_task("iest"), tmp_path, mirror=server.url)
    assert [file.state for file in fetch(get_task("iest"), tmp_path, mirror=server.url)] == ["present"] + 3 * [
        "fetched"
    ]
    assert server.asked.count("/some/folder/trial-v3.csv.gz") == 1


def test_a_local_file_that_differs_is_replaced(server: Server, tmp_path: Path) -> None:
    server.on("a.txt", body(TEXT))
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "a.txt").write_bytes(TEXT[:-1])
    assert [file.state for file in fetch(toy(f"{server.url}/a.txt", {"a.txt": SUM}), tmp_path)] == ["fetched"]
    assert (tmp_path / "toy" / "a.txt").read_bytes() == TEXT


def test_chunks_have_no_length_and_need_none(server: Server, tmp_path: Path) -> None:
    server.on("a.txt", chunked(TEXT, finish=True))
    seen: list[tuple[str, int, int | None]] = []
    fetch(toy(f"{server.url}/a.txt", {"a.txt": SUM}), tmp_path, progress=lambda *step: seen.append(step))
    assert seen[-1] == ("a.txt", len(TEXT), None)


def test_transfer_compression_is_undone_but_gz_files_are_kept(server: Server, tmp_path: Path) -> None:
    # Some servers compress although they were asked not to; some call every .gz compressed on the way.
    server.on("a.txt", body(gzip.compress(TEXT), Content_Encoding="gzip"))
    server.on("a.txt.gz", body(gzip.compress(TEXT), Content_Encoding="x-gzip"))
    for name in server.answers:
        fetch(toy(f"{server.url}/{name}", {"a.txt": SUM}), tmp_path / name)
        assert (tmp_path / name / "toy" / "a.txt").read_bytes() == TEXT


def test_progress_is_reported_to_the_end(server: Server, tmp_path: Path) -> None:
    content = TEXT * 50
    server.on("a.txt", body(content))
    seen: list[tuple[str, int, int | None]] = []
    fetch(toy(f"{server.url}/a.txt", {"a.txt": None}), tmp_path, progress=lambda *step: seen.append(step))
    assert len(seen) > 1
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)
    assert seen[-1] == ("a.txt", len(content), len(content))


# Without a published checksum


def test_the_first_download_is_trusted_and_later_ones_are_held_to_it(server: Server, tmp_path: Path) -> None:
    server.on("a.txt", body(TEXT), body(TEXT), body(OTHER))
    task = toy(f"{server.url}/a.txt", {"a.txt": None})
    saved = tmp_path / "toy" / "a.txt"
    assert "no checksum is published" in fetch(task, tmp_path)[0].note
    assert (tmp_path / "toy" / SUMS).read_text() == f"{SUM}  a.txt\n"
    assert [checked.against for checked in check_files(task, tmp_path)] == ["first download"]

    saved.unlink()
    assert "the same as the first download" in fetch(task, tmp_path)[0].note

    saved.unlink()
    line = refused(task, tmp_path)
    assert "is not what was first downloaded" in line
    assert str(tmp_path / "toy" / SUMS) in line


def test_two_tasks_of_one_folder_share_the_record(server: Server, tmp_path: Path) -> None:
    server.on("a.txt", body(TEXT))
    server.on("b.txt", body(OTHER))
    for name in ("a.txt", "b.txt"):
        fetch(toy(f"{server.url}/{name}", {name: None}), tmp_path)
    recorded = (tmp_path / "toy" / SUMS).read_text().splitlines()
    assert recorded == [f"{SUM}  a.txt", f"{hashlib.sha256(OTHER).hexdigest()}  b.txt"]


# What goes wrong on the way


def test_fewer_bytes_than_announced_are_a_cut_off_transfer(server: Server, tmp_path: Path) -> None:
    server.on("a.txt", body(TEXT[:1000], claim=len(TEXT)))
    line = refused(toy(f"{server.url}/a.txt", {"a.txt": None}), tmp_path)
    assert f"the transfer was cut off after 1,000 of {len(TEXT):,} bytes" in line


@pytest.mark.parametrize("answer", [reset_midway, chunked(TEXT, finish=False)], ids=["reset", "chunks that stop"])
def test_a_connection_that_breaks_is_a_cut_off_transfer(answer: Answer, server: Server, tmp_path: Path) -> None:
    server.on("a.txt", answer)
    assert "the transfer was cut off" in refused(toy(f"{server.url}/a.txt", {"a.txt": None}), tmp_path)


def test_a_cut_off_transfer_leaves_the_old_file_alone(server: Server, tmp_path: Path) -> None:
    server.on("a.txt", body(TEXT[:1000], claim=len(TEXT)))
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "a.txt").write_bytes(OTHER)
    refused(toy(f"{server.url}/a.txt", {"a.txt": SUM}), tmp_path)
    assert (tmp_path / "toy" / "a.txt").read_bytes() == OTHER


def test_interrupted_transfer_is_retried(server: Server, tmp_path: Path) -> None:
    server.on("a.txt", body(TEXT[:1000], claim=len(TEXT)), reset_midway, body(TEXT))
    fetch(toy(f"{server.url}/a.txt", {"a.txt": SUM}), tmp_path, pause=0)
    assert (tmp_path / "toy" / "a.txt").read_bytes() == TEXT
    assert len(server.asked) == 3


@pytest.mark.parametrize("code", [429, 500, 503])
def test_transient_error_is_retried(code: int, server: Server, tmp_path: Path) -> None:
    server.on("a.txt", status(code), body(TEXT))
    fetch(toy(f"{server.url}/a.txt", {"a.txt": SUM}), tmp_path, pause=0)
    assert len(server.asked) == 2


def test_retries_are_limited_and_back_off(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(fetch_module.time, "sleep", waits.append)
    server.on("a.txt", status(500), status(503, Retry_After="7"), status(503, Retry_After="99999"), status(500))
    line = refused(toy(f"{server.url}/a.txt", {"a.txt": SUM}), tmp_path, retries=3, pause=1.0)
    assert line == f"{server.url}/a.txt: the server answered with error 500, tried 4 times; nothing was saved"
    # 1 s doubled each time, or what the server asks for if that is longer, but never more than 30 s.
    assert waits == [1.0, 7, 30.0]


@pytest.mark.parametrize(
    ("code", "reason"), [(404, "there is no such file (404)"), (403, "refuses access"), (410, "410")]
)
def test_permanent_error_is_not_retried(code: int, reason: str, server: Server, tmp_path: Path) -> None:
    server.on("a.txt", status(code))
    assert reason in refused(toy(f"{server.url}/a.txt", {"a.txt": SUM}), tmp_path, retries=2)
    assert len(server.asked) == 1


def test_server_that_is_not_running_is_reported(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # taken, but nobody listens
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/a.txt"
        assert "cannot be reached" in refused(toy(url, {"a.txt": SUM}), tmp_path)


def test_a_silent_server(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_module, "_TIMEOUT", (1, 0.05))
    done = threading.Event()
    server.on("a.txt", lambda _: done.wait(60) and None)
    assert "did not answer in time" in refused(toy(f"{server.url}/a.txt", {"a.txt": SUM}), tmp_path)
    done.set()


@pytest.mark.parametrize("mirror", ["ftp://example.org", "/some/folder", ""])
def test_a_mirror_is_a_web_address(mirror: str, tmp_path: Path) -> None:
    line = refused(get_task("emocontext"), tmp_path, mirror=mirror)
    assert "a mirror's address starts with http:// or https://" in line


@pytest.mark.parametrize("mirror", ["http://", "http://[", "https://:x"])
def test_invalid_mirror_address_is_refused(mirror: str, tmp_path: Path) -> None:
    line = refused(toy("http://127.0.0.1:9/test.txt", {"test.txt": None}), tmp_path, mirror=mirror)
    assert "test.txt: cannot be fetched" in line


def test_interrupting_leaves_nothing(server: Server, tmp_path: Path) -> None:
    server.on("a.txt", body(TEXT))

    def interrupt(name: str, done: int, total: int | None) -> None:
        assert left_in(tmp_path) != []  # so there is something to tidy up
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(toy(f"{server.url}/a.txt", {"a.txt": SUM}), tmp_path, progress=interrupt)
    assert left_in(tmp_path) == []


def test_a_root_that_cannot_be_a_folder(server: Server, tmp_path: Path) -> None:
    server.on("a.txt", body(TEXT))
    (tmp_path / "file").write_text("not a folder")
    line = refused(toy(f"{server.url}/a.txt", {"a.txt": SUM}), tmp_path / "file")
    assert "cannot be written to" in line


def test_password_is_sent_only_to_a_server_that_asks(server: Server, tmp_path: Path) -> None:
    sent: list[str | None] = []

    def answer(handler: Handler) -> None:
        sent.append(handler.headers.get("Authorization"))
        body(TEXT)(handler)

    server.on("a.txt", answer)
    fetch(toy(f"{server.url}/a.txt", {"a.txt": SUM}), tmp_path, login=("me", "opensesame"))
    assert sent == [None]


# What is not the file that was asked for


def test_a_wrong_checksum_of_the_download(server: Server, tmp_path: Path) -> None:
    server.on("a.txt", body(OTHER))
    line = refused(toy(f"{server.url}/a.txt", {"a.txt": SUM}, SUM), tmp_path, retries=2)
    found = hashlib.sha256(OTHER).hexdigest()
    sums = f"sha256 {found[:12]}..., expected {SUM[:12]}..."
    assert line == f"{server.url}/a.txt: is not the published file: {sums}; nothing was saved"
    assert len(server.asked) == 1


def test_a_wrong_checksum_inside_an_archive_saves_none_of_its_files(server: Server, tmp_path: Path) -> None:
    server.on("all.zip", body(zipped({"a.json": TEXT, "b.json": OTHER})))
    line = refused(toy(f"{server.url}/all.zip", {"a.json": SUM, "b.json": SUM}), tmp_path)
    assert line.startswith(f"b.json of {server.url}/all.zip: is not the published file")


@pytest.mark.parametrize(
    "page",
    [b"<!DOCTYPE html>\n<title>Sign in</title>", b"\xef\xbb\xbf \n<HTML><body>", b"<!-- hm -->\n<html lang='en'>"],
)
@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "all.zip"])
def test_a_web_page_in_place_of_data(name: str, page: bytes, server: Server, tmp_path: Path) -> None:
    server.on(name, body(page, Content_Type="text/html"))
    assert "answered with a web page" in refused(toy(f"{server.url}/{name}", {"a.txt": SUM}, SUM), tmp_path)


def test_a_pointer_in_place_of_data(server: Server, tmp_path: Path) -> None:
    server.on("a.txt", body(b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"))
    assert "answered with a Git LFS pointer" in refused(toy(f"{server.url}/a.txt", {"a.txt": None}), tmp_path)


def test_an_empty_answer(server: Server, tmp_path: Path) -> None:
    server.on("a.txt", body(b""))
    assert "the answer is empty" in refused(toy(f"{server.url}/a.txt", {"a.txt": None}), tmp_path)


@pytest.mark.parametrize("name", ["a.txt.gz", "all.zip"])
@pytest.mark.parametrize("cut", ["not an archive", "half of one"])
def test_a_broken_archive(name: str, cut: str, server: Server, tmp_path: Path) -> None:
    whole = gzip.compress(TEXT) if name.endswith("gz") else zipped({"a.txt": TEXT})
    server.on(name, body(OTHER if cut == "not an archive" else whole[: len(whole) // 2]))
    assert "cannot be unpacked" in refused(toy(f"{server.url}/{name}", {"a.txt": None}), tmp_path)


@pytest.mark.parametrize("evil", ["../a.txt", "x/../../a.txt", "/etc/a.txt", "..\\a.txt", "C:\\a.txt"])
def test_a_zip_with_a_path_that_leads_outside(evil: str, server: Server, tmp_path: Path) -> None:
    server.on("all.zip", body(zipped({"a.json": TEXT, evil: OTHER})))
    assert "holds an unsafe path" in refused(toy(f"{server.url}/all.zip", {"a.json": SUM}), tmp_path)


def test_a_zip_with_a_link(server: Server, tmp_path: Path) -> None:
    server.on("all.zip", body(zipped({"a.json": b"/etc/passwd"}, external_attr=(stat.S_IFLNK | 0o777) << 16)))
    assert "holds an unsafe path" in refused(toy(f"{server.url}/all.zip", {"a.json": None}), tmp_path)


def test_zip_without_the_file_lists_its_contents(server: Server, tmp_path: Path) -> None:
    server.on("all.zip", body(zipped({"x/b.json": TEXT})))
    line = refused(toy(f"{server.url}/all.zip", {"a.json": SUM}), tmp_path)
    assert "holds no a.json; it holds 'b.json'" in line


def test_a_zip_with_two_of_the_name_is_ambiguous(server: Server, tmp_path: Path) -> None:
    server.on("all.zip", body(zipped({"x/a.json": TEXT, "y/a.json": OTHER})))
    assert "holds more than one a.json" in refused(toy(f"{server.url}/all.zip", {"a.json": None}), tmp_path)


@pytest.mark.parametrize("name", ["a.txt.gz", "all.zip"])
def test_a_bomb_is_not_unpacked(name: str, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_module, "MAX_BYTES", 100_000)
    zeros = bytes(5_000_000)
    packed = gzip.compress(zeros) if name.endswith("gz") else zipped({"a.txt": zeros})
    assert len(packed) < 100_000
    server.on(name, body(packed))
    assert "unpacks to more than 100,000 bytes" in refused(toy(f"{server.url}/{name}", {"a.txt": None}), tmp_path)


def test_an_endless_download_is_stopped(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_module, "MAX_BYTES", 100_000)
    server.on("a.txt", body(bytes(5_000_000)))
    assert "is larger than 100,000 bytes" in refused(toy(f"{server.url}/a.txt", {"a.txt": None}), tmp_path)


@settings(deadline=None)
@given(st.data())
def test_a_damaged_archive_never_crashes(tmp_path_factory: pytest.TempPathFactory, draw: st.DataObject) -> None:
    stage = tmp_path_factory.mktemp("stage", numbered=True)
    whole = bytearray(zipped({"d/a.json": TEXT, "d/b.json": OTHER}))
    for _ in range(draw.draw(st.integers(1, 3))):
        whole[draw.draw(st.integers(0, len(whole) - 1))] = draw.draw(st.integers(0, 255))
    (stage / "sent").write_bytes(whole[: draw.draw(st.integers(1, len(whole)))])
    try:
        files = fetch_module._unpack("http://h/all.zip", stage / "sent", ("a.json", "b.json"), stage)
    except EmoscopeError as error:
        assert "nothing was saved" in str(error)
    else:
        # Damage that goes unnoticed lies outside the contents: those have checksums.
        assert {name: path.read_bytes() for name, path in files.items()} == {"a.json": TEXT, "b.json": OTHER}


# Metadata


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "http://h/a.txt", "saves": ("../a.txt",)},
        {"url": "http://h/a.txt", "saves": ("x/a.txt",)},
        {"url": "http://h/a.txt", "saves": (".a",)},
        {"url": "http://h/a.txt", "saves": ()},
        {"url": "http://h/a.txt", "saves": ("a.txt", "b.txt")},
        {"url": "http://h/", "saves": ("a.txt",)},
        {"url": "ftp://h/a.txt", "saves": ("a.txt",)},
    ],
)
def test_a_download_is_validated(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        DataDownload(**wrong)
