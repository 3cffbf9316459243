"""The code blocks of a page, and a runner for them: Python in one namespace, commands one after the other."""

import ast
import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from emoscope.cli.app import app

BLOCK = re.compile(r"^```([a-z]*)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
SHELL = ("", "bash", "console")
# What is only checked to be a command that exists, and why.
NOT_RUN = {
    r"corpus sample logs": "needs a year of logs",
    r"--discard-others mined": "needs what an encoder mined",
    r"corpus seeds .*--judgements": "needs judgements of its own batch",
    r"organiser Pia --challenge": "its challenge is made on another page",
    r"emoscope transfer": "needs all corpora",
    r"pip install|make |git ": "changes the machine",
    r"emoscope (serve|mcp)\b": "does not end",
    r"tail -f": "does not end",
    r"emoscope submit|curl ": "needs a server",
    r"emoscope data get": "fetches",
    r"emoscope data check": "needs the official files",
    r"hf:owner|emoscope corpus encoder": "fetches",
    r"emoscope train (?!nano)|emoscope crossvalidate (?!nano)": "takes long, or a GPU",
    r"emoscope (distil|export)": "takes long, or a GPU",
    r"emoscope corpus (augment|mine .*--encoder)": "needs a model or a translator",
    r"s3://|--engine ray": "needs a store, or a cluster",
    r"sudo |docker |pg_|^export |DATABASE=": "is an operator's",
    r"emoscope corpus (human-study|annotate-export)": "needs what people said",
    r"/(srv|opt|backups)/": "is an operator's",
    r"python (tools|-m benchmarks)": "is a developer's, and takes long",
}
# What is run with a little more, so that it ends, or finds what only its reader has.
RUN_WITH = {
    r"emoscope corpus annotate ": " --no-serve",
    r"emoscope train nano": " --force",
    r"emoscope predict .* -o \S+\.json$": " --name A --email a@b.c",
}
EXPECTED = {r"^emoscope (compare|verify) ": (0, 1)}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [Block(m[1], m[2], text[: m.start()].count("\n") + 2) for m in BLOCK.finditer(text)]


def commands(block: Block) -> Iterator[str]:
    """The commands of a block, without prompt and comment; what they print, and trees of files, are none."""
    if block.language not in SHELL:
        return
    text = block.text.replace("\\\n", " ")
    prompts = "$ " in text
    for line in text.splitlines():
        if prompts and not line.startswith("$ "):
            continue
        typed = line.removeprefix("$ ").strip()
        if re.match(
            r"(?:[A-Z_]+=\S* )*(emoscope|pip|make|cut|tail|curl|cp|python|sudo|docker|pg_\w+|export|git|cat)\b", typed
        ):
            yield _without_comment(typed)


def _without_comment(line: str) -> str:
    return re.split(r"\s#\s", line, maxsplit=1)[0].strip()


def reason_not_to_run(command: str) -> str | None:
    """Why a command is not run, if it is not."""
    return next((reason for pattern, reason in NOT_RUN.items() if re.search(pattern, command)), None)


def run_command(command: str, variables: Mapping[str, str]) -> None:
    """Run a command as typed: emoscope's in this process, anything else in a shell."""
    command += next((more for pattern, more in RUN_WITH.items() if re.search(pattern, command)), "")
    wanted = next((codes for pattern, codes in EXPECTED.items() if re.search(pattern, command)), (0,))
    if re.match(r"emoscope [^|>&]+$", command):
        words = [each for word in shlex.split(command)[1:] for each in _expanded(word)]
        if (
            words[0] == "score" or words[-1] == "FOLDER" or "-o FOLDER" in command
        ):  # one folder for several examples, which they would refuse
            shutil.rmtree(words[words.index("-o") + 1], ignore_errors=True)
        done = CliRunner().invoke(app, words)
        ended = done.exception is None or isinstance(done.exception, SystemExit)
        assert ended and done.exit_code in wanted, f"{command}: {done.exception!r}\n{done.output[-2000:]}"
        return
    shim = "emoscope() { '" + sys.executable + '\' -m emoscope "$@"; }; '
    paths = os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))
    found = subprocess.run(
        ["bash", "-c", shim + command],
        env={**os.environ, **variables, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert found.returncode == 0, f"{command}: {found.stderr[-2000:]}"


def _expanded(word: str) -> list[str]:
    """What a shell makes of a pattern."""
    return sorted(map(str, Path().glob(word))) or [word] if "*" in word else [word]


def run_python(block: Block, names: dict[str, Any], page: str) -> None:
    """Run a block in a namespace. Where a comment follows an expression, that is what the expression shows."""
    tree = ast.parse(block.text)
    lines = block.text.splitlines()
    if "__main__" in block.text:
        shutil.rmtree("scored", ignore_errors=True)
        done = subprocess.run([sys.executable, "-c", block.text], env=_with_path(), capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()[-2000:]
        return
    for statement in tree.body:
        code: Any = ast.Module([statement], [])
        place = f"{page}, line {block.line + statement.lineno - 1}"
        try:
            if not isinstance(statement, ast.Expr):
                exec(compile(code, place, "exec"), names)
                continue
            shown = repr(eval(compile(ast.Expression(statement.value), place, "eval"), names))
        except Exception as error:
            raise AssertionError(f"{place}: {error!r}") from error
        after = lines[statement.end_lineno] if (statement.end_lineno or 0) < len(lines) else ""
        if after.startswith("# "):
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            same = doctest.OutputChecker().check_output(after[2:] + "\n", shown + "\n", flags)
            assert same, f"{place}: {after[2:]!r} is said, {shown!r} is shown"


def _with_path() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))}
