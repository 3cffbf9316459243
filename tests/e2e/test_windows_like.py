"""First steps in processes without what Windows lacks: UTF-8 by default, fork, Unix locks, signals."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import kits
from kits.emocontext_files import make_corpus
from kits.score_kit import chats, write_parquet

LIKE = Path(kits.__path__[0]) / "windows_like"


def emoscope(folder: Path, *arguments: str, expected: int = 0) -> str:
    """What a command prints, read as the code page that a Western Windows has."""
    paths = [str(LIKE), *map(os.path.abspath, filter(None, sys.path))]
    variables = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))},
        **{"PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "LC_ALL": "C.UTF-8"},
        **{"PYTHONWARNDEFAULTENCODING": "1", "EMOSCOPE_DATA": str(folder / "data")},
    }
    done = subprocess.run(
        [sys.executable, "-m", "emoscope", *arguments], cwd=folder, env=variables, capture_output=True, check=False
    )
    assert done.returncode == expected, done.stderr.decode("cp1252")[-3000:]
    return done.stdout.decode("cp1252")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("wörk flöder")  # a blank and letters that are not ASCII
    make_corpus(made)
    (made / "chäts.csv").write_text("text\nI love you 😂\nno sé\n", encoding="utf-8")
    return made


def test_the_simulation_is_one(folder: Path) -> None:
    code = "import os, sys, locale; print(hasattr(os, 'fork'), sys.modules['fcntl'], sys.stdout.encoding, WINDOWS_LIKE)"
    paths = os.pathsep.join([str(LIKE), *map(os.path.abspath, filter(None, sys.path))])
    variables = {**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "None", "cp1252", "True"]


def test_detect_on_a_screen_without_emoji(folder: Path) -> None:
    assert "joy" in emoscope(folder, "detect", "I love you 😂")
    assert json.loads(emoscope(folder, "detect", "I love you 😂", "--json"))["label"] == "joy"
    emoscope(folder, "detect", "chäts.csv", "-o", "läbelled.csv")
    assert "😂" in (folder / "läbelled.csv").read_text(encoding="utf-8")
    emoscope(folder, "tasks")
    emoscope(folder, "systems")


def test_train_predict_and_report(folder: Path) -> None:
    pytest.importorskip("sklearn")
    emoscope(folder, "train", "nano", "--task", "emocontext", "-o", "runs/nano")
    emoscope(folder, "predict", "runs/nano", "--task", "emocontext", "--split", "dev", "-o", "out.txt")
    emoscope(folder, "evaluate", "out.txt", "--task", "emocontext", "--split", "dev", "--json")
    assert "angry" in emoscope(folder, "detect", "I hate you", "--model", str(folder / "runs" / "nano"))


def test_score_with_spawned_workers(folder: Path) -> None:
    write_parquet(folder / "chats.parquet", chats(60), row_group_size=20)
    emoscope(folder, "score", "chats.parquet", "-o", "scored", "--model", "nano", "--workers", "2")
    assert (folder / "scored" / "manifest.json").is_file()
    assert not (folder / "scored" / ".lock").exists()


def test_build_a_corpus(folder: Path) -> None:
    for package in ("crowdkit", "presidio_analyzer", "lingua"):
        pytest.importorskip(package)
    emoscope(folder, "corpus", "example", "tea")
    emoscope(folder, "corpus", "build", "tea/plan.toml", "-o", "mycorpus", "--workers", "1")
    assert (folder / "mycorpus" / "corpus" / "datasheet.md").is_file()


def test_a_challenge_is_scored(folder: Path) -> None:
    pytest.importorskip("sqlalchemy")
    dev = (folder / "data" / "emocontext" / "dev.txt").read_text(encoding="utf-8").splitlines()
    (folder / "given.txt").write_text("\n".join("\t".join(row.split("\t")[:4]) for row in dev) + "\n", encoding="utf-8")
    (folder / "gold.txt").write_text("\n".join(dev) + "\n", encoding="utf-8")
    (folder / "mine.toml").write_text(
        'slug = "mine"\ntitle = "Mîne"\ntask = "emocontext"\n[[phases]]\nname = "one"\ntitle = "One"\n'
        'unlabelled = "given.txt"\ngold = "gold.txt"\nopens = 2020-01-01T00:00:00\nper_day = 3\n',
        encoding="utf-8",
    )
    emoscope(folder, "challenge", "create", "mine.toml", "--data-dir", "server")
    emoscope(folder, "challenge", "worker", "--once", "--data-dir", "server")
    assert json.loads(emoscope(folder, "challenge", "list", "--data-dir", "server", "--json"))[0]["slug"] == "mine"
    emoscope(folder, "challenge", "backup", "copy", "--data-dir", "server")
