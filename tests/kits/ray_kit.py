"""A Ray cluster of two nodes for tests."""

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kits.score_kit import start

PART = 500


@dataclass
class Cluster:
    process: "subprocess.Popen[str]"
    address: str
    variables: dict[str, str]

    def start(self, table: Path, out: Path) -> "subprocess.Popen[str]":
        arguments = ("-m", "nano", "--engine", "ray", "--ray-address", self.address, "--part-rows", str(PART))
        return start(table, "-o", out, *arguments, **self.variables)

    def lose_a_node(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("lose a node\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "lost\n"


@contextmanager
def two_nodes(folder: Path) -> Iterator[Cluster]:
    """A cluster with a secret of its own, kept in the folder."""
    (folder / "token").write_text(secrets.token_hex(32), encoding="utf-8")
    variables = {
        "RAY_AUTH_TOKEN_PATH": str(folder / "token"),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_DEDUP_LOGS": "0",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    script = Path(__file__).with_name("ray_cluster.py")
    process = subprocess.Popen(
        [sys.executable, str(script)],
        env={**os.environ, **variables},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    assert address, "no cluster"
    yield Cluster(process, address, variables)
    assert process.stdin is not None
    process.stdin.close()
    process.wait(60)
