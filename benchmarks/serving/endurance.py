"""Send our server an hour's worth of requests and compare its memory before and after.

    python -m benchmarks.serving.endurance [--model default] [--per-second 50] [--minutes 30] [--write]

3,600 times `--per-second` requests are sent by 16 clients as fast as the server takes them, for `--minutes` at most.
`--write` replaces the section of docs/results/serving.md. Progress goes to standard error.
"""

import tempfile
import textwrap
import time
from collections import Counter

from benchmarks.common.memory import MIB, resident_memory
from benchmarks.common.options import command_line
from benchmarks.common.pages import printed_section
from benchmarks.serving.local import WIDTH, bodies, free_port, load, our_server, say, started

CLIENTS = 16
PARTS = 20  # after each of which memory is read


def endure(pid: int, port: int, requests: int, seconds: float) -> str:
    """Send requests until their number or the time is reached; a sentence about responses and memory."""
    load(port, CLIENTS, 5.0, 0, bodies())  # what is made once has been made
    memory = [resident_memory(pid) / MIB]
    begun, statuses = time.monotonic(), Counter[str]()
    for part in range(PARTS):
        left = seconds * (part + 1) / PARTS - (time.monotonic() - begun)
        wanted = requests * (part + 1) // PARTS - statuses.total()
        if left < 1 or wanted < 1:
            continue
        statuses.update(load(port, CLIENTS, left, wanted, bodies())["statuses"])
        memory.append(resident_memory(pid) / MIB)
        say(f"{statuses.total():,} of {requests:,} requests, {time.monotonic() - begun:,.0f} s, {memory[-1]:.0f} MiB")
    minutes, middle = (time.monotonic() - begun) / 60, memory[len(memory) // 2]
    others = ", ".join(f"{count} with {status}" for status, count in sorted(statuses.items()) if status != "200")
    return (
        f"{statuses.total():,} requests of {CLIENTS} clients in {minutes:.1f} minutes, answered with 200"
        f"{f', but {others}' if others else ''}. Memory: {memory[0]:.0f} MiB before, {middle:.0f} MiB halfway, "
        f"{memory[-1]:.0f} MiB after, {max(memory):.0f} MiB at most."
    )


def main() -> None:
    parser = command_line(__doc__, "model", "write")
    parser.add_argument("--per-second", type=float, default=50.0, help="requests a second of the hour's worth")
    parser.add_argument("--minutes", type=float, default=30.0, help="the most that it may take")
    options = parser.parse_args()
    port, requests = free_port(), round(3600 * options.per_second)
    with tempfile.TemporaryDirectory() as folder, printed_section("serving", "memory", write=options.write):
        with started(our_server(options.model, port, folder), port) as pid:
            told = endure(pid, port, requests, 60 * options.minutes)
        wanted = (
            f"Model `{options.model}`; target: {requests:,} requests, an hour at {options.per_second:g}/s, "
            f"in at most {options.minutes:g} minutes."
        )
        print(textwrap.fill(f"{wanted} {told}", WIDTH))


if __name__ == "__main__":
    main()
