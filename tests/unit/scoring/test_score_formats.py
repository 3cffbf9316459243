"""What `emoscope score` reads: formats, compression, column types, folders, globs and remote file systems."""

import json
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from emoscope.core.errors import InputError
from emoscope.scoring import score
from emoscope.tables import open_writer
from kits.corpus_command import run
from kits.score_kit import chats, rejects, scored, scores, write_jsonl, write_parquet


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
