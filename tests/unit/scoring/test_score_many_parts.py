"""Runs of very many parts: the starting process does little for each, and writes the manifest once."""

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from emoscope.detector import load
from emoscope.scoring import score
from emoscope.scoring.manifest import PartCounts, write_manifest
from emoscope.scoring.output import OutputFolder, scores_file
from emoscope.scoring.plan import PlannedFile, ScoringPlan
from emoscope.tables.files import open_parquet
from emoscope.tables.inputs import InputFile
from kits.score_kit import chats, content, write_jsonl


def test_nothing_is_written_or_opened_for_each_part_by_the_starting_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: Counter[str] = Counter()
    write = OutputFolder.write_json

    def write_json(self: OutputFolder, name: str, value: Any) -> None:
        calls[name] += 1
        write(self, name, value)

    def opened(path: str) -> Any:
        calls["opened"] += 1
        return open_parquet(path)

    monkeypatch.setattr(OutputFolder, "write_json", write_json)
    for module in ("manifest", "part_file"):
        monkeypatch.setattr(f"emoscope.scoring.{module}.open_parquet", opened)
    monkeypatch.setattr("emoscope.scoring.manifest.SAMPLE_PARTS", 3)
    path = write_jsonl(tmp_path / "a.jsonl", chats(60))
    first = score([str(path)], tmp_path / "out", model="nano", workers=1, part_rows=1)
    assert calls == {"plan.json": 1, "manifest.json": 1, "opened": 3}  # the sample of which the prior is estimated
    whole = content(tmp_path / "out")
    assert score([str(path)], tmp_path / "out", model="nano", workers=1) == first
    assert content(tmp_path / "out") == whole


def test_a_part_that_is_not_there_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(5))
    real = OutputFolder.sizes

    def sizes(self: OutputFolder, folder: str) -> dict[str, int]:
        return {name: size for name, size in real(self, folder).items() if name != scores_file(3)}

    monkeypatch.setattr(OutputFolder, "sizes", sizes)
    with pytest.raises(Exception, match=r"part-00003\.parquet: is missing or not whole; do all workers write to the"):
        score([str(path)], tmp_path / "out", model="nano", workers=1, part_rows=1)


def test_a_manifest_of_many_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = 50_000
    detector = load("nano")
    source = InputFile("logs/a.parquet", "parquet", 1, "1")
    plan = ScoringPlan({}, [PlannedFile(source, parts, ())], [], 1, pa.schema([("text", pa.string())]))
    output = OutputFolder(str(tmp_path))
    monkeypatch.setattr(OutputFolder, "sizes", lambda *_: {scores_file(part): 1 for part in range(parts)})
    monkeypatch.setattr("emoscope.scoring.manifest._estimated_prior", lambda *_: detector.prior)
    begun = time.perf_counter()
    counts = PartCounts(parts, detector.labels)
    footer = {"scored": 1, "rejected": 0, "labels": dict.fromkeys(detector.labels, 0), "sums": detector.prior}
    for part in range(parts):
        counts.add(part, footer)
    done = write_manifest(plan, output, detector, counts)
    assert (done.rows, len(done.parts)) == (parts, parts)
    assert done.mean_scores == pytest.approx(detector.prior)
    assert time.perf_counter() - begun < 30  # under a second on an idle core
