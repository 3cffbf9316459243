"""The exported encoder at run time: the same scores in any batch, and on any machine or with a warning."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kits.tiny_encoder import torch  # skips this module where torch is missing

pytest.importorskip("onnx")

import emoscope
from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.detector.bundle import Head
from emoscope.detector.model import FittedModel
from emoscope.models.label_shift import shift_prior
from emoscope.models.onnx.description import Description
from emoscope.models.onnx.exported_encoder import ExportedEncoder
from emoscope.models.onnx.layout import PIECES_AT_ONCE, batches_of_equal_length
from emoscope.parallel.threads import in_parallel
from emoscope.runs.export import export_bundle
from kits.exported import HEADS, chats, opened, tiny_headed

assert torch


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model with two heads, 8-bit weights and a pruned vocabulary."""
    root = tmp_path_factory.mktemp("model")
    heads = [
        Head(
            name="mood",
            labels=HEADS["mood"],
            trained={"good": 0.2, "bad": 0.2, "none": 0.6},
            prior={"good": 0.05, "bad": 0.05, "none": 0.9},
            temperature=2.0,
        ),
        Head(name="tone", labels=HEADS["tone"], trained={"up": 0.5, "down": 0.5}),
    ]
    export_bundle(
        tiny_headed(root), root / "out", name="tiny", task="mood", heads=heads, dialogues=chats(80, 1), vocabulary=[]
    )
    return root / "out"


@pytest.fixture(scope="module")
def network(folder: Path) -> ExportedEncoder:
    return opened(folder / "model")


def scores(network: ExportedEncoder, dialogues: Sequence[Dialogue]) -> np.ndarray:
    return network.logits([Example.last(dialogue) for dialogue in dialogues])[0]


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    import shutil

    return Path(shutil.copytree(folder, tmp_path / "copy"))


# The same scores in any company

DIALOGUES = chats(60, 5)


@pytest.fixture(scope="module")
def alone(network: ExportedEncoder) -> np.ndarray:
    return np.concatenate([scores(network, [dialogue]) for dialogue in DIALOGUES])


@settings(max_examples=40, deadline=None)
@given(places=st.lists(st.integers(0, len(DIALOGUES) - 1), min_size=1, max_size=80))
def test_scores_do_not_depend_on_the_batch(network: ExportedEncoder, alone: np.ndarray, places: list[int]) -> None:
    found = scores(network, [DIALOGUES[place] for place in places])
    assert np.abs(found - alone[places]).max() < 1e-9


@settings(max_examples=20, deadline=None)
@given(text=st.text(max_size=400), others=st.lists(st.text(max_size=60), min_size=1, max_size=3))
def test_any_text_has_scores(network: ExportedEncoder, text: str, others: list[str]) -> None:
    mine, more = Dialogue.of([text]), Dialogue.of([*others, text])
    together = scores(network, [more, mine, *DIALOGUES[:20]])
    assert np.isfinite(together).all()
    assert np.abs(together[:1] - scores(network, [more])).max() < 1e-9
    assert np.abs(together[1:2] - scores(network, [mine])).max() < 1e-9


def test_sixteen_threads_share_a_detector(folder: Path) -> None:
    detector = emoscope.load(folder)
    expected = detector.predict_proba(DIALOGUES)

    def work(number: int) -> bool:
        order = np.random.default_rng(number).permutation(len(DIALOGUES))
        many = detector.predict_proba([DIALOGUES[place] for place in order])
        one = detector.predict_proba([DIALOGUES[number]])
        return bool(np.abs(many - expected[order]).max() < 1e-9 and np.abs(one - expected[number]).max() < 1e-9)

    with ThreadPoolExecutor(16) as threads:
        assert all(threads.map(work, range(16)))


@given(lengths=st.lists(st.integers(1, 500), max_size=60))
def test_batches_hold_one_length_and_everything_once(lengths: list[int]) -> None:
    batches = list(batches_of_equal_length(lengths))
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len({lengths[place] for place in batch}) == 1
        assert len(batch) == 1 or sum(lengths[place] for place in batch) <= PIECES_AT_ONCE


def test_full_batch_is_returned_at_once() -> None:
    asked = []

    def lengths() -> Iterator[int]:
        for length in (7, PIECES_AT_ONCE // 2, 7, PIECES_AT_ONCE // 2, 9):
            asked.append(length)
            yield length

    batches = batches_of_equal_length(lengths())
    assert next(batches) == [1, 3]
    assert len(asked) == 4
    assert list(batches) == [[4], [0, 2]]


@pytest.mark.parametrize("at_once", [1, 7, 1000])
@pytest.mark.parametrize("cores", ["1", "3"])
def test_scores_do_not_depend_on_how_many_are_laid_out_at_once(
    network: ExportedEncoder, alone: np.ndarray, monkeypatch: pytest.MonkeyPatch, at_once: int, cores: str
) -> None:
    monkeypatch.setattr("emoscope.models.onnx.exported_encoder.ROWS_AT_ONCE", at_once)
    monkeypatch.setenv("EMOSCOPE_CORES", cores)
    assert (scores(network, DIALOGUES) == alone).all()


@pytest.mark.parametrize("cores", ["1", "2"])
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_tasks_in_parallel_keep_their_order(monkeypatch: pytest.MonkeyPatch, cores: str, count: int) -> None:
    monkeypatch.setenv("EMOSCOPE_CORES", cores)
    assert in_parallel(lambda task: task * task, (task for task in range(count))) == [n * n for n in range(count)]


def test_a_task_that_fails_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMOSCOPE_CORES", "2")
    with pytest.raises(ZeroDivisionError):
        in_parallel(lambda task: 1 // task, iter([1, 2, 0, 3]))


# Heads


def test_heads_are_calibrated_and_computed_in_one_pass(folder: Path, network: ExportedEncoder) -> None:
    model = FittedModel.load(folder)
    logits = scores(network, DIALOGUES)
    raised = {"mood": np.exp(logits[:, :3] / 2.0), "tone": np.exp(logits[:, 3:])}
    examples = [Example(dialogue, len(dialogue) - 1) for dialogue in DIALOGUES]
    for head in model.bundle.heads:
        values = raised[head.name]
        assert np.allclose(model.infer(head, examples)[0], values / values.sum(1, keepdims=True), atol=1e-12)
        assert model.infer(head, [])[0].shape == (0, len(head.labels))
    together = model.block.predict_proba(examples)
    assert together.shape == (len(examples), 5)
    with pytest.raises(EmoscopeError, match="no head 'mod'; there are: mood, tone"):
        model.block.columns("mod")


def test_the_detector_answers_for_its_prior(folder: Path) -> None:
    detector = emoscope.load(folder)
    model = FittedModel.load(folder)
    plain, _ = model.infer(model.bundle.head(), [Example(dialogue, len(dialogue) - 1) for dialogue in DIALOGUES])
    assert np.allclose(detector.predict_proba(DIALOGUES), shift_prior(plain, [0.2, 0.2, 0.6], [0.05, 0.05, 0.9]))
    assert emoscope.load(folder, labels="tone").labels == ("up", "down")
    with pytest.raises(EmoscopeError, match="no labels named 'mod'; did you mean 'mood'"):
        emoscope.load(folder, labels="mod")


def test_heads_must_give_the_prior_of_every_label(copy: Path) -> None:
    path = copy / "bundle.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["heads"][0]["trained"]["bad"]
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError, match="expected labels of mood, and the mix of them it was trained on"):
        emoscope.load(copy)


# What is cut is said


def test_cut_input_is_reported(network: ExportedEncoder) -> None:
    turns = {
        ("hi", "hello", "I am fine"): False,
        ("one turn", "too", "many for", "it"): True,
        ("a " * 50,): True,
        ("a " * 46,): False,  # 48 places, two of them special
        ("a " * 47,): True,
        ("a " * 46, "a"): True,
    }
    _, truncated = network.logits([Example.last(Dialogue.of(each)) for each in turns])
    assert truncated.tolist() == list(turns.values())


@settings(max_examples=30, deadline=None)
@given(turns=st.lists(st.text(max_size=80), min_size=1, max_size=4))
def test_row_is_cut_only_if_it_does_not_fit(network: ExportedEncoder, turns: list[str]) -> None:
    window = network.layout.window
    pieces = sum(len(row) + 1 for row in network.tokenizer.token_ids(turns[-window.context :]))
    (row,) = network.layout.window.rows([Example.last(Dialogue.of(turns))], network.tokenizer)
    assert row.cut == (len(turns) > window.context or pieces > window.length - 1)
    assert len(row.token_ids) <= window.length


# The check at load


def spoil(folder: Path, change: Any) -> None:
    path = folder / "model" / "network.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def test_machine_with_other_arithmetic_gets_the_safe_graph(copy: Path, folder: Path) -> None:
    def wrong(content: dict[str, Any]) -> None:
        content["graphs"][0]["scores"][0][0] += 3.0

    spoil(copy, wrong)
    with pytest.warns(UserWarning, match=r"runs float.onnx instead, slower: int8.onnx: scores are off by 3"):
        safe = opened(copy / "model")
    expected = scores(opened(folder / "model"), DIALOGUES)
    off = np.abs(scores(safe, DIALOGUES) - expected)
    assert 0 < off.max() < 0.2 * expected.std()


def test_a_graph_that_cannot_be_read_is_passed_over(copy: Path) -> None:
    (copy / "model" / "int8.onnx").write_bytes(b"not a graph")
    with pytest.warns(UserWarning, match=r"runs float.onnx instead, slower: int8.onnx: "):
        assert scores(opened(copy / "model"), DIALOGUES[:1]).shape == (1, 5)


def test_wrong_weights_are_never_used(copy: Path) -> None:
    path = copy / "model" / "weights.bin"
    content = bytearray(path.read_bytes())
    content[: len(content) // 2] = bytes(len(content) // 2)
    path.write_bytes(bytes(content))
    with pytest.raises(EmoscopeError, match="no graph gives the scores it was saved with"):
        opened(copy / "model")


@pytest.mark.parametrize("key", ["window", "special", "graphs", "reference"])
def test_descriptions_are_checked(copy: Path, key: str) -> None:
    spoil(copy, lambda content: content.pop(key))
    with pytest.raises(InputError, match="is not an encoder's description"):
        opened(copy / "model")


def test_graphs_outside_the_models_folder_are_refused(copy: Path) -> None:
    spoil(copy, lambda content: content["graphs"][0].update(file="../../elsewhere.onnx"))
    with pytest.raises(InputError, match="lies outside the folder"):
        opened(copy / "model")


def test_missing_parts_are_named(copy: Path) -> None:
    (copy / "model").rename(copy / "elsewhere")
    with pytest.raises(EmoscopeError, match=r"holds no model \(expected a folder 'model'\)"):
        emoscope.load(copy)


def test_description_survives_a_round_trip(folder: Path, tmp_path: Path) -> None:
    description = Description.load(folder / "model")
    description.save(tmp_path)
    assert Description.load(tmp_path) == description


def test_the_model_needs_little_room(folder: Path) -> None:
    files = {path.name: path.stat().st_size for path in (folder / "model").iterdir()}
    assert set(files) == {"block.json", "network.json", "tokenizer.json", "int8.onnx", "float.onnx", "weights.bin"}
    assert files["int8.onnx"] + files["float.onnx"] < 60_000  # the weights are stored once, in their own file
