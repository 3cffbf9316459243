"""One way to spread work: in this process, over worker processes, or over a Ray cluster."""

from emoscope.parallel.executor import SERIAL, Engine, Executor
from emoscope.parallel.progress import advance

__all__ = ["SERIAL", "Engine", "Executor", "advance"]
