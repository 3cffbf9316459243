"""What a first prediction does not have to import."""

import json
import subprocess
import sys

import pytest

from emoscope.models.native.library import library

CODE = """
import json, sys
from emoscope.cli.main import run
run()
print(json.dumps([name for name in sys.modules]))
"""


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_detect_imports_only_what_it_needs(options: tuple[str, ...]) -> None:
    command = [sys.executable, "-c", CODE.replace("run()\n", "try: run()\nexcept SystemExit: pass\n")]
    done = subprocess.run([*command, "detect", "I love you", *options], capture_output=True, text=True, check=True)
    imported = set(json.loads(done.stdout.splitlines()[-1]))
    unwanted = {"polars", "pyarrow", "requests", "emoscope.cli.corpus.build", "emoscope.cli.train", "emoscope.tasks"}
    if library() is not None and library().emoscope_supported():
        unwanted |= {"onnxruntime"}
    if not options:  # typer parses options with it
        unwanted |= {"pydantic"}
    assert imported.isdisjoint(unwanted), imported & unwanted
    assert "joy" in done.stdout
