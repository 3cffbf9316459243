"""Atomic writes of files and folders."""

import os
from pathlib import Path

import pytest

from emoscope.core.files import atomic_folder, atomic_write


def test_written_files_have_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").write_text("")
    (tmp_path / "folder").mkdir()
    with atomic_write(tmp_path / "file") as handle:
        handle.write("done")
    with atomic_folder(tmp_path / "made") as part:
        (part / "a.txt").write_text("done")
    modes = {path.name: path.stat().st_mode for path in tmp_path.iterdir()}
    assert modes["file"] == modes["usual"]
    assert modes["made"] == modes["folder"]
    assert len(modes) == 4


def test_writing_never_changes_the_umask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It belongs to the whole process: another thread's files would be open to everybody meanwhile."""
    monkeypatch.setattr(os, "umask", None)
    with atomic_write(tmp_path / "file", "wb") as handle:
        handle.write(b"done")
    with atomic_folder(tmp_path / "made"):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "made"]
