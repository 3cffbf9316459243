"""`emoscope submit`: submit predictions to a challenge and wait for their score."""

import secrets
import time
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, urlsplit

import typer

from emoscope.cli.evaluation_tables import print_learnt
from emoscope.cli.output import console, duration, table
from emoscope.cli.result import CommandResult
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import existing_file
from emoscope.evaluation.provenance import learnt_of
from emoscope.server.errors import Rejected

_FINAL = {"scored", "failed", "rejected"}
# A request whose response was lost is sent again; its idempotency key makes sure it counts once.
_RETRIES = 3


def submit_cli(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Predictions in the task's official format.")],
    challenge: Annotated[str, typer.Option("--challenge", "-c", help="URL of the challenge's page.")],
    token: Annotated[str, typer.Option("--token", envvar="EMOSCOPE_TOKEN", help="Your token.")],
    phase: Annotated[
        str | None, typer.Option("--phase", help="Name of the phase; needed only if several are open.")
    ] = None,
    note: Annotated[str, typer.Option("--note", help="A note for your team.")] = "",
    wait: Annotated[int, typer.Option("--wait", min=0, help="Seconds to wait for the score.")] = 60,
) -> CommandResult:
    """Submit predictions to a challenge; exit code 1 if they are rejected."""
    server, slug = challenge_address(challenge)
    print_learnt(file, learnt_of(existing_file(file)))
    try:
        submission = send(server, slug, existing_file(file), token=token, phase=phase, note=note)
        submission = follow(server, submission, token=token, seconds=wait)
    except Rejected as rejected:
        return CommandResult({"state": "rejected", "problems": rejected.rows}, "\n".join(rejected.rows), failed=True)
    return CommandResult(submission, partial(_print, submission), failed=submission["state"] == "failed")


def challenge_address(address: str) -> tuple[str, str]:
    """The server's address and the challenge's name, from the address of its page.

    >>> challenge_address("https://example.org/challenges/emocontext/")
    ('https://example.org', 'emocontext')
    """
    parts = urlsplit(address)
    before, mark, slug = parts.path.rstrip("/").rpartition("/challenges/")
    if parts.scheme not in {"http", "https"} or not parts.netloc or not mark or not slug or "/" in slug:
        raise EmoscopeError(f"{address}: expected an address such as https://HOST/challenges/NAME")
    return f"{parts.scheme}://{parts.netloc}{before.removesuffix('/v1')}", slug


def send(server: str, slug: str, file: Path, *, token: str, phase: str | None = None, note: str = "") -> dict[str, Any]:
    """Submit a file; retries after a lost connection count as one submission."""
    url = f"{server}/v1/challenges/{quote(slug, safe='')}/submissions"
    fields = {"note": note, "phase": phase}  # httpx leaves out None
    files = {"file": (file.name, file.read_bytes(), "text/plain")}
    return _call("POST", url, token, {"Idempotency-Key": secrets.token_hex(16)}, data=fields, files=files)


def follow(server: str, submission: dict[str, Any], *, token: str, seconds: float) -> dict[str, Any]:
    """Poll a submission until its state is final or the time is up."""
    deadline, pause = time.monotonic() + seconds, 0.2
    while submission["state"] not in _FINAL and time.monotonic() < deadline:
        time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
        pause = min(2 * pause, 5.0)
        submission = _call("GET", f"{server}/v1/submissions/{quote(str(submission['id']), safe='')}", token, {})
    return submission


def _call(method: str, url: str, token: str, headers: dict[str, str], **content: Any) -> dict[str, Any]:
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3 import Retry

    retry = Retry(
        _RETRIES,
        allowed_methods=None,
        status_forcelist=(502, 503, 504),
        backoff_factor=0.5,
        raise_on_status=False,
        respect_retry_after_header=False,
    )
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json", **headers}
    with requests.Session() as session:
        for scheme in ("http://", "https://"):
            session.mount(scheme, HTTPAdapter(max_retries=retry))
        try:
            response = session.request(method, url, headers=headers, timeout=60, allow_redirects=False, **content)
        except requests.RequestException as error:
            raise EmoscopeError(f"{url}: no response ({type(error).__name__})") from None
    try:
        body = response.json()
    except ValueError:
        body = None
    status = response.status_code
    if not isinstance(body, dict):
        raise EmoscopeError(f"{url}: responded with {status} and no JSON; is this an emoscope server?")
    if status < 300:
        return body
    if status == 422 and isinstance(body.get("rows"), list) and body["rows"]:
        raise Rejected([str(row) for row in body["rows"]])
    retry_after = response.headers.get("Retry-After", "")  # seconds, or from a proxy a date
    later = f" (try again in {duration(int(retry_after))})" if retry_after.isdecimal() else ""
    raise EmoscopeError(f"{body.get('detail') or body.get('title') or f'{url}: responded with {status}'}{later}")


def _print(submission: dict[str, Any]) -> None:
    screen = console()
    screen.print(f"submission {submission['id']}: {submission['state']}", markup=False)
    figures = submission.get("figures")
    if figures:
        rows = [
            [label, *(scores[key] for key in ("precision", "recall", "f1"))]
            for label, scores in figures["per_class"].items()
        ]
        if rows:
            screen.print(table(None, ["label", "precision", "recall", "F1"], rows))
        part = figures.get("part", "all")
        where = "" if part == "all" else f", on the {part} part of the gold"
        score = f"{figures['score']:.{figures.get('digits', 4)}f}"
        screen.print(f"score {score} ({figures['low']:.4f} to {figures['high']:.4f}){where}", markup=False)
    elif submission["state"] == "scored":
        screen.print("the leaderboard is still hidden, and so is the score", markup=False)
    elif submission["state"] == "failed" and submission.get("log"):
        screen.print(submission["log"][-1]["text"], markup=False)
