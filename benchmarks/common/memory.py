"""The memory of processes, in bytes; the only place where it is measured."""

import resource
import sys
from pathlib import Path

MB = 1_000_000
MIB = 1 << 20


def peak_memory() -> int:
    """The most memory this process has held so far.

    On Linux `ru_maxrss` begins with what the parent held, which is more than a small model needs.
    """
    if sys.platform == "darwin":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return _kilobytes(Path("/proc/self/status"), "VmHWM") * 1024


def resident_memory(pid: int) -> int:
    """The memory a process holds now, shared pages included; Linux only."""
    return _kilobytes(Path(f"/proc/{pid}/status"), "VmRSS") * 1024


def proportional_memory(pid: int) -> int:
    """The memory a process holds now, its share of pages that several hold; 0 if it has ended."""
    try:
        return _kilobytes(Path(f"/proc/{pid}/smaps_rollup"), "Pss") * 1024
    except OSError:
        return 0


def shared_memory(pid: int, file: str) -> dict[str, float]:
    """Megabytes a process holds, how many of them others hold too, and how many are pages of a mapped file."""
    rollup = Path(f"/proc/{pid}/smaps_rollup")
    held = _kilobytes(rollup, "Rss") * 1024 / MB
    shared = sum(_kilobytes(rollup, name) for name in ("Shared_Clean", "Shared_Dirty")) * 1024 / MB
    mapped, inside = 0, False
    for line in Path(f"/proc/{pid}/smaps").read_text(encoding="utf-8", errors="replace").splitlines():
        first = line.split(" ")[0]
        if "-" in first and ":" not in first:
            inside = line.endswith(file)
        elif inside and line.startswith("Rss:"):
            mapped += int(line.split()[1]) * 1024
    return {"held": held, "shared": shared, "own": held - shared, "weights mapped": mapped / MB}


def _kilobytes(path: Path, name: str) -> int:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    return 0
