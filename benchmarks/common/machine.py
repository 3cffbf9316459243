"""The machine the figures are of, and whether it has other work."""

import os
import platform
import time
from importlib.metadata import version
from pathlib import Path

BUSY = 0.05  # the most that others may take of the machine
_FEATURES = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8")
_PACKAGES = ("onnxruntime", "tokenizers", "torch", "transformers")


def machine() -> str:
    """The processor by what it can do, and the versions that matter."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    flags = next((line.split() for line in lines if line.startswith("flags")), [])
    features = " ".join(flag for flag in _FEATURES if flag in flags)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    return (
        f"{platform.machine()} with {features or 'no vector extensions named'}, {cores} cores, "
        f"Python {platform.python_version()}, {packages}"
    )


def taken_by_others(seconds: float = 2.0) -> float:
    """The share of the machine in use while we do nothing; 0 where the system does not tell."""
    before = _ticks()
    time.sleep(seconds)
    spent = [after - start for start, after in zip(before, _ticks(), strict=True)]
    return 1 - sum(spent[3:5]) / sum(spent) if sum(spent) else 0.0  # the fourth and fifth are idle and waiting


def require_quiet(*, busy_allowed: bool) -> float:
    """The share of the machine that others take; ends the benchmark if that is too much."""
    others = taken_by_others()
    if others > BUSY and not busy_allowed:
        raise SystemExit(f"other work takes {others:.0%} of the machine; wait, or measure all the same with --busy")
    return others


def _ticks() -> list[int]:
    path = Path("/proc/stat")
    return [int(n) for n in path.read_text(encoding="ascii").splitlines()[0].split()[1:]] if path.is_file() else []
