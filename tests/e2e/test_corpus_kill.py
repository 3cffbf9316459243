"""`kill -9` at every step of a corpus build, at any write and at any time: a rerun gives the same bytes."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emoscope.corpus.pipeline.build import CORPUS_FOLDER, TIMINGS
from emoscope.corpus.pipeline.plan import STEPS, load_plan
from kits.corpus_tree import EXAMPLE, folders, tree, with_apertium
from kits.killed_build import belongs

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
DISTANT = """
name = "words"
title = "Words"
description = "Made up."
labels = ["joy", "sad"]
metric = "macro-f1"
terms = "None."
[[steps]]
use = "collect"
inputs = [{ path = "tweets.csv", column = "tweet" }]
[[steps]]
use = "distant"
[[steps]]
use = "split"
threshold = 1.0
"""


class Builder:
    """A process that has all models loaded, and builds in forks of itself."""

    def __init__(self, plan: Path) -> None:
        script = Path(__file__).parents[1] / "kits" / "killed_build.py"
        self.plan = plan
        self.process = subprocess.Popen(
            [sys.executable, str(script), str(plan)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __call__(self, folder: Path, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"folder": str(folder), **request}) + "\n")
        self.process.stdin.flush()
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert found["code"] in (0, -signal.SIGKILL)
        return found

    def close(self) -> None:
        self.process.communicate()


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Builder]:
    folder = tmp_path_factory.mktemp("example")
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    plan = folder / "plan.toml"
    if shutil.which("apertium") is not None:
        plan.write_text(with_apertium(plan.read_text()))
    made = Builder(plan)
    yield made
    made.close()


@pytest.fixture(scope="module")
def whole(builder: Builder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build that nobody killed, with `changes.json` beside it."""
    folder = tmp_path_factory.mktemp("whole") / "build"
    changes = builder(folder)["changes"]
    (folder.parent / "changes.json").write_text(json.dumps(changes))
    return folder


def changes_of(whole: Path) -> Counter[str]:
    """How often each step changes something; the datasheet's are those of the corpus."""
    changes = json.loads((whole.parent / "changes.json").read_text())
    names = [*(path.name for path in sorted((whole / "steps").iterdir())), CORPUS_FOLDER, TIMINGS]
    return Counter(name for change in changes for name in names if belongs(change, name))


def assert_same(folder: Path, whole: Path) -> None:
    assert tree(folder) == tree(whole)
    assert folders(folder) == folders(whole)


def test_every_step_of_the_plan_is_one_to_be_killed_in(builder: Builder, whole: Path) -> None:
    plan = load_plan(builder.plan)
    assert set(changes_of(whole)) == {*plan.step_names[:-1], CORPUS_FOLDER, TIMINGS}
    missing = set(STEPS) - {step.name for step in plan.steps}
    assert missing <= {"distant", "augment"}  # the first has a plan of its own below, the second needs Apertium
    assert ("augment" in missing) == (shutil.which("apertium") is None)


@pytest.mark.parametrize("share", [0.0, 0.35, 0.7, 1.0])
def test_one_build_killed_in_every_step(builder: Builder, whole: Path, tmp_path: Path, share: float) -> None:
    """In each step once: at its first change, at its last, or between."""
    folder = tmp_path / "build"
    changes = changes_of(whole)
    for step in load_plan(builder.plan).step_names[:-1]:
        at = 1 + round(share * (changes[step] - 1))
        assert builder(folder, at_change=[step, at], until="split")["code"] == -signal.SIGKILL, (step, at)
    shutil.copytree(whole / CORPUS_FOLDER, folder / CORPUS_FOLDER)  # making it takes longer than all the rest
    assert builder(folder)["code"] == 0
    assert_same(folder, whole)


def test_kills_between_two_steps(builder: Builder, whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "build"
    for change in (1, 3):
        assert builder(folder, at_change=[TIMINGS, change], until="windows")["code"] == -signal.SIGKILL
    assert builder(folder, until="windows")["code"] == 0
    for name in ("01-collect", "02-windows"):
        assert tree(folder / "steps" / name) == tree(whole / "steps" / name)
    assert folders(folder) == {"steps", "steps/01-collect", "steps/02-windows"}
    assert {path.name for path in folder.iterdir()} == {".lock", "steps", TIMINGS}


def test_kills_while_the_corpus_is_made(builder: Builder, whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "build"
    shutil.copytree(whole, folder)
    shutil.rmtree(folder / CORPUS_FOLDER)
    last = changes_of(whole)[CORPUS_FOLDER]
    for change in (1, 4, last - 1):
        assert builder(folder, at_change=[CORPUS_FOLDER, change])["code"] == -signal.SIGKILL
    assert not (folder / CORPUS_FOLDER).exists() or change == last - 1
    assert builder(folder)["code"] == 0
    assert_same(folder, whole)


def test_kills_at_random_moments(builder: Builder, whole: Path, tmp_path: Path) -> None:
    """Also in the middle of a file, of a translation and of a look at a dialogue."""
    begun = time.monotonic()
    assert builder(tmp_path / "timed", until="split")["code"] == 0
    took = time.monotonic() - begun
    chance = random.Random(1)
    killed = 0
    for number in range(4):
        folder = tmp_path / f"build-{number}"
        for part in (1.0, 0.5):
            killed += builder(folder, after=chance.uniform(0, part) * took, until="split")["code"] != 0
        assert builder(folder, until="split")["code"] == 0
        shutil.copytree(whole / CORPUS_FOLDER, folder / CORPUS_FOLDER)
        assert_same(folder, whole)
    assert killed >= 3  # the machine may be slower or faster from one run to the next, but not always


def test_kills_while_texts_are_labelled_by_emotion_words(builder: Builder, tmp_path: Path) -> None:
    says = [f"I am {word} that {place} {word[:2]} came" for place in range(40) for word in ("happy", "sad")]
    (tmp_path / "tweets.csv").write_text("tweet\n" + "".join(f"{text}\n" for text in says))
    plan = tmp_path / "plan.toml"
    plan.write_text(DISTANT)
    names = load_plan(plan).step_names
    changes = builder(tmp_path / "whole", plan=str(plan))["changes"]
    for change in range(1, sum(belongs(path, "02-distant") for path in changes) + 1):
        folder = tmp_path / f"build-{change}"
        for step in names:
            at = change if step == "02-distant" else 3
            assert builder(folder, plan=str(plan), at_change=[step, at])["code"] == -signal.SIGKILL
        assert builder(folder, plan=str(plan))["code"] == 0
        assert_same(folder, tmp_path / "whole")
