"""Export a fine-tuned transformer to a folder that `ExportedEncoder` opens."""

import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import whole_text, write_file
from emoscope.models.export.architecture import Architecture, Floats, Linear, arrays_of, linear, read_architecture
from emoscope.models.export.arithmetic import Arithmetic, Dequantised, Int8, Plain
from emoscope.models.export.exporter import Exporter
from emoscope.models.export.graph import EncoderGraph
from emoscope.models.export.quantise import quantise
from emoscope.models.export.vocabulary import pruned_tokenizer, used_pieces, without_template
from emoscope.models.export.writer import GraphWriter, WeightFile
from emoscope.models.onnx.description import FLOAT, INT8, ROLES, TOKENIZER, WEIGHTS, Description, Graph, named
from emoscope.models.onnx.layout import Feed, Layout
from emoscope.models.onnx.session import open_graph
from emoscope.models.text.tokenizer import Tokenizer
from emoscope.models.torch.network import Network
from emoscope.models.torch.transformer import Transformer

# In single precision, processors differ by less than this; a larger difference means a wrong graph.
FLOAT_TOLERANCE = 1e-3


def export_network(
    network: Network,
    folder: Path,
    options: Exporter,
    columns: Sequence[int] | None = None,
    *,
    name: str = "",
    weights: WeightFile | None = None,
) -> None:
    """Write a network's graphs, tokenizer and description; `columns` are the outputs to keep, by default all.

    Several networks in one folder have names and share `weights`; they must have the same tokenizer.
    """
    source = Source(network, options.vocabulary, columns)
    feeds = source.feeds(options.reference)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = folder / TOKENIZER
    if tokenizer.is_file() and whole_text(tokenizer) != source.tokenizer_json:
        raise EmoscopeError("networks with different vocabularies cannot be in one model")
    write_file(tokenizer, source.tokenizer_json)
    weights = weights or WeightFile(WEIGHTS)
    arithmetics: dict[str, Arithmetic]
    if options.calibration is None:
        architecture = source.architecture
        arithmetics = {named(FLOAT, name): Plain(architecture.pieces)}
    else:
        architecture, table = quantise(source.architecture, probe(source, source.feeds(options.calibration)))
        arithmetics = {named(INT8, name): Int8(table), named(FLOAT, name): Dequantised(table)}
    for file, arithmetic in arithmetics.items():
        write_file(folder / file, source.graph(architecture, arithmetic, weights).write(source.head))
    weights.save(folder)
    graphs = _measured(folder, list(arithmetics), feeds)
    Description(source.layout, tuple(options.reference), graphs).save(folder, name)


class Source:
    """The parts of a network that go into its graphs."""

    def __init__(self, network: Network, vocabulary: Sequence[str] | None, columns: Sequence[int] | None) -> None:
        if not isinstance(network, Transformer):
            raise EmoscopeError(
                f"cannot export {type(network).__name__}: only fine-tuned transformers run without torch"
            )
        self.rounded = network.frozen is not None
        encoder = network.encoder if network.frozen is None else network.frozen.encoder
        tokenizer = network.tokenizer
        architecture = read_architecture(encoder, network.window.length)
        self.tokenizer_json = without_template(tokenizer.description())
        numbers = list(range(len(tokenizer)))
        if vocabulary is not None:
            self.tokenizer_json, numbers = pruned_tokenizer(self.tokenizer_json, used_pieces(tokenizer, vocabulary))
        self.architecture = replace(architecture, pieces=architecture.pieces[numbers])
        special = {role: numbers.index(getattr(tokenizer, role)) for role in ROLES}
        # A frozen encoder gets no segment ids.
        segments = network.settings.segments and architecture.segments is not None and not self.rounded
        self.layout = Layout(network.window, network.settings.pooling, segments, special)
        self.tokenizer = Tokenizer.read(self.tokenizer_json, **special)
        head = arrays_of(network.head)
        self.head = [linear(head, str(place)) for place in range(len(network.head)) if f"{place}.weight" in head]
        if columns is not None:
            self.head[-1] = Linear(self.head[-1].weight[:, columns], self.head[-1].bias[list(columns)])

    def feeds(self, dialogues: Iterable[Dialogue]) -> list[Feed]:
        """The graph's inputs for the last turn of each dialogue."""
        rows = self.layout.window.rows([Example.last(dialogue) for dialogue in dialogues], self.tokenizer)
        return [self.layout.feed([row]) for row in rows]

    def graph(self, architecture: Architecture, arithmetic: Arithmetic, weights: WeightFile) -> EncoderGraph:
        """The graph of the network, with its own or equivalent weights."""
        graph, layout = GraphWriter(weights), self.layout
        return EncoderGraph(architecture, arithmetic, graph, layout.segments, layout=layout, rounded=self.rounded)


def probe(source: Source, feeds: Sequence[Feed]) -> Callable[[Architecture, int], list[Floats]]:
    """A function that computes the inputs at a layer's sites."""

    def seen(architecture: Architecture, layer: int) -> list[Floats]:
        weights = WeightFile(WEIGHTS)
        content = source.graph(architecture, Plain(architecture.pieces), weights).write(source.head, layer)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / FLOAT
            path.write_bytes(content)
            weights.save(Path(folder))
            run = open_graph(path)
            inputs = [run(feed)[1:] for feed in feeds]
        return [np.concatenate(tables) for tables in zip(*inputs, strict=True)]

    return seen


def _measured(folder: Path, files: Sequence[str], feeds: Sequence[Feed]) -> tuple[Graph, ...]:
    """The graphs with their scores, the one in single precision last.

    8-bit scores may differ on other machines by as much as quantisation costs.
    """
    scores = {}
    for file in files:
        run = open_graph(folder / file)
        scores[file] = np.concatenate([run(feed)[0] for feed in feeds])
    cost = float(np.abs(scores[files[0]] - scores[files[-1]]).max())
    graphs = []
    for file in files:
        rows = tuple(tuple(float(f"{score:.6g}") for score in row) for row in scores[file].tolist())
        graphs.append(Graph(file, rows, FLOAT_TOLERANCE if file == files[-1] else max(cost, FLOAT_TOLERANCE)))
    return tuple(graphs)
