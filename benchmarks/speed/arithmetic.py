"""Compare ways to multiply with an encoder's weights; the table of arithmetics in docs/results/speed.md.

    python -m benchmarks.speed.arithmetic --data DATA --encoder FOLDER

The same pretrained encoder with random heads, written once for each arithmetic, all measured in turns in one thread.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.options import command_line
from benchmarks.common.pages import write_section
from benchmarks.common.paths import PAGES, RESULTS
from benchmarks.common.provenance import keep, made
from benchmarks.common.tables import write_rows
from benchmarks.common.timing import interleaved
from emoscope.core.fit_context import FitContext
from emoscope.evaluation.card import markdown_table
from emoscope.models.export.architecture import SITES, Architecture, Floats, Linear
from emoscope.models.export.arithmetic import Arithmetic, ByteTable, Int8, Plain, Site
from emoscope.models.export.network import Source, probe
from emoscope.models.export.quantise import byte_rows, quantise
from emoscope.models.export.writer import GraphWriter, WeightFile
from emoscope.models.onnx.description import FLOAT, INT8, WEIGHTS
from emoscope.models.onnx.layout import Layout, batches_of_equal_length
from emoscope.models.onnx.session import Run, open_graph
from emoscope.models.text.window import TokenRow
from emoscope.models.torch.transformer import Transformer
from emoscope.tasks import get_task
from emoscope.tasks.data import find_split, read_split

TABLE, PAGE = RESULTS / "arithmetic.csv", PAGES / "speed.md"
OUTPUTS, DIALOGUES, CALIBRATION, ROUNDS = 21, 600, 256, 6


class Dynamic(Plain):
    """What the usual tools write: bytes with one step for all that comes in, found anew for each batch."""

    def linear(self, graph: GraphWriter, site: str, value: str, layers: Mapping[str, Linear]) -> list[str]:
        """Linear layers with steps of the whole table."""
        del site
        made = []
        for name, linear in layers.items():
            table = nearest(linear.weight)
            numbers, scales = graph.constant(f"{name}.n", table.numbers), graph.constant(f"{name}.s", table.scales)
            bias = graph.constant(f"{name}.bias", linear.bias)
            made.append(graph.node("DynamicQuantizeMatMul", value, numbers, scales, "", bias, own=True))
        return made


class Blocks(Plain):
    """Blocks of weights with a scale each, as for language models; the input is rounded inside the kernel."""

    def __init__(self, pieces: Floats, bits: int, block: int) -> None:
        super().__init__(pieces)
        self._bits, self._block = bits, block

    def linear(self, graph: GraphWriter, site: str, value: str, layers: Mapping[str, Linear]) -> list[str]:
        """Linear layers with `MatMulNBits`."""
        del site
        made = []
        for name, linear in layers.items():
            inputs, outputs = linear.weight.shape
            blocks = linear.weight.T.reshape(outputs, inputs // self._block, self._block)
            half = 2 ** (self._bits - 1)
            scales = (np.abs(blocks).max(-1) / (half - 1)).astype(np.float32)
            numbers = (np.rint(blocks / scales[..., None]) + half).astype(np.uint8)
            if self._bits == 4:
                numbers = numbers[..., ::2] | (numbers[..., 1::2] << 4)
            product = graph.node(
                "MatMulNBits",
                value,
                graph.constant(f"{name}.n", numbers),
                graph.constant(f"{name}.s", scales),
                own=True,
                K=inputs,
                N=outputs,
                bits=self._bits,
                block_size=self._block,
                accuracy_level=4,
            )
            made.append(graph.node("Add", product, graph.constant(f"{name}.bias", linear.bias)))
        return made


class EveryPiece(Int8):
    """A step for each piece at every layer's input, found anew."""

    def linear(self, graph: GraphWriter, site: str, value: str, layers: Mapping[str, Linear]) -> list[str]:
        """As `Int8` does for the widest layer alone."""
        how = self.weights.sites[site]
        if how.step is None:
            return super().linear(graph, site, value, layers)
        if how.smoothing is not None:
            value = graph.node("Mul", value, graph.constant(f"{site}.smoothing", 1 / how.smoothing))
        largest = graph.node("ReduceMax", graph.node("Abs", value), axes=[1], keepdims=0)
        return self.by_row(graph, replace(how, smallest_step=1e-8), value, largest, layers)


def nearest(weight: Floats) -> ByteTable:
    table = byte_rows(np.ascontiguousarray(weight.T))
    return ByteTable(np.ascontiguousarray(table.numbers.T), table.scales[:, 0])


def arithmetics(
    source: Source, seen: Callable[[Architecture, int], Sequence[Floats]]
) -> dict[str, tuple[Architecture, Arithmetic]]:
    """Everything that was tried, the last of which is used."""
    plain = source.architecture
    chosen, weights = quantise(plain, seen)
    layers = {
        f"{number}.{part}": (getattr(layer, part), weights.sites[f"{number}.{site}"])
        for number, layer in enumerate(chosen.layers)
        for site, parts in SITES.items()
        for part in parts
    }
    rounded = {
        name: nearest(linear.weight if site.smoothing is None else linear.weight * site.smoothing[:, None])
        for name, (linear, site) in layers.items()
    }
    fixed = dict(weights.sites)
    for number in range(len(plain.layers)):
        rows = seen(plain, number)[3]
        zero = 16
        fixed[f"{number}.narrow"] = Site(zero=zero, step=float(rows.max()) / (255 - zero))
    return {
        "single precision": (plain, Plain(plain.pieces)),
        "8 bits, one step for a batch (usual dynamic)": (plain, Dynamic(plain.pieces)),
        "8 bits in blocks of 128 (MatMulNBits)": (plain, Blocks(plain.pieces, 8, 128)),
        "4 bits in blocks of 32 (MatMulNBits)": (plain, Blocks(plain.pieces, 4, 32)),
        "8 bits, a step for each piece everywhere": (chosen, EveryPiece(weights)),
        "8 bits, fixed steps everywhere": (chosen, Int8(replace(weights, sites=fixed))),
        "8 bits as chosen, weights rounded to the nearest": (chosen, Int8(replace(weights, tables=rounded))),
        "8 bits as chosen: fixed steps, the widest layer's by piece": (chosen, Int8(weights)),
    }


def scores(run: Run, layout: Layout, rows: Sequence[TokenRow], *, alone: bool = False) -> NDArray[np.float64]:
    made = np.empty((len(rows), OUTPUTS))
    batches = (
        [[n] for n in range(len(rows))] if alone else batches_of_equal_length([len(row.token_ids) for row in rows])
    )
    for batch in batches:
        made[batch] = run(layout.feed([rows[place] for place in batch]))[0]
    return made


def compare(
    source: Source, tried: Mapping[str, tuple[Architecture, Arithmetic]], rows: Sequence[TokenRow]
) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        runs, sizes = {}, {}
        for number, (name, (architecture, arithmetic)) in enumerate(tried.items()):
            path = Path(folder) / str(number)
            path.mkdir()
            weights = WeightFile(WEIGHTS)
            file = FLOAT if isinstance(arithmetic, Plain) else INT8
            (path / file).write_bytes(source.graph(architecture, arithmetic, weights).write(source.head))
            weights.save(path)
            runs[name] = open_graph(path / file)
            sizes[name] = sum(each.stat().st_size for each in path.iterdir()) / 1e6
        wanted = scores(runs["single precision"], source.layout, rows)
        times = interleaved({name: partial(scores, run, source.layout, rows) for name, run in runs.items()}, ROUNDS)
        made = []
        for name, run in runs.items():
            found = scores(run, source.layout, rows)
            made.append(
                {
                    "name": name,
                    "rate": round(len(rows) / min(times[name]), 1),
                    "batches": float(np.abs(found - scores(run, source.layout, rows, alone=True)).max()),
                    "error": float((np.abs(found - wanted) / wanted.std(0)).mean()),
                    "megabytes": round(sizes[name], 1),
                }
            )
    return made


def section(rows: Sequence[Mapping[str, Any]]) -> str:
    cells = [
        [
            row["name"],
            f"{row['rate']:,.0f}",
            f"{row['batches']:.0e}" if row["batches"] else "0",
            f"{row['error']:.3f}",
            f"{row['megabytes']:.1f}",
        ]
        for row in rows
    ]
    return markdown_table(["scheme", "throughput", "batch effect", "error", "MB"], cells)


def main() -> None:
    parser = command_line(__doc__, "data")
    parser.add_argument("--encoder", default="sentence-transformers/all-MiniLM-L6-v2")
    options = parser.parse_args()
    task = get_task("emocontext")
    train, dev = (read_split(task, split, options.data) for split in ("train", "dev"))
    network = Transformer(OUTPUTS, encoder=options.encoder, pooling="mean+focus", context=3, max_length=96)
    network.prepare([], FitContext(device="cpu"))
    source = Source(network, None, None)
    learn = [example.context for example in train[:: len(train) // CALIBRATION][:CALIBRATION]]
    feeds = source.feeds(learn)
    rows = source.layout.window.rows(dev[:DIALOGUES], source.tokenizer)
    found = compare(source, arithmetics(source, probe(source, feeds)), rows)
    write_rows(TABLE, found)
    files = [find_split(task, split, options.data).path for split in ("train", "dev")]
    keep(TABLE, made(settings={"encoder": Path(options.encoder).name, "rounds": ROUNDS}, data=files))
    write_section(PAGE, "arithmetic", section(found))
    print(section(found))


if __name__ == "__main__":
    main()
