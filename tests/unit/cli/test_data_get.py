"""`emoscope data get`, against a real HTTP server on this machine."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from emoscope.cli import data as data_commands
from emoscope.cli.app import app
from emoscope.core.errors import EmoscopeError
from emoscope.tasks import get_task
from emoscope.tasks.data import SUMS
from kits.local_server import OTHER, TEXT, Server, body, keep_to, left_in, locked, serving


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    keep_to(tmp_path, monkeypatch)
    with serving() as running:
        yield running


def get(*arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(app, ["data", "get", *arguments], input=given)


@pytest.fixture
def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_commands, "_terminal", lambda: True)


@pytest.fixture
def iest(server: Server) -> Server:
    """A mirror of the IEST files, the training set behind a password."""
    for name in ("trial-v3.csv", "trial-v3.labels", "test-text-labels.csv"):
        server.on(f"{name}.gz", body(gzip.compress(TEXT)))
    server.on("train-v3.csv.gz", locked(gzip.compress(TEXT), "me", "opensesame"))
    return server


def test_get_skips_what_needs_a_password_and_fetches_the_rest(iest: Server, tmp_path: Path) -> None:
    result = get("iest", "--mirror", f"{iest.url}/", "--accept-terms", "--data", str(tmp_path))
    assert result.exit_code == 0
    assert "research use only" in result.stderr
    lines = {line.split()[0]: line for line in result.stdout.splitlines() if line.startswith(("t", "test"))}
    assert "skipped" in lines["train-v3.csv"]
    assert "--user NAME" in result.stdout
    assert "no checksum is published" in result.stdout
    assert left_in(tmp_path / "iest") == [SUMS, "test-text-labels.csv", "trial-v3.csv", "trial-v3.labels"]
    assert set(iest.asked) == {f"/some/folder/{name}" for name in iest.answers}


def test_get_with_a_password_from_the_environment(
    iest: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMOSCOPE_IEST_PASSWORD", "opensesame")
    result = get("iest", "--mirror", iest.url, "--accept-terms", "--user", "me", "--data", str(tmp_path), "--json")
    assert result.exit_code == 0
    assert [file["state"] for file in json.loads(result.stdout)["files"]] == 4 * ["fetched"]
    assert (tmp_path / "iest" / "train-v3.csv").read_bytes() == TEXT


def test_get_asks_for_the_password_and_does_not_show_it(iest: Server, tmp_path: Path, at_a_terminal: None) -> None:
    arguments = ("iest", "--mirror", iest.url, "--user", "me", "--data", str(tmp_path))
    result = get(*arguments, given="y\nopensesame\n")
    assert result.exit_code == 0
    assert "Password of me" in result.stderr
    assert "opensesame" not in result.output
    assert (tmp_path / "iest" / "train-v3.csv").read_bytes() == TEXT


def test_get_with_a_wrong_password(iest: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMOSCOPE_IEST_PASSWORD", "guess")
    result = get("iest", "--mirror", iest.url, "--accept-terms", "--user", "me", "--data", str(tmp_path))
    assert isinstance(result.exception, EmoscopeError)
    assert "train-v3.csv.gz: the name or password was not accepted" in str(result.exception)
    assert not (tmp_path / "iest" / "train-v3.csv").exists()


def test_get_without_a_terminal_or_password(iest: Server, tmp_path: Path) -> None:
    result = get("iest", "--mirror", iest.url, "--accept-terms", "--user", "me", "--data", str(tmp_path))
    assert isinstance(result.exception, EmoscopeError)
    assert "set EMOSCOPE_IEST_PASSWORD" in str(result.exception)
    assert iest.asked == []


def test_get_without_a_terminal_needs_the_flag(iest: Server, tmp_path: Path) -> None:
    result = get("iest", "--mirror", iest.url, "--data", str(tmp_path))
    assert isinstance(result.exception, EmoscopeError)
    assert "add --accept-terms" in str(result.exception)
    assert result.output == ""
    assert iest.asked == []


def test_get_shows_the_terms_and_asks(iest: Server, tmp_path: Path, at_a_terminal: None) -> None:
    metadata = get_task("iest").metadata
    result = get("iest", "--mirror", iest.url, "--data", str(tmp_path), given="n\n")
    assert result.exit_code == 1
    assert all(fact in result.stderr for fact in (metadata.terms, metadata.citation, metadata.home, str(tmp_path)))
    assert "nothing was fetched" in result.stderr
    assert iest.asked == []
    assert left_in(tmp_path) == []
    assert get("iest", "--mirror", iest.url, "--data", str(tmp_path), given="y\n").exit_code == 0
    assert (tmp_path / "iest" / "trial-v3.csv").exists()


def test_get_does_not_ask_again_when_all_is_here(iest: Server, tmp_path: Path) -> None:
    folder = tmp_path / "iest"
    folder.mkdir()
    for name in ("trial-v3.csv", "trial-v3.labels", "test-text-labels.csv", "train-v3.csv"):
        (folder / name).write_bytes(TEXT)
    result = get("iest", "--mirror", iest.url, "--data", str(tmp_path))
    assert result.exit_code == 0
    assert result.stdout.count("present") == 4
    assert iest.asked == []


def test_get_goes_into_the_cache_by_default(iest: Server, tmp_path: Path) -> None:
    assert get("iest", "--mirror", iest.url, "--accept-terms").exit_code == 0
    assert (tmp_path / "cache" / "data" / "iest" / "trial-v3.csv").read_bytes() == TEXT


def test_get_from_a_mirror_with_other_content(server: Server, tmp_path: Path) -> None:
    server.on("train.txt", body(OTHER))
    result = get("emocontext", "--mirror", server.url, "--accept-terms", "--data", str(tmp_path))
    assert isinstance(result.exception, EmoscopeError)
    assert str(result.exception).startswith(f"{server.url}/train.txt: is not the published file: sha256 ")
    assert "\n" not in str(result.exception)
    assert left_in(tmp_path) == []


def test_get_warns_before_it_replaces_a_file(server: Server, tmp_path: Path, at_a_terminal: None) -> None:
    (tmp_path / "emocontext").mkdir()
    (tmp_path / "emocontext" / "dev.txt").write_bytes(OTHER)
    result = get("emocontext", "--mirror", server.url, "--data", str(tmp_path), given="n\n")
    assert "dev.txt (differs from the published one; will be replaced)" in result.stderr
