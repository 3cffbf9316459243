"""What operators are given says what the server does: documented settings, the unit, the compose file."""

import re
from pathlib import Path

import pytest
import yaml
from fastapi.testclient import TestClient
from sqlalchemy.engine import make_url

from emoscope.core.errors import EmoscopeError
from emoscope.server.app import create_app
from emoscope.server.settings import Limits, Settings, variable

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


def test_settings_come_from_variables_and_options_win() -> None:
    variables = {"EMOSCOPE_MODEL": "nano", "EMOSCOPE_MAX_DIALOGUES": "7", "EMOSCOPE_SERVER_DATA": "/a"}
    found = Settings.from_environment(variables, {"data_dir": Path("/b"), "model": None})
    assert (found.model, found.limits.max_dialogues, found.data_dir) == ("nano", 7, Path("/b"))
    with pytest.raises(EmoscopeError, match=r"^EMOSCOPE_BATCH_DIALOGUES: "):
        Settings.from_environment({"EMOSCOPE_BATCH_DIALOGUES": "0"})


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


def test_the_compose_file_upgrades_before_it_serves() -> None:
    services = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]
    server = services["server"]
    assert server["depends_on"]["upgrade"]["condition"] == "service_completed_successfully"
    assert services["upgrade"]["command"] == ["challenge", "upgrade"]
    assert server["command"][0] == "serve"
    known = {variable(name) for name in (*Settings.model_fields, *Limits.model_fields)}
    assert set(server["environment"]) <= known
    assert server["ports"] == ["127.0.0.1:8000:8000"]  # reached through a proxy only
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
    assert [mount.split(":")[1] for mount in server["volumes"]] == re.findall(r"^VOLUME (\S+)$", image, re.MULTILINE)
