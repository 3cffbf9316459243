"""Measure what made `default` faster and what did not, where its time goes, and how far the machine's limit is.

    python -m benchmarks.speed.optimisation --data DATA [--model default] [--only PART]

Each change is measured against the state without it, in turns, in one run; ratios are of processor time unless said
otherwise, which other work on the machine disturbs least. The same graph is measured twice under two names: how far
these are apart says what a ratio is worth. Writes benchmarks/results/optimisation.json and the last section of
docs/results/speed.md.
"""

import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnxruntime

import emoscope.models.onnx.exported_encoder as networks
import emoscope.models.onnx.layout as layouts
from benchmarks.common.machine import machine, taken_by_others
from benchmarks.common.options import command_line
from benchmarks.common.pages import write_section
from benchmarks.common.paths import PAGES, RESULTS
from benchmarks.common.provenance import keep, made
from benchmarks.common.tables import read_json, write_json
from benchmarks.common.timing import Clock, Work, interleaved, seconds
from benchmarks.scale.limits import int8_rate, operations
from benchmarks.speed.optimisation_graphs import VOCABULARY, opened
from benchmarks.speed.optimisation_page import section
from benchmarks.speed.shared_memory import worker_memory
from emoscope.core.dialogue import Dialogue, Example
from emoscope.detector.bundle import resolve
from emoscope.detector.model import BLOCK
from emoscope.models.block import Block
from emoscope.models.onnx.description import INT8, TOKENIZER
from emoscope.models.onnx.layout import Feed, batches_of_equal_length
from emoscope.models.onnx.session import Run, open_graph
from emoscope.models.text.tokenizer import Tokenizer
from emoscope.models.text.window import TokenRow
from emoscope.parallel.threads import cores
from emoscope.tasks import get_task
from emoscope.tasks.data import find_split, read_split

TABLE = RESULTS / "optimisation.json"
DIALOGUES, ROUNDS = 1024, 3
SIZES = (96, 160, 224, 320, 512)


def least_seconds(works: Mapping[str, Work], clock: Clock = time.process_time) -> dict[str, float]:
    """The least seconds of each function, called in turns."""
    return {name: min(times) for name, times in interleaved(works, ROUNDS, clock).items()}


def feeds_in_turns(runs: Mapping[str, Run], feeds: Sequence[Feed]) -> dict[str, float]:
    """The same for graphs that run in one thread, changing over after each batch."""
    spent = {name: np.full((ROUNDS, len(feeds)), np.inf) for name in runs}
    for turn in range(ROUNDS):
        for place, feed in enumerate(feeds):
            for name, run in runs.items():
                spent[name][turn, place] = seconds(partial(run, feed), time.thread_time)
    return {name: float(times.min(0).sum()) for name, times in spent.items()}


def ratios(seconds: Mapping[str, float]) -> dict[str, float]:
    """How many times as fast each is as the first."""
    first = next(iter(seconds.values()))
    return {name: round(first / each, 3) for name, each in seconds.items()}


# In the package


class Reading:
    """The network of a bundle and dialogues laid out for it."""

    def __init__(self, model: str, dialogues: Sequence[Dialogue]) -> None:
        self.folder = resolve(model) / BLOCK
        self.network = cast(Any, Block.load(self.folder).of_head("general"))
        self.layout = self.network.layout
        self.run = open_graph(self.folder / INT8)
        self.examples = [Example.last(dialogue) for dialogue in dialogues]
        self.plain = Tokenizer.read((self.folder / TOKENIZER).read_text(encoding="utf-8"), **self.layout.special)
        self.rows: list[TokenRow] = self.layout.window.rows(self.examples, self.plain)

    def feeds(self, together: int, pieces: int = layouts.PIECES_AT_ONCE) -> list[Feed]:
        """The network's inputs if `together` dialogues are given at once, and computed `pieces` at once."""
        before, layouts.PIECES_AT_ONCE = layouts.PIECES_AT_ONCE, pieces
        made = []
        for first in range(0, len(self.rows), together):
            rows = self.rows[first : first + together]
            batches = batches_of_equal_length([len(row.token_ids) for row in rows])
            made += [self.layout.feed([rows[place] for place in batch]) for batch in batches]
        layouts.PIECES_AT_ONCE = before
        return made


def package_steps(read: Reading) -> dict[str, Any]:
    """Microseconds a dialogue before and after each step outside the graph."""
    network, examples = read.network, read.examples

    def all_laid_out_first() -> None:
        before, networks.ROWS_AT_ONCE = networks.ROWS_AT_ONCE, len(examples)
        network.logits(examples)
        networks.ROWS_AT_ONCE = before

    def meanwhile() -> None:
        network.logits(examples)

    def run_all(feeds: Sequence[Feed]) -> Work:
        return lambda: [read.run(feed) for feed in feeds]

    pairs = {
        "1,024 dialogues given at once, not 256": (run_all(read.feeds(256)), run_all(read.feeds(1024))),
    }
    made: dict[str, Any] = {}
    for name, (before, after) in pairs.items():
        found = least_seconds({"before": before, "after": after})
        made[name] = {key: round(1e6 * seconds / len(examples), 1) for key, seconds in found.items()}
    found = least_seconds({"before": all_laid_out_first, "after": meanwhile}, time.perf_counter)
    made["computing begins while the rest is laid out (all cores, by the clock)"] = {
        key: round(1e6 * seconds / len(examples), 1) for key, seconds in found.items()
    }
    return made


# The graph and its session


def graph_ratios(read: Reading) -> dict[str, float]:
    """How fast the graph is if written otherwise; random weights, the lengths of real dialogues."""
    feeds = read.feeds(DIALOGUES)[::6]
    for feed in feeds:
        feed["pieces"] = feed["pieces"] % VOCABULARY
    with tempfile.TemporaryDirectory() as folder:
        runs = opened(Path(folder), read.layout)
        first = next(iter(runs))
        return ratios(feeds_in_turns({first: runs[first], "the same again": runs[first], **runs}, feeds))


def open_session(path: Path, *, profile: str = "", threads: int = 1, all_fused: bool = False, **settings: bool) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if all_fused else level.ORT_DISABLE_ALL
    options.enable_profiling, options.profile_file_prefix = bool(profile), profile
    for name, value in settings.items():
        setattr(options, name, value)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def session_ratios(read: Reading) -> dict[str, float]:
    path = read.folder / INT8
    sessions = {
        "as it is": open_session(path),
        "the same again": open_session(path),
        "onnxruntime's own fusions": open_session(path, all_fused=True),
        "no plan of memory by shape": open_session(path, enable_mem_pattern=False),
        "no arena for memory": open_session(path, enable_cpu_mem_arena=False),
    }
    runs = {name: lambda feed, session=session: session.run(None, feed) for name, session in sessions.items()}
    return ratios(feeds_in_turns(runs, read.feeds(DIALOGUES)[::6]))


def thread_ratios(read: Reading) -> dict[str, float]:
    """All cores, by the clock: a batch for each, or each batch shared out to all."""
    one, shared = open_session(read.folder / INT8), open_session(read.folder / INT8, threads=cores())
    feeds = read.feeds(DIALOGUES)
    with ThreadPoolExecutor(cores()) as pool:
        works: dict[str, Work] = {
            "a batch for each core": lambda: list(pool.map(lambda feed: one.run(None, feed), feeds)),
            "each batch shared out to all cores": lambda: [shared.run(None, feed) for feed in feeds],
        }
        return ratios(least_seconds(works, time.perf_counter))


def sizes(read: Reading) -> dict[str, float]:
    """Microseconds of the network for a dialogue, by how many pieces are computed at once."""

    def run(feeds: Sequence[Feed]) -> Work:
        return lambda: [read.run(feed) for feed in feeds]

    spent = least_seconds({str(size): run(read.feeds(DIALOGUES, size)) for size in SIZES})
    return {name: round(1e6 * seconds / len(read.examples)) for name, seconds in spent.items()}


def kinds_of_node(read: Reading) -> dict[str, float]:
    """Microseconds a dialogue in each kind of node."""
    feeds = read.feeds(DIALOGUES)[::3]
    with tempfile.TemporaryDirectory() as folder:
        session = open_session(read.folder / INT8, profile=str(Path(folder) / "profile"))
        for _ in range(ROUNDS):
            for feed in feeds:
                session.run(None, feed)
        events = json.loads(Path(session.end_profiling()).read_text(encoding="utf-8"))
    spent: dict[str, list[float]] = {}
    kinds = {}
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("kernel_time"):
            spent.setdefault(event["name"], []).append(event["dur"])
            kinds[event["name"]] = event["args"]["op_name"]
    count = sum(feed["pieces"].shape[1] for feed in feeds)
    made: Counter[str] = Counter()
    for name, times in spent.items():
        made[kinds[name]] += float(np.array(times).reshape(ROUNDS, len(feeds)).min(0).sum()) / count
    return {kind: round(each, 1) for kind, each in made.most_common()}


def limit(read: Reading) -> dict[str, float]:
    """Operations of a dialogue, and how many a second plain products do: on one core, and on all of them at once."""
    mean = float(np.mean([operations(len(row.token_ids)) for row in read.rows]))
    with ThreadPoolExecutor(cores()) as pool:
        # Processor time is the whole process's, so each of the threads says what all of them did a second of one.
        together = list(pool.map(lambda _: int8_rate(), range(cores())))
    return {
        "pieces": float(np.mean([len(row.token_ids) for row in read.rows])),
        "operations": mean,
        "one core": int8_rate(),
        "all cores": cores() * sum(together),
    }


def main() -> None:
    parser = command_line(__doc__, "data", "model")
    parser.add_argument("--only", choices=PARTS, help="measure one part again, and keep the others")
    options = parser.parse_args()
    dialogues = [example.context for example in read_split(get_task("emocontext"), "dev", options.data)][:DIALOGUES]
    read = Reading(options.model, dialogues)
    found: dict[str, Any] = read_json(TABLE) if options.only else {}
    found |= {"machine": machine(), "dialogues": len(dialogues)}
    found["others"] = max(found.get("others", 0.0), round(taken_by_others(), 2))
    for part in [options.only] if options.only else PARTS:
        found[part] = PARTS[part](read)
    write_json(TABLE, found)
    settings = {"model": Path(options.model).name, "rounds": ROUNDS}
    keep(TABLE, made(settings=settings, data=[find_split(get_task("emocontext"), "dev", options.data).path]))
    text = section(found)
    write_section(PAGES / "speed.md", "optimisation", text)
    print(text)


PARTS: dict[str, Callable[[Reading], Any]] = {
    "steps": package_steps,
    "graph": graph_ratios,
    "session": session_ratios,
    "threads": thread_ratios,
    "nodes": kinds_of_node,
    "limit": limit,
    "at once": sizes,
    "memory": lambda read: worker_memory(str(read.folder.parent)),
}


if __name__ == "__main__":
    main()
