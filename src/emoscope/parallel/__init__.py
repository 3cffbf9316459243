"""Run work in this process, in worker processes, or on a Ray cluster."""

from emoscope.parallel.executor import SERIAL, Engine, Executor
from emoscope.parallel.progress import advance

__all__ = ["SERIAL", "Engine", "Executor", "advance"]
