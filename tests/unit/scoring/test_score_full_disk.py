"""Full disks and failed uploads: one line of error, nothing half-written, and the run resumes."""

import errno
import os
import random
import subprocess
from pathlib import Path
from typing import IO, Any

import fsspec
import pytest

from emoscope.core.errors import EmoscopeError
from emoscope.scoring.output import OutputFolder
from kits.score_kit import chats, content, scored, write_jsonl


def test_full_disk_is_a_one_line_error_and_the_run_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(50))
    out = tmp_path / "out"
    real = os.fsync

    def full(descriptor: int) -> None:
        if "part-00003" in str(Path(f"/proc/self/fd/{descriptor}").readlink()):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(
            EmoscopeError, match=r"part-00003.parquet: could not be written \(No space left on device\)"
        ):
            scored(out, path, part_rows=10)
    assert sorted(path.name for path in (out / "scores").iterdir()) == [
        "part-00000.parquet",
        "part-00001.parquet",
        "part-00002.parquet",
    ]
    scored(out, path)
    scored(tmp_path / "whole", path, part_rows=10)
    assert content(out) == content(tmp_path / "whole")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_small_disk(tmp_path: Path) -> None:
    noise = random.Random(0)  # what cannot be packed
    path = write_jsonl(tmp_path / "a.jsonl", [{**row, "noise": noise.randbytes(100).hex()} for row in chats(4000)])
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(disk)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        with pytest.raises(EmoscopeError, match="No space left on device"):
            scored(disk / "out", path, workers=2)
        kept = sorted(name for name in content(disk / "out") if name.startswith("scores"))
        assert kept
        assert not [name for name in kept if name.endswith(".part")]
        subprocess.run(["mount", "-o", "remount,size=8m", str(disk)], check=True)
        scored(disk / "out", path, workers=2)
        scored(tmp_path / "whole", path)
        assert content(disk / "out") == content(tmp_path / "whole")
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_failed_upload_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = fsspec.filesystem("memory")

    def full(here: str, there: str, **settings: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(memory, "put_file", full)
    output = OutputFolder("memory://full/out")
    output.prepare()
    handle: IO[bytes]
    with pytest.raises(EmoscopeError, match="scores/a: could not be written"), output.write("scores/a") as handle:
        handle.write(b"content")
    assert not output.has("scores/a")
