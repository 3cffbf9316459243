"""The help of every command, as people read it."""

from collections.abc import Iterator
from typing import Any

import pytest

from emoscope.cli.commands import root_command


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*path, name))


def test_help_shows_all_its_text(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Square brackets would be read as markup, and a word too long for its column would be cut."""
    monkeypatch.setenv("COLUMNS", "100")
    root = root_command()
    for path, command in commands(root):
        root.main(args=[*path, "--help"], prog_name="emoscope", standalone_mode=False)
        shown = capsys.readouterr().out
        words = shown.replace("│", " ").split()
        for parameter in command.params:
            help_text = (getattr(parameter, "help", None) or "").replace("\\[", "[")
            assert set(help_text.split()) <= set(words), (path, parameter.name)
            assert "[[" not in shown and "…" not in shown, path


def test_paragraphs_fill_the_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    arguments = ["corpus", "annotate", "--help"]
    root_command("corpus").main(args=arguments, prog_name="emoscope", standalone_mode=False)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    start = next(number for number, line in enumerate(lines) if line.startswith("Prints a link"))
    assert all(len(line) > 60 for line in lines[start : lines.index("", start) - 1])
