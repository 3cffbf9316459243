"""For `benchmarks.speed.optimisation`: how much of a model's memory processes share."""

import subprocess
import sys

from benchmarks.common.memory import shared_memory

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
        found = [shared_memory(process.pid, "weights.bin") for process in started]
    finally:
        for process in started:
            process.communicate()
    return {name: round(sum(each[name] for each in found) / workers, 1) for name in found[0]}
