"""encoder.c gives the scores of the graph whose weights it reads."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("onnx")

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.language import language_of
from emoscope.detector.bundle import resolve
from emoscope.models.block import Block
from emoscope.models.export.architecture import Architecture, Layer, Linear
from emoscope.models.export.arithmetic import ByteTable, ByteWeights, Int8, Site
from emoscope.models.export.graph import EncoderGraph
from emoscope.models.export.writer import GraphWriter, WeightFile
from emoscope.models.linear.ngram_block import spaced_tokens
from emoscope.models.native.encoder import NativeEncoder, UnsupportedGraphError
from emoscope.models.native.graph_file import GraphFile
from emoscope.models.native.library import LIBRARY, SOURCES, build, library
from emoscope.models.native.plain_text import is_plain
from emoscope.models.onnx.description import INT8, WEIGHTS
from emoscope.models.onnx.layout import Layout, batches_in_order
from emoscope.models.onnx.session import open_graph
from emoscope.models.text.window import TokenRow, Window

PIECES, PLACES, MASK, OUTPUTS = 300, 96, 4, 7
ASCII = "".join(map(chr, range(128)))
NGRAMS: Any = Block.load(resolve("nano") / "model")


@pytest.fixture(autouse=True, scope="module")
def compiled() -> None:
    if not LIBRARY.is_file() or LIBRARY.stat().st_mtime < max(source.stat().st_mtime for source in SOURCES):
        problem = build()
        if problem:
            pytest.skip(problem)
    library.cache_clear()
    if library() is None or not library().emoscope_supported():
        pytest.skip("this processor has no AVX-512 VNNI")


def written(
    folder: Path, layout: Layout, *, width: int = 128, inner: int = 192, heads: int = 4, activation: str = "gelu"
) -> Path:
    draw = np.random.default_rng(0)

    def linear(inputs: int, outputs: int) -> Linear:
        weight = draw.normal(0, inputs**-0.5, (inputs, outputs)).astype(np.float32)
        return Linear(weight, draw.normal(0, 0.1, outputs).astype(np.float32))

    def norm() -> Linear:
        return Linear(*(draw.normal(mean, 0.1, width).astype(np.float32) for mean in (1, 0)))

    def table(weight: np.ndarray) -> ByteTable:
        scales = (np.abs(weight).max(0) / 127).astype(np.float32)
        return ByteTable(np.rint(weight / scales).astype(np.int8), scales)

    shapes = dict.fromkeys(("query", "key", "value", "output"), (width, width))
    shapes |= {"wide": (width, inner), "narrow": (inner, width)}
    layers = tuple(
        Layer(**{name: linear(*shape) for name, shape in shapes.items()}, output_norm=norm(), narrow_norm=norm())
        for _ in range(2)
    )
    architecture = Architecture(
        pieces=draw.normal(0, 1, (PIECES, width)).astype(np.float32),
        positions=draw.normal(0, 1, (PLACES, width)).astype(np.float32),
        segments=draw.normal(0, 1, width).astype(np.float32),
        norm=norm(),
        layers=layers,
        heads=heads,
        epsilon=1e-12,
        activation=activation,
    )
    smoothing = draw.uniform(0.8, 1.2, width).astype(np.float32)
    sites: dict[str, Site] = {}
    for number in range(len(layers)):
        sites |= {f"{number}.attention": Site(128, 0.03, smoothing), f"{number}.output": Site(128, 0.03)}
        sites |= {f"{number}.wide": Site(128, 0.03), f"{number}.narrow": Site(16, smallest_step=0.01)}
    tables = {f"{n}.{name}": table(getattr(layer, name).weight) for n, layer in enumerate(layers) for name in shapes}
    pieces = ByteTable(
        np.rint(architecture.pieces * 30).clip(-127, 127).astype(np.int8),
        draw.uniform(0.02, 0.04, (PIECES, 1)).astype(np.float32),
    )
    weights = WeightFile(WEIGHTS)
    graph = EncoderGraph(
        architecture,
        Int8(ByteWeights(pieces, sites, tables)),
        GraphWriter(weights),
        layout.segments,
        layout=layout,
        rounded=False,
    )
    (folder / INT8).write_bytes(graph.write([linear(layout.vectors * width, 50), linear(50, OUTPUTS)]))
    weights.save(folder)
    return folder / INT8


def layout_of(pooling: str = "mean+focus", *, segments: bool = True, reverse: bool = False) -> Layout:
    special = {"start": 2, "end": 3, "mask": MASK, "padding": 0}
    return Layout(Window(context=3, reverse=reverse, length=PLACES), pooling, segments, special)


def rows_of(lengths: list[int]) -> list[TokenRow]:
    draw = np.random.default_rng(1)
    made = []
    for length in lengths:
        token_ids = draw.integers(5, PIECES, length).astype(np.int32)
        if length > 4 and draw.random() < 0.3:
            token_ids[int(draw.integers(1, length))] = MASK
        first = int(draw.integers(1, max(2, length)))
        made.append(TokenRow(token_ids, min(first, length - 1), length))
    return made


LENGTHS = [*range(2, 40), 47, 48, 49, 64, 80, 95, 96, 3, 96]


@pytest.mark.parametrize("pooling", ["cls", "mean", "mask", "last-turn", "mean+focus"])
@pytest.mark.parametrize("reverse", [False, True])
def test_scores_are_those_of_the_graph(tmp_path: Path, pooling: str, reverse: bool) -> None:
    layout = layout_of(pooling, reverse=reverse)
    path = written(tmp_path, layout)
    native, run = NativeEncoder(path, layout), open_graph(path)
    rows = rows_of(LENGTHS)
    found = native.scores(rows)
    expected = np.concatenate([run(layout.feed([row]))[0] for row in rows])
    # A number that is rounded the other way shows a little; another computation would show more.
    assert np.abs(found - expected).max() < 0.03 * expected.std()
    assert np.median(np.abs(found - expected)) < 1e-4


@pytest.mark.parametrize(
    "sizes", [{"width": 64, "inner": 64, "heads": 2}, {"heads": 2}, {"activation": "relu"}, {"width": 192, "heads": 6}]
)
def test_sizes_and_activations(tmp_path: Path, sizes: dict[str, Any]) -> None:
    layout = layout_of(segments=False)
    path = written(tmp_path, layout, **sizes)
    rows = rows_of([5, 21, 33])
    expected = np.concatenate([open_graph(path)(layout.feed([row]))[0] for row in rows])
    assert np.abs(NativeEncoder(path, layout).scores(rows) - expected).max() < 0.03 * expected.std()


def test_a_row_is_the_same_alone_and_in_any_batch(tmp_path: Path) -> None:
    layout = layout_of()
    native = NativeEncoder(written(tmp_path, layout), layout)
    rows = rows_of(LENGTHS)
    alone = np.concatenate([native.scores([row]) for row in rows])
    order = np.random.default_rng(2).permutation(len(rows))
    assert (native.scores(rows) == alone).all()
    assert (native.scores([rows[place] for place in order]) == alone[order]).all()


def test_unsupported_models_fall_back_to_onnxruntime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = layout_of("last-turn-max")
    with pytest.raises(UnsupportedGraphError, match=r"that encoder\.c can compute"):
        NativeEncoder(written(tmp_path, layout), layout)
    layout = layout_of()
    with pytest.raises(UnsupportedGraphError, match=r"sizes that encoder\.c does not support: 96"):
        NativeEncoder(written(tmp_path, layout, width=96, inner=128, heads=3), layout)
    monkeypatch.setenv("EMOSCOPE_NATIVE", "0")
    library.cache_clear()
    with pytest.raises(UnsupportedGraphError, match="not compiled"):
        NativeEncoder(written(tmp_path, layout), layout)
    library.cache_clear()


def test_a_graph_is_read_as_it_was_written(tmp_path: Path) -> None:
    import onnx

    path = written(tmp_path, layout_of())
    read, expected = GraphFile.read(path), onnx.load(str(path)).graph
    assert [(node.kind, node.inputs, node.output) for node in read.nodes] == [
        (node.op_type, tuple(node.input), node.output[0]) for node in expected.node
    ]
    for tensor in expected.initializer:
        assert (read.constants[tensor.name] == onnx.numpy_helper.to_array(tensor)).all()


def test_batches_in_order() -> None:
    lengths = np.random.default_rng(3).integers(2, 97, 200).tolist()
    batches = list(batches_in_order(iter(lengths)))
    assert [place for batch in batches for place in batch] == list(range(200))
    assert max(sum(lengths[place] for place in batch) for batch in batches) <= 512


# n-grams


@settings(max_examples=200, deadline=None)
@given(rows=st.lists(st.tuples(*[st.text(max_size=60) | st.text(ASCII, max_size=60)] * 3), min_size=1, max_size=8))
def test_ngrams_are_those_of_numpy(rows: list[tuple[str, str, str]]) -> None:
    block = NGRAMS
    examples = [Example.last(Dialogue.of([text or " " for text in row])) for row in rows]
    kernel = block.classifier._native
    assert kernel is not None
    found = block.infer(examples).probabilities
    block.classifier._native = None
    try:
        expected = block.infer(examples).probabilities
    finally:
        block.classifier._native = kernel
    assert (found == expected).all()


def test_texts_alone_get_the_scores_of_examples() -> None:
    rows = [["hi"], ["I’m sad 😂…", "é", "ok"], ("a", "b", "c", "Oh NO"), ["x" * 3000, "so", "y" * 2001], ["", "  "]]
    together = NGRAMS.infer_texts(rows)
    for place, row in enumerate(rows):
        for alone in (NGRAMS.infer_texts([row]), NGRAMS.infer([Example.last(Dialogue.of(row))])):
            assert (alone.probabilities[0] == together.probabilities[place]).all()
            assert alone.truncated is not None
            assert together.truncated is not None
            assert alone.truncated[0] == together.truncated[place]


def test_plain_characters_beyond_ascii_are_tokens_of_their_own() -> None:
    plain = [character for character in map(chr, range(128, 0x20000)) if is_plain(character)]
    assert len(plain) > 2000
    for character in plain:
        expected = "'" if character == "’" else character
        assert spaced_tokens(f"A{character}b") in (f"a {expected} b", "a'b")
        assert language_of(f"so {character}good") == language_of(f"so {character} bad") == "english"


def test_without_a_compiler_the_reason_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert build(tmp_path / "lib.so") == "no C compiler was found"
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    assert build(tmp_path / "lib.so") == "the kernels are for x86-64 processors, not arm64"
    assert not list(tmp_path.iterdir())
