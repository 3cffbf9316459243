import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block
from kits.tiny_encoder import make_tiny_encoder

torch = pytest.importorskip("torch")

from emoscope.models.torch.classifier import NeuralClassifier
from emoscope.models.torch.contextual import Contextual, ContextualHierarchical
from emoscope.models.torch.frozen import EncoderFeatures, FrozenEncoder, frozen_encoder
from emoscope.models.torch.network import NETWORKS
from emoscope.models.torch.training import Training, predict

CPU = FitContext(device="cpu")
DEVICE = torch.device("cpu")
GLAD, SAD = ("so happy", "i love it", "great fun", "very glad"), ("so sad", "i lost it", "i cry", "very bad")
# One of each reader, and the settings of the systems that use them.
NETWORK_SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "lstm": ("contextual", {"hidden_size": 6, "dense_size": 5}),
    "none": ("contextual", {"reader": "none", "pooling": "mean", "sentence": True, "num_layers": 2}),
    "cnn": (
        "contextual",
        {
            "reader": "cnn",
            "num_filters": 4,
            "sentence": True,
            "context": 3,
            "future": 2,
            "context_reader": "gru",
            "context_hidden_size": 6,
            "context_bidirectional": True,
            "residual": True,
            "dense_size": 5,
        },
    ),
    "hierarchical": (
        "contextual-hierarchical",
        {"hidden_size": 6, "embedding_size": 5, "vectors": "random", "min_count": 1, "context": 3},
    ),
}


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_encoder(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def frozen(bert: Path) -> FrozenEncoder:
    return frozen_encoder(str(bert))


def toy(count: int = 40) -> tuple[list[Example], list[str]]:
    texts = [(GLAD if i % 2 else SAD)[i % 4] for i in range(count)]
    examples = [Example(Dialogue.of(["hello you", text, "ok"]), 1) for text in texts]
    return examples, ["glad" if i % 2 else "sad" for i in range(count)]


# The frozen encoder


def test_vectors_are_the_same_alone_and_in_a_batch(frozen: FrozenEncoder) -> None:
    rows = [np.array([2, *range(5, 5 + length), 3], np.int32) for length in (1, 7, 30)]
    together = frozen.vectors(rows, DEVICE)
    fresh = FrozenEncoder(frozen.encoder, frozen.tokenizer)
    alone = [fresh.vectors([row], DEVICE)[0] for row in rows]
    for first, second, row in zip(together, alone, rows, strict=True):
        assert first.shape == (len(row), frozen.width)
        assert np.allclose(first, second, atol=2e-3)
    # Asked again, they are not computed again.
    assert all(first is second for first, second in zip(together, frozen.vectors(rows, DEVICE), strict=True))


def test_memory_is_bounded(frozen: FrozenEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emoscope.models.torch.frozen._MAX_CACHE_BYTES", 1000)
    fresh = FrozenEncoder(frozen.encoder, frozen.tokenizer)
    rows = [np.array([2, number, 3], np.int32) for number in range(10, 60)]
    assert len(fresh.vectors(rows, DEVICE)) == 50
    assert 0 < sum(vector.nbytes for vector in fresh._cache.values()) <= 1000


def test_layers_are_averaged(frozen: FrozenEncoder) -> None:
    row = np.array([2, 7, 8, 3], np.int32)
    with torch.inference_mode():
        states = frozen.encoder.model(
            torch.tensor(row[None], dtype=torch.long), output_hidden_states=True
        ).hidden_states
    expected = ((states[-1] + states[-2]) / 2)[0].numpy()
    assert np.allclose(frozen.vectors([row], DEVICE, layers=2)[0], expected, atol=2e-3)
    assert np.allclose(frozen.vectors([row], DEVICE)[0], states[-1][0].numpy(), atol=2e-3)


def test_words_are_the_means_of_their_pieces(frozen: FrozenEncoder) -> None:
    words = frozen.tokenizer.words(["i happyish"])[0]
    assert [len(word) for word in words] == [1, 4]
    (made, whole) = EncoderFeatures(frozen, DEVICE, 1).words([words], length=50)[0]
    row = np.array([frozen.tokenizer.start, *words[0], *words[1], frozen.tokenizer.end], np.int32)
    pieces = frozen.vectors([row], DEVICE)[0].astype(np.float32)
    assert np.allclose(made, [pieces[1], pieces[2:6].mean(0)], atol=2e-3)
    assert np.allclose(whole, pieces.mean(0), atol=2e-3)


def test_of_long_rows_the_last_words_are_read(frozen: FrozenEncoder) -> None:
    words = [[10], [11, 12], [13], [14]]
    made, _ = EncoderFeatures(frozen, DEVICE, 1).words([words], length=5)[0]  # room for three besides [CLS] and [SEP]
    assert made.shape == (4, frozen.width)
    assert not made[:2].any()  # [11, 12] would need a fourth
    assert made[2:].any(1).all()


# The networks


@pytest.mark.parametrize("name", NETWORK_SETTINGS)
def test_padding_changes_nothing(name: str, bert: Path) -> None:
    torch.manual_seed(0)  # of few filters, some random ones answer all texts alike
    kind, settings = NETWORK_SETTINGS[name]
    network = NETWORKS[kind](3, encoder=str(bert), **settings)
    texts = [["hi"], ["hello you", "so sad 😂"], ["i love it", "", "yes " * 30, "no"], ["don't [#TRIGGERWORD#] me"]]
    examples = [Example(Dialogue.of(turns), min(1, len(turns) - 1)) for turns in texts]
    network.prepare(examples, CPU)
    items = network.encode(examples)
    together = predict(network, items, DEVICE)
    alone = torch.cat([predict(network, [item], DEVICE) for item in items])
    assert torch.allclose(together, alone, atol=1e-5)
    assert len({tuple(row) for row in together.tolist()}) == len(texts)


@pytest.mark.parametrize("name", NETWORK_SETTINGS)
def test_learns_saves_and_loads_without_the_original(name: str, bert: Path, tmp_path: Path) -> None:
    kind, settings = NETWORK_SETTINGS[name]
    original = shutil.copytree(bert, tmp_path / "original")
    examples, labels = toy()
    plan = Training(epochs=15, batch_size=8, learning_rate=2e-2)
    block = NeuralClassifier(("glad", "sad"), kind, {"encoder": str(original), **settings, "dropout": 0.1}, plan)
    block.fit(examples, labels, CPU)
    assert block.curve[-1].loss < 0.5 * block.curve[0].loss
    assert block.predict(examples) == labels
    block.save(tmp_path / "saved")
    shutil.rmtree(original)
    again = Block.load(tmp_path / "saved")
    assert np.allclose(again.predict_proba(examples), block.predict_proba(examples), atol=1e-7)


def test_only_what_learns_is_trained(bert: Path) -> None:
    network = Contextual(2, encoder=str(bert), hidden_size=4)
    network.prepare([], CPU)
    assert {name.split(".")[0] for name, _ in network.named_parameters()} == {"reader", "head"}
    assert not any(parameter.requires_grad for parameter in network.frozen.encoder.parameters())


def test_later_turns_count_only_if_asked_for(bert: Path) -> None:
    shared = {
        "encoder": str(bert),
        "context": 2,
        "context_reader": "gru",
        "context_bidirectional": True,
        "hidden_size": 4,
    }
    for future, differs in ((0, False), (1, True)):
        network = Contextual(2, future=future, **shared)
        examples = [Example(Dialogue.of(["hi", "i am", later]), 1) for later in ("so happy", "so sad")]
        torch.manual_seed(0)
        network.prepare(examples, CPU)
        scores = predict(network, network.encode(examples), DEVICE)
        assert torch.equal(scores[0], scores[1]) != differs


def test_turns_of_a_batch_are_held_once(bert: Path) -> None:
    network = Contextual(2, encoder=str(bert), context=3, future=3, context_reader="lstm", hidden_size=4)
    told = Dialogue.of(["hi", "hello you", "hi"])
    network.prepare([], CPU)
    batch = network.collate(network.encode([Example(told, turn) for turn in range(3)]))
    assert batch["lengths0"].tolist() == [1, 2]
    assert batch["order"].tolist() == [[0, 1, 0]] * 3
    assert batch["labelled"].tolist() == [0, 1, 2]


def test_many_turns_are_read_in_groups(bert: Path) -> None:
    network = Contextual(2, encoder=str(bert), context=200, context_reader="gru", hidden_size=4)
    told = Dialogue.of([("yes " * (number % 7)) + f"{number}" for number in range(150)])
    network.prepare([], CPU)
    items = network.encode([Example(told, 149), Example(told, 3)])
    batch = network.collate(items)
    assert [len(batch[f"lengths{number}"]) for number in range(3)] == [64, 64, 22]
    assert batch["words0"].shape[1] < batch["words2"].shape[1]
    together = predict(network, items, DEVICE)
    alone = torch.cat([predict(network, [item], DEVICE) for item in items])
    assert torch.allclose(together, alone, atol=1e-5)


def test_contextual_vectors_align_with_their_words(bert: Path) -> None:
    examples = [Example(Dialogue.of(["I don't knowww 😂", "", "ok :)"]), 2)]
    network = ContextualHierarchical(
        2, encoder=str(bert), vectors="random", embedding_size=4, min_count=1, hidden_size=4
    )
    network.prepare(examples, CPU)
    item = network.encode(examples)[0]
    assert [len(row) for row in item["contextual"]] == [len(row) for row in item["turns"]] == [5, 1, 2]
    batch = network.collate([item])
    assert batch["contextual"].shape[:2] == batch["words"].shape


def test_mistakes_get_one_clear_line(bert: Path) -> None:
    for wrong, message in (
        ({"reader": "rnn"}, "reader: expected"),
        ({"context_reader": "cnn"}, "context_reader: expected"),
        ({"context": 3}, "need a context_reader"),
    ):
        with pytest.raises(EmoscopeError, match=message):
            Contextual(2, **wrong)
    network = Contextual(2, encoder=str(bert), max_length=999)
    with pytest.raises(EmoscopeError, match="reads at most 138"):
        network.prepare([], CPU)
