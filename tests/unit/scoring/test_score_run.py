"""Whole runs of `emoscope score`: scores, workers and batches, resuming, settings that do not match."""

import os
from pathlib import Path

import pytest

import emoscope
from emoscope.core.errors import EmoscopeError
from emoscope.detector.bundle import resolve
from emoscope.parallel.threads import cores, one_core
from emoscope.scoring import score
from emoscope.scoring.score_tables import ScoringProgress
from kits.score_kit import chats, content, scored, scores, write_jsonl


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


def test_stopped_run_resumes_with_the_same_result(tmp_path: Path) -> None:
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


def test_an_empty_input_is_an_empty_run(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n", encoding="utf-8")
    done = scored(tmp_path / "out", tmp_path / "a.jsonl")
    assert (done.rows, done.parts, done.drift) == (0, [], None)


def test_the_estimated_prior_is_the_detectors(tmp_path: Path) -> None:
    rows = chats(300)
    done = scored(tmp_path / "out", write_jsonl(tmp_path / "a.jsonl", rows))
    expected = emoscope.load("nano").estimate_prior([row["turns"] for row in rows])
    assert done.estimated_prior == pytest.approx(expected, abs=1e-4)
