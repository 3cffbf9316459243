"""Measure other ideas to make `default` faster: the speedup, and the cost in points on dev.

    python -m benchmarks.speed.tries --data DATA [--model default]

All variants run in encoder.c on one core, interleaved, with the real weights; only the network is timed. Early exits
are linear heads fitted to the network's predictions on training dialogues; confident predictions end there. Other
runtimes are measured if they are installed, with random weights. Writes benchmarks/results/speed_tries.csv and a table
of docs/results/speed.md.
"""

import statistics
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.options import command_line
from benchmarks.common.pages import write_section
from benchmarks.common.paths import PAGES, RESULTS
from benchmarks.common.provenance import keep, made
from benchmarks.common.tables import write_rows
from benchmarks.common.timing import Work, interleaved
from benchmarks.speed.peers import micro_f1, write_graphs
from benchmarks.speed.worker import write_models
from emoscope.core.dialogue import Example
from emoscope.core.extras import require
from emoscope.detector import load
from emoscope.detector.bundle import resolve
from emoscope.detector.model import BLOCK
from emoscope.evaluation.card import markdown_table
from emoscope.models.native import library as native
from emoscope.models.native.encoder import NativeEncoder, _Dense
from emoscope.models.onnx.description import INT8, TOKENIZER, Description
from emoscope.models.onnx.layout import batches_of_equal_length
from emoscope.models.onnx.session import open_graph
from emoscope.models.probabilities import softmax
from emoscope.models.text.tokenizer import Tokenizer
from emoscope.models.text.window import TokenRow
from emoscope.tasks import get_task
from emoscope.tasks.data import find_split, read_split

TABLE = RESULTS / "speed_tries.csv"
HEAD, DIALOGUES, TAUGHT, ROUNDS, AT_ONCE = "emocontext", 500, 4000, 7, 32
EXIT_LAYERS, SURE = (3, 4), (0.99, 0.95, 0.9)
GELU = ("return _mm512_fmadd_ps(half, erf, half);", "return _mm512_max_ps(x, _mm512_setzero_ps());")
AT_ONCE_512 = ("#define AT_ONCE 128 ", "#define AT_ONCE 512 ")
ROUGH_GELU = ("inverse = _mm512_mul_ps(inverse, _mm512_fnmadd_ps(divisor, inverse, _mm512_set1_ps(2.0f)));", "")


class Bench:
    """The network of a bundle, dialogues laid out for it, and what its answers are worth."""

    def __init__(self, model: str, data: Path | None) -> None:
        self.folder = resolve(model) / BLOCK
        self.layout = Description.load(self.folder).layout
        self.tokenizer = Tokenizer.read((self.folder / TOKENIZER).read_text(encoding="utf-8"), **self.layout.special)
        task = get_task("emocontext")
        self.dev, self.train = (list(read_split(task, split, data)) for split in ("dev", "train"))
        self.labels = [str(each.label) for each in self.dev]
        self.detector = load(model, labels=HEAD, for_metric=True)
        self.columns = self.detector._model.block.columns(HEAD)
        self.temperature = self.detector._head.temperature
        self.rows = self.laid_out(self.dev)

    def laid_out(self, examples: Sequence[Any], **window: Any) -> list[TokenRow]:
        chosen = replace(self.layout.window, **window)
        return chosen.rows([Example.last(each.context) for each in examples], self.tokenizer)

    def points(self, logits: np.ndarray) -> float:
        """Micro-F1 on dev, in points, as `default` would answer."""
        probabilities = softmax(logits[:, self.columns] / self.temperature)
        chosen = self.detector.choose(self.detector.correct(probabilities))
        return 100 * micro_f1([self.detector.labels[place] for place in chosen], self.labels)

    def encoder(self, library: Any = None) -> NativeEncoder:
        if library is not None:
            before, native.LIBRARY = native.LIBRARY, library
            native.library.cache_clear()
        made = NativeEncoder(self.folder / INT8, self.layout)
        if library is not None:
            native.LIBRARY = before
            native.library.cache_clear()
        return made


def scores(encoder: NativeEncoder, rows: Sequence[TokenRow]) -> np.ndarray:
    return np.concatenate([encoder.scores(rows[at : at + AT_ONCE]) for at in range(0, len(rows), AT_ONCE)])


def compiled(folder: Path, name: str, change: tuple[str, str]) -> Path:
    """encoder.c with one thing written otherwise."""
    text = native.SOURCES[0].read_text(encoding="utf-8")
    assert change[0] in text
    source = folder / f"{name}.c"
    source.write_text(text.replace(*change), encoding="utf-8")
    target = folder / f"{name}.so"
    subprocess.run(["cc", str(source), str(native.SOURCES[1]), "-o", str(target), *native.FLAGS], check=True)
    return target


def median_seconds(works: Mapping[str, Work]) -> dict[str, float]:
    """The median processor seconds of each function, called in turns."""
    return {name: statistics.median(times) for name, times in interleaved(works, ROUNDS).items()}


def exits(bench: Bench, whole: np.ndarray) -> dict[str, tuple[float, float]]:
    """For each layer and threshold: the share of dialogues that go on, and the points."""
    taught = bench.laid_out(bench.train[:TAUGHT])
    wanted = scores(bench.encoder(), taught)[:, bench.columns]
    made = {}
    for layer in EXIT_LAYERS:
        encoder = bench.encoder()
        size = encoder._encoder.width * encoder._encoder.vectors
        kept = np.eye(size), np.zeros(size)
        encoder._encoder.head = (_Dense * 1)(_Dense(*(each.ctypes.data for each in kept), size, size))
        encoder._encoder.head_count, encoder._encoder.layer_count, encoder._outputs = 1, layer, size
        inputs = np.hstack([scores(encoder, taught), np.ones((len(taught), 1))])
        head = np.linalg.solve(inputs.T @ inputs + 3.0 * np.eye(size + 1), inputs.T @ wanted)
        early = np.hstack([scores(encoder, bench.rows), np.ones((len(bench.rows), 1))]) @ head
        for sure in SURE:
            goes_on = softmax(early).max(1) < sure
            mixed = whole.copy()
            mixed[np.flatnonzero(~goes_on)[:, None], np.arange(whole.shape[1])[bench.columns]] = early[~goes_on]
            name = f"early exit after layer {layer} of {encoder_layers(bench)} where it is {sure:.0%} sure"
            made[name] = float(goes_on.mean()), bench.points(mixed)
    return made


def encoder_layers(bench: Bench) -> int:
    return int(bench.encoder()._encoder.layer_count)


def measure(bench: Bench, folder: Path) -> list[dict[str, Any]]:
    encoder = bench.encoder()
    rows = bench.rows[:DIALOGUES]
    run = open_graph(bench.folder / INT8)

    def in_onnxruntime(chosen: Sequence[TokenRow]) -> np.ndarray:
        made = np.empty((len(chosen), encoder._outputs))
        for batch in batches_of_equal_length([len(row.token_ids) for row in chosen]):
            made[batch] = run(bench.layout.feed([chosen[place] for place in batch]))[0]
        return made

    def of_layers(count: int) -> NativeEncoder:
        shorter = bench.encoder()
        shorter._encoder.layer_count = count
        return shorter

    whole = scores(encoder, bench.rows)
    variants: dict[str, Callable[[Sequence[TokenRow]], np.ndarray]] = {
        "as it is": lambda chosen: scores(encoder, chosen),
        "onnxruntime, the same weights": in_onnxruntime,
        "one dialogue at a time": lambda chosen: np.concatenate([encoder.scores([row]) for row in chosen]),
        "sorted by length": lambda chosen: _sorted(encoder, chosen),
        "512 tokens computed together, not 128": _with(bench.encoder(compiled(folder, "more", AT_ONCE_512))),
        "GELU to 12 bits": _with(bench.encoder(compiled(folder, "rough", ROUGH_GELU))),
        "ReLU in GELU's place, not trained for it": _with(bench.encoder(compiled(folder, "relu", GELU))),
        "without the last layer": _with(of_layers(5)),
        "without the last two layers": _with(of_layers(4)),
    }
    works: dict[str, Work] = {name: partial(work, rows) for name, work in variants.items()}
    points = {name: bench.points(work(bench.rows)) for name, work in variants.items()}
    for turns in (2, 1):
        fewer = bench.laid_out(bench.dev, context=turns)
        name = f"{turns} turn{'s' if turns > 1 else ''} read, not 3: fewer tokens"
        points[name] = bench.points(scores(encoder, fewer))
        works[name] = partial(scores, encoder, fewer[:DIALOGUES])
    for count in EXIT_LAYERS:
        works[f"layer {count}"] = partial(scores, of_layers(count), rows)
    spent = median_seconds(works)
    first = spent["as it is"]
    made = [
        {
            "try": name,
            "times_as_fast": round(first / spent[name], 3),
            "points": round(points[name] - points["as it is"], 2),
        }
        for name in points
    ]
    for name, (share, found) in exits(bench, whole).items():
        early = spent[f"layer {name.split('layer ')[1][0]}"]
        cost = early + share * (first - early)
        made.append(
            {"try": name, "times_as_fast": round(first / cost, 3), "points": round(found - points["as it is"], 2)}
        )
    return made + other_runtimes(bench, rows, folder, first)


def _with(encoder: NativeEncoder) -> Callable[[Sequence[TokenRow]], np.ndarray]:
    return lambda chosen: scores(encoder, chosen)


def _sorted(encoder: NativeEncoder, rows: Sequence[TokenRow]) -> np.ndarray:
    order = np.argsort([len(row.token_ids) for row in rows], kind="stable")
    made = np.empty((len(rows), encoder._outputs))
    made[order] = scores(encoder, [rows[place] for place in order])
    return made


def other_runtimes(bench: Bench, rows: Sequence[TokenRow], folder: Path, first: float) -> list[dict[str, Any]]:
    if find_spec("openvino") is None:
        return []
    openvino = require("openvino", extra="dev")
    write_models(folder, bench.folder / TOKENIZER)
    write_graphs(folder)
    ordered = sorted((row.token_ids for row in rows), key=len)
    works: dict[str, Work] = {}
    one = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
    for name, file, settings in (
        ("f32", "own.plain", {"INFERENCE_PRECISION_HINT": "f32"}),
        ("bf16", "own.plain", {"INFERENCE_PRECISION_HINT": "bf16"}),
        ("the int8 graph of the usual export", "own.onnx", {}),
    ):
        model = openvino.Core().compile_model(str(folder / file), "CPU", {**settings, **one})
        works[f"OpenVINO, {name}, random weights"] = partial(_padded, model, ordered)
    for work in works.values():
        work()
    return [
        {"try": name, "times_as_fast": round(first / each, 3), "points": None}
        for name, each in median_seconds(works).items()
    ]


def _padded(model: Any, rows: Sequence[Any]) -> None:
    for at in range(0, len(rows), AT_ONCE):
        chosen = rows[at : at + AT_ONCE]
        ids = np.zeros((len(chosen), len(chosen[-1])), np.int64)
        for number, row in enumerate(chosen):
            ids[number, : len(row)] = row
        model([ids, (ids > 0).astype(np.int64)])


def section(rows: Sequence[Mapping[str, Any]]) -> str:
    cells = [
        [row["try"], f"{row['times_as_fast']:.2f}", "-" if row["points"] is None else f"{row['points']:+.1f}"]
        for row in rows[1:]
    ]
    return markdown_table(["change", "speedup", "points on dev"], cells)


def main() -> None:
    parser = command_line(__doc__, "data", "model")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Bench(options.model, options.data), Path(folder))
    write_rows(TABLE, rows)
    files = [find_split(get_task("emocontext"), split, options.data).path for split in ("train", "dev")]
    keep(TABLE, made(0, {"model": Path(options.model).name}, files))
    text = section(rows)
    print(text)
    write_section(PAGES / "speed.md", "tries", text)


if __name__ == "__main__":
    main()
