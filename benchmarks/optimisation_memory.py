"""For `benchmarks/optimisation.py`: how much of a model's memory processes share."""

import subprocess
import sys
from pathlib import Path

CODE = """
import sys
import emoscope
detector = emoscope.load(sys.argv[1])
list(detector.detect_many([["hi", "hello", "how are you today " * (n % 9 + 1)] for n in range(64)]))
print("ready", flush=True)
sys.stdin.read()
"""


def worker_memory(model: str, workers: int = 2) -> dict[str, float]:
    """MB that each of several processes with a model of its own holds, and what of it belongs to it alone."""
    started = [
        subprocess.Popen([sys.executable, "-c", CODE, model], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(workers)
    ]
    try:
        for process in started:
            assert process.stdout is not None
            if not process.stdout.readline():
                raise SystemExit("a worker gave no answer")
        found = [_memory(process.pid) for process in started]
    finally:
        for process in started:
            process.communicate()
    return {name: round(sum(each[name] for each in found) / workers, 1) for name in found[0]}


def _memory(process: int) -> dict[str, float]:
    lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
    values = {line.split(":")[0]: int(line.split()[1]) / 1000 for line in lines}
    shared = values["Shared_Clean"] + values["Shared_Dirty"]
    maps = Path(f"/proc/{process}/smaps").read_text(encoding="utf-8", errors="replace").splitlines()
    weights, inside = 0.0, False
    for line in maps:
        if "-" in line.split(" ")[0] and ":" not in line.split(" ")[0]:
            inside = line.endswith("weights.bin")
        elif inside and line.startswith("Rss:"):
            weights += int(line.split()[1]) / 1000
    return {"held": values["Rss"], "shared": shared, "own": values["Rss"] - shared, "weights mapped": weights}
