"""Running a function in several processes of this machine, one for each device, with torch's own launcher."""

import logging
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TypeVar

import torch
from torch import distributed
from torch.multiprocessing.spawn import ProcessException, start_processes

from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext, no_progress
from emoscope.models.torch.data_parallel import Replica
from emoscope.models.torch.training import device_of

R = TypeVar("R")
_LOOPBACK = {"linux": "lo", "darwin": "lo0"}
_LONGEST = 1000  # characters of a message: one that fits into the pipe's buffer arrives whole or not at all


def check_devices(device: str, devices: int) -> None:
    """Raise an error if this machine cannot train on that many devices.

    >>> check_devices("cpu", 1)
    """
    if devices == 1:
        return
    if ":" in device:
        raise EmoscopeError(f"--devices {devices}: --device {device} names one device; use {device.partition(':')[0]}")
    if device_of(device).type == "cuda":
        count, kind = torch.cuda.device_count(), "GPU"
    else:
        count, kind = os.cpu_count() or 1, "CPU core"
    if devices > count:
        raise EmoscopeError(f"--devices {devices}: this machine has {count} {kind}{'s' * (count != 1)}")


def on_devices(function: Callable[..., R], fit_context: FitContext) -> R:
    """The result of `function(fit_context=..., replica=...)` in the first of `devices` processes.

    The processes are spawned, so everything must be importable or picklable. If one dies, all are terminated.
    """
    check_devices(fit_context.device, fit_context.devices)
    with tempfile.TemporaryDirectory(prefix="emoscope-train-") as name:
        folder = Path(name)
        torch.save((function, replace(fit_context, progress=no_progress)), folder / "call")
        # The user gets our one-line message instead.
        logging.getLogger(start_processes.__module__).setLevel(logging.ERROR)
        inbox, outbox = multiprocessing.get_context("spawn").Pipe(duplex=False)
        threads = max(1, torch.get_num_threads() // fit_context.devices)
        with inbox, outbox:
            started = start_processes(  # type: ignore[no-untyped-call]
                _run,
                (folder, fit_context.devices, threads, outbox),
                nprocs=fit_context.devices,
                join=False,
                daemon=True,
                start_method="spawn",
            )
            failures: list[_Failure] = []
            try:
                while not started.join(timeout=0.1):
                    _receive(inbox, fit_context, failures)
                _receive(inbox, fit_context, failures)
            except ProcessException:
                _receive(inbox, fit_context, failures)
                raise EmoscopeError(_failure_message(started.processes, failures, fit_context)) from None
            finally:
                for process in started.processes:
                    process.kill()
                    process.join()
        # We wrote this file, in a folder that only this user can read.
        result: R = torch.load(folder / "result", weights_only=False, map_location="cpu")
        return result


@dataclass(frozen=True, slots=True)
class _Failure:
    rank: int
    problem: str
    expected: bool  # an EmoscopeError, whose message is for the user


def _run(rank: int, folder: Path, world_size: int, threads: int, outbox: Connection) -> None:
    # Standard output is for results, but native libraries print to it.
    sys.stdout.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        torch.set_num_threads(threads)
        _call(Replica(rank, world_size), folder, outbox)
    except Exception as error:
        expected = isinstance(error, EmoscopeError)
        problem = str(error) if expected else f"{type(error).__name__}: {error}".splitlines()[0]
        with suppress(OSError):
            outbox.send(_Failure(rank, problem[:_LONGEST], expected))
        os._exit(1)  # a normal exit would wait for processes that wait for this one
    os._exit(0)  # a normal exit stops the backend's threads, which at times aborts the process


def _call(replica: Replica, folder: Path, outbox: Connection) -> None:
    fit_context: FitContext
    function, fit_context = torch.load(folder / "call", weights_only=False, map_location="cpu")
    backend, device = "gloo", "cpu"
    if device_of(fit_context.device).type == "cuda":
        torch.cuda.set_device(replica.rank)
        backend, device = "cpu:gloo,cuda:nccl", f"cuda:{replica.rank}"
    # Rendezvous by a file, and the loopback interface: nobody on the network can join.
    if sys.platform in _LOOPBACK:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", _LOOPBACK[sys.platform])
    meeting = (folder / "meeting").as_uri()
    distributed.init_process_group(backend, init_method=meeting, rank=replica.rank, world_size=replica.world_size)

    def send_progress(message: str, done: float) -> None:
        outbox.send((message[:_LONGEST], done))

    progress = send_progress if replica.is_main else no_progress
    result = function(fit_context=replace(fit_context, device=device, progress=progress), replica=replica)
    if replica.is_main:
        torch.save(result, folder / "result")
    distributed.barrier()  # none leaves while another may still need it


def _receive(inbox: Connection, fit_context: FitContext, failures: list[_Failure]) -> None:
    while inbox.poll():
        message: tuple[str, float] | _Failure = inbox.recv()
        if isinstance(message, _Failure):
            failures.append(message)
        else:
            fit_context.progress(*message)


def _failure_message(processes: Sequence[BaseProcess], failures: Sequence[_Failure], fit_context: FitContext) -> str:
    """One line for the first cause: when one process is killed, the others fail because of it or are terminated."""
    for failure in failures:
        if failure.expected:
            return failure.problem
    codes = {rank: process.exitcode for rank, process in enumerate(processes) if process.exitcode}
    killed = {rank: -code for rank, code in codes.items() if code < 0 and -code != signal.SIGTERM}
    if killed:
        # One that aborted may have done so because another was killed.
        rank, number = min(killed.items(), key=lambda death: death[1] == signal.SIGABRT)
        hint = "; is there too little memory?" if number == 9 else ""
        how = f"was killed (signal {number}{hint})"
    elif failures:
        rank, how = failures[0].rank, f"failed ({failures[0].problem})"
    else:
        rank, code = next(iter(codes.items()))
        how = f"ended with exit code {code}"
    resume = "; finished epochs are kept, and the same command resumes from them" if fit_context.checkpoints else ""
    return f"training on {len(processes)} devices: process {rank + 1} {how}{resume}"
