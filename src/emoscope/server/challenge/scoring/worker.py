"""The worker: takes one job after the other and has it done in a process that it can kill."""

import contextlib
import json
import logging
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

from emoscope.server.challenge.scoring.outcome import fail, keep_comparison, keep_score, supersede
from emoscope.server.challenge.scoring.queue import MAX_LOST, Claim, claim, extend, release
from emoscope.server.challenge.scoring.scorer import scorer_sha256
from emoscope.server.challenge.scoring.standing import fingerprint, standings
from emoscope.server.errors import StoreUnavailable
from emoscope.server.store import Store
from emoscope.server.store.models import Challenge, Job, Phase, Submission

SCORER = (sys.executable, "-P", "-m", "emoscope.server.challenge.scoring.scorer")
_SAMPLES, _FEWER_SAMPLES = 10_000, 2_000
_MANY_ANSWERS = 1_000_000
_log = logging.getLogger("emoscope.server")


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
        """Work until told to stop. A store that is gone is waited for, and no error ends the worker."""
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
                _log.exception("the worker met an unexpected error and goes on")
                stop.wait(5 * self.poll_seconds)

    def run_once(self) -> bool:
        """Do one job; False if there is none due."""
        held = claim(self.store, timedelta(seconds=self.lease_seconds))
        if held is None:
            return False
        try:
            if held.lost > MAX_LOST:
                fail(self.store, held, f"the worker was lost {held.lost} times")
            elif held.kind == "score":
                self._score(held)
            else:
                self._compare(held)
        except StoreUnavailable:
            raise
        except (
            Exception
        ) as error:  # no memory for a process, a folder that is gone: an attempt that failed, like others
            _log.exception("job %d could not be run", held.job_id)
            fail(self.store, held, f"the worker could not run it ({type(error).__name__})")
        return True

    def drain(self, seconds: float = 60) -> int:
        """Do all jobs there are, also those that are due only later; returns how many were done."""
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

    def _score(self, held: Claim) -> None:
        with self.store.database.read() as session:
            submission = session.get_one(Submission, held.submission_id)
            phase = session.get_one(Phase, held.phase_id)
            challenge = session.get_one(Challenge, phase.challenge_id)
        files = self.store.files
        scorer = scorer_sha256(challenge.task, challenge.metric)
        # The job names the code and the gold it is for. Where they have changed since, a score now would be another's.
        if held.scorer_sha256 != scorer or held.gold_sha256 != phase.gold_sha256:
            supersede(self.store, held, scorer)
            return
        request = {
            "kind": "score",
            "task": challenge.task,
            "metric": challenge.metric,
            "gold": str(files.path("gold", phase.gold_sha256)),
            "submission": str(files.path("submissions", submission.sha256)),
            "scorer_sha256": held.scorer_sha256,
        }
        answer, reason = self._ask(held, request, self.score_seconds)
        if answer is not None:
            keep_score(self.store, held, answer)
        elif reason:
            fail(self.store, held, reason)

    def _compare(self, held: Claim) -> None:
        with self.store.database.read() as session:
            phase = session.get_one(Phase, held.phase_id)
            challenge = session.get_one(Challenge, phase.challenge_id)
            scorer = scorer_sha256(challenge.task, challenge.metric)
            ranked = [standing for standing in standings(session, phase, scorer) if standing.ranked]
        compared = fingerprint(ranked, phase, scorer)
        if len(ranked) < 2:
            rows = [{"name": one.submission.public_id, "cluster": 1, "first_different": None} for one in ranked]
            keep_comparison(self.store, held, compared, {"rows": rows})
            return
        files = self.store.files
        # Named in the order of the standing: the comparison keeps that order among equals.
        request = {
            "kind": "compare",
            "task": challenge.task,
            "metric": challenge.metric,
            "gold": str(files.path("gold", phase.gold_sha256)),
            "submissions": [
                (one.submission.public_id, str(files.path("submissions", one.submission.sha256))) for one in ranked
            ],
            "samples": _SAMPLES if phase.items * len(ranked) <= _MANY_ANSWERS else _FEWER_SAMPLES,
        }
        answer, reason = self._ask(held, request, self.compare_seconds)
        if answer is not None:
            keep_comparison(self.store, held, compared, answer)
        elif reason:
            fail(self.store, held, reason)

    def _ask(self, held: Claim, request: dict[str, Any], seconds: int) -> tuple[dict[str, Any] | None, str]:
        """The scorer's answer, or why there is none; neither if the job was lost to another worker."""
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
                    text = None  # communicate goes on where it was
                if self._stop.is_set():
                    asked_to_stop = asked_to_stop or now
                    if now - asked_to_stop > self.stop_seconds:
                        release(self.store, held)
                        return None, ""
                if now >= beat:
                    beat = now + self.lease_seconds / 3
                    if not extend(self.store, held, timedelta(seconds=self.lease_seconds)):
                        return None, ""
            return None, f"the time limit of {seconds} s was reached"
        finally:
            _kill(process)


def _environment() -> dict[str, str]:
    """Ours without the database's address, which is none of the scorer's business; one thread, as workers are many."""
    kept = {name: value for name, value in os.environ.items() if name != "EMOSCOPE_DATABASE_URL"}
    return {**kept, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """End the scorer and whatever it has started."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _parsed(out: bytes, status: int) -> tuple[dict[str, Any] | None, str]:
    if status < 0:
        return None, f"the scorer was ended by signal {-status}"
    try:
        answer = json.loads(out)
    except ValueError:
        return None, f"the scorer ended with status {status} and no answer"
    if not isinstance(answer, dict) or answer.get("ok") is not True:
        reason = answer.get("reason") if isinstance(answer, dict) else None
        return None, f"the scorer could not score it ({reason or 'no reason given'})"
    return answer, ""
