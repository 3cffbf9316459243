"""The worker: runs one job after the other, each in a process that it can kill."""

import contextlib
import json
import logging
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from sqlalchemy import select

from emoscope.server.challenge.scoring import queue
from emoscope.server.challenge.scoring.scorer import scorer_sha256
from emoscope.server.challenge.scoring.standing import fingerprint, standings
from emoscope.server.errors import StoreUnavailable
from emoscope.server.store import Store
from emoscope.server.store.models import Challenge, Job, Phase, Submission

SCORER = (sys.executable, "-P", "-m", "emoscope.server.challenge.scoring.scorer")
_SAMPLES, _FEWER_SAMPLES = 10_000, 2_000
_FIGURES = ("score", "low", "high")
_MANY_ANSWERS = 1_000_000
_log = logging.getLogger("emoscope.server")


class AttemptFailedError(Exception):
    """The job failed; the message is the reason, for the submission's log."""


@dataclass(slots=True)
class ScoringWorker:
    """Runs the jobs of a store; any number of workers may share one, in any number of processes.

    `run(stop)` works until the event is set. It then finishes the current job, or puts it back if that takes longer
    than `stop_seconds`.
    """

    store: Store
    score_seconds: int = 120
    compare_seconds: int = 900
    lease_seconds: float = 60
    poll_seconds: float = 0.5
    stop_seconds: float = 10
    command: Sequence[str] = field(default=SCORER)
    _stop: threading.Event = field(default_factory=threading.Event, init=False, repr=False)

    def run(self, stop: threading.Event) -> None:
        """Work until stopped; no error ends the worker, and it waits if the store is unavailable."""
        self._stop = stop
        with contextlib.suppress(OSError):
            self.store.files.sweep()
        while not stop.is_set():
            try:
                if not self.run_once():
                    stop.wait(self.poll_seconds)
            except StoreUnavailable:
                stop.wait(5 * self.poll_seconds)
            except Exception:
                _log.exception("unexpected error in the worker, which continues")
                stop.wait(5 * self.poll_seconds)

    def run_once(self) -> bool:
        """Run one job; False if none is due."""
        job = queue.claim(self.store, timedelta(seconds=self.lease_seconds))
        if job is None:
            return False
        try:
            if job.lost > queue.MAX_LOST:
                raise AttemptFailedError(f"the worker was lost {job.lost} times")
            (self._score if job.kind == "score" else self._compare)(job)
        except StoreUnavailable:
            raise
        except AttemptFailedError as error:
            queue.fail(self.store, job, str(error))
        except Exception as error:  # such as too little memory for a process, or a missing folder
            _log.exception("job %d could not be run", job.id)
            queue.fail(self.store, job, f"the worker could not run the job ({type(error).__name__})")
        return True

    def drain(self, seconds: float = 60) -> int:
        """Run all jobs, waiting for those due later; returns how many were run."""
        done, deadline = 0, time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.run_once():
                done += 1
            elif self._pending():
                time.sleep(0.05)
            else:
                break
        return done

    def _pending(self) -> bool:
        with self.store.database.read() as session:
            return session.scalar(select(Job.id).where(Job.state.in_(["queued", "running"])).limit(1)) is not None

    def _score(self, job: Job) -> None:
        with self.store.database.read() as session:
            submission = session.get_one(Submission, job.submission_id)
            phase, challenge = submission.phase, submission.phase.challenge
        scorer = scorer_sha256(challenge.task, challenge.metric)
        # The job is for certain code and gold; if they have changed, its score would not match.
        if job.scorer_sha256 != scorer or job.gold_sha256 != phase.gold_sha256:
            queue.supersede(self.store, job, scorer)
            return
        request = self._request("score", challenge, phase)
        path = self.store.files.path("submissions", submission.sha256)
        request |= {"submission": str(path), "scorer_sha256": scorer}
        if (figures := self._ask(job, request, self.score_seconds)) is not None:
            if not all(isinstance(figures[name], float) and math.isfinite(figures[name]) for name in _FIGURES):
                raise AttemptFailedError("the scorer returned no finite score")
            queue.keep_score(self.store, job, figures)

    def _compare(self, job: Job) -> None:
        with self.store.database.read() as session:
            phase = session.get_one(Phase, job.phase_id)
            challenge = phase.challenge
            scorer = scorer_sha256(challenge.task, challenge.metric)
            ranked = [standing.submission for standing in standings(session, phase, scorer) if standing.ranked]
        compared = fingerprint(ranked, phase, scorer)
        if len(ranked) < 2:
            rows = [{"name": submission.public_id, "cluster": 1, "first_different": None} for submission in ranked]
            queue.keep_comparison(self.store, job, compared, {"rows": rows})
            return
        request = self._request("compare", challenge, phase)
        # In the order of the standing, which the comparison keeps for ties.
        paths = [self.store.files.path("submissions", one.sha256) for one in ranked]
        request["submissions"] = [(one.public_id, str(path)) for one, path in zip(ranked, paths, strict=True)]
        request["samples"] = _SAMPLES if phase.items * len(ranked) <= _MANY_ANSWERS else _FEWER_SAMPLES
        if (comparison := self._ask(job, request, self.compare_seconds)) is not None:
            queue.keep_comparison(self.store, job, compared, comparison)

    def _request(self, kind: str, challenge: Challenge, phase: Phase) -> dict[str, Any]:
        gold = str(self.store.files.path("gold", phase.gold_sha256))
        request = {"kind": kind, "task": challenge.task, "metric": challenge.metric, "gold": gold, "items": phase.items}
        if phase.public is not None and phase.public["sha256"] is not None:
            request["public"] = str(self.store.files.path("gold", phase.public["sha256"]))
        return request

    def _ask(self, job: Job, request: dict[str, Any], seconds: int) -> dict[str, Any] | None:
        """The scorer's answer, or None if the job was put back or lost to another worker."""
        process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # it might quote gold
            start_new_session=True,
            env=_environment(),
        )
        text: bytes | None = json.dumps({**request, "seconds": seconds}).encode()
        began = time.monotonic()
        beat, asked_to_stop = began + self.lease_seconds / 3, None
        try:
            while (now := time.monotonic()) < began + seconds:
                try:
                    out, _ = process.communicate(text, timeout=max(0.01, min(beat - now, began + seconds - now, 0.5)))
                    return _parsed(out, process.returncode)
                except subprocess.TimeoutExpired:
                    text = None  # communicate continues where it was
                if self._stop.is_set():
                    asked_to_stop = asked_to_stop or now
                    if now - asked_to_stop > self.stop_seconds:
                        queue.release(self.store, job)
                        return None
                if now >= beat:
                    beat = now + self.lease_seconds / 3
                    if not queue.extend(self.store, job, timedelta(seconds=self.lease_seconds)):
                        return None
            raise AttemptFailedError(f"the time limit of {seconds} s was reached")
        finally:
            _kill(process)


def _environment() -> dict[str, str]:
    """The environment without the database's address, which the scorer must not know; one thread per worker."""
    variables = {name: value for name, value in os.environ.items() if name != "EMOSCOPE_DATABASE_URL"}
    return {**variables, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill the scorer and its child processes."""
    with process:  # which closes its pipes and waits
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()


def _parsed(out: bytes, status: int) -> dict[str, Any]:
    if status < 0:
        raise AttemptFailedError(f"the scorer was ended by signal {-status}")
    try:
        answer = json.loads(out)
    except ValueError:
        raise AttemptFailedError(f"the scorer ended with status {status} and no answer") from None
    if not isinstance(answer, dict) or answer.get("ok") is not True:
        reason = answer.get("reason") if isinstance(answer, dict) else None
        raise AttemptFailedError(f"the scorer failed ({reason or 'no reason given'})")
    return answer
