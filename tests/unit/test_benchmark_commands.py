"""The benchmarks' command lines: what docstrings and documents say to type is accepted."""

import argparse
import importlib
import re
from pathlib import Path

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not in the package")

from benchmarks.common.options import command_line
from benchmarks.speed.peers import peers_to_measure

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(r"python -m (benchmarks[\w.]*)([^\n`#|]*)")
WITHOUT_PARSER = {"benchmarks.serving.client", "benchmarks.serving.plain_server"}


def documented_commands() -> dict[str, set[str]]:
    """The options that docstrings and documents give to each module."""
    files = [*(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "CONTRIBUTING.md"]
    options: dict[str, set[str]] = {}
    for file in files:
        for module, arguments in COMMAND.findall(file.read_text(encoding="utf-8")):
            options.setdefault(module.rstrip("."), set()).update(re.findall(r"(?<!\w)--[a-z][a-z-]*", arguments))
    return options


class ParsedError(Exception):
    """Ends a command once its parser is complete."""


def accepted_options(module_name: str, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    def stop(parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        raise ParsedError(parser)

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", stop)
    path = module_name.replace(".", "/")
    is_package = (ROOT / path / "__main__.py").is_file()
    module = importlib.import_module(f"{module_name}.__main__" if is_package else module_name)
    with pytest.raises(ParsedError) as parsed:
        module.main()
    parsers = [parsed.value.args[0]]
    for action in parsers[0]._actions:
        if isinstance(action, argparse._SubParsersAction):
            parsers += action.choices.values()
    return {option for parser in parsers for option in parser._option_string_actions}


@pytest.mark.parametrize("module", sorted(set(documented_commands()) - WITHOUT_PARSER))
def test_documented_options_are_accepted(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if module == "benchmarks.scale.reading":
        pytest.importorskip("pyarrow")
    assert documented_commands()[module] <= accepted_options(module, monkeypatch)


@pytest.mark.parametrize("module", ["benchmarks.papers.__main__", "benchmarks.mutation.__main__", "benchmarks.readme"])
def test_help_writes_nothing(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    loaded, written = importlib.import_module(module), tmp_path / "written"
    for name in ("write_section", "printed_section"):
        monkeypatch.setattr(loaded, name, lambda *_, **__: written.touch(), raising=False)
    monkeypatch.setattr("sys.argv", [module, "--help"])
    with pytest.raises(SystemExit, match="0"):
        loaded.main()
    assert capsys.readouterr().out.startswith("usage: ")
    assert not written.exists()


def test_data_is_where_the_product_looks_for_it(tmp_path: Path) -> None:
    given = command_line("", "data").parse_args(["--data", str(tmp_path)])
    assert given.data == tmp_path
    with pytest.raises(SystemExit):
        command_line("").parse_args(["--data", str(tmp_path)])


def test_peers_are_measured_with_the_model_they_are_compared_with() -> None:
    assert peers_to_measure(["nano", "words"]) == ["default", "nano", "words"]
    assert "default" in peers_to_measure(None)
