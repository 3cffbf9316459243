"""The output and the mistakes of the command `emoscope score`."""

import json
import sys
from pathlib import Path

import pytest

from kits.corpus_command import run
from kits.score_kit import chats, write_jsonl


def test_few_rows_advise_no_prior(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(1))
    _, shown, _ = run("score", path, "-o", tmp_path / "out", "-m", "nano", "--workers", "1")
    assert "1 row in 1 part: " in shown
    assert "--prior" not in shown
    assert "The estimated shares mean little: 1 row," in shown


def test_the_command_shows_a_summary(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [*chats(1200), "{broken"])
    code, shown, _ = run("score", path, "-o", tmp_path / "out", "-m", "nano", "--workers", "1")
    assert code == 0
    assert "1,201 rows in " in shown
    assert "1,200 scored, 1 rejected" in shown
    assert "estimated share" in shown
    assert "earlier run" not in shown
    (advice,) = [line for line in shown.splitlines() if "--prior" in line]
    prior = advice.split()[-1]
    code, shown, _ = run("score", path, "-o", tmp_path / "again", "-m", "nano", "--workers", "1", "--prior", prior)
    assert code == 0
    code, shown, _ = run("score", path, "-o", tmp_path / "out", "-m", "nano", "--workers", "1")
    assert "1,201 of these rows are from an earlier run" in shown
    code, shown, _ = run("score", path, "-o", tmp_path / "out", "-m", "nano", "--workers", "1", "--json")
    found = json.loads(shown)
    assert found == json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert found["settings"]["model"]["name"] == "nano"
    assert sum(found["estimated_prior"].values()) == pytest.approx(1)
    assert 0 < found["drift"] < 1


def test_mistakes_of_the_command_are_one_line(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(2))
    assert run("score", path, "-o", tmp_path / "out", "--engine", "spark")[::2] == (
        2,
        "--engine: expected local or ray, found 'spark'",
    )
    assert (
        run("score", path, "-o", tmp_path / "out", "--ray-address", "auto")[2] == "--ray-address goes with --engine ray"
    )


def test_missing_ray_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(2))
    monkeypatch.setitem(sys.modules, "ray", None)
    code, _, message = run("score", path, "-o", tmp_path / "out", "-m", "nano", "--engine", "ray")
    assert (code, message) == (2, "this needs ray: pip install 'emoscope[ray]'")
    assert not (tmp_path / "out").exists()
