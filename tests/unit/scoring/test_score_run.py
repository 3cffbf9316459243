"""Whole runs of `emoscope score`: every format and kind of address, bad rows and files, full disks, resuming."""

import errno
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import emoscope
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.detector.bundle import resolve
from emoscope.parallel.threads import cores, one_core
from emoscope.scoring import score
from emoscope.scoring.manifest import ScoringManifest
from emoscope.scoring.output import OutputFolder
from emoscope.scoring.score_tables import ScoringProgress
from emoscope.tables import open_writer
from kits.corpus_command import run
from kits.fragile_model import BrokenModel, FragileModel
from kits.score_kit import chats, content, rejects, scores, write_jsonl, write_parquet


def scored(folder: Path, *inputs: Path | str, **settings: Any) -> ScoringManifest:
    done = score([str(path) for path in inputs], folder, model="nano", **{"workers": 1, **settings})
    assert done.rows == done.scored + done.rejected == sum(file["rows"] for file in done.inputs)
    assert len(scores(folder)) == done.scored == sum(done.labels.values())
    assert len(rejects(folder)) == done.rejected
    return done


def test_rows_get_the_scores_of_the_detector(tmp_path: Path) -> None:
    rows = chats(50)
    scored(tmp_path / "out", write_jsonl(tmp_path / "a.jsonl", rows), part_rows=20)
    detector = emoscope.load("nano")
    found = scores(tmp_path / "out")
    assert [{"id": row["id"], "turns": row["turns"]} for row in found] == rows
    for row, detection in zip(found, detector.detect_many([row["turns"] for row in rows]), strict=True):
        assert (row["label"], row["truncated"]) == (detection.label, detection.truncated)
        for label, value in detection.scores.items():
            assert row[f"score_{label}"] == pytest.approx(value, abs=1e-6)
    assert sorted(path.name for path in (tmp_path / "out" / "scores").iterdir()) == [
        f"part-0000{number}.parquet" for number in range(3)
    ]


def test_a_single_input_needs_no_list(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(3))
    assert score(path, tmp_path / "out", model="nano", workers=1).scored == 3
    assert score(str(path), tmp_path / "again", model="nano", workers=1).scored == 3


def test_every_format_gives_the_same_scores(tmp_path: Path) -> None:
    rows = [{"id": row["id"], **dict(zip(("turn1", "turn2", "turn3"), row["turns"], strict=True))} for row in chats(30)]
    delimited = [[str(value) for value in row.values()] for row in rows]
    (tmp_path / "a.csv").write_text(
        "\n".join(",".join(cells) for cells in [list(rows[0]), *delimited]), encoding="utf-8"
    )
    (tmp_path / "a.tsv").write_text(
        "\n".join("\t".join(cells) for cells in [list(rows[0]), *delimited]), encoding="utf-8"
    )
    write_jsonl(tmp_path / "a.jsonl", rows)
    write_parquet(tmp_path / "a.parquet", rows)
    found = []
    for kind in ("csv", "tsv", "jsonl", "parquet"):
        scored(tmp_path / kind, tmp_path / f"a.{kind}")
        found.append([(str(row["id"]), row["label"], row["score_happy"]) for row in scores(tmp_path / kind)])
    assert all(each == found[0] for each in found)
    assert [row["id"] for row in scores(tmp_path / "parquet")] == list(range(30))


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_compressed_text_gives_the_same_scores(tmp_path: Path, suffix: str) -> None:
    rows = chats(2500)
    for name in ("a.jsonl", f"b.jsonl.{suffix}", f"c.csv.{suffix}"):
        with open_writer(str(tmp_path / name)) as writer:
            for row in rows:
                writer.write(row)
        scored(tmp_path / "out" / name, tmp_path / name, part_rows=400)
    expected = scores(tmp_path / "out" / "a.jsonl")
    assert scores(tmp_path / "out" / f"b.jsonl.{suffix}") == expected
    as_text = [{**row, "id": str(row["id"]), "turns": json.dumps(row["turns"])} for row in expected]
    assert scores(tmp_path / "out" / f"c.csv.{suffix}") == as_text


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl"])
def test_detect_and_score_read_the_same_rows(tmp_path: Path, format: str) -> None:
    lines = {
        "csv": ["id,turn1,turn2", "", '1,"so, happy",', " ", '2,"why', 'not",sad', "", "3,no,"],
        "tsv": ["", "id\tturn1\tturn2", '1\t"so, happy\t', "\t\t", "2\twhy\tnot", " "],
        "jsonl": ['{"id": 1, "turn1": "so happy"}', "", " ", '["why", "not"]'],
    }[format]
    path = tmp_path / f"a.{format}"
    path.write_text("\n".join(lines), encoding="utf-8")
    scored(tmp_path / "out", path)
    detected = tmp_path / "detected.parquet"
    assert run("detect", path, "-o", detected, "-m", "nano")[0] == 0
    columns = ["label", "truncated"]
    one, other = pq.read_table(detected), [{name: row[name] for name in columns} for row in scores(tmp_path / "out")]
    assert one.select(columns).to_pylist() == other
    assert rejects(tmp_path / "out") == []


def test_columns_are_passed_through_with_their_types(tmp_path: Path) -> None:
    table = pa.table(
        {
            "text": ["I am happy", "no"],
            "label": ["x", "y"],
            "when": pa.array([0, 1], pa.timestamp("ms", "UTC")),
            "kind": pa.array(["a", "b"]).dictionary_encode(),
            "nested": [{"k": 1}, None],
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    scored(tmp_path / "out", tmp_path / "a.parquet")
    found = pq.read_table(tmp_path / "out" / "scores" / "part-00000.parquet")
    assert found.schema.field("when").type == pa.timestamp("ms", "UTC")
    assert found.schema.field("nested").type == table.schema.field("nested").type
    assert found.column("kind").to_pylist() == ["a", "b"]
    assert found.column("label").to_pylist() == ["x", "y"]
    assert found.column("predicted_label").to_pylist() == ["happy", "others"]


def test_folders_globs_and_addresses(tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "_temporary").mkdir()
    write_jsonl(tmp_path / "in" / "b.jsonl", chats(2))
    write_jsonl(tmp_path / "in" / "deep" / "a.jsonl", chats(3))
    write_jsonl(tmp_path / "in" / "_temporary" / "c.jsonl", chats(9))
    write_jsonl(tmp_path / "in" / ".hidden.jsonl", chats(9))
    (tmp_path / "in" / "README").write_text("not a table", encoding="utf-8")
    assert scored(tmp_path / "folder", tmp_path / "in", skip_unknown=True).rows == 5
    assert scored(tmp_path / "glob", tmp_path / "in" / "*.jsonl").rows == 2
    assert scored(tmp_path / "twice", tmp_path / "in" / "b.jsonl", tmp_path / "in", skip_unknown=True).rows == 5
    write_jsonl(tmp_path / "odd[1].jsonl", chats(4))
    assert scored(tmp_path / "odd", tmp_path / "odd[1].jsonl").rows == 4
    with pytest.raises(InputError, match="no such file or folder"):
        scored(tmp_path / "none", tmp_path / "nowhere")
    with pytest.raises(InputError, match="holds no table"):
        scored(tmp_path / "none", tmp_path / "in" / "*.csv")
    with pytest.raises(InputError, match="is of an unknown kind"):
        scored(tmp_path / "none", tmp_path / "in" / "README")


def test_other_file_systems(tmp_path: Path) -> None:
    """In and out through fsspec: files in memory stand for a bucket."""
    memory = fsspec.filesystem("memory")
    write_jsonl(tmp_path / "a.jsonl", [*chats(30), "{broken"])
    memory.pipe_file("/bucket/logs/a.jsonl", (tmp_path / "a.jsonl").read_bytes())
    done = score(["memory://bucket/logs/"], "memory://bucket/out", model="nano", workers=1, part_rows=10)
    assert (done.rows, done.scored, done.rejected) == (31, 30, 1)
    assert done.inputs[0]["path"] == "memory:///bucket/logs/a.jsonl"
    here = scored(tmp_path / "out", tmp_path / "a.jsonl", part_rows=10)
    assert here.labels == done.labels
    assert len(memory.ls("/bucket/out/scores")) == 4
    again = score(["memory://bucket/logs/*.jsonl"], "memory://bucket/out", model="nano", workers=1)
    assert again == done


def test_output_does_not_depend_on_workers_and_batches(tmp_path: Path) -> None:
    rows = chats(3000)
    rows[7] = {"turns": []}
    path = write_jsonl(tmp_path / "a.jsonl", rows)
    scored(tmp_path / "one", path)
    scored(tmp_path / "two", path, workers=2, batch=17)
    assert content(tmp_path / "one") == content(tmp_path / "two")


@pytest.mark.skipif(resolve("default").name == "nano", reason="this installation has no encoder")
def test_an_encoder_gives_the_same_bytes_in_any_batch(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(60))
    for name, workers, batch in (("one", 1, 7), ("two", 2, 64)):
        score([str(path)], tmp_path / name, model="default", part_rows=20, workers=workers, batch=batch)
    assert content(tmp_path / "one") == content(tmp_path / "two")


def test_workers_compute_in_one_thread() -> None:
    assert "EMOSCOPE_CORES" not in os.environ
    with one_core():
        assert cores() == 1
    assert "EMOSCOPE_CORES" not in os.environ


def test_a_stopped_run_goes_on_and_is_the_same(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [*chats(90), "{broken"])
    scored(tmp_path / "whole", path, part_rows=10)
    expected = content(tmp_path / "whole")
    stopped = tmp_path / "stopped"

    class StopError(Exception):
        pass

    def stop(progress: ScoringProgress) -> None:
        if progress.done == 50:
            raise StopError

    with pytest.raises(StopError):
        scored(stopped, path, part_rows=10, report=stop)
    before = {name: (stopped / name).stat().st_mtime_ns for name in content(stopped) if name.startswith("scores")}
    assert len(before) == 4
    (stopped / "scores" / ".part-00007.parquet.x.part").write_bytes(b"half")
    (stopped / "scores" / "part-00006.parquet").write_bytes(b"not a part")
    seen: list[ScoringProgress] = []
    scored(stopped, path, report=seen.append)
    assert seen[0] == ScoringProgress(40, 91, 40)
    assert content(stopped) == expected
    assert all((stopped / name).stat().st_mtime_ns == time for name, time in before.items())
    assert scored(stopped, path) == scored(tmp_path / "whole", path)


def test_another_run_is_not_mixed_in(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(20))
    out = tmp_path / "out"
    scored(out, path, part_rows=10)
    with pytest.raises(EmoscopeError, match="holds a run with another prior"):
        scored(out, path, prior={"others": 0.7, "happy": 0.1, "sad": 0.1, "angry": 0.1})
    with pytest.raises(EmoscopeError, match="in parts of 10 rows"):
        scored(out, path, part_rows=5)
    write_jsonl(path, chats(21))
    with pytest.raises(EmoscopeError, match="of other inputs, or they have changed"):
        scored(out, path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(EmoscopeError, match="holds something else"):
        scored(tmp_path / "full", path)


# Bad rows and bad files


BAD = st.sampled_from(
    ["{broken", "7", "null", '{"turns": []}', '{"turns": 5}', '{"turns": ["a", 5]}', '{"id": 1}', '{"text": "\\ud800"}']
)
GOOD = st.sampled_from(['{"turns": ["hi", "so happy"]}', '{"turn1": "a", "turn2": "b"}', '["why"]', '{"text": "no"}'])


@given(lines=st.lists(BAD | GOOD | st.just(""), max_size=40), part_rows=st.integers(1, 20))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rows_in_are_rows_out(tmp_path_factory: pytest.TempPathFactory, lines: list[str], part_rows: int) -> None:
    folder = tmp_path_factory.mktemp("rows")
    path = write_jsonl(folder / "a.jsonl", lines)
    done = scored(folder / "out", path, part_rows=part_rows)
    assert done.rows == sum(line != "" for line in lines)
    good = [line for line in lines if line.startswith(('{"turns": ["hi"', '{"turn1', '["why', '{"text": "no'))]
    assert done.scored == len(good)
    broken = [number for number, line in enumerate(lines, start=1) if line and line not in good]
    assert [reject["row"] for reject in rejects(folder / "out")] == broken
    assert all(reject["reason"] and reject["file"] == str(path) for reject in rejects(folder / "out"))


@given(st.lists(st.none() | st.lists(st.none() | st.text(max_size=4), max_size=3), min_size=1, max_size=30))
@settings(max_examples=30, deadline=None)
def test_parquet_rows_in_are_rows_out(tmp_path_factory: pytest.TempPathFactory, turns: list) -> None:
    folder = tmp_path_factory.mktemp("parquet")
    table = pa.table({"turns": pa.array(turns, pa.list_(pa.string()))})
    pq.write_table(table, folder / "a.parquet", row_group_size=4)
    done = scored(folder / "out", folder / "a.parquet", part_rows=7)
    assert done.scored == sum(any(turn not in (None, "") for turn in row or ()) for row in turns)


def test_strict_stops_at_the_first_bad_row(tmp_path: Path) -> None:
    rows: list[Any] = chats(4000)
    rows[1500], rows[3500] = "{broken", {"turns": 7}
    path = write_jsonl(tmp_path / "a.jsonl", rows)
    for workers in (1, 2):
        with pytest.raises(EmoscopeError, match=r"a\.jsonl, row 1501: is not valid JSON"):
            scored(tmp_path / f"out{workers}", path, strict=True, workers=workers)
    assert scored(tmp_path / "out1", path).rejected == 2
    with pytest.raises(EmoscopeError, match="row 1501"):
        scored(tmp_path / "out1", path, strict=True)


def test_a_file_that_is_no_parquet_is_named_and_the_others_are_scored(tmp_path: Path) -> None:
    write_parquet(tmp_path / "a.parquet", chats(10))
    (tmp_path / "b.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-30])
    done = scored(tmp_path / "out", tmp_path / "*.parquet")
    assert done.scored == 10
    assert done.unreadable[0]["path"].endswith("b.parquet")
    listed = json.loads((tmp_path / "out" / "rejects" / "files.jsonl").read_text(encoding="utf-8"))
    assert listed["file"].endswith("b.parquet")
    assert "not a readable Parquet file" in listed["reason"]
    with pytest.raises(InputError, match=r"b\.parquet: is not a readable Parquet file"):
        scored(tmp_path / "strict", tmp_path / "*.parquet", strict=True)
    with pytest.raises(EmoscopeError, match=r"b\.parquet: is not a readable Parquet file"):
        scored(tmp_path / "out", tmp_path / "*.parquet", strict=True)
    with pytest.raises(InputError, match=r"b\.parquet: is not a readable Parquet file"):
        scored(tmp_path / "alone", tmp_path / "b.parquet")


def test_damaged_pages_are_rejected_row_by_row(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", chats(400), row_group_size=100, compression="zstd")
    column = pq.ParquetFile(path).metadata.row_group(1).column(1)
    damaged = bytearray(path.read_bytes())
    begin = column.dictionary_page_offset or column.data_page_offset
    damaged[begin : begin + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(damaged)
    done = scored(tmp_path / "out", path, part_rows=70)
    assert (done.rows, done.rejected) == (400, 100)
    assert [reject["row"] for reject in rejects(tmp_path / "out")] == list(range(101, 201))
    assert [row["id"] for row in scores(tmp_path / "out")] == [*range(100), *range(200, 400)]
    scored(tmp_path / "two", path, part_rows=70, workers=2)
    assert content(tmp_path / "out") == content(tmp_path / "two")


def test_a_missing_column(tmp_path: Path) -> None:
    good = write_parquet(tmp_path / "a.parquet", chats(5))
    without = write_parquet(tmp_path / "b.parquet", [{"id": 1, "said": "hi"}] * 3)
    done = scored(tmp_path / "out", good, without)
    assert (done.scored, done.rejected) == (5, 3)
    assert rejects(tmp_path / "out")[0]["reason"].startswith("has no turns; expected columns turn1")
    with pytest.raises(InputError, match=r"b\.parquet: expected columns turn1.*found: id, said"):
        scored(tmp_path / "none", without)


def test_an_empty_input_is_an_empty_run(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n", encoding="utf-8")
    done = scored(tmp_path / "out", tmp_path / "a.jsonl")
    assert (done.rows, done.parts, done.drift) == (0, [], None)


# A model that fails


def with_bad_words(count: int) -> list[Any]:
    rows: list[Any] = chats(count)
    rows[3]["turns"][1] = "poison"
    rows[4] = "{broken"
    rows[count // 2] = {"turns": ["poison", "hollow"]}
    rows[-1] = {"turns": ["hollow"]}
    rows[-2] = {"turns": ["poison", "hollow"]}
    return rows


@pytest.mark.parametrize("workers", [1, 2])
def test_a_row_on_which_the_model_fails_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    monkeypatch.setattr("emoscope.scoring.score_tables.ModelSpec", FragileModel)
    rows = with_bad_words(3000)
    path = write_jsonl(tmp_path / "a.jsonl", rows)
    done = scored(tmp_path / "out", path, workers=workers)
    fails = "the model fails on it (ArithmeticError: cannot bear this)"
    found = [(reject["row"], reject["reason"]) for reject in rejects(tmp_path / "out")]
    assert found[1][1].startswith("is not valid JSON")
    assert [*found[:1], *found[2:]] == [
        (4, fails),
        (1501, fails),
        (2999, fails),
        (3000, "the model's answer to it is not a number"),
    ]
    bad = {3, 4, 1500, 2998, 2999}
    assert [row["id"] for row in scores(tmp_path / "out")] == [place for place in range(3000) if place not in bad]
    assert done.rejected == 5
    with pytest.raises(EmoscopeError, match=r"a\.jsonl, row 4: the model fails on it \(ArithmeticError"):
        scored(tmp_path / "strict", path, strict=True, workers=workers)


def test_a_failing_row_of_parquet_is_known_by_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emoscope.scoring.score_tables.ModelSpec", FragileModel)
    rows = chats(30)
    rows[7]["turns"], rows[20]["turns"] = [], ["poison"]
    done = scored(tmp_path / "out", write_parquet(tmp_path / "a.parquet", rows, row_group_size=8), part_rows=10)
    assert [reject["row"] for reject in rejects(tmp_path / "out")] == [8, 21]
    assert done.scored == 28


def test_a_model_that_fails_on_everything_is_not_the_rows_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(20))
    with monkeypatch.context() as patch:
        patch.setattr("emoscope.scoring.score_tables.ModelSpec", BrokenModel)
        with pytest.raises(EmoscopeError, match=r"^model nano fails on any dialogue \(OSError: weights are gone\)$"):
            scored(tmp_path / "out", path)
    assert scored(tmp_path / "out", path).scored == 20


# A disk that fills


def test_a_full_disk_is_one_line_and_the_run_goes_on_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


# The command


def test_few_rows_advise_no_prior(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(1))
    _, shown, _ = run("score", path, "-o", tmp_path / "out", "-m", "nano", "--workers", "1")
    assert "1 rows in 1 part: " in shown
    assert "--prior" not in shown
    assert "The estimated shares mean little: 1 rows" in shown


def test_the_command_shows_a_summary(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [*chats(1200), "{broken"])
    code, shown, _ = run("score", path, "-o", tmp_path / "out", "-m", "nano", "--workers", "1")
    assert code == 0
    assert "1,201 rows in " in shown
    assert "1,200 scored, 1 rejected" in shown
    assert "estimated share" in shown
    assert "earlier run" not in shown
    (advice,) = [line for line in shown.splitlines() if "--prior" in line]
    prior = advice.split()[-1]
    code, shown, _ = run("score", path, "-o", tmp_path / "again", "-m", "nano", "--workers", "1", "--prior", prior)
    assert code == 0
    code, shown, _ = run("score", path, "-o", tmp_path / "out", "-m", "nano", "--workers", "1")
    assert "1,201 of these rows are from an earlier run" in shown
    code, shown, _ = run("score", path, "-o", tmp_path / "out", "-m", "nano", "--workers", "1", "--json")
    found = json.loads(shown)
    assert found == json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert found["settings"]["model"]["name"] == "nano"
    assert sum(found["estimated_prior"].values()) == pytest.approx(1)
    assert 0 < found["drift"] < 1


def test_mistakes_of_the_command_are_one_line(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(2))
    assert run("score", path, "-o", tmp_path / "out", "--engine", "spark")[::2] == (
        2,
        "--engine: expected local or ray, found 'spark'",
    )
    assert (
        run("score", path, "-o", tmp_path / "out", "--ray-address", "auto")[2] == "--ray-address goes with --engine ray"
    )


def test_ray_is_asked_for_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(2))
    monkeypatch.setitem(sys.modules, "ray", None)
    code, _, message = run("score", path, "-o", tmp_path / "out", "-m", "nano", "--engine", "ray")
    assert (code, message) == (2, "this needs ray: pip install 'emoscope[ray]'")
    assert not (tmp_path / "out").exists()


def test_the_estimated_prior_is_the_detectors(tmp_path: Path) -> None:
    rows = chats(300)
    done = scored(tmp_path / "out", write_jsonl(tmp_path / "a.jsonl", rows))
    expected = emoscope.load("nano").estimate_prior([row["turns"] for row in rows])
    assert done.estimated_prior == pytest.approx(expected, abs=1e-4)
