"""Errors around a run are one line and an exit code: addresses, buckets, columns, interrupts."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.scoring import score
from emoscope.scoring.columns import unify
from emoscope.tables.files import file_system
from kits.corpus_command import run
from kits.score_kit import chats, start, until, write_jsonl, write_parquet


def test_a_type_is_that_of_the_file_that_is_named() -> None:
    schemas = [(name, pa.schema([("id", type)])) for name, type in (("a", pa.int64()), ("b", pa.float64()))]
    with pytest.raises(InputError, match=r"^c: column 'id' is string, but int64 in a$"):
        unify([*schemas, ("c", pa.schema([("id", pa.string())]))])


def test_run_with_every_row_rejected_fails(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", ["{broken"] * 3)
    code, shown, message = run("score", path, "-o", tmp_path / "out", "-m", "nano", "--workers", "1")
    assert (code, message.strip()) == (1, "emoscope: all 3 rows were rejected")
    assert "0 scored, 3 rejected" in shown
    write_jsonl(path, [*chats(1), "{broken"])
    assert run("score", path, "-o", tmp_path / "some", "-m", "nano", "--workers", "1")[0] == 0


def test_the_output_is_a_folder(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(1))
    with pytest.raises(EmoscopeError, match=r"a\.jsonl: is a file, expected a folder to write into"):
        score([str(path)], path, model="nano", workers=1)


def test_unreadable_file_fails_the_command(tmp_path: Path) -> None:
    good = write_parquet(tmp_path / "a.parquet", chats(3))
    (tmp_path / "b.parquet").write_bytes(b"none")
    code, shown, message = run("score", good, tmp_path / "b.parquet", "-o", tmp_path / "out", "-m", "nano", "--json")
    assert code == 1
    assert message.strip() == f"emoscope: 1 of the files could not be read: {tmp_path / 'b.parquet'}"
    assert json.loads(shown)["scored"] == 3


@pytest.mark.e2e
@pytest.mark.skipif(sys.platform != "linux", reason="sends signals")
def test_interrupt_says_how_to_resume(tmp_path: Path) -> None:
    path, out = write_jsonl(tmp_path / "a.jsonl", chats(60_000)), tmp_path / "out"
    process = start(path, "-o", out, "-m", "nano", "--workers", "2", "--part-rows", "500")
    until(lambda: len(list(out.glob("scores/part-*"))) > 2)
    os.kill(process.pid, signal.SIGINT)
    _, message = process.communicate(timeout=60)
    assert process.returncode == 130
    lines = [line for line in message.splitlines() if line.startswith("emoscope:")]
    assert len(lines) == 1
    assert lines[0].startswith("emoscope: interrupted at ")
    assert lines[0].endswith(" of 60,000 rows; give the same command again to go on from there")
    assert "Traceback" not in message
    assert not list(out.glob("*/.*.part"))


# Addresses


def test_hdfs_without_java_is_a_one_line_error(monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec

    def no_java(path: str) -> None:
        raise OSError("Unable to load libjvm: /usr/java/latest: cannot open\nand more")

    monkeypatch.setattr(fsspec.core, "url_to_fs", no_java)
    with pytest.raises(EmoscopeError, match=r"^hdfs://a/b: cannot be opened \(Unable to load libjvm.*; it needs Java"):
        file_system("hdfs://a/b")


def test_a_missing_client_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(EmoscopeError, match=r"^gs://a/b: .*gcsfs.*; pip install 'emoscope\[gcs\]'$"):
        file_system("gs://a/b")


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """A store on this machine."""
    pytest.importorskip("s3fs")
    server = pytest.importorskip("moto.server").ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(s3: str, monkeypatch: pytest.MonkeyPatch) -> str:
    import s3fs

    for name, value in {
        "AWS_ENDPOINT_URL": s3,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    system = s3fs.S3FileSystem()
    if not system.exists("logs"):
        system.mkdir("logs")
    return "logs"


def test_a_store_in_and_out(bucket: str, tmp_path: Path) -> None:
    import s3fs

    system = s3fs.S3FileSystem()
    path = write_parquet(tmp_path / "a.parquet", chats(60))
    system.put_file(str(path), f"{bucket}/in/a.parquet")
    out = f"s3://{bucket}/out"
    done = score([f"s3://{bucket}/in/"], out, model="nano", workers=1, part_rows=10)
    assert (done.rows, done.scored) == (60, 60)
    assert "stamp" in done.inputs[0]
    again = score([f"s3://{bucket}/in/"], out, model="nano", workers=1)
    assert again == done
    system.invalidate_cache()
    assert sorted(Path(name).name for name in system.ls(f"{bucket}/out", detail=False)) == [
        "manifest.json",
        "plan.json",
        "scores",
    ]

    def replace(progress: object) -> None:
        system.put_file(str(write_parquet(tmp_path / "a.parquet", chats(61))), f"{bucket}/in/a.parquet")

    with pytest.raises(InputError, match="changed during the run"):
        score([f"s3://{bucket}/in/"], f"{out}2", model="nano", workers=1, part_rows=10, report=replace)


def test_a_mistyped_bucket_is_not_made(bucket: str, tmp_path: Path) -> None:
    import s3fs

    path = write_jsonl(tmp_path / "a.jsonl", chats(2))
    with pytest.raises(EmoscopeError, match=r"^s3://lgos/out: there is no bucket 'lgos'$"):
        score([str(path)], "s3://lgos/out", model="nano", workers=1)
    assert not s3fs.S3FileSystem().exists("lgos")


def test_wrong_settings_of_a_store_are_a_one_line_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    s3fs = pytest.importorskip("s3fs")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "many")
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(EmoscopeError, match=r"^s3://logs/in/: cannot be read \(invalid literal for int.*'many'\)$"):
        score(["s3://logs/in/"], tmp_path / "out", model="nano", workers=1)
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.mark.slow  # the client tries again for some seconds
def test_a_store_that_is_away_and_one_without_credentials(
    s3: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import s3fs

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3)
    s3fs.S3FileSystem.clear_instance_cache()
    path = write_jsonl(tmp_path / "a.jsonl", chats(2))
    with pytest.raises(EmoscopeError, match=r"^s3://logs/in/: cannot be read \(Unable to locate credentials\)$"):
        score(["s3://logs/in/"], tmp_path / "out", model="nano", workers=1)
    with pytest.raises(EmoscopeError, match=r"^s3://logs/out: cannot write here \(Unable to locate credentials\)$"):
        score([str(path)], "s3://logs/out", model="nano", workers=1)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(EmoscopeError, match=r"^s3://logs/in/: cannot be read \(Could not connect to the endpoint"):
        score(["s3://logs/in/"], tmp_path / "out", model="nano", workers=1)
