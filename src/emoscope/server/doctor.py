"""Deployment checks: each finding says what is wrong and how to fix it."""

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx
from sqlalchemy import func, select, text

from emoscope.core.errors import EmoscopeError
from emoscope.server.challenge.oidc import BACK, Provider
from emoscope.server.detect.keys import FILE as API_KEYS
from emoscope.server.detect.keys import KeyFile
from emoscope.server.http.front import host_name
from emoscope.server.mail import Mailer
from emoscope.server.settings import Settings, variable
from emoscope.server.store.database import Database
from emoscope.server.store.migrate import require_current
from emoscope.server.store.models import Job
from emoscope.server.store.signing_key import KEY_FILE
from emoscope.server.store.store import DATABASE_FILE

State = Literal["ok", "warning", "error"]
_SECONDS = 10.0
_CLOCK_SECONDS = 5.0
_SPACE = 1 << 30


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check; `mend` is the fix, if one is needed."""

    check: str
    state: State
    detail: str
    mend: str = ""


def examine(settings: Settings, *, url: str | None = None, mail_to: str | None = None) -> Iterator[Finding]:
    """Run every check and yield its findings; nothing is changed, and mail is sent only to `mail_to`.

    >>> [one.check for one in _folder(Settings(data_dir="/nowhere"))]
    ['folder']
    """
    for check in (_model, _folder, _database, _keys, _clock):
        yield from check(settings)
    yield from _mail(settings, mail_to)
    yield from _provider(settings)
    yield from _files(settings)
    yield from _proxy(settings, url or settings.public_url)


def _model(settings: Settings) -> Iterator[Finding]:
    from emoscope.detector import load

    try:
        begun = time.perf_counter()
        load(settings.model).detect("I am so happy")
        yield Finding("model", "ok", f"{settings.model} answers ({time.perf_counter() - begun:.1f} s to load)")
    except EmoscopeError as error:
        yield Finding("model", "error", str(error), f"set {variable('model')} to a model that is there")


def _folder(settings: Settings) -> Iterator[Finding]:
    folder = settings.data_dir.absolute()
    if not folder.is_dir():
        mend = f"set {variable('data_dir')}, or start the server once, which makes it"
        yield Finding("folder", "error", f"{folder}: there is no such folder", mend)
        return
    found = folder.stat()
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        detail = f"{folder} belongs to user {found.st_uid}, and you are {os.geteuid()}"
        yield Finding("folder", "warning", detail, "run this as the server's user: sudo -u emoscope emoscope doctor")
    if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        detail = f"{folder} can be read by others (mode {stat.S_IMODE(found.st_mode):o}); gold and names are in it"
        yield Finding("folder", "error", detail, f"chmod 700 {folder}")
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".doctor-"):
            pass
    except OSError as error:
        mend = "give the folder to the server's user: chown -R emoscope FOLDER"
        yield Finding("folder", "error", f"{folder} cannot be written ({error.strerror})", mend)
        return
    free = shutil.disk_usage(folder).free
    state: State = "ok" if free > _SPACE else "warning"
    mend = "" if free > _SPACE else "make room, or move the folder to a larger disk"
    yield Finding("folder", state, f"{folder} can be written; {free / 2**30:.1f} GiB are free", mend)


def _database(settings: Settings) -> Iterator[Finding]:
    file = settings.data_dir.absolute() / DATABASE_FILE
    if settings.database_url is None and not file.exists():
        yield Finding("database", "warning", f"{file}: is not there yet", "start the server once, which makes it")
        return
    try:
        database = Database(settings.database_url or f"sqlite:///{file}")
    except EmoscopeError as error:
        yield Finding("database", "error", str(error), f"mend {variable('database_url')}")
        return
    try:
        with database.read() as session:
            if database.is_sqlite:
                verdict = session.execute(text("PRAGMA quick_check")).scalar_one()
                if verdict != "ok":
                    mend = "restore a backup: docs/guide/organising.md, Backup and restore"
                    yield Finding("database", "error", f"{file} is damaged ({verdict})", mend)
                    return
            else:
                skew = abs((session.execute(text("SELECT now()")).scalar_one() - datetime.now(UTC)).total_seconds())
                if skew > _CLOCK_SECONDS:
                    detail = f"the database's clock is {skew:.0f} s off this machine's"
                    yield Finding("clock", "error", detail, "keep both with NTP: deadlines depend on it")
        require_current(database)
        with database.read() as session:
            rows = session.execute(select(Job.state, func.count()).group_by(Job.state))
            counts: dict[str, int] = dict(rows.all())
    except Exception as error:  # drivers raise anything for a file that is not a database
        first = next(iter(str(error).splitlines()), type(error).__name__)
        right = f"is it up, and {variable('database_url')} right?"
        yield Finding("database", "error", first, "emoscope challenge upgrade" if "upgrade" in first else right)
        return
    finally:
        database.close()
    kind = "SQLite" if database.is_sqlite else "PostgreSQL"
    yield Finding("database", "ok", f"{kind} answers, and its schema is current")
    if failed := counts.get("failed", 0):
        mend = "see why with `emoscope challenge jobs CHALLENGE`, then `emoscope challenge rescore CHALLENGE`"
        yield Finding("jobs", "warning", f"{failed} scoring jobs have failed", mend)


def _keys(settings: Settings) -> Iterator[Finding]:
    folder = settings.data_dir.absolute()
    for name, what in ((KEY_FILE, "signs sessions and annotators' links"), (API_KEYS, "holds the API keys' hashes")):
        path = folder / name
        try:
            found = path.stat()
            path.read_bytes()
        except FileNotFoundError:
            if name == KEY_FILE:
                yield Finding("keys", "warning", f"{name} is not there yet", "start the server once, which makes it")
            elif settings.api_keys == "required":
                yield Finding("keys", "error", "detection needs a key, and there is none", "emoscope keys add NAME")
            continue
        except OSError as error:
            mend = f"chown emoscope {path}"
            yield Finding("keys", "error", f"{path} cannot be read ({error.strerror})", mend)
            continue
        if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            detail = f"{path} can be read by others (mode {stat.S_IMODE(found.st_mode):o})"
            yield Finding("keys", "error", detail, f"chmod 600 {path}")
        elif name == KEY_FILE and found.st_size != 32:
            mend = f"restore it from a backup, or rm {path}: everybody then signs in again"
            yield Finding("keys", "error", f"{path} is not a key", mend)
        else:
            try:
                if name == API_KEYS:
                    KeyFile(folder).all()
                yield Finding("keys", "ok", f"{name} {what}, and is private")
            except EmoscopeError as error:
                yield Finding("keys", "error", str(error), "restore it from a backup, or remove it and add keys anew")


def _clock(settings: Settings) -> Iterator[Finding]:
    folder = settings.data_dir.absolute()
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".doctor-") as file:
            skew = abs(os.fstat(file.fileno()).st_mtime - time.time())
    except OSError:
        return  # already reported by `_folder`
    newest = max((path.stat().st_mtime for path in folder.iterdir()), default=0.0)
    if skew > _CLOCK_SECONDS:
        detail = f"the disk's clock is {skew:.0f} s off this machine's"
        yield Finding("clock", "error", detail, "keep both with NTP: deadlines depend on it")
    elif newest > time.time() + 60:
        mend = "set the clock, and keep it with NTP (timedatectl set-ntp true)"
        yield Finding("clock", "error", "files in the data folder are from the future: the clock went back", mend)
    else:
        yield Finding("clock", "ok", f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC, and files agree")


def _mail(settings: Settings, to: str | None) -> Iterator[Finding]:
    mailer = Mailer.of(settings.mail_url, settings.mail_from)
    if mailer is None:
        mend = f"set {variable('mail_url')} to verify addresses and to mail lost tokens"
        yield Finding("mail", "warning" if to else "ok", "no mail is sent", mend if to else "")
        return
    if mailer.server.kind == "console":
        mend = f"set {variable('mail_url')} to an SMTP server before people register"
        yield Finding("mail", "warning", "mail goes to the log: fit for development only", mend)
        return
    try:
        if to:
            mailer.send(to, "emoscope: a test", "This server can send mail.")
        else:
            mailer.greet()
    except Exception as error:  # from sockets, certificates or SMTP
        reason = error.__cause__ or error
        yield Finding("mail", "error", f"{mailer.server.host} refuses us ({reason})", f"mend {variable('mail_url')}")
        return
    yield Finding("mail", "ok", f"{mailer.server.host} lets us in" + (f", and took a mail to {to}" if to else ""))


def _provider(settings: Settings) -> Iterator[Finding]:
    if settings.oidc_issuer is None:
        yield Finding("sign-in", "ok", "with tokens only, no OpenID provider is set")
        return
    try:
        provider = Provider.of(settings)
        assert provider is not None  # there is an issuer
        provider.discover()
    except EmoscopeError as error:
        yield Finding("sign-in", "error", str(error), f"is it up, and {variable('oidc_issuer')} right?")
        return
    base = (settings.public_url or "http://ADDRESS").rstrip("/")
    detail = f"{settings.oidc_issuer} answers; the redirect address to register there is {base}{BACK}"
    yield Finding("sign-in", "ok", detail)


def _files(settings: Settings) -> Iterator[Finding]:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < settings.max_connections + 128:
        detail = f"{hard} files may be open, fewer than {variable('max_connections')} and what the server needs itself"
        yield Finding("files", "warning", detail, "LimitNOFILE=65536 in the unit, or ulimit -n 65536")
    else:
        yield Finding("files", "ok", f"{settings.max_connections} connections fit")


def _proxy(settings: Settings, url: str | None) -> Iterator[Finding]:
    if url is None:
        mend = f"set {variable('public_url')} to the address people use"
        yield Finding("proxy", "warning", "the address people use is not known, so any Host is taken", mend)
        return
    base = url.rstrip("/")
    try:
        with httpx.Client(base_url=base, timeout=_SECONDS) as client:
            with client.stream("GET", "/seen") as answer:
                own_address = answer.extensions["network_stream"].get_extra_info("client_addr")[0]
                answer.read()
            metrics = client.get("/metrics").status_code
    except httpx.HTTPError as error:
        mend = "is the server up, and the proxy before it?"
        yield Finding("proxy", "error", f"{base} does not answer ({error})", mend)
        return
    if answer.status_code == 400 and "Host" in answer.text:
        mend = "nginx: proxy_set_header Host $http_host"
        yield Finding("proxy", "error", "the proxy does not pass the Host header on", mend)
        return
    if answer.status_code != 200:
        mend = "is this our server, of this version?"
        yield Finding("proxy", "error", f"{base}/seen answers {answer.status_code}", mend)
        return
    yield from _seen(settings, base, answer.json(), own_address)
    if (date := answer.headers.get("date")) is not None:
        skew = abs((parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds())
        if skew > _CLOCK_SECONDS:
            yield Finding("clock", "error", f"{base} has a clock that is {skew:.0f} s off", "keep both with NTP")
    if metrics == 200 and urlsplit(base).hostname not in ("127.0.0.1", "localhost"):
        mend = "nginx: location = /metrics { deny all; }"
        yield Finding("proxy", "warning", "everybody can read /metrics", mend)


def _seen(settings: Settings, base: str, seen: dict[str, Any], own_address: str) -> Iterator[Finding]:
    """Check that the server sees the request's host, scheme and address as they were sent."""
    public = urlsplit(base)
    problems = []
    if seen["host"].lower() != public.netloc.lower():
        known = "" if host_name(seen["host"]) == public.hostname else ", which is another name"
        problems.append((f"the server sees the Host {seen['host']}{known}", "nginx: proxy_set_header Host $http_host"))
    if seen["scheme"] != public.scheme:
        mend = "nginx: proxy_set_header X-Forwarded-Proto $scheme; and serve --trusted-proxy ITS_ADDRESS"
        problems.append((f"the server takes requests for {seen['scheme']}, which come by {public.scheme}", mend))
    loopback = ("127.0.0.1", "::1")
    if seen["address"] in loopback and own_address not in loopback:
        mend = "nginx: proxy_set_header X-Forwarded-For $remote_addr; and serve --trusted-proxy 127.0.0.1"
        problems.append(("everybody seems to come from the proxy, and shares its limits", mend))
    yield from (Finding("proxy", "error", *problem) for problem in problems)
    if public.scheme != "https":
        local = public.hostname in ("127.0.0.1", "localhost")
        mend = "" if local else "put a proxy with a certificate before it: deploy/compose.yaml has one"
        yield Finding("proxy", "ok" if local else "error", f"{base} is not HTTPS", mend)
    elif not problems:
        yield Finding("proxy", "ok", f"{base} passes Host, scheme and addresses on (yours is {seen['address']})")
    if settings.public_url is None or settings.public_url.rstrip("/") != base:
        mend = f"set {variable('public_url')}={base}"
        yield Finding("proxy", "warning", f"{variable('public_url')} is {settings.public_url or 'not set'}", mend)
