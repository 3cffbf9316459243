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
from itertools import cycle


@dataclass(slots=True)
class Tally:
    """What the clients saw."""

    milliseconds: list[float] = field(default_factory=list)
    statuses: dict[str, int] = field(default_factory=dict)
    left: int = 0


class Connection:
    """A client's connection to the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def ask(self, request: bytes) -> str:
        """Send a request, read the whole response, and return its status."""
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await self._reader.readexactly(length)
        return head[9:12].decode()

    async def ask_until(self, requests: "cycle[bytes]", until: float, tally: Tally, limited: bool) -> None:
        """Ask again and again, to the end of the time or of the requests."""
        while time.perf_counter() < until and not (limited and tally.left <= 0):
            tally.left -= 1
            begun = time.perf_counter()
            status = await self.ask(next(requests))
            tally.milliseconds.append((time.perf_counter() - begun) * 1000)
            tally.statuses[status] = tally.statuses.get(status, 0) + 1

    def close(self) -> None:
        self._writer.close()


async def run(port: int, clients: int, seconds: float, requests: int, bodies: list[bytes]) -> dict[str, object]:
    """All clients at once, each beginning at another body.

    Each has connected and been answered once before the clock starts: else the slowest percent of a short run are the
    first requests, which all arrive in the same instant.
    """
    head = "POST /v1/detect HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    whole = [(head % len(body)).encode() + body for body in bodies]
    connections = [Connection(*await asyncio.open_connection("127.0.0.1", port)) for _ in range(clients)]
    await asyncio.gather(*(connection.ask(whole[0]) for connection in connections))
    tally = Tally(left=requests)
    begun = time.perf_counter()
    await asyncio.gather(
        *(
            connection.ask_until(cycle([*whole[start:], *whole[:start]]), begun + seconds, tally, requests > 0)
            for start, connection in enumerate(connections)
        )
    )
    took = time.perf_counter() - begun
    for connection in connections:
        connection.close()
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
