"""The folder of a run: checkpoints of the same work are kept."""

from pathlib import Path

import pytest

from emoscope.runs.record import kept_checkpoints


def interrupted(target: Path, what: dict[str, object]) -> None:
    with pytest.raises(KeyboardInterrupt), kept_checkpoints(target, what) as folder:
        (folder / "epoch.safetensors").touch()
        raise KeyboardInterrupt


def test_the_same_work_finds_its_checkpoints(tmp_path: Path) -> None:
    work: dict[str, object] = {"seed": 0, "heads": ("general", "iest")}  # a tuple, which JSON reads back as a list
    interrupted(tmp_path / "run", work)
    with kept_checkpoints(tmp_path / "run", work) as folder:
        assert (folder / "epoch.safetensors").exists()
    assert not folder.exists()


def test_other_work_starts_over(tmp_path: Path) -> None:
    interrupted(tmp_path / "run", {"seed": 0})
    with kept_checkpoints(tmp_path / "run", {"seed": 1}) as folder:
        assert not (folder / "epoch.safetensors").exists()
