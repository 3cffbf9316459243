"""A Ray cluster that loses and gains nodes all the time writes the same bytes as one process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray")
pytestmark = pytest.mark.xdist_group("ray")
ROOT = Path(__file__).parents[2]


def test_every_run_has_the_bytes_of_an_undisturbed_one() -> None:
    """Half a minute of the benchmark, which ends only when each command has lost a node."""
    options = ("--minutes", "0.4", "--every", "5", "--rows", "50000", "--commands", "score", "corpus filter")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale.chaos", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [row["command"] for row in found] == ["score", "corpus filter"]
    assert all(row["lost"] and row["runs"] and not row["differ"] for row in found)
