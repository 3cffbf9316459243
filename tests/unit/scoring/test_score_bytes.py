"""How much of an input is read: large row groups, compressed text and arrays once, not once for each part."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import fsspec
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.local import LocalFileOpener, LocalFileSystem

from emoscope.scoring import score
from emoscope.scoring.plan import make_plan
from emoscope.tables import open_writer
from emoscope.tables.inputs import find_inputs
from kits.score_kit import chats, content, rejects, scores, write_parquet

READ: Counter[str] = Counter()  # bytes, by file name


class CountingFile(LocalFileOpener):
    def read(self, *arguments: Any) -> bytes:
        data: bytes = super().read(*arguments)
        READ[Path(self.path).name] += len(data)
        return data

    def readinto(self, buffer: Any) -> int:
        count: int = self.f.readinto(buffer)
        READ[Path(self.path).name] += count
        return count


class CountingFiles(LocalFileSystem):
    protocol = "counted"

    def _open(self, path: str, mode: str = "rb", block_size: int | None = None, **settings: Any) -> Any:
        opened = CountingFile if mode == "rb" else LocalFileOpener
        return opened(path, mode, fs=self, **settings)


fsspec.register_implementation("counted", CountingFiles, clobber=True)


def noisy(count: int, size: int = 300) -> list[dict[str, Any]]:
    """Rows that cannot be packed, so that bytes are what the rows are."""
    noise = random.Random(0)
    return [{**row, "noise": noise.randbytes(size).hex()} for row in chats(count)]


@pytest.mark.parametrize("group", [4000, 700, 100])
def test_parquet_is_read_once(tmp_path: Path, group: int) -> None:
    path = write_parquet(tmp_path / "a.parquet", noisy(4000, 1500), row_group_size=group)
    READ.clear()
    score([f"counted://{path}"], tmp_path / "out", model="nano", workers=1, part_rows=1000)
    assert path.stat().st_size < READ["a.parquet"] <= 1.1 * path.stat().st_size
    assert [row["id"] for row in scores(tmp_path / "out")] == list(range(4000))
    assert not (tmp_path / "out" / "staged").exists()


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="counts what the system says was read")
def test_bytes_read_according_to_the_system_are_bounded(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", noisy(20_000), row_group_size=1 << 20)
    write_parquet(tmp_path / "b.parquet", noisy(10))
    read = []
    for name in ("b", "a"):
        before = int(Path("/proc/self/io").read_text().split()[1])
        score([str(tmp_path / f"{name}.parquet")], tmp_path / name, model="nano", workers=1, part_rows=1000)
        read.append(int(Path("/proc/self/io").read_text().split()[1]) - before)
    # The input, its copy, and one column or two of the scores.
    assert read[1] - read[0] < 2.3 * path.stat().st_size


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.csv.zst", "a.json"])
def test_files_without_random_access_are_read_twice_at_most(tmp_path: Path, name: str) -> None:
    with open_writer(str(tmp_path / name)) as writer:
        for row in noisy(6000):
            writer.write(row)
    size = (tmp_path / name).stat().st_size
    READ.clear()
    score([f"counted://{tmp_path / name}"], tmp_path / "out", model="nano", workers=1, part_rows=300)
    # To plan and to copy; what is read ahead to know the format and the header comes on top.
    assert READ[name] <= 2 * size + 5 * (1 << 20)
    assert [int(row["id"]) for row in scores(tmp_path / "out")] == list(range(6000))


def test_a_stopped_run_keeps_its_copies(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", noisy(100))

    def stop(progress: Any) -> None:
        if progress.done == 50:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score([str(path)], tmp_path / "out", model="nano", workers=1, part_rows=10, report=stop)
    copy = tmp_path / "out" / "staged" / "file-00000.parquet"
    before = copy.stat().st_mtime_ns
    score([str(path)], tmp_path / "out", model="nano", workers=1, report=lambda _: assert_kept(copy, before))
    score([str(path)], tmp_path / "whole", model="nano", workers=1, part_rows=10)
    assert content(tmp_path / "out") == content(tmp_path / "whole")


def assert_kept(copy: Path, before: int) -> None:
    assert copy.stat().st_mtime_ns == before


def test_a_wrong_checksum_is_damage(tmp_path: Path) -> None:
    path = write_parquet(
        tmp_path / "a.parquet",
        noisy(200),
        row_group_size=100,
        compression="none",
        write_page_checksum=True,
        use_dictionary=False,
    )
    column = pq.ParquetFile(path).metadata.row_group(1).column(2)
    changed = bytearray(path.read_bytes())
    changed[column.data_page_offset + column.total_compressed_size - 3] ^= 1  # another letter of the last cell
    path.write_bytes(changed)
    done = score([str(path)], tmp_path / "out", model="nano", workers=1)
    assert (done.scored, done.rejected) == (100, 100)
    assert "crc" in rejects(tmp_path / "out")[0]["reason"].lower()


def test_parts_keep_row_groups_whole(tmp_path: Path) -> None:
    for name, rows, group in (("a", 250, 60), ("b", 30, 30), ("c", 90, 90)):
        write_parquet(tmp_path / f"{name}.parquet", chats(rows), row_group_size=group)
    plan = make_plan(find_inputs([str(tmp_path)]).files, {}, part_rows=100)
    counts = [[rows.count for rows in plan.row_ranges(part)] for part in range(plan.parts)]
    assert counts == [[60], [60], [60], [70, 30], [90]]  # 250 rows are 4 times 60 and 10
    assert not any(file.staged for file in plan.files)
