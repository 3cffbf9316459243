"""Measure what `emoscope train --devices 2` gains on two cores: two processes of one thread each, against one process.

    python -m benchmarks.scale.devices --data DATA [--rounds 3] [--limit 8000] [--busy]

The variants are interleaved, so that other load affects all; figures range from the fastest to the slowest round,
ratios are of the fastest. `--write` puts the table into docs/results/scale.md. Measuring on a busy machine is refused;
`--busy` measures anyway and prints the share of other load.
"""

import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import torch

from benchmarks.common.machine import machine, require_quiet
from benchmarks.common.options import command_line
from benchmarks.common.pages import printed_section
from emoscope.runs.train import train

EPOCHS = 3
# A small and a wider network of the same kind: the wider one has more to compute between two messages.
KINDS: dict[str, dict[str, Any]] = {"LSTM of 128": {}, "LSTM of 512": {"hidden_size": 512, "batch_size": 400}}


class Seconds(NamedTuple):
    """Of one run: an epoch, and what is spent before and after the epochs."""

    epoch: float
    beside: float


class Way(NamedTuple):
    """A number of processes, and of threads in all of them."""

    processes: int
    threads: int


WAYS = (Way(1, 1), Way(1, 2), Way(2, 2))


def measure(settings: dict[str, Any], way: Way, limit: int, data: Path) -> Seconds:
    reports: list[float] = []
    torch.set_num_threads(way.threads)
    with tempfile.TemporaryDirectory() as folder:
        record = train(
            "emocontext-baseline",
            "emocontext",
            Path(folder) / "run",
            limit=limit,
            settings={"epochs": EPOCHS, "patience": 0, "vectors": "random", **settings},
            device="cpu",
            devices=way.processes,
            resumable=False,
            root=data,
            report=lambda _message, _done: reports.append(time.perf_counter()),
        )
    spent = reports[-1] - reports[0]
    return Seconds(spent / EPOCHS, record.seconds - spent)


def _span(seconds: list[float]) -> str:
    return f"{min(seconds):.1f} to {max(seconds):.1f} s"


def main() -> None:
    parser = command_line(__doc__, "data", "busy", "write")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=int, default=8000, help="examples to learn from")
    options = parser.parse_args()
    shares: list[float] = []
    lines = []
    for name, settings in KINDS.items():
        found: dict[Way, list[Seconds]] = {way: [] for way in WAYS}
        for _ in range(options.rounds):
            for way, rounds in found.items():
                shares.append(require_quiet(busy_allowed=options.busy))
                rounds.append(measure(settings, way, options.limit, options.data))
                print(f"{name}, {way}: {rounds[-1]}", flush=True)
        spans = [_span([each.epoch for each in rounds]) for rounds in found.values()]
        starts = [_span([each.beside for each in found[way]]) for way in WAYS[1:]]
        one, threads, processes = (min(each.epoch for each in rounds) for rounds in found.values())
        ratios = [f"{threads / processes:.2f}", f"{one / processes:.2f}"]
        lines.append(f"| {name} | {' | '.join([*spans, *ratios, *starts])} |")
    print(f"\n{machine()}; others took {min(shares):.0%} to {max(shares):.0%} of it; {options.limit:,} dialogues\n")
    epochs = ("epoch, 1 thread", "2 threads", "2 processes")
    heads = ("network", *epochs, "speedup over 2 threads", "speedup over 1 thread")
    with printed_section("scale", "devices", write=options.write):
        print(f"| {' | '.join(heads)} | overhead, 1 process | 2 processes |")
        print(f"|---|{'---:|' * 7}")
        print("\n".join(lines))


if __name__ == "__main__":
    main()
