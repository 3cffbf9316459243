"""What operators get matches the server: documented settings, the systemd unit, the compose file."""

import logging
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from fastapi.testclient import TestClient
from sqlalchemy import text
from sqlalchemy.engine import make_url
from starlette.requests import Request

from emoscope.core.errors import EmoscopeError
from emoscope.server.app import create_app
from emoscope.server.errors import StoreUnavailable
from emoscope.server.http.security import is_cross_site
from emoscope.server.settings import Limits, Settings, variable
from emoscope.server.store.database import Database
from kits.challenge_site import Site

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs" / "guide" / "serving.md"

if not DOCS.is_file() or not (ROOT / "deploy").is_dir():
    pytest.skip("the documentation is not beside the tests", allow_module_level=True)


def test_every_setting_is_documented_with_its_default() -> None:
    documented = dict(re.findall(r"^\| `(EMOSCOPE_\w+)` \|([^|]*)\|", DOCS.read_text(), re.MULTILINE))
    fields = {**Settings.model_fields, **Limits.model_fields}
    del fields["limits"]
    expected = {variable(name): "" if field.default is None else str(field.default) for name, field in fields.items()}
    assert {name: value.strip(" `") for name, value in documented.items()} == expected


def test_options_override_environment_variables() -> None:
    variables = {"EMOSCOPE_MODEL": "nano", "EMOSCOPE_MAX_DIALOGUES": "7", "EMOSCOPE_SERVER_DATA": "/a"}
    found = Settings.from_environment(variables, {"data_dir": Path("/b"), "model": None})
    assert (found.model, found.limits.max_dialogues, found.data_dir) == ("nano", 7, Path("/b"))
    with pytest.raises(EmoscopeError, match=r"^EMOSCOPE_BATCH_DIALOGUES: "):
        Settings.from_environment({"EMOSCOPE_BATCH_DIALOGUES": "0"})


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("PUBLIC_URL", "emoscope.example.org", "expected an address such as https://emoscope.example.org, found"),
        ("OIDC_ISSUER", "login", "expected an address such as"),
        ("MAIL_URL", "me:secret@mail.example.org", "expected smtp://USER:PASSWORD@HOST:PORT"),
        ("MAX_TURNS", "many", "input should be a valid integer"),
    ],
)
def test_a_wrong_setting_is_named(name: str, value: str, problem: str) -> None:
    with pytest.raises(EmoscopeError, match=f"(?i)^EMOSCOPE_{name}: {problem}") as refused:
        Settings.from_environment({f"EMOSCOPE_{name}": value})
    assert "secret" not in str(refused.value)


def test_settings_that_belong_together_are_named() -> None:
    with pytest.raises(EmoscopeError, match=r"^set both EMOSCOPE_OIDC_ISSUER and EMOSCOPE_OIDC_CLIENT_ID"):
        Settings.from_environment({"EMOSCOPE_OIDC_CLIENT_ID": "x"})
    with pytest.raises(EmoscopeError, match=r"^EMOSCOPE_QUEUE_DIALOGUES must be at least 256"):
        Settings.from_environment({"EMOSCOPE_QUEUE_DIALOGUES": "10"})


def test_the_unit_starts_the_server_and_waits_for_it_to_finish() -> None:
    unit = (ROOT / "deploy" / "emoscope.service").read_text()
    assert re.search(r"^ExecStart=\S+/emoscope serve --host 127\.0\.0\.1 --port 8000$", unit, re.MULTILINE)
    stop = re.search(r"^TimeoutStopSec=(\d+)$", unit, re.MULTILINE)
    assert stop is not None
    assert int(stop[1]) > Settings().explain_deadline_seconds
    assert "EMOSCOPE_SERVER_DATA=/var/lib/emoscope" in unit
    assert "\nUser=emoscope\n" in unit  # a user that commands on the data can be run as


def test_the_documented_addresses_are_there() -> None:
    documented = set(re.findall(r"^\| (.*?) \|", DOCS.read_text(), re.MULTILINE))
    named = {path for cell in documented for path in re.findall(r"`(?:GET |POST )?(/[^` ]*)`", cell)}
    assert {"/", "/annotate", "/challenges", "/metrics", "/v1/detect"} <= named
    client = TestClient(create_app(Settings(model="nano")))  # not started: what is there says so, what is not is a 404
    assert [path for path in sorted(named) if client.get(path).status_code == 404] == []


def needed_by_the_wheel() -> set[str]:
    """What building the wheel reads beside `src`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    hatch = project["tool"]["hatch"]
    hooks = {"hatch_build.py"} if "custom" in hatch["build"]["targets"]["wheel"]["hooks"] else set()
    fragments = {one["path"] for one in hatch["metadata"]["hooks"]["fancy-pypi-readme"]["fragments"]}
    return {"pyproject.toml", *hooks, *fragments, *project["project"]["license-files"]}


def test_failed_jobs_are_alerted_by_their_growth_alone() -> None:
    # `increase` takes a gauge that falls, as when failed jobs are scored again, for a counter that was reset.
    assert "delta(emoscope_jobs" in (ROOT / "deploy" / "alerts.yaml").read_text()


def test_the_compose_file_upgrades_before_it_serves() -> None:
    services = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]
    server = services["server"]
    assert server["depends_on"]["upgrade"]["condition"] == "service_completed_successfully"
    assert services["upgrade"]["command"] == ["challenge", "upgrade"]
    assert server["command"][0] == "serve"
    known = {variable(name) for name in (*Settings.model_fields, *Limits.model_fields)}
    assert set(server["environment"]) <= known
    assert "ports" not in server  # reached through the proxy only
    assert set(services["upgrade"]["environment"]) <= known
    database = server["environment"]["EMOSCOPE_DATABASE_URL"].replace("${POSTGRES_PASSWORD:?set a password}", "secret")
    address = make_url(database)
    given = services["database"]["environment"]
    assert (address.drivername, address.host) == ("postgresql+psycopg", "database")
    assert (address.username, address.database) == (given["POSTGRES_USER"], given["POSTGRES_DB"])
    assert int(server["stop_grace_period"].removesuffix("s")) > Settings().explain_deadline_seconds
    image = (ROOT / "deploy" / "Dockerfile").read_text()
    assert set(re.findall(r"^ENV (\w+)=", image, re.MULTILINE)) <= known
    copied = {name for line in re.findall(r"^COPY (?!--)(.*)$", image, re.MULTILINE) for name in line.split()[:-1]}
    assert all((ROOT / name).exists() for name in copied)
    assert needed_by_the_wheel() <= copied
    assert "gcc" in image  # or the wheel would be without the native kernel
    assert [mount.split(":")[1] for mount in server["volumes"]] == re.findall(r"^VOLUME (\S+)$", image, re.MULTILINE)


def test_only_the_proxy_of_the_compose_file_is_reachable_and_speaks_https() -> None:
    whole = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
    services = whole["services"]
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    assert "443:443" in services["proxy"]["ports"]
    assert "size=" in services["server"]["tmpfs"][0]
    subnet = whole["networks"]["default"]["ipam"]["config"][0]["subnet"]
    assert services["server"]["command"][-2:] == ["--trusted-proxy", subnet]
    assert services["server"]["environment"]["EMOSCOPE_PUBLIC_URL"].startswith("https://")
    assert "reverse_proxy server:8000" in (ROOT / "deploy" / "Caddyfile").read_text()


def test_the_unit_upgrades_first_and_may_have_many_files_open() -> None:
    unit = (ROOT / "deploy" / "emoscope.service").read_text()
    assert re.search(r"^ExecStartPre=\S+/emoscope challenge upgrade$", unit, re.MULTILINE)
    found = re.search(r"^LimitNOFILE=(\d+)$", unit, re.MULTILINE)
    assert found is not None
    assert int(found[1]) > Settings().max_connections


@pytest.mark.parametrize("path", [ROOT / "deploy" / "nginx.conf", DOCS.with_name("operating.md")])
def test_the_proxy_passes_the_host_with_its_port(path: Path) -> None:
    assert "proxy_set_header Host $http_host;" in path.read_text()
    assert "Host $host;" not in path.read_text()


def test_the_proxy_logs_no_mailed_link() -> None:
    block = re.search(r"location ~ (\S+) \{([^}]*)\}", (ROOT / "deploy" / "nginx.conf").read_text())
    assert block is not None
    assert "access_log off;" in block[2]
    assert all(re.search(block[1], path) for path in ("/confirm/con_x", "/recover/rec_x"))
    assert not re.search(block[1], "/recover")


@pytest.mark.parametrize("name", ["alerts.yaml", "grafana.json"])
def test_the_board_and_the_alerts_name_metrics_there_are(shared_site: Site, name: str) -> None:
    shared_site.client.post("/v1/detect", json={"turns": ["hi"]})
    there = set(re.findall(r"^([a-z_]+)[{ ]", shared_site.client.get("/metrics").text, re.MULTILINE)) | {"up"}
    there |= {"emoscope_refused_total", "emoscope_batch_dialogues_count"}  # of what has not happened yet
    parsed = yaml.safe_load((ROOT / "deploy" / name).read_text())  # JSON is YAML too
    groups = parsed.get("groups") or [{"rules": [target for panel in parsed["panels"] for target in panel["targets"]]}]
    expressions = [rule["expr"] for group in groups for rule in group["rules"]]
    assert len(expressions) >= 8
    for expression in expressions:
        named = set(re.findall(r"\b(?:emoscope|process)_[a-z_]+|\bup\b", expression))
        assert named, expression
        assert named <= there, named - there


@pytest.mark.parametrize(
    ("public", "origin", "crosses"),
    [
        ("https://emoscope.example.org", "https://emoscope.example.org", False),
        ("https://emoscope.example.org", "http://emoscope.example.org", True),  # somebody in between
        ("https://emoscope.example.org", "https://inside:8000", True),  # what a proxy may put into Host
        (None, "http://inside:8000", False),
        (None, "http://evil.example", True),
    ],
)
def test_forms_must_come_from_the_public_address(public: str | None, origin: str, crosses: bool) -> None:
    app = SimpleNamespace(state=SimpleNamespace(settings=Settings(public_url=public)))
    headers = [(b"host", b"inside:8000"), (b"origin", origin.encode())]
    assert is_cross_site(Request({"type": "http", "headers": headers, "app": app})) is crosses


def test_metrics_tell_process_build_jobs_and_database(shared_site: Site) -> None:
    found = shared_site.client.get("/metrics").text
    for name in ("process_resident_memory_bytes", "process_open_fds", 'emoscope_build_info{model="nano"'):
        assert name in found
    assert "emoscope_database_up 1.0" in found
    before = _value(found, 'emoscope_jobs{kind="score",state="done"}')
    token = shared_site.team("Team Metrics")
    shared_site.final(token, shared_site.submit(token).json()["id"])
    after = shared_site.client.get("/metrics").text
    assert _value(after, 'emoscope_jobs{kind="score",state="done"}') == before + 1


def _value(text: str, sample: str) -> float:
    return next(float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(sample))


def _answers(database: Database) -> None:
    with database.read() as session:
        session.execute(text("select 1"))


def test_an_outage_of_the_database_is_a_line_in_the_log_and_so_is_its_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    database, other = Database(f"sqlite:///{tmp_path / 'secret' / 'a.sqlite3'}"), Database("sqlite://")
    with caplog.at_level(logging.WARNING, "emoscope.server"):
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                _answers(database)
            _answers(other)  # says nothing about the outage of the first
        assert [record.levelname for record in caplog.records] == ["ERROR"]
        assert "unable to open" in caplog.messages[0]
        (tmp_path / "secret").mkdir()
        _answers(database)
    assert "secret" not in caplog.text
    assert caplog.messages[1:] == ["the database answers again"]
    database.close()


def test_a_refused_connection_is_reported_without_the_password(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "emoscope.server"), pytest.raises(StoreUnavailable):
        _answers(Database("postgresql+psycopg://me:secret@127.0.0.1:1/none"))
    assert "refused" in caplog.text
    assert "secret" not in caplog.text


def test_full_collections_of_a_server_process_skip_what_was_there_at_its_start() -> None:
    # Walking the modules' objects stopped all requests for a tenth of a second, every few seconds under load.
    code = "import gc; from emoscope.server.app import app_from_environment; app = app_from_environment()"
    code += "; print(gc.get_freeze_count(), len(gc.get_objects()))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    frozen, walked = map(int, output.split())
    assert frozen > 50 * walked
