"""Build corpora and be killed on the way: `python killed_build.py PLAN`, which then answers a line for each line.

A request is a JSON object: `folder`; `plan`, if it is another one; `until`, a step, or null; and perhaps one of
`at_change` ([STEP, N]: die right before the N-th change of a file or folder of that step) and `after` (be killed so
many seconds later). The answer has the `code` (0, or -9 for a kill) and what a build that ended has changed, as paths.

What finds personal data and languages takes many seconds to load. So it is loaded once, and every build is a fork. The
steps behind the filter are left to the forks: the threads they start would not survive in one.
"""

import json
import os
import select
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from emoscope.corpus.pipeline.build import build
from emoscope.corpus.pipeline.plan import load_plan

CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "open"}


def changed_path(event: str, arguments: tuple[Any, ...], below: Path) -> str | None:
    """What an event is about to change, if it lies below a folder."""
    if event not in CHANGES or not isinstance(arguments[0], str | bytes | os.PathLike):
        return None
    path = Path(os.fsdecode(arguments[0])).absolute()
    if not path.is_relative_to(below):
        return None
    if event == "open" and not (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        return None
    return path.relative_to(below).as_posix()


def belongs(path: str, step: str) -> bool:
    """Whether a path is of what a step works in: `.05-filter.part`, `.05-filter.cache`, and so on."""
    return any(part.startswith(f".{step}.") for part in path.split("/"))


def run_and_die(plan: str, folder: str, until: str | None, at_change: tuple[str, int] | None) -> list[str]:
    changes: list[str] = []
    step, left = at_change or ("", 0)
    below = Path(folder).absolute()

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        path = changed_path(event, arguments, below)
        if path is None:
            return
        changes.append(path)
        if left and belongs(path, step):
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    build(load_plan(plan), folder, until=until)
    return changes


def answer(request: dict[str, Any], default_plan: str) -> dict[str, Any]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            plan = request.get("plan", default_plan)
            changes = run_and_die(plan, request["folder"], request.get("until"), request.get("at_change"))
            with os.fdopen(writer, "w") as pipe:
                json.dump(changes, pipe)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        # Readable when the child has something to say, and when it is no more.
        if "after" in request and not select.select([pipe], [], [], request["after"])[0]:
            os.kill(child, signal.SIGKILL)
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return {"code": code, "changes": json.loads(said) if code == 0 else []}


def main(plan: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        build(load_plan(plan), Path(folder) / "build", until="filter")
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line), plan)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
