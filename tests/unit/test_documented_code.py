"""Every block of Python and every command of the pages runs, on made-up files; what cannot is at least a command.

Blocks of a page run in order and share names and files, as they do for a reader. Recipes of dataframes.md run
elsewhere, each as a script of its own.
"""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import emoscope
from kits.doc_blocks import blocks, commands, reason_not_to_run, run_command, run_python
from kits.doc_world import TURNS, write_world

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if page.name != "dataframes.md" and blocks(page)]
# Blocks that need what cannot be had here, by a line of theirs.
NOT_RUN = {"hf:owner/": "fetches", "spark.create": "needs clusters", "hub/hsu": "needs a trained encoder"}
pytestmark = [
    pytest.mark.skipif(not (ROOT / "docs" / "guide").is_dir(), reason="the pages are not in the package"),
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files, and what takes longest to make: a run, and a built corpus."""
    folder = tmp_path_factory.mktemp("world")
    write_world(folder)
    before = Path.cwd()
    os.chdir(folder)
    try:
        emoscope.train("nano", "emocontext", "runs/mine", root=folder / "data")
        run_command("emoscope corpus build plan.toml -o mycorpus", {})
    finally:
        os.chdir(before)
    return folder


def names() -> dict[str, Any]:
    """What the pages' examples take for granted."""
    import pandas as pd

    import emoscope.spacy  # noqa: F401 - spaCy finds an installed package by itself

    dialogues = [list(turns) for turns in TURNS]
    texts = [turns[-1] for turns in TURNS] * 8
    frame = pd.DataFrame({"text": texts, "body": texts})
    labels = ["happy", "angry", "sad"] * 8
    return {"dialogues": dialogues, "texts": texts, "labels": labels, "frame": frame, "sample": frame}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_runs(page: Path, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(world, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("EMOSCOPE_DATA", str(tmp_path / "here" / "data"))
    namespace = names()
    for block in blocks(page):
        if block.language == "python" and not any(line in block.text for line in NOT_RUN):
            run_python(block, namespace, page.name)
        for command in commands(block):
            if reason_not_to_run(command) is None:
                run_command(command, {})


def test_most_commands_are_run() -> None:
    typed = [command for page in PAGES for block in blocks(page) for command in commands(block)]
    run = [command for command in typed if reason_not_to_run(command) is None]
    assert len(run) > len(typed) / 2
