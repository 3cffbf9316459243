"""`emoscope doctor`: what it finds in a deployment, and what it says to type."""

import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink
from typer.testing import CliRunner

from emoscope.cli.app import app as commands
from emoscope.server.doctor import Finding, _provider, _seen, examine
from emoscope.server.settings import Settings
from emoscope.server.store import Store
from emoscope.server.store.signing_key import load_key
from kits.server_process import free_port, running_server

CHECKS = ("model", "folder", "database", "keys", "clock", "mail", "sign-in", "files", "proxy")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder as a server leaves it."""
    made = tmp_path / "data"
    Store.open(made).close()
    load_key(made)
    return made


def found(settings: Settings, check: str, url: str | None = None) -> list[Finding]:
    return [one for one in examine(settings, url=url) if one.check == check]


def test_a_sound_folder_has_no_error(folder: Path) -> None:
    findings = list(examine(Settings(model="nano", data_dir=folder)))
    assert [one for one in findings if one.state == "error"] == []
    assert {one.check for one in findings} == set(CHECKS)


def test_rights_keys_and_a_damaged_database_are_found(folder: Path) -> None:
    settings = Settings(model="nano", data_dir=folder)
    folder.chmod(0o755)
    (folder / "session.key").chmod(0o644)
    (folder / "emoscope.sqlite3").write_bytes(b"not a database" * 999)
    (folder / "api-keys.json").write_text("{")
    (folder / "api-keys.json").chmod(0o600)
    assert [one.mend for one in found(settings, "folder") if one.state == "error"] == [f"chmod 700 {folder}"]
    keys = found(settings, "keys")
    assert [one.state for one in keys] == ["error", "error"]
    assert keys[0].mend == f"chmod 600 {folder / 'session.key'}"
    assert [one.state for one in found(settings, "database")] == ["error"]


def test_missing_model_folder_and_database_are_one_line_errors(tmp_path: Path) -> None:
    gone = "postgresql+psycopg://me:secret@127.0.0.1:1/none"
    settings = Settings(model="nothing", data_dir=tmp_path / "none", database_url=gone)
    findings = {one.check: one for one in examine(settings)}
    assert {name for name, one in findings.items() if one.state == "error"} == {"model", "folder", "database"}
    assert all("\n" not in one.detail and "secret" not in one.detail for one in findings.values())


def test_a_clock_that_went_back_is_found(folder: Path) -> None:
    future = 4e9
    os.utime(folder / "session.key", (future, future))
    assert [one.state for one in found(Settings(data_dir=folder), "clock")] == ["error"]


def test_mail_is_tried(folder: Path) -> None:
    server = Controller(Sink(), hostname="127.0.0.1", port=free_port())
    server.start()
    try:
        url = f"smtp+plain://127.0.0.1:{server.port}"
        assert [one.state for one in found(Settings(data_dir=folder, mail_url=url), "mail")] == ["ok"]
    finally:
        server.stop()
    (refused,) = found(Settings(data_dir=folder, mail_url=url), "mail")
    assert (refused.state, refused.mend) == ("error", "mend EMOSCOPE_MAIL_URL")


@contextmanager
def answering(*documents: object) -> Iterator[str]:
    """A server that answers each request with the next document, in which HERE stands for its address."""
    left = iter(documents)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = json.dumps(next(left)).replace("HERE", url).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Tests are quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield url
        server.shutdown()


def test_the_openid_provider_is_asked(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    key = {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}  # of RFC 8037
    whole = {name: f"HERE/{name}" for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")}
    whole["issuer"] = "HERE"
    for documents, state, detail in (
        ([whole, {"keys": [key]}], "ok", "https://emo.example/sign-in/openid/back"),
        ([{**whole, "issuer": "https://other.example"}], "error", "it calls itself 'https://other.example'"),
        ([{"issuer": "HERE"}], "error", "has no authorization_endpoint, jwks_uri, token_endpoint"),
        ([["no", "document"]], "error", "cannot be used"),
    ):
        with answering(*documents) as url:
            settings = Settings(
                data_dir=folder, oidc_issuer=url, oidc_client_id="emoscope", public_url="https://emo.example"
            )
            (finding,) = list(_provider(settings))
        assert (finding.check, finding.state) == ("sign-in", state), finding.detail
        assert detail in finding.detail
    (gone,) = list(_provider(settings))
    assert (gone.state, gone.mend) == ("error", "is it up, and EMOSCOPE_OIDC_ISSUER right?")
    assert not caplog.records  # the finding says it


@contextmanager
def proxied(upstream: str, **headers: str) -> Iterator[str]:
    """A proxy on this machine that sends these headers on."""

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = httpx.get(upstream + self.path, headers=headers)
            self.send_response(answer.status_code)
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *_: object) -> None:
            """Tests are quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()


@pytest.mark.e2e
def test_proxy_that_hides_the_client_is_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = {"EMOSCOPE_ALLOWED_HOSTS": "localhost.example"}
    with running_server(tmp_path, "--public-url", "http://localhost", **hosts) as server:
        settings = Settings(model="nano", data_dir=tmp_path)
        with proxied(server.url, Host="inside:8000") as url:
            (wrong,) = [one for one in found(settings, "proxy", url) if one.state == "error"]
            assert wrong.mend == "nginx: proxy_set_header Host $http_host"
        with proxied(server.url, Host="localhost") as url:
            assert "$http_host" in found(settings, "proxy", url)[0].mend  # the port is lost
        assert found(settings, "proxy", server.url)[0].state == "ok"
        resolve = socket.getaddrinfo
        with monkeypatch.context() as patched:  # a name of this machine, as its own /etc/hosts may have it
            patched.setattr(socket, "getaddrinfo", lambda host, *rest, **more: resolve("127.0.0.1", *rest, **more))
            local = found(settings, "proxy", f"http://localhost.example:{server.port}")
            assert not any("shares its limits" in one.detail for one in local), local
        assert found(settings, "proxy", "http://127.0.0.1:1")[0].state == "error"


def test_the_command_prints_what_to_mend_and_fails(folder: Path) -> None:
    folder.chmod(0o755)
    done = CliRunner().invoke(commands, ["doctor", "--data-dir", str(folder)], env={"EMOSCOPE_MODEL": "nano"})
    assert done.exit_code == 1
    assert f"-> chmod 700 {folder}" in done.output
    folder.chmod(0o700)
    done = CliRunner().invoke(commands, ["doctor", "--data-dir", str(folder), "--json"], env={"EMOSCOPE_MODEL": "nano"})
    assert done.exit_code == 0
    assert json.loads(done.output)[0]["check"] == "model"


def test_remote_request_cannot_pretend_to_be_local() -> None:
    seen = {"address": "127.0.0.1", "scheme": "https", "host": "emoscope.example.org"}
    for own_address, states in (("203.0.113.7", ["error"]), ("127.0.0.1", ["ok"])):
        settings = Settings(public_url="https://emoscope.example.org")
        assert [one.state for one in _seen(settings, "https://emoscope.example.org", seen, own_address)] == states
