"""Where a task's files are looked for, how they are checked, and how tasks are listed."""

import ast
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import emoscope
from emoscope.cli.app import app
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.tasks import TASKS, get_task
from emoscope.tasks.data import (
    SUMS,
    Checked,
    check_file,
    check_files,
    data_folder,
    data_root,
    find_split,
    first_sums,
    published_sums,
    read_split,
    sha256_of,
)

ROWS = "id\tturn1\tturn2\tturn3\tlabel\n0\thi\thello\tI won\thappy\n1\thi\thello\tok\tothers\n"


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EMOSCOPE_DATA", "EMOSCOPE_CACHE"):
        monkeypatch.delenv(name, raising=False)


def emocontext_file(root: Path, name: str, text: str = ROWS) -> Path:
    path = root / "emocontext" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


# The root


def test_the_root_is_the_argument_then_the_data_variable_then_the_cache(
    no_settings: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    default = data_root()
    assert default.name == "data"
    assert "emoscope" in default.parts
    monkeypatch.setenv("EMOSCOPE_CACHE", str(tmp_path / "cache"))
    assert data_root() == tmp_path / "cache" / "data"
    monkeypatch.setenv("EMOSCOPE_DATA", str(tmp_path / "data"))
    assert data_root() == tmp_path / "data"
    assert data_root(tmp_path / "given") == tmp_path / "given"


def test_an_empty_variable_counts_as_unset(no_settings: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EMOSCOPE_CACHE", str(tmp_path))
    monkeypatch.setenv("EMOSCOPE_DATA", "")
    assert data_root() == tmp_path / "data"


def test_a_tilde_is_the_home_folder(no_settings: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("EMOSCOPE_DATA", "~/corpora")
    assert data_root() == tmp_path / "corpora"


def test_both_emotionx_tasks_share_a_folder(tmp_path: Path) -> None:
    folders = {data_folder(get_task(f"emotionx-{name}"), tmp_path) for name in ("friends", "push")}
    assert folders == {tmp_path / "emotionx"}


# Finding and reading a split


def test_the_first_revision_that_has_the_split_wins(tmp_path: Path) -> None:
    task = get_task("emocontext")
    emocontext_file(tmp_path, "test.txt")
    assert find_split(task, "test", tmp_path).revision.name == "labelled-test"
    first = emocontext_file(tmp_path, "testwithoutlabels.txt")
    located = find_split(task, "test", tmp_path)
    assert (located.path, located.revision.name, located.file.labelled) == (first, "unlabelled-test", False)


def test_an_unknown_split_names_the_splits(tmp_path: Path) -> None:
    with pytest.raises(EmoscopeError, match=r"^emocontext has no split 'tset'; it has: train, dev, test$"):
        find_split(get_task("emocontext"), "tset", tmp_path)


def test_missing_split_names_the_files_and_the_command(
    no_settings: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EMOSCOPE_DATA", str(tmp_path))
    line = (
        f"emocontext: the test split is not here, no testwithoutlabels.txt or test.txt in {tmp_path / 'emocontext'}; "
        "run: emoscope data get emocontext"
    )
    with pytest.raises(EmoscopeError) as caught:
        find_split(get_task("emocontext"), "test")
    assert str(caught.value) == line
    with pytest.raises(EmoscopeError) as caught:
        find_split(get_task("emocontext"), "test", tmp_path)
    assert str(caught.value) == line
    # A folder that is not the default one must be named when fetching, too.
    with pytest.raises(EmoscopeError, match=r"run: emoscope data get emocontext --data '.*else where'$"):
        find_split(get_task("emocontext"), "test", tmp_path / "else where")


def test_a_folder_in_place_of_the_file_is_not_the_file(tmp_path: Path) -> None:
    (tmp_path / "emocontext" / "dev.txt").mkdir(parents=True)
    with pytest.raises(EmoscopeError, match="the dev split is not here"):
        find_split(get_task("emocontext"), "dev", tmp_path)


def test_a_split_is_read(tmp_path: Path) -> None:
    emocontext_file(tmp_path, "dev.txt")
    assert [example.label for example in read_split(get_task("emocontext"), "dev", tmp_path)] == ["happy", "others"]


# Checksums


def test_a_file_is_held_to_the_published_sum_before_that_of_its_first_download(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"abc")
    # The example of FIPS 180-2 for the message "abc".
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    other = "0" * 64
    assert check_file(path, known, {"a.txt": other}).state == "ok"
    assert check_file(path, other, {"a.txt": known}).state == "differs"
    first = check_file(path, None, {"a.txt": known})
    assert (first.state, first.against) == ("ok", "first download")
    assert check_file(path, None, {"a.txt": other}).state == "differs"
    unknown = check_file(path, None, {})
    assert (unknown.state, unknown.usable) == ("no checksum published", True)
    assert check_file(tmp_path / "b.txt", known, {}).state == "absent"


def test_every_known_file_is_checked_once(tmp_path: Path) -> None:
    emocontext_file(tmp_path, "dev.txt")
    emocontext_file(tmp_path, "test.txt")
    states = {checked.path.name: checked.state for checked in check_files(get_task("emocontext"), tmp_path)}
    assert states == {
        "train.txt": "absent",
        "dev.txt": "differs",
        "testwithoutlabels.txt": "absent",
        "test.txt": "no checksum published",
    }


@pytest.mark.parametrize("name", TASKS)
def test_every_file_of_a_split_or_download_is_known(name: str) -> None:
    metadata = get_task(name).metadata
    names = {file.name for revision in metadata.revisions for file in revision.splits.values()}
    names |= {saved for revision in metadata.revisions for download in revision.downloads for saved in download.saves}
    assert set(published_sums(metadata)) == names


def test_recorded_sums_are_read_and_a_broken_record_is_named(tmp_path: Path) -> None:
    assert first_sums(tmp_path) == {}
    record = tmp_path / SUMS
    record.write_text(f"{'a' * 64}  one.txt\n{'b' * 64}  two words.txt\n")
    assert first_sums(tmp_path) == {"one.txt": "a" * 64, "two words.txt": "b" * 64}
    record.write_text(f"{'a' * 64}  one.txt\nnonsense\n")
    with pytest.raises(InputError, match=r"SHA256SUMS, row 2: expected a sha256"):
        first_sums(tmp_path)
    for line in (f"{'a' * 64}  \n", f"{'a' * 63}  one.txt\n", f"{'a' * 65}  one.txt\n", f"{'a' * 64} one.txt\n"):
        record.write_text(line)
        with pytest.raises(InputError, match=r"row 1: expected a sha256, two spaces and a file name"):
            first_sums(tmp_path)
    record.write_text("")  # a download that was cut off
    assert first_sums(tmp_path) == {}


def test_only_a_file_that_may_be_right_is_usable() -> None:
    states = ("ok", "no checksum published", "differs", "absent")
    assert [Checked(Path("a.txt"), state).usable for state in states] == [True, True, False, False]


def test_what_cannot_be_read_has_no_checksum(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        sha256_of(tmp_path)


# `emoscope data check`


def test_check_prints_each_file_and_fails_when_one_differs(tmp_path: Path) -> None:
    emocontext_file(tmp_path, "dev.txt")
    emocontext_file(tmp_path, "test.txt")
    result = invoke("data", "check", "emocontext", "--data", str(tmp_path))
    assert result.exit_code == 1
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[1:5] == [
        "train.txt absent",
        "dev.txt differs",
        "testwithoutlabels.txt absent",
        "test.txt no checksum published",
    ]


def test_check_succeeds_for_a_file_that_is_its_first_download(tmp_path: Path) -> None:
    path = emocontext_file(tmp_path, "test.txt")
    (path.parent / SUMS).write_text(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  test.txt\n")
    result = invoke("data", "check", "emocontext", "--data", str(tmp_path), "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["files"][-1] == {
        "file": "test.txt",
        "splits": ["test"],
        "state": "ok",
        "against": "first download",
    }
    assert "compared with the first download" in invoke("data", "check", "emocontext", "--data", str(tmp_path)).stdout


def test_check_fails_when_nothing_is_here(tmp_path: Path) -> None:
    assert invoke("data", "check", "iest", "--data", str(tmp_path)).exit_code == 1


def test_check_names_a_mistyped_task(tmp_path: Path) -> None:
    result = invoke("data", "check", "emocontxt", "--data", str(tmp_path))
    assert isinstance(result.exception, EmoscopeError)
    assert "did you mean 'emocontext'?" in str(result.exception)


# `emoscope tasks`


def test_the_table_of_tasks_names_each_with_its_splits_and_what_is_here(tmp_path: Path) -> None:
    emocontext_file(tmp_path, "dev.txt")
    result = invoke("tasks", "--data", str(tmp_path))
    assert result.exit_code == 0
    assert all(name in result.stdout for name in TASKS)
    row = next(line for line in result.stdout.splitlines() if line.startswith("emocontext"))
    assert "micro-f1" in row
    assert "train 30,160" in row
    assert "only dev" in row


def test_tasks_as_json(tmp_path: Path) -> None:
    path = emocontext_file(tmp_path, "test.txt")
    listed = {task["name"]: task for task in json.loads(invoke("tasks", "--data", str(tmp_path), "--json").stdout)}
    assert list(listed) == list(TASKS)
    assert listed["emocontext"]["labels"] == ["others", "happy", "sad", "angry"]
    assert listed["emocontext"]["splits"]["test"] == {
        "file": "test.txt",
        "examples": 5509,
        "labelled": True,
        "revision": "labelled-test",
        "path": str(path),
    }
    assert listed["iest"]["splits"]["train"]["path"] is None
    assert listed["iest"]["splits"]["train"]["examples"] == 153383


@pytest.mark.parametrize("name", TASKS)
def test_one_task_in_full(name: str, tmp_path: Path) -> None:
    metadata = get_task(name).metadata
    shown = invoke("tasks", name, "--data", str(tmp_path)).stdout
    told = [metadata.citation, metadata.home, metadata.terms, metadata.description, metadata.metric.description]
    told += [revision.note for revision in metadata.revisions]
    told += [file.name for revision in metadata.revisions for file in revision.splits.values()]
    told += [download.url for revision in metadata.revisions for download in revision.downloads]
    assert [fact for fact in told if fact not in shown] == []
    described = json.loads(invoke("tasks", name, "--data", str(tmp_path), "--json").stdout)
    assert described["name"] == name
    assert all(described["formats"].values())


def test_a_mistyped_task_gets_a_hint() -> None:
    result = invoke("tasks", "iset")
    assert isinstance(result.exception, EmoscopeError)
    assert str(result.exception) == "no task named 'iset'; did you mean 'iest'?"


# Nothing goes online by itself


def test_only_fetching_imports_what_goes_online() -> None:
    package = Path(emoscope.__file__).parent
    online = {"requests", "urllib3", "urllib.request", "http.client", "httpx", "aiohttp"}
    importers = set()
    for file in package.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
            names |= {node.module} if isinstance(node, ast.ImportFrom) else set()
            if names & online:
                importers.add(file.relative_to(package).as_posix())
    # To download, to send a submission, to sign in with the organiser's provider, to look at one's server: on request.
    assert importers == {"tasks/fetch.py", "cli/submit.py", "server/challenge/oidc.py", "server/doctor.py"}


def test_looking_around_opens_no_connection(tmp_path: Path) -> None:
    script = """
import socket, sys
def refuse(*_): raise SystemExit("went online")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
from pathlib import Path
from emoscope.cli.data import check_rows
from emoscope.cli.listing import describe_task
from emoscope.tasks import TASKS, get_task
from emoscope.tasks.fetch import needed
root = Path(sys.argv[1])
for name in TASKS:
    task = get_task(name)
    assert describe_task(task, root) and check_rows(task, root) and needed(task, root)
assert "requests" not in sys.modules
"""
    source = str(Path(emoscope.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": source}
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
