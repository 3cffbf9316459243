"""What Ray is for when machines die: commands on a cluster that loses a node and gains one every few seconds.

    python -m benchmarks.scale.chaos [--minutes 2] [--every 10] [--rows 200000] [--write]

Four nodes of one core each on this machine; the first, which keeps the cluster's books, stays. Each command is run over
and over for its share of the minutes, and at least until it has lost a node. Its files must be those of one process
that nothing disturbed, to the byte; the exit code is 1 if any differs. The rows are made up. `--write` puts the table
into benchmarks/results and docs/results/scale.md.
"""

import json
import os
import random
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from benchmarks.common.options import command_line
from benchmarks.common.pages import write_section
from benchmarks.common.paths import PAGES, RESULTS
from benchmarks.common.processes import module_command
from benchmarks.common.provenance import keep, made
from benchmarks.common.tables import write_rows
from emoscope.evaluation.card import markdown_table

TABLE = RESULTS / "scale_chaos.csv"
NODES = 4
NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80 << 20}
SAID = (
    *("i am so happy today", "you idiot", "my name is Anna", "mail me at anna@example.com", "what a lovely morning"),
    *(
        "call +44 20 7946 0958 now",
        "i cried all night 😭",
        "we won the game",
        "send me the link",
        "rice for lunch",
        "ok",
    ),
)
SHARES = {"score": 1, "corpus filter": 50, "corpus dedupe": 4, "corpus mine": 100}  # of the rows that a command gets
ALONE = "alone"
SEEDS = "turn1,label\ni cried all night,sad\nso sad today,sad\nwe won,happy\nso happy today,happy\n"


class Chaos:
    """A cluster of Ray's that loses a node and gains one every few seconds while commands run on it."""

    def __init__(self, every: float, seed: int = 0) -> None:
        import ray.cluster_utils

        head = {**NODE, "include_dashboard": False}
        self._cluster: Any = ray.cluster_utils.Cluster(initialize_head=True, head_node_args=head, connect=False)
        self._others = [self._cluster.add_node(**NODE) for _ in range(NODES - 1)]
        self._cluster.wait_for_nodes()
        self._chance = random.Random(seed)
        self._every = every
        self._due = time.monotonic() + every
        self.engine = ("--engine", "ray", "--ray-address", str(self._cluster.address))
        self.lost = 0

    def run(self, command: Sequence[str], messages: IO[bytes]) -> int:
        """Run a command to its end, and return its exit code."""
        with subprocess.Popen(command, stdout=messages, stderr=messages) as process:
            while True:
                try:
                    return process.wait(max(0.0, self._due - time.monotonic()))
                except subprocess.TimeoutExpired:
                    self._disturb()

    def _disturb(self) -> None:
        """Called in the main thread, as Ray requires."""
        if self._others:
            gone = self._others.pop(self._chance.randrange(len(self._others)))
            self._cluster.remove_node(gone, allow_graceful=False)
            self.lost += 1
        with suppress(Exception):  # on a busy machine Ray may give up: then another joins the next time
            while len(self._others) < NODES - 1:
                self._others.append(self._cluster.add_node(wait=False, **NODE))
        self._due = max(self._due + self._every, time.monotonic() + self._every / 2)

    def close(self) -> None:
        self._cluster.shutdown()


@contextmanager
def chaos(every: float, folder: Path) -> Iterator[Chaos]:
    """Such a cluster, with its own secret."""
    (folder / "token").write_text(secrets.token_hex(32), encoding="utf-8")
    os.environ |= {"RAY_AUTH_TOKEN_PATH": str(folder / "token"), "RAY_USAGE_STATS_ENABLED": "0"}
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)  # for the workers
    cluster = Chaos(every)
    try:
        yield cluster
    finally:
        cluster.close()


def write_log(path: Path, rows: int) -> Path:
    chance = random.Random(1)
    with path.open("w", encoding="utf-8") as handle:
        for number in range(rows):
            turns = [f"{chance.choice(SAID)} {chance.randrange(rows)}" for _ in range(3)]
            handle.write(json.dumps({"id": number, "turns": turns}, ensure_ascii=False) + "\n")
    return path


def commands(folder: Path, rows: int) -> dict[str, list[str]]:
    """Every command that can run on Ray; `{out}` is where it writes."""
    (folder / "seeds.csv").write_text(SEEDS, encoding="utf-8")
    part, seeds = str(max(1, rows // 100)), str(folder / "seeds.csv")
    options = {
        "score": ["-m", "nano", "--part-rows", part, "-o", "{out}"],
        "corpus filter": ["--language", "off", "--personal", "mask", "-o", "{out}"],
        "corpus dedupe": ["-o", "{out}.jsonl"],
        "corpus mine": ["--seeds", seeds, "--per-class", "50", "-o", "{out}"],
    }
    logs = {name: write_log(folder / f"{share}.jsonl", rows // share) for name, share in SHARES.items()}
    return {name: [*name.split(), str(logs[name]), *given] for name, given in options.items()}


def survive(place: Path, command: Sequence[str], cluster: Chaos, seconds: float) -> dict[str, Any]:
    """Run a command on the cluster until its time is up and a node was lost, and compare what it makes."""

    def run(name: str, engine: Sequence[str]) -> tuple[float, dict[str, bytes]]:
        """The seconds it took, and every file that it made."""
        out = place / name
        out.mkdir(parents=True)
        whole = module_command("emoscope", *(word.replace("{out}", f"{out}/out") for word in command), *engine)
        begun = time.perf_counter()
        with (place / f"{name}.log").open("wb") as messages:
            done = (
                subprocess.call(whole, stdout=messages, stderr=messages)
                if name == ALONE
                else cluster.run(whole, messages)
            )
        if done:
            raise SystemExit(f"{' '.join(whole)}: ended with {done}\n{(place / f'{name}.log').read_text()[-2000:]}")
        spent = time.perf_counter() - begun
        files = [path for path in out.rglob("*") if path.is_file()]
        return spent, {path.relative_to(out).as_posix(): path.read_bytes() for path in files}

    alone, expected = run(ALONE, ("--workers", "1"))
    begun, lost, runs, differ, slowest = time.monotonic(), cluster.lost, 0, 0, 0.0
    while time.monotonic() < begun + seconds or cluster.lost == lost:
        spent, found = run(str(runs), cluster.engine)
        runs, differ, slowest = runs + 1, differ + (found != expected), max(slowest, spent)
    seen = {"runs": runs, "lost": cluster.lost - lost, "differ": differ}
    return {**seen, "alone": round(alone, 1), "slowest": round(slowest, 1)}


def page(rows: Sequence[dict[str, Any]], every: float) -> str:
    heads = [
        "command",
        "rows",
        "runs",
        "nodes killed",
        "runs with different output",
        "one process, s",
        "slowest, s",
    ]
    keys = ("rows", "runs", "lost", "differ")
    cells = [
        [
            f"`{row['command']}`",
            *(f"{row[key]:,}" for key in keys),
            *(f"{row[key]:.1f}" for key in ("alone", "slowest")),
        ]
        for row in rows
    ]
    return f"Four nodes; one is killed and one joins every {every:g} seconds.\n\n{markdown_table(heads, cells)}"


def main() -> None:
    parser = command_line(__doc__, "write")
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--every", type=float, default=10.0, help="seconds between two losses")
    parser.add_argument("--rows", type=int, default=200_000, help="that `score` gets; the others get fewer")
    parser.add_argument("--commands", nargs="+", choices=SHARES, default=list(SHARES))
    options = parser.parse_args()
    seconds = options.minutes * 60 / len(options.commands)
    found = []
    with tempfile.TemporaryDirectory() as name, chaos(options.every, Path(name)) as cluster:
        every = commands(Path(name), options.rows)
        for command in options.commands:
            seen = survive(Path(name, command.replace(" ", "-")), every[command], cluster, seconds)
            found.append({"command": command, "rows": options.rows // SHARES[command], **seen})
            print(json.dumps(found[-1]), flush=True)
    if options.write:
        write_rows(TABLE, found)
        settings = {name: value for name, value in vars(options).items() if name != "write"}
        keep(TABLE, made(seed=0, settings=settings, note="all rows are made up"))
        write_section(PAGES / "scale.md", "chaos", page(found, options.every))
    sys.exit(any(row["differ"] for row in found))


if __name__ == "__main__":
    main()
