"""Build a corpus and be killed on the way: `python killed_build.py PLAN FOLDER N [UNTIL]`.

The process kills itself, as a crash or an out-of-memory killer would, right before its N-th change of a file or folder
below FOLDER. Without so many changes it ends well and prints how many there were.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from emoscope.corpus.chain.plan import load_plan
from emoscope.corpus.chain.run import build

CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree", "shutil.copyfile", "open"}


def main(plan: str, folder: str, fatal: int, until: str | None) -> None:
    changes = 0
    below = str(Path(folder).absolute())

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal changes
        if event not in CHANGES or not str(Path(str(arguments[0])).absolute()).startswith(below):
            return
        if event == "open" and not (isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")):
            return
        changes += 1
        if changes == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    loaded = load_plan(plan)
    sys.addaudithook(watch)
    build(loaded, folder, until=until)
    print(changes)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] if len(sys.argv) > 4 else None)
