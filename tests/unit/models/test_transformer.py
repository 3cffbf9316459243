import shutil
from pathlib import Path

import numpy as np
import pytest

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block
from kits.tiny_encoder import HIDDEN, make_tiny_encoder

torch = pytest.importorskip("torch")

from emoscope.models.ensembles.combine import Mean
from emoscope.models.text.padding import padded
from emoscope.models.text.window import Window
from emoscope.models.torch.classifier import NeuralClassifier
from emoscope.models.torch.pretrained import PretrainedTokenizer, load_encoder
from emoscope.models.torch.training import Training, predict
from emoscope.models.torch.transformer import POOLINGS, Transformer

CPU = FitContext(device="cpu")
GLAD, SAD = ("so happy", "i love it", "great fun", "very glad"), ("so sad", "i lost it", "i cry", "very bad")


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_encoder(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def mpnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_encoder(tmp_path_factory.mktemp("mpnet"), "mpnet")


@pytest.fixture(scope="module")
def tokenizer(bert: Path) -> PretrainedTokenizer:
    return load_encoder(str(bert))[1]


def example(*texts: str, label: str | None = None) -> Example:
    return Example(Dialogue.of(texts), len(texts) - 1, label)


def toy(count: int = 40) -> tuple[list[Example], list[str]]:
    examples = [example("hello you", (GLAD if i % 2 else SAD)[i % 4]) for i in range(count)]
    return examples, ["glad" if i % 2 else "sad" for i in range(count)]


def written(row: np.ndarray, tokenizer: PretrainedTokenizer) -> str:
    return tokenizer.text(row.tolist())


# Tokenizer


def test_text_cannot_forge_special_tokens(tokenizer: PretrainedTokenizer) -> None:
    pieces = tokenizer.token_ids(["[SEP] [MASK] [CLS] [PAD]"])[0]
    assert not set(pieces) & set(tokenizer.special)


def test_the_masked_word_is_the_mask_and_emoji_are_words(tokenizer: PretrainedTokenizer) -> None:
    assert written(np.array(tokenizer.token_ids(["I am [#TRIGGERWORD#] 😂"])[0]), tokenizer).startswith(
        "i am [MASK] face"
    )
    assert tokenizer.token_ids(["[#TRIGGERWORD#]"]) == [[tokenizer.mask]]


def test_words_hold_the_pieces_of_the_text(tokenizer: PretrainedTokenizer) -> None:
    text = "happyish dogs [#TRIGGERWORD#], no"
    words = tokenizer.words([text])[0]
    assert [piece for word in words for piece in word] == tokenizer.token_ids([text])[0]
    assert [written(np.array(word), tokenizer) for word in words] == ["happyish", "dogs", "[MASK]", ",", "no"]
    assert tokenizer.spelled(["happyish", "[#TRIGGERWORD#]", "smiling_face"]) == [
        *tokenizer.words(["happyish [#TRIGGERWORD#]"])[0],
        tokenizer.token_ids(["smiling face"])[0],
    ]


# Windows


def test_window_lays_out_turns(tokenizer: PretrainedTokenizer) -> None:
    row = Window(context=2).rows([example("bye", "hello you", "i am sad")], tokenizer)[0]
    assert written(row.token_ids, tokenizer) == "[CLS] hello you [SEP] i am sad [SEP]"
    assert written(row.token_ids[row.first : row.last], tokenizer) == "i am sad [SEP]"


def test_window_reversed(tokenizer: PretrainedTokenizer) -> None:
    window = Window(context=3, reverse=True)
    row = window.rows([example("bye", "hello you", "i am sad")], tokenizer)[0]
    assert written(row.token_ids, tokenizer) == "[CLS] i am sad [SEP] hello you [SEP] bye [SEP]"
    assert written(row.token_ids[row.first : row.last], tokenizer) == "i am sad [SEP]"
    assert window.segments([row], 12).astype(int).tolist() == [[0] * 5 + [1] * 5 + [0, 0]]


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (11, "[CLS] bye day [SEP] hello you [SEP] i am sad [SEP]"),
        (10, "[CLS] day [SEP] hello you [SEP] i am sad [SEP]"),
        (9, "[CLS] day [SEP] you [SEP] i am sad [SEP]"),
        (8, "[CLS] hello you [SEP] i am sad [SEP]"),
        (7, "[CLS] you [SEP] i am sad [SEP]"),
        (6, "[CLS] i am sad [SEP]"),
        (4, "[CLS] i am [SEP]"),
    ],
)
def test_window_cuts_the_turns_before(tokenizer: PretrainedTokenizer, length: int, expected: str) -> None:
    row = Window(context=3, length=length).rows([example("bye day", "hello you", "i am sad")], tokenizer)[0]
    assert written(row.token_ids, tokenizer) == expected
    assert row.cut == (length < 11)


def test_long_turn_leaves_short_ones_whole(tokenizer: PretrainedTokenizer) -> None:
    window = Window(context=3, length=16)
    row = window.rows([example("i am sad", "hello " + "day " * 50 + "bye", "hello")], tokenizer)[0]
    assert (
        written(row.token_ids, tokenizer) == "[CLS] i am sad [SEP] hello day day day day day day bye [SEP] hello [SEP]"
    )
    assert row.cut and len(row.token_ids) == window.length


def test_window_marks_speakers(bert: Path) -> None:
    encoder, tokenizer = load_encoder(str(bert))
    window = Window(context=2, speakers="names", names=("Joey", "Ross"))
    table = encoder.embeddings.weight.detach().clone()
    encoder.add_tokens(tokenizer, window.special)
    told = Dialogue((Turn("hi", "Gunther"), Turn("hello", "JOEY"), Turn("bye", "Ross")))
    assert (
        written(window.rows([Example(told, 2)], tokenizer)[0].token_ids, tokenizer)
        == "[CLS] [joey] hello [SEP] [ross] bye [SEP]"
    )
    assert (
        written(window.rows([Example(told, 1)], tokenizer)[0].token_ids, tokenizer)
        == "[CLS] hi [SEP] [joey] hello [SEP]"
    )
    # The new token begins as what is known of the name.
    joey = tokenizer.token_ids(["joey"])[0]
    assert torch.allclose(encoder.embeddings.weight[tokenizer.special_token_id("joey")], table[joey].mean(0))
    assert torch.equal(encoder.embeddings.weight[: len(table)], table)
    # What it has learnt since is not forgotten when it is asked for again.
    with torch.no_grad():
        encoder.embeddings.weight[tokenizer.special_token_id("joey")] = 7.0
    encoder.add_tokens(tokenizer, ("joey", "monica"))
    assert encoder.embeddings.weight[tokenizer.special_token_id("joey")].tolist() == [7.0] * HIDDEN
    assert len(encoder.embeddings.weight) == len(table) + 3


def test_window_marks_roles(bert: Path) -> None:
    encoder, tokenizer = load_encoder(str(bert))
    window = Window(context=3, speakers="roles")
    encoder.add_tokens(tokenizer, window.special)
    told = Dialogue((Turn("hi", "1"), Turn("hello", "2"), Turn("bye", "1")))
    row = window.rows([Example(told, 2)], tokenizer)[0]
    assert written(row.token_ids, tokenizer) == "[CLS] [same] hi [SEP] [other] hello [SEP] [same] bye [SEP]"


def test_segments_mark_the_labelled_turn(tokenizer: PretrainedTokenizer) -> None:
    window = Window(context=2)
    rows = window.rows([example("hello", "i am"), example("i am")], tokenizer)
    assert window.segments(rows, 6).astype(int).tolist() == [[0, 0, 0, 1, 1, 1], [0] * 6]


def test_window_refuses_nonsense() -> None:
    for wrong in ({"context": 0}, {"length": 2}, {"speakers": "all"}):
        with pytest.raises(EmoscopeError):
            Window(**wrong)


# The network


def test_pooling_by_hand(bert: Path) -> None:
    vectors = torch.tensor([[[1.0], [5.0], [2.0], [6.0], [9.0]]])
    # [CLS] hello [SEP] then the turn; the last piece is padding.
    batch = {"mask": torch.tensor([[1, 1, 1, 1, 0]])}
    turn = {**batch, "focus": torch.tensor([[False, False, True, True, False]])}
    expected = {"cls": [1.0], "mean": [3.5], "max": [6.0], "last-turn": [4.0], "last-turn-max": [6.0], "mask": [4.0]}
    expected["mean+focus"] = [3.5, 4.0]
    assert set(expected) == set(POOLINGS)
    for pooling, value in expected.items():
        network = Transformer(2, encoder=str(bert), pooling=pooling)
        given = batch if pooling in ("cls", "mean", "max") else turn
        assert network.pooled(vectors, given).tolist() == [value]


def test_word_dropout_masks_words_in_training_only(bert: Path) -> None:
    network = Transformer(2, encoder=str(bert), word_dropout=0.3)
    network.prepare([], CPU)
    word, (start, end, mask) = 40, (getattr(network.tokenizer, role) for role in ("start", "end", "mask"))
    tokens = torch.tensor([[start, *[word] * 50, mask, end]] * 40)
    torch.manual_seed(0)
    read = network.train()._tokens(tokens)
    assert set(read[:, 1:-2].unique().tolist()) == {word, mask}
    assert 0.25 < (read[:, 1:-2] == mask).float().mean() < 0.35
    assert torch.equal(read[:, [0, -2, -1]], tokens[:, [0, -2, -1]]), "special tokens stay"
    assert not torch.equal(network._tokens(tokens), read), "others in every step"
    assert torch.equal(network.eval()._tokens(tokens), tokens)
    with pytest.raises(EmoscopeError, match="word_dropout: expected a share from 0 to below 1, found 1"):
        Transformer(2, word_dropout=1)


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_padding_changes_nothing(kind: str, pooling: str, request: pytest.FixtureRequest) -> None:
    network = Transformer(3, encoder=str(request.getfixturevalue(kind)), pooling=pooling, context=2)
    examples = [
        example("i am"),
        example("hello you", "so [#TRIGGERWORD#] sad"),
        example("no " * 30, "yes " * 40),
        example(""),
    ]
    network.prepare(examples, CPU)
    items = network.encode(examples)
    together = predict(network, items, torch.device("cpu"))
    alone = torch.cat([predict(network, [item], torch.device("cpu")) for item in items])
    assert torch.allclose(together, alone, atol=1e-6)
    assert together.std(0).min() > 1e-4


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_learns_saves_and_loads_without_the_original(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    original = shutil.copytree(request.getfixturevalue(kind), tmp_path / "original")
    examples, labels = toy()
    settings = {"encoder": str(original), "context": 2, "speakers": "roles", "hidden_size": 8, "dropout": 0.0}
    block = NeuralClassifier(
        ("glad", "sad"), "transformer", settings, Training(epochs=15, batch_size=8, learning_rate=1e-2)
    )
    block.fit(examples, labels, CPU)
    assert block.curve[-1].loss < 0.3 * block.curve[0].loss
    assert block.predict(examples) == labels
    block.save(tmp_path / "saved")
    shutil.rmtree(original)
    assert not list((tmp_path / "saved" / "encoder").glob("*.safetensors"))
    again = Block.load(tmp_path / "saved")
    assert np.array_equal(again.predict_proba(examples), block.predict_proba(examples))


def test_the_seed_decides(bert: Path) -> None:
    examples, labels = toy(12)

    def answers(seed: int) -> np.ndarray:
        block = NeuralClassifier(
            ("glad", "sad"), "transformer", {"encoder": str(bert)}, Training(epochs=1, batch_size=4)
        )
        return block.fit(examples, labels, FitContext(seed=seed, device="cpu")).predict_proba(examples)

    assert np.array_equal(answers(1), answers(1))
    assert not np.array_equal(answers(1), answers(2))


def test_frozen_encoder_is_shared_and_never_changes(bert: Path, tmp_path: Path) -> None:
    original = shutil.copytree(bert, tmp_path / "original")
    examples, labels = toy()
    settings = {"encoder": str(original), "context": 2, "frozen": True}
    parts = [
        NeuralClassifier(
            ("glad", "sad"), "transformer", settings, Training(epochs=20, batch_size=8, learning_rate=0.05)
        )
        for _ in range(2)
    ]
    block = Mean(parts).fit(examples, labels, CPU)
    assert block.predict(examples) == labels
    first, second = (part.network for part in parts)
    assert isinstance(first, Transformer)
    assert isinstance(second, Transformer)
    assert first.frozen is second.frozen
    assert first.frozen is not None
    fresh = load_encoder(str(original))[0]
    for name, value in first.frozen.encoder.state_dict().items():
        assert torch.allclose(value, fresh.state_dict()[name], atol=1e-3)
    assert all(name.startswith("head.") for name in first.state_dict())
    expected = block.predict_proba(examples)
    block.save(tmp_path / "saved")
    shutil.rmtree(original)
    weights = [tmp_path / "saved" / f"part{number}" / "encoder" / "frozen.safetensors" for number in range(2)]
    assert weights[0].samefile(weights[1])
    loaded = Block.load(tmp_path / "saved")
    assert np.allclose(loaded.predict_proba(examples), expected, atol=1e-7)


def test_rates_fall_with_depth_and_biases_keep_their_size(bert: Path) -> None:
    network = Transformer(2, encoder=str(bert), layer_decay=0.5)
    network.prepare([], CPU)
    groups = network.parameter_groups(0.8)
    parameters = [parameter for group in groups for parameter in group["params"]]
    assert len({id(parameter) for parameter in parameters}) == len(parameters) == len(list(network.parameters()))
    # Head and top layer, second layer, embeddings.
    assert sorted({group["lr"] for group in groups}) == [pytest.approx(rate) for rate in (0.2, 0.4, 0.8)]
    embedding = id(network.encoder.embeddings.weight)
    assert next(g["lr"] for g in groups if embedding in {id(p) for p in g["params"]}) == pytest.approx(0.2)
    for group in groups:
        for parameter in group["params"]:
            assert (group.get("weight_decay") == 0.0) == (parameter.ndim == 1)
    flat = Transformer(2, encoder=str(bert))
    flat.prepare([], CPU)
    assert len(flat.parameter_groups(0.1)) == 2


def test_stages_hold_every_parameter_once(bert: Path) -> None:
    network = Transformer(2, encoder=str(bert))
    network.prepare([], CPU)
    stages = network.stages()
    assert len(stages) == 4  # head, two layers, embeddings
    assert sorted(id(p) for stage in stages for p in stage) == sorted(id(p) for p in network.parameters())


def test_another_head_keeps_the_encoder(bert: Path) -> None:
    network = Transformer(2, encoder=str(bert))
    network.prepare([], CPU)
    before = network.encoder.embeddings.weight
    network.replace_head(5)
    assert network.outputs == 5
    assert network.encoder.embeddings.weight is before
    assert predict(network, network.encode([example("hi")]), torch.device("cpu")).shape == (1, 5)


def test_an_encoder_written_out_can_be_read(bert: Path, tmp_path: Path) -> None:
    network = Transformer(2, encoder=str(bert))
    network.prepare([], CPU)
    network.encoder.save(tmp_path)
    network.tokenizer.save(tmp_path)
    encoder, tokenizer = load_encoder(str(tmp_path))
    assert torch.equal(encoder.embeddings.weight, network.encoder.embeddings.weight)
    assert tokenizer.token_ids(["hello you"]) == network.tokenizer.token_ids(["hello you"])
    assert encoder.width == HIDDEN


def test_mistakes_get_one_clear_line(bert: Path, tmp_path: Path) -> None:
    with pytest.raises(EmoscopeError, match="no such folder"):
        load_encoder(str(tmp_path / "nowhere"))
    with pytest.raises(EmoscopeError, match="pooling: expected one of"):
        Transformer(2, pooling="sum")
    with pytest.raises(EmoscopeError, match="frozen encoder cannot be trained"):
        Transformer(2, frozen=True, pretraining="masked")
    network = Transformer(2, encoder=str(bert), max_length=5000)
    with pytest.raises(EmoscopeError, match=r"max_length: .* reads at most 138"):
        network.prepare([], CPU)
    # Weights that would have to be unpickled are no weights.
    unsafe = shutil.copytree(bert, tmp_path / "unsafe")
    torch.save({}, unsafe / "pytorch_model.bin")
    (unsafe / "model.safetensors").unlink()
    with pytest.raises(EmoscopeError, match="no encoder with safetensors weights in this folder"):
        load_encoder(str(unsafe))


def test_padded_by_hand() -> None:
    table = padded([np.array([4], np.int32), np.array([5, 6, 7], np.int32)], 9)
    assert table.tolist() == [[4, 9, 9], [5, 6, 7]]
