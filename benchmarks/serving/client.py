"""Clients on loopback, each with one connection, which ask again as soon as they are answered.

    python -m benchmarks.serving.client PORT CLIENTS SECONDS REQUESTS < bodies.jsonl

Ends after SECONDS or REQUESTS (0: no limit), whichever comes first, and prints one JSON document. A process of its own,
and plain sockets, so that what is measured is the server.
"""

import asyncio
import json
import sys
import time
from dataclasses import dataclass, field
from itertools import cycle, islice


@dataclass(slots=True)
class Tally:
    """What the clients saw."""

    milliseconds: list[float] = field(default_factory=list)
    statuses: dict[str, int] = field(default_factory=dict)
    left: int = 0


async def client(port: int, requests: "cycle[bytes]", until: float, tally: Tally, limited: bool) -> None:
    """One client, to the end of the time or of the requests."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        while time.perf_counter() < until and not (limited and tally.left <= 0):
            tally.left -= 1
            begun = time.perf_counter()
            writer.write(next(requests))
            head = await reader.readuntil(b"\r\n\r\n")
            status = head[9:12].decode()
            length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(length)
            tally.milliseconds.append((time.perf_counter() - begun) * 1000)
            tally.statuses[status] = tally.statuses.get(status, 0) + 1
    finally:
        writer.close()


async def run(port: int, clients: int, seconds: float, requests: int, bodies: list[bytes]) -> dict[str, object]:
    """All clients at once, each beginning at another body."""
    head = "POST /v1/detect HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    whole = [(head % len(body)).encode() + body for body in bodies]
    tally = Tally(left=requests)
    begun = time.perf_counter()
    await asyncio.gather(
        *(
            client(
                port, cycle(list(islice(cycle(whole), start, start + len(whole)))), begun + seconds, tally, requests > 0
            )
            for start in range(clients)
        )
    )
    took = time.perf_counter() - begun
    ranked = sorted(tally.milliseconds)
    return {
        "clients": clients,
        "requests": len(ranked),
        "seconds": took,
        "per_second": len(ranked) / took,
        "p50": ranked[len(ranked) // 2],
        "p99": ranked[min(len(ranked) - 1, int(len(ranked) * 0.99))],
        "statuses": tally.statuses,
    }


if __name__ == "__main__":
    port, clients, seconds, requests = sys.argv[1:]
    lines = [line.strip().encode() for line in sys.stdin if line.strip()]
    print(json.dumps(asyncio.run(run(int(port), int(clients), float(seconds), int(requests), lines))))
