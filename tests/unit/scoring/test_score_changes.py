"""Inputs that change during a run are noticed: by the part that reads them, or at the end."""

import os
from pathlib import Path

import fsspec
import pytest

from emoscope.core.errors import InputError
from emoscope.scoring import score
from emoscope.scoring.score_tables import ScoringProgress
from kits.score_kit import chats, write_jsonl, write_parquet


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize("rows_done", [10, 40])
def test_appended_rows_are_not_ignored(tmp_path: Path, suffix: str, rows_done: int) -> None:
    write = write_jsonl if suffix == "jsonl" else write_parquet
    path = write(tmp_path / f"a.{suffix}", chats(40))

    def append(progress: ScoringProgress) -> None:
        if progress.done == rows_done:
            write(path, chats(50))

    with pytest.raises(InputError, match=r"a\.\w+: changed during the run \([\d,]+ bytes then, [\d,]+ now\); score it"):
        score([str(path)], tmp_path / "out", model="nano", workers=1, part_rows=10, report=append)
    assert not (tmp_path / "out" / "manifest.json").exists()
    assert len(list((tmp_path / "out").glob("scores/part-*"))) <= rows_done // 10 + 1


def test_a_file_of_the_same_size_and_one_that_is_gone(tmp_path: Path) -> None:
    paths = [write_jsonl(tmp_path / f"{name}.jsonl", chats(10)) for name in "ab"]

    def touch(progress: ScoringProgress) -> None:
        if progress.done == 20:
            os.utime(paths[0], (1, 1))

    with pytest.raises(InputError, match=r"a\.jsonl: changed during the run \(\S+ then, 1.0 now\)"):
        score(list(map(str, paths)), tmp_path / "out", model="nano", workers=1, part_rows=10, report=touch)

    def remove(progress: ScoringProgress) -> None:
        if progress.done == 20:
            paths[0].unlink()

    with pytest.raises(InputError, match=r"a\.jsonl: was removed during the run"):
        score(list(map(str, paths)), tmp_path / "gone", model="nano", workers=1, part_rows=10, report=remove)


def test_objects_are_compared_by_their_tags(tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    data = write_jsonl(tmp_path / "a.jsonl", chats(20)).read_bytes()
    memory.pipe_file("/changing/a.jsonl", data)

    def replace(progress: ScoringProgress) -> None:
        if progress.done == 10:
            memory.pipe_file("/changing/a.jsonl", data)  # the same size, written later

    with pytest.raises(InputError, match="changed during the run"):
        score(["memory://changing/"], tmp_path / "out", model="nano", workers=1, part_rows=10, report=replace)
