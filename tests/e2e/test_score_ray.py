"""The Ray engine on a local cluster of two nodes: the same bytes, whatever is killed."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from emoscope.core.errors import EmoscopeError
from emoscope.scoring import score
from kits.ray_kit import PART, Cluster, two_nodes
from kits.score_kit import chats, content, kill, named, rejects, start, stop, until, write_jsonl

pytest.importorskip("ray")
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc"),
    pytest.mark.xdist_group("ray"),  # one cluster, not one for each process that tests
]
ROWS = 20_000
TASK = "ray::run_part"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with two_nodes(tmp_path_factory.mktemp("ray")) as made:
        yield made


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_jsonl(tmp_path_factory.mktemp("table") / "a.jsonl", [*chats(ROWS), "{broken"])


@pytest.fixture(scope="module")
def whole(table: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the local engine writes."""
    folder = tmp_path_factory.mktemp("whole") / "out"
    score([str(table)], folder, model="nano", workers=1, part_rows=PART)
    return content(folder)


def count(folder: Path) -> int:
    return len(list(folder.glob("scores/part-*.parquet")))


def test_killed_ray_run_resumes_to_the_bytes_of_the_local_engine(
    cluster: Cluster, table: Path, whole: dict[str, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    first = cluster.start(table, out)
    until(lambda: count(out) >= 2)
    kill(first.pid)
    first.communicate()
    assert not (out / "manifest.json").exists()
    assert count(out) < ROWS // PART
    second = cluster.start(table, out)
    _, error = second.communicate(timeout=120)
    assert second.returncode == 0, error
    assert content(out) == whole
    assert len(rejects(out)) == 1


def test_the_part_of_a_stuck_worker_is_scored_by_another(
    cluster: Cluster, table: Path, whole: dict[str, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    process = cluster.start(table, out)
    until(lambda: count(out) >= 4)
    stuck = until(lambda: named(cluster.process.pid, TASK))[0]
    stop(stuck)
    _, error = process.communicate(timeout=300)
    with suppress(ProcessLookupError):  # Ray may have ended it
        kill(stuck)
    assert process.returncode == 0, error
    assert content(out) == whole


def test_killed_workers_and_a_lost_node(cluster: Cluster, table: Path, whole: dict[str, bytes], tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = cluster.start(table, out)
    until(lambda: count(out) >= 2)
    kill(until(lambda: named(cluster.process.pid, TASK))[0])
    reached = count(out)
    until(lambda: count(out) > reached)
    cluster.lose_a_node()
    assert count(out) < ROWS // PART
    _, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    assert content(out) == whole


def test_a_setting_that_makes_machines_alike_reaches_them(cluster: Cluster, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(40))
    options = ("-m", "default", "--part-rows", "10", "--engine", "ray", "--ray-address", cluster.address)
    process = start(path, "-o", tmp_path / "out", *options, **cluster.variables, EMOSCOPE_NATIVE="0")
    _, error = process.communicate(timeout=240)
    assert process.returncode == 0, error
    assert json.loads((tmp_path / "out/manifest.json").read_text())["settings"]["kernel"] == "onnxruntime"


def test_a_row_on_which_the_model_fails_is_rejected(cluster: Cluster, tmp_path: Path) -> None:
    rows = [*chats(1200), {"turns": ["poison"]}, {"turns": ["hollow"]}]
    path = write_jsonl(tmp_path / "a.jsonl", rows)
    script = str(Path(__file__).parents[1] / "kits" / "fragile_model.py")
    engines: dict[str, list[str]] = {"ray": ["--ray-address", cluster.address], "local": ["--workers", "1"]}
    for engine, options in engines.items():
        given = ["score", str(path), "-o", str(tmp_path / engine), "-m", "nano", "--engine", engine, *options]
        done = subprocess.run(
            [sys.executable, script, *given],
            env={**os.environ, **cluster.variables},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "1,200 scored, 2 rejected" in done.stdout
    assert [reject["row"] for reject in rejects(tmp_path / "ray")] == [1201, 1202]
    assert content(tmp_path / "ray") == content(tmp_path / "local")


def test_missing_cluster_is_a_quick_one_line_error(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(2))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        nothing, other = "127.0.0.1:1", f"127.0.0.1:{silent.getsockname()[1]}"
        for address, reason in (
            (nothing, "Connection refused"),
            (other, "timed out"),
            ("nowhere", "expected HOST:PORT.*"),
        ):
            begun = time.monotonic()
            with pytest.raises(EmoscopeError, match=rf"^no Ray cluster answers at {address} \({reason}\)$"):
                score([str(path)], tmp_path / "out", model="nano", engine="ray", ray_address=address, part_rows=1)
            assert time.monotonic() - begun < 20


def test_without_an_address_a_cluster_of_its_own_is_started(
    cluster: Cluster, table: Path, whole: dict[str, bytes], tmp_path: Path
) -> None:
    """Whatever runs on the machine, here the cluster of the other tests; and standard output is JSON."""
    out = tmp_path / "out"
    options = ("-m", "nano", "--engine", "ray", "--workers", "2", "--part-rows", str(PART), "--json")
    process = start(table, "-o", out, *options, **cluster.variables)
    kill(until(lambda: named(process.pid, TASK))[0])
    shown, error = process.communicate(timeout=180)
    assert process.returncode == 0, error
    assert json.loads(shown)["rows"] == ROWS + 1
    assert content(out) == whole


def test_standard_output_is_json_when_the_control_store_dies(cluster: Cluster, table: Path, tmp_path: Path) -> None:
    options = ("-m", "nano", "--engine", "ray", "--workers", "2", "--part-rows", str(PART), "--json")
    process = start(
        table, "-o", tmp_path / "out", *options, **cluster.variables, RAY_gcs_rpc_server_reconnect_timeout_s="5"
    )
    until(lambda: count(tmp_path / "out") >= 1)
    kill(named(process.pid, "gcs_server")[0])
    shown, _ = process.communicate(timeout=180)
    assert shown == "" or json.loads(shown)["rows"] == ROWS + 1
