"""Starting and watching the processes of a team, on devices of this machine, with torch's own launcher."""

import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import distributed
from torch.multiprocessing.spawn import start_processes

from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.torch.team import Team

R = TypeVar("R")
_LOOPBACK = {"linux": "lo", "darwin": "lo0"}
_LONGEST = 1000  # characters of a message: one that fits the pipe's buffer is there whole or not at all


def check_devices(device: str, devices: int) -> None:
    """Raise the line that says why a network cannot be trained on so many devices of a kind here.

    >>> check_devices("cpu", 1)
    """
    if devices == 1:
        return
    if ":" in device:
        raise EmoscopeError(f"--devices {devices}: --device {device} names one device; use {device.partition(':')[0]}")
    if _on_gpus(device):
        there, kind = torch.cuda.device_count(), "GPU"
    else:
        there, kind = os.cpu_count() or 1, "CPU core"
    if devices > there:
        raise EmoscopeError(f"--devices {devices}: this machine has {there} {kind}{'s' * (there != 1)}")


def on_devices(work: Callable[..., R], arguments: Mapping[str, Any], fitting: FitContext) -> R:
    """What `work(**arguments, fitting=..., team=...)` returns in the leader of `fitting.devices` processes.

    All must be importable or picklable, as processes are started afresh. A process that dies ends them all.
    """
    check_devices(fitting.device, fitting.devices)
    with tempfile.TemporaryDirectory(prefix="emoscope-train-") as name:
        folder = Path(name)
        torch.save((work, dict(arguments), replace(fitting, report=_Report.silent)), folder / "start")
        inbox, outbox = multiprocessing.get_context("spawn").Pipe(duplex=False)
        plan = _Plan(folder, fitting.devices, max(1, torch.get_num_threads() // fitting.devices), outbox)
        started = start_processes(  # type: ignore[no-untyped-call]
            _work, (plan,), nprocs=fitting.devices, join=False, daemon=True, start_method="spawn"
        )
        try:
            _watch(started.processes, inbox, fitting)
        finally:
            _end(started.processes)
            inbox.close()
            outbox.close()
        # Of our own making, in a folder that only this user can read.
        answer: R = torch.load(folder / "answer", weights_only=False, map_location="cpu")
        return answer


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a process must know to join its team."""

    folder: Path
    size: int
    threads: int
    outbox: Connection


@dataclass(frozen=True, slots=True)
class _Progress:
    message: str
    done: float


@dataclass(frozen=True, slots=True)
class _Failure:
    rank: int
    problem: str
    expected: bool  # a mistake of the user's that has its own line


class _Report:
    """Progress, sent to the process that started the team."""

    def __init__(self, outbox: Connection) -> None:
        self.outbox = outbox

    def __call__(self, message: str, done: float) -> None:
        self.outbox.send(_Progress(message[:_LONGEST], done))

    @staticmethod
    def silent(message: str, done: float) -> None:
        """For all but the leader."""


def _on_gpus(device: str) -> bool:
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise EmoscopeError("no GPU was found; use --device cpu")
    return device != "cpu" and torch.cuda.is_available()


def _work(rank: int, plan: _Plan) -> None:
    """The life of one process of a team."""
    # Libraries below torch say hello on standard output, which belongs to the user's results.
    sys.stdout.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        _join_and_work(rank, plan)
    except Exception as error:
        expected = isinstance(error, EmoscopeError)
        problem = str(error) if expected else f"{type(error).__name__}: {error}".splitlines()[0]
        with suppress(OSError):
            plan.outbox.send(_Failure(rank, problem[:_LONGEST], expected))
        # At once: torch's own ending would wait for processes that wait for this one.
        os._exit(1)


def _join_and_work(rank: int, plan: _Plan) -> None:
    torch.set_num_threads(plan.threads)
    fitting: FitContext
    work, arguments, fitting = torch.load(plan.folder / "start", weights_only=False, map_location="cpu")
    backend = "gloo"
    if _on_gpus(fitting.device):
        torch.cuda.set_device(rank)
        fitting = replace(fitting, device=f"cuda:{rank}")
        backend = "cpu:gloo,cuda:nccl"
    else:
        fitting = replace(fitting, device="cpu")
    # All processes are on this machine, and nobody else is to talk to them.
    if sys.platform in _LOOPBACK:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", _LOOPBACK[sys.platform])
    meeting = (plan.folder / "meeting").as_uri()
    distributed.init_process_group(backend, init_method=meeting, rank=rank, world_size=plan.size)
    team = Team(rank, plan.size)
    if team.leads:
        fitting = replace(fitting, report=_Report(plan.outbox))
    answer = work(**arguments, fitting=fitting, team=team)
    if team.leads:
        torch.save(answer, plan.folder / "answer")
    distributed.destroy_process_group()


def _watch(processes: Sequence[BaseProcess], inbox: Connection, fitting: FitContext) -> None:
    """Pass progress on until all processes have ended well; raise one line when one has not."""
    failures: list[_Failure] = []
    running = list(processes)
    while running:
        wait([inbox, *(process.sentinel for process in running)])
        running = [process for process in running if process.exitcode is None]
        while inbox.poll():
            said: _Progress | _Failure = inbox.recv()
            if isinstance(said, _Failure):
                failures.append(said)
            else:
                fitting.report(said.message, said.done)
        if any(process.exitcode for process in processes):
            raise EmoscopeError(_what_happened(processes, failures, fitting))


def _what_happened(processes: Sequence[BaseProcess], failures: Sequence[_Failure], fitting: FitContext) -> str:
    """The line for the first thing that went wrong; when a process is killed, the others fail for lack of it."""
    for failure in failures:
        if failure.expected:
            return failure.problem
    kept = "; finished epochs are kept, and the same command goes on from there" if fitting.checkpoints else ""
    codes = {rank: process.exitcode for rank, process in enumerate(processes) if process.exitcode}
    killed = {rank: -code for rank, code in codes.items() if code < 0}
    if killed:
        rank, number = next(iter(killed.items()))
        hint = "; is there too little memory?" if number == signal.SIGKILL else ""
        how = f"was killed (signal {number}{hint})"
    elif failures:
        rank, how = failures[0].rank, f"failed ({failures[0].problem})"
    else:
        rank, code = next(iter(codes.items()))
        how = f"ended with exit code {code}"
    return f"training on {len(processes)} devices: process {rank + 1} {how}{kept}"


def _end(processes: Sequence[BaseProcess]) -> None:
    """End what still runs."""
    for process in processes:
        if process.exitcode is None:
            process.kill()
    for process in processes:
        process.join()
