"""The heavy steps of a corpus in several processes and on Ray: the same bytes, also after `kill -9`."""

import json
import os
import random
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kits.corpus_command import run
from kits.corpus_tree import tree
from kits.ray_kit import two_nodes
from kits.score_kit import content, kill, named, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
ROWS = 5_000
WORKER, RAY_WORKER = "spawn_main", "ray::run_part"
PARTS = -(-ROWS // 512)
_SAID = (
    "i am so happy today|you idiot|my name is Anna|mail me at anna@example.com|what a lovely morning|who was that"
    "|call +44 20 7946 0958 now|i cried all night|we won the game|send me the link|shut up you moron|rice for lunch|ok"
)


def write_log(path: Path, rows: int = ROWS) -> Path:
    chance = random.Random(1)
    said = _SAID.split("|")
    lines = (
        json.dumps({"id": number, "turns": [f"{chance.choice(said)} {chance.randrange(rows)}" for _ in range(3)]})
        for number in range(rows)
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_log(tmp_path_factory.mktemp("log") / "log.jsonl")


def start(*arguments: str | Path, **variables: str) -> "subprocess.Popen[str]":
    """`emoscope corpus ...` in a process of its own."""
    command = [sys.executable, "-m", "emoscope", "corpus", *map(str, arguments)]
    given = {**os.environ, **variables}
    return subprocess.Popen(command, env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: "subprocess.Popen[str]") -> None:
    _, error = process.communicate(timeout=240)
    assert process.returncode == 0, error


def done_parts(out: Path) -> list[Path]:
    return sorted(out.parent.glob(f".{out.name}.said/[0-9]*.jsonl"))


# Filter

FILTER = ("--language", "off", "--personal", "mask")


@pytest.fixture(scope="module")
def filtered(log: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What one process writes."""
    out = tmp_path_factory.mktemp("filtered") / "out"
    code, _, error = run("corpus", "filter", log, "-o", out, *FILTER, "--workers", "1")
    assert code == 0, error
    assert [path.name for path in out.parent.iterdir()] == ["out"], "nothing hidden is left"
    report = json.loads((out / "report.json").read_text())
    assert report["read"] == ROWS
    assert 0 < report["changed"] < report["kept"] < ROWS
    return content(out)


def test_killed_filter_resumes(log: Path, filtered: dict[str, bytes], tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ("filter", log, "-o", out, *FILTER, "--workers", "2")
    first = start(*arguments)
    until(lambda: len(done_parts(out)) >= 2)
    workers = named(first.pid, WORKER)
    kill(first.pid)
    first.communicate()
    assert workers
    until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))  # none outlives the run
    assert not out.exists()
    assert 2 <= len(done_parts(out)) < PARTS
    finish(start(*arguments))
    assert content(out) == filtered
    assert not done_parts(out)


def test_a_killed_worker_of_filter_is_replaced(log: Path, filtered: dict[str, bytes], tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start("filter", log, "-o", out, *FILTER, "--workers", "2")
    until(lambda: done_parts(out))
    kill(named(process.pid, WORKER)[0])
    finish(process)
    assert content(out) == filtered


def test_parts_of_other_settings_are_not_used(log: Path, filtered: dict[str, bytes], tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start("filter", log, "-o", out, *FILTER, "--threshold", "0.01", "--workers", "1")
    until(lambda: done_parts(out))
    kill(process.pid)
    process.communicate()
    assert run("corpus", "filter", log, "-o", out, *FILTER, "--workers", "1")[0] == 0
    assert content(out) == filtered


@pytest.mark.xdist_group("ray")
def test_filter_on_ray_with_a_killed_worker(log: Path, filtered: dict[str, bytes], tmp_path: Path) -> None:
    pytest.importorskip("ray")
    out = tmp_path / "out"
    process = start("filter", log, "-o", out, *FILTER, "--engine", "ray", "--workers", "2")
    until(lambda: done_parts(out))
    kill(until(lambda: named(process.pid, RAY_WORKER))[0])
    finish(process)
    assert content(out) == filtered


@pytest.mark.xdist_group("ray")
def test_filter_and_deduplication_on_two_nodes(log: Path, filtered: dict[str, bytes], tmp_path: Path) -> None:
    """A worker is killed, then a whole node is lost: the same bytes as from one process."""
    pytest.importorskip("ray")
    out, alone, dropped = tmp_path / "out", tmp_path / "alone.jsonl", tmp_path / "dropped.jsonl"
    copies = write_log(tmp_path / "copies.jsonl", 2000)
    assert run("corpus", "dedupe", copies, "-o", alone, "--threshold", "0.6", "--workers", "1")[0] == 0
    with two_nodes(tmp_path) as cluster:
        there = ("--engine", "ray", "--ray-address", cluster.address)
        finish(start("dedupe", copies, "-o", dropped, "--threshold", "0.6", *there, **cluster.variables))
        process = start("filter", log, "-o", out, *FILTER, *there, **cluster.variables)
        until(lambda: done_parts(out))
        kill(until(lambda: named(cluster.process.pid, RAY_WORKER))[0])
        cluster.lose_a_node()
        assert len(done_parts(out)) < PARTS
        finish(process)
    assert dropped.read_bytes() == alone.read_bytes()
    assert content(out) == filtered


def test_options_that_do_not_go_together(log: Path, tmp_path: Path) -> None:
    for command in (("filter",), ("dedupe",)):
        given = ("corpus", *command, log, "-o", tmp_path / "out")
        assert run(*given, "--engine", "spark")[2] == "--engine: expected local or ray, found 'spark'"
        assert run(*given, "--ray-address", "x:1")[2] == "--ray-address goes with --engine ray"


# Mine

ENGINES = ["local", pytest.param("ray", marks=[pytest.mark.xdist_group("ray")])]
SEEDS = "turn1,label\ni cried all night,sad\nso sad today,sad\nwe won,happy\nso happy today,happy\n"


@pytest.mark.skipif(find_spec("usearch") is None, reason="needs usearch")
@pytest.mark.parametrize("engine", ENGINES)
def test_mining(log: Path, tmp_path: Path, engine: str) -> None:
    if engine == "ray":
        pytest.importorskip("ray")
    (tmp_path / "seeds.csv").write_text(SEEDS)
    given = ("mine", log, "--seeds", tmp_path / "seeds.csv", "--per-class", "50", "-o")
    finish(start(*given, tmp_path / "one", "--workers", "1"))
    finish(start(*given, tmp_path / "two", "--workers", "2", "--engine", engine))
    assert content(tmp_path / "one") == content(tmp_path / "two")
    assert len(list((tmp_path / "one/vectors").iterdir())) == 3


# Deduplicate


@pytest.mark.parametrize("engine", ENGINES)
def test_deduplication(tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if engine == "ray":
        pytest.importorskip("ray")
    monkeypatch.setattr("emoscope.corpus.dedupe.duplicates._PART", 500)
    log = write_log(tmp_path / "log.jsonl", 2000)
    common = ("--threshold", "0.6", "--json")
    for name, options in (("one", ("--workers", "1")), ("two", ("--workers", "2", "--engine", engine))):
        code, shown, error = run("corpus", "dedupe", log, "-o", tmp_path / f"{name}.jsonl", *options, *common)
        assert code == 0, error
        counts = json.loads(shown)["files"][str(log)]
        assert counts["dropped"]["near copy"] > 0
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


# The chain

PLAN = """
name = "small"
title = "Small"
description = "Made up."
labels = ["others", "happy", "sad"]
neutral = "others"
terms = "None."

[[steps]]
use = "collect"
inputs = [{ path = "log.jsonl" }]

[[steps]]
use = "dedupe"

[[steps]]
use = "filter"
languages = []

[[steps]]
use = "mine"
seeds = "seeds.csv"
natural = 100
per_class = 50
"""


@pytest.mark.skipif(find_spec("usearch") is None, reason="needs usearch")
def test_killed_build_resumes_with_more_workers(tmp_path: Path) -> None:
    write_log(tmp_path / "log.jsonl")
    (tmp_path / "seeds.csv").write_text(SEEDS)
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    finish(start("build", plan, "-o", tmp_path / "one", "--workers", "1"))
    first = start("build", plan, "-o", tmp_path / "two", "--workers", "1")
    made = tmp_path / "two/steps/.03-filter.cache/filtered"
    until(lambda: done_parts(made))
    kill(first.pid)
    first.communicate()
    second = start("build", plan, "-o", tmp_path / "two", "--workers", "2")
    kill(until(lambda: named(second.pid, WORKER))[0])
    finish(second)
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
