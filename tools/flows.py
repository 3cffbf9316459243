"""Counts what each of the main flows calls: the project's own functions, and how deep they stand on each other.

    python tools/flows.py                           a table of this tree
    python tools/flows.py --before ../old/src       beside the same flows of another version
    python tools/flows.py --only detect --list      the functions of one flow

A flow is what a user types, on small data made here. Every process that it starts is traced, workers and servers too.
A function counts once, however often it is called; comprehensions, lambdas and inner functions belong to the function
around them. What only happens at import does not count.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from golden_bench import ROOT, Bench, say
from golden_challenge import answer, fetch, ready, serving, until, write_challenge

# Python imports a module of this name by itself when it starts, in every process that has it on its path.
TRACER = """
import os, signal, sys, threading

PACKAGE = os.environ["FLOWS_PACKAGE"]
TRACE = os.open(os.environ["FLOWS_TRACE"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
OPTIMIZED = 1  # a function's code has this flag; a module's and a class's have not
names, seen, deepest = {}, set(), [0]


def name_of(code):
    if code not in names:
        own = code.co_filename.startswith(PACKAGE) and code.co_flags & OPTIMIZED
        names[code] = (code.co_filename[len(PACKAGE):], code.co_qualname.split(".<locals>")[0]) if own else None
        if own and names[code][1].startswith("<"):
            names[code] = None
    return names[code]


def trace(frame, event, _):
    if event != "call" or (name := name_of(frame.f_code)) is None:
        return
    depth, importing = 0, False
    while frame is not None:
        code = frame.f_code
        importing = importing or code.co_name == "_call_with_frames_removed"
        depth += name_of(code) is not None
        frame = frame.f_back
    if not importing and (name not in seen or depth > deepest[0]):
        seen.add(name)
        deepest[0] = max(deepest[0], depth)
        os.write(TRACE, "\\t".join([str(depth), *name]).encode() + b"\\n")


def restart(*_):
    seen.clear()
    deepest[0] = 0


signal.signal(signal.SIGUSR1, restart)
threading.setprofile(trace)
sys.setprofile(trace)
"""


@dataclass(frozen=True)
class Traced:
    """The functions that a flow called, as `file:name`, and the deepest stack of them."""

    functions: frozenset[str]
    deepest: int


class Tracer:
    """Traces what a version of emoscope does."""

    def __init__(self, bench: Bench, source: Path) -> None:
        self.bench = bench
        self.work = Path(tempfile.mkdtemp(dir=bench.work))
        self.file = self.work / "trace.tsv"
        (self.work / "sitecustomize.py").write_text(TRACER, encoding="utf-8")
        self.variables = {
            "FLOWS_PACKAGE": f"{source / 'emoscope'}{os.sep}",
            "FLOWS_TRACE": str(self.file),
            "PYTHONPATH": f"{self.work}{os.pathsep}{source}",
        }

    def path(self, name: str) -> Path:
        """A place for a file of this version."""
        return self.work / name

    def start(self) -> None:
        """Forget what was called so far."""
        self.file.write_bytes(b"")

    def stop(self) -> Traced:
        """What was called since the start."""
        rows = [line.split("\t") for line in self.file.read_text(encoding="utf-8").splitlines()]
        return Traced(frozenset(f"{file}:{name}" for _, file, name in rows), max(int(depth) for depth, _, _ in rows))

    def command(self, *arguments: object) -> Traced:
        """What a command calls."""
        self.start()
        self.bench.text(*arguments)
        return self.stop()


def detect(tracer: Tracer) -> Traced:
    """One dialogue with the embedded model."""
    return tracer.command("detect", "how was it", "I passed!!!")


def train(tracer: Tracer) -> Traced:
    """A linear system."""
    return tracer.command("train", "nano", "--task", "emocontext", "-o", tracer.path("run"))


def predict(tracer: Tracer) -> Traced:
    """The official submission of a linear run."""
    if not tracer.path("run").exists():
        train(tracer)
    source = tracer.bench.data / "emocontext" / "testwithoutlabels.txt"
    of = ("--task", "emocontext", "--input", source)
    return tracer.command("predict", tracer.path("run"), *of, "-o", tracer.path("answers.txt"))


def submit(tracer: Tracer) -> Traced:
    """From `emoscope submit` to the ranked board; the server runs already."""
    store = ("--data-dir", tracer.path("server"))
    tracer.bench.text("challenge", "create", write_challenge(tracer.path("challenge")) / "mine.toml", *store)
    with serving(tracer.bench, *store) as url:
        at = f"{url}/v1/challenges/mine"
        token = fetch(f"{at}/teams", {"team": "A", "member": "Ana"})["token"]
        until(lambda: fetch(f"{at}/phases/practice/board")["clusters_ready"])
        file = tracer.path("mine.txt")
        file.write_text(answer(20), encoding="utf-8")
        tracer.start()
        server = subprocess.run(["pgrep", "-P", str(os.getpid())], capture_output=True, text=True, check=True)
        for process in server.stdout.split():
            try:
                os.kill(int(process), signal.SIGUSR1)
            except ProcessLookupError:  # pgrep itself
                continue
        to = ("--challenge", f"{url}/challenges/mine", "--token", token, "--phase", "practice")
        tracer.bench.text("submit", file, *to)
        until(lambda: ready(fetch(f"{at}/phases/practice/board")))
        return tracer.stop()


def build(tracer: Tracer) -> Traced:
    """The corpus of the example plan."""
    shutil.copytree(ROOT / "src" / "emoscope" / "corpus" / "example", tracer.path("example"))
    return tracer.command("corpus", "build", tracer.path("example") / "plan.toml", "-o", tracer.path("built"))


def score(tracer: Tracer) -> Traced:
    """A file of rows by two processes."""
    rows = tracer.path("rows.csv")
    rows.write_text("name,turn1,turn2\n" + "".join(f"n{n},hello {n},I am so happy\n" for n in range(40)), "utf-8")
    return tracer.command("score", rows, "-o", tracer.path("scored"), "--part-rows", 10, "--workers", 2)


FLOWS: dict[str, Callable[[Tracer], Traced]] = {
    "detect": detect,
    "train": train,
    "predict": predict,
    "submit to board": submit,
    "corpus build": build,
    "score": score,
}


def measure(source: Path, names: list[str]) -> dict[str, Traced]:
    """The flows of a version, traced."""
    with tempfile.TemporaryDirectory(prefix="flows-") as work:
        bench = Bench(Path(work).resolve())
        tracer = Tracer(bench, source.resolve())
        os.environ |= tracer.variables
        return {name: FLOWS[name](tracer) for name in names}


def main() -> int:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description="Count the functions that the main flows call.")
    parser.add_argument("--before", type=Path, help="the `src` folder of another version, to compare with")
    parser.add_argument("--only", action="append", choices=list(FLOWS), help="a flow; may be repeated")
    parser.add_argument("--list", action="store_true", help="also print the functions")
    given = parser.parse_args()
    names = [name for name in FLOWS if name in (given.only or FLOWS)]
    trees = {"before": given.before, "now": ROOT / "src"} if given.before else {"now": ROOT / "src"}
    versions = [(version, measure(source, names)) for version, source in trees.items()]
    heads = [f"{what}, {version}" for version, _ in versions for what in ("functions", "deepest stack")]
    say("| ".join(["| flow ", *(f"{head} " for head in heads)]) + "|")
    say("|---" + "|---:" * len(heads) + "|")
    for name in names:
        cells = [str(figure) for _, flows in versions for figure in (len(flows[name].functions), flows[name].deepest)]
        say(f"| {name} | {' | '.join(cells)} |")
    for version, flows in versions if given.list else []:
        for name in names:
            say(f"\n{name}, {version}\n" + "\n".join(f"  {function}" for function in sorted(flows[name].functions)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
