"""For `benchmarks.scale`: where a model's time goes, what repeats, what is serial, and how far the limit is."""

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed.worker import SMALL
from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.extras import require
from emoscope.detector import Detector, load
from emoscope.detector.bundle import resolve
from emoscope.detector.model import BLOCK
from emoscope.models.block import Block
from emoscope.parallel.threads import one_core
from emoscope.scoring.batch_size import DEFAULT as BATCH
from emoscope.scoring.output import OutputFolder, scores_file
from emoscope.scoring.part_file import read_footer
from emoscope.scoring.plan import ScoringPlan, make_plan
from emoscope.scoring.predict import predict
from emoscope.scoring.reading import CHUNK
from emoscope.tables.inputs import find_inputs

SECONDS = 2.0


def per_second(work: Callable[[], int]) -> float:
    """How much a function gets done in a second of processor time, called again until a while has passed."""
    work()
    begun, done = time.process_time(), 0
    while (spent := time.process_time() - begun) < SECONDS:
        done += work()
    return done / spent


# Repeats


def repeats(items: Sequence[Any]) -> dict[str, float]:
    """The share of items that occurred before: anywhere, and among those read together."""
    near = sum(len(chunk) - len(set(chunk)) for chunk in (items[i : i + CHUNK] for i in range(0, len(items), CHUNK)))
    return {"items": len(items), "anywhere": 1 - len(set(items)) / len(items), "in a chunk": near / len(items)}


def windows(conversations: Iterable[Sequence[str]], turns: int) -> list[tuple[str, ...]]:
    """Each utterance with those before it, at most `turns` in all."""
    return [tuple(said[max(0, end - turns) : end]) for said in conversations for end in range(1, len(said) + 1)]


def cache_gain(detector: Detector, dialogues: Sequence[Dialogue]) -> dict[str, float]:
    """Dialogues a second with repeats answered once, and with each of them answered."""
    chunk = list(dialogues[:CHUNK])
    ordered = sorted(chunk, key=lambda dialogue: sum(map(len, dialogue.texts)))

    def once() -> int:
        with one_core():
            return len(predict(detector, chunk, BATCH)[0])

    def each() -> int:
        with one_core():
            return sum(len(detector.predict_proba(ordered[i : i + BATCH])) for i in range(0, len(ordered), BATCH))

    return {"once": per_second(once), "each": per_second(each)}


# Threads or processes

_opened: list[Detector] = []


def side_by_side(model: str, dialogues: Sequence[Dialogue]) -> dict[str, float]:
    """Dialogues a second, by the clock, of one thread, of two that share a model, and of two processes."""
    batches = [list(dialogues[i : i + BATCH]) for i in range(0, len(dialogues), BATCH)] * 2

    def rate(pool: Executor) -> float:
        with pool:
            list(pool.map(_answered, batches[:2]))  # until all have started
            begun = time.perf_counter()
            count = sum(pool.map(_answered, batches))
            return count / (time.perf_counter() - begun)

    _open(model)
    return {
        "one thread": rate(ThreadPoolExecutor(1)),
        "two threads": rate(ThreadPoolExecutor(2)),
        "two processes": rate(ProcessPoolExecutor(2, get_context("spawn"), _open, (model,))),
    }


def _open(model: str) -> None:
    os.environ["EMOSCOPE_CORES"] = "1"
    _opened[:] = [load(model)]


def _answered(dialogues: Sequence[Dialogue]) -> int:
    return len(_opened[0].predict_proba(dialogues))


# What one process does


def serial(rows: Sequence[Sequence[str]]) -> dict[str, float]:
    """What the process that starts a run does alone, each a second: rows looked through, files, parts gathered."""
    import json

    from emoscope.scoring import score

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        lines = [json.dumps({"id": number, "turns": list(turns)}) + "\n" for number, turns in enumerate(rows)]
        (root / "a.jsonl").write_text("".join(lines), encoding="utf-8")
        quoted = [",".join(f'"{t}"' for t in (x.replace('"', '""') for x in turns)) + "\n" for turns in rows]
        (root / "a.csv").write_text("turn1,turn2,turn3\n" + "".join(quoted), encoding="utf-8")
        done = score([str(root / "a.jsonl")], root / "out", model="nano", part_rows=1000)
        output = OutputFolder(str(root / "out"))

        def planned(name: str) -> int:
            return make_plan(find_inputs([str(root / name)]).files, {}).rows

        def footers() -> int:
            return sum(read_footer(output, scores_file(part)) is not None for part in range(len(done.parts)))

        def parquet() -> int:
            plan: ScoringPlan = make_plan(find_inputs([str(root / "out" / "scores")]).files, {})
            return len(plan.files)

        return {
            "JSONL rows": per_second(lambda: planned("a.jsonl")),
            "CSV rows": per_second(lambda: planned("a.csv")),
            "Parquet files": per_second(parquet),
            "parts gathered": per_second(footers),
            "bytes a row": sum(part["bytes"] for part in done.parts) / done.rows,
        }


# The limit of the machine


def stages(model: str, dialogues: Sequence[Dialogue]) -> dict[str, float]:
    """Microseconds a dialogue of one core for each thing that the first network of an encoder model does."""
    network: Any = Block.load(resolve(model) / BLOCK).of_head("general")
    examples = [Example.last(dialogue) for dialogue in dialogues]
    rows = network.layout.window.rows(examples, network.tokenizer)
    batches = list(network._batches([len(row.token_ids) for row in rows]))

    def spent(work: Callable[[], object]) -> float:
        return 1e6 / per_second(lambda: (work(), len(dialogues))[1])

    return {
        "rows to dialogues": spent(lambda: [Dialogue.of(each.texts) for each in dialogues]),
        "tokenising": spent(lambda: network.layout.window.rows(examples, network.tokenizer)),
        "the network": spent(lambda: [network._scores([rows[place] for place in batch]) for batch in batches]),
        "pieces": float(np.mean([len(row.token_ids) for row in rows])),
    }


def operations(pieces: float) -> float:
    """Multiplications and additions of `default` for a dialogue of that many tokens, in its layers' matrix products."""
    hidden, inner, layers = SMALL["hidden_size"], SMALL["intermediate_size"], SMALL["num_hidden_layers"]
    return 2 * layers * pieces * (4 * hidden * hidden + 2 * hidden * inner + 2 * pieces * hidden)


def int8_rate(rows: int = 320) -> float:
    """Operations a second of a plain product of bytes on one core, of the size of the model's widest layer."""
    onnx = require("onnx", extra="train")
    import onnxruntime

    hidden, inner = SMALL["hidden_size"], SMALL["intermediate_size"]
    table = np.random.default_rng(0).integers(-127, 128, (hidden, inner), np.int8)
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMulInteger", ["x", "w"], ["y"])],
        "product",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.UINT8, [rows, hidden])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.INT32, [rows, inner])],
        [onnx.numpy_helper.from_array(table, "w")],
    )
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feed = {"x": np.random.default_rng(1).integers(0, 256, (rows, hidden), np.uint8)}
    return per_second(lambda: (session.run(None, feed), 2 * rows * hidden * inner)[1])
