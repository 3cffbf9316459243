"""Causal language models as classifiers."""

from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.emotion_words import TRIGGERS
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.distil.teacher import teacher_heads
from emoscope.models.block import Block
from emoscope.models.torch.classifier import NeuralClassifier
from emoscope.models.torch.decoder import HEADS, Decoder, check_decoder
from emoscope.models.torch.label_descriptions import DESCRIPTIONS
from emoscope.models.torch.multitask import MultiTaskClassifier
from emoscope.models.torch.network import batches_of_like_length
from emoscope.models.torch.training import Training, learning_rate_factor
from kits.tiny_decoder import make_tiny_decoder

LABELS = ("glad", "grim")
EXAMPLES = [Example(Dialogue.of(["hi", "yo", f"so {label}!"]), 2, label) for label in LABELS * 8]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_decoder(tmp_path_factory.mktemp("decoder"))


def network(folder: Path, **settings: Any) -> Decoder:
    decoder = Decoder(2, decoder=str(folder), heads={"mood": LABELS}, **settings)
    decoder.prepare(EXAMPLES, FitContext())
    return decoder


def classifier(folder: Path, **settings: Any) -> NeuralClassifier:
    chosen = {"decoder": str(folder), "heads": {"mood": LABELS}, **settings}
    training = Training(epochs=20, batch_tokens=512, learning_rate=3e-3, schedule="cosine", label_smoothing=0.02)
    return NeuralClassifier(LABELS, "decoder", chosen, training)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"bidirectional": True, "pooling": "mean", "list_labels": False},
        {"lora_rank": 4, "gradient_checkpointing": True},
    ],
)
def test_it_learns_is_saved_and_answers_alike_in_any_batch(
    settings: dict[str, Any], folder: Path, tmp_path: Path
) -> None:
    if "lora_rank" in settings:
        pytest.importorskip("peft")
    block = classifier(folder, **settings)
    block.fit(EXAMPLES, [str(example.label) for example in EXAMPLES], FitContext(device="cpu"))
    probabilities = block.predict_proba(EXAMPLES)
    assert [LABELS[best] for best in probabilities.argmax(1)] == [example.label for example in EXAMPLES]
    longer = [*EXAMPLES[:2], Example(Dialogue.of(["why " * 20]), 0)]
    assert np.allclose(block.predict_proba(longer)[:2], probabilities[:2], atol=1e-6)
    block.save(tmp_path / "block")
    assert np.allclose(Block.load(tmp_path / "block").predict_proba(EXAMPLES), probabilities, atol=1e-6)
    assert isinstance(block.network, Decoder)
    block.network.save_pretrained(tmp_path / "next")  # adapters are merged in what is written, not in the network
    assert np.allclose(block.predict_proba(EXAMPLES), probabilities, atol=1e-6)
    network(tmp_path / "next", **settings)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_early_tokens_see_later_ones_if_asked(bidirectional: bool, folder: Path) -> None:
    decoder = network(folder, bidirectional=bidirectional).eval()
    rows = [{"token_ids": [5, 6, 7, 8]}, {"token_ids": [5, 6, 7, 9]}]
    with torch.no_grad():
        states = decoder.states(decoder.collate(rows))
    assert torch.allclose(states[0, 0], states[1, 0]) is not bidirectional


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("pooling", ["last", "mean"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_padding_never_changes_a_score(bidirectional: bool, pooling: str, attention: str, folder: Path) -> None:
    decoder = network(folder, bidirectional=bidirectional, pooling=pooling).eval()
    decoder.decoder.set_attn_implementation(attention)
    short, long = {"token_ids": [5, 6, 7]}, {"token_ids": [8] * 40}
    with torch.no_grad():
        alone, together = decoder(decoder.collate([short])), decoder(decoder.collate([short, long]))
        last = decoder.states(decoder.collate([short]))[0]
    assert torch.allclose(alone[0], together[0], atol=1e-6)
    expected = last.mean(0) if pooling == "mean" else last[-1]
    assert torch.allclose(alone[0], decoder.head["mood"](expected), atol=1e-6)


def test_every_kind_of_attention_sees_the_same(folder: Path) -> None:
    """Without fused attention, a mask is added to the scores."""
    scores = []
    for attention in ("sdpa", "eager"):
        decoder = network(folder, bidirectional=True).eval()
        decoder.decoder.set_attn_implementation(attention)
        with torch.no_grad():
            scores.append(decoder(decoder.collate([{"token_ids": [5, 6, 7]}, {"token_ids": [8] * 20}])))
    assert torch.allclose(*scores, atol=1e-5)


def decoder_of_kind(kind: str, folder: Path, copy: Path) -> Path:
    """A folder with a tokenizer and a random model of another architecture."""
    transformers = pytest.importorskip("transformers")
    copytree(folder, copy, ignore=lambda *_: ["model.safetensors"])
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 256}
    sizes |= {"intermediate_size": 32, "ffn_dim": 32, "word_embed_proj_dim": 16, "num_key_value_heads": 2}
    sizes |= {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2, "state_size": 4, "head_dim": 8}
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(kind, **{"vocab_size": 300, **sizes})
    transformers.AutoModel.from_config(config).save_pretrained(copy)
    return copy


@pytest.mark.parametrize("kind", ["gpt2", "gpt_neox", "llama", "gemma2"])
@pytest.mark.parametrize("settings", [{"bidirectional": True}, {"lora_rank": 2}])
def test_other_architectures_learn_too(kind: str, settings: dict[str, Any], folder: Path, tmp_path: Path) -> None:
    if "lora_rank" in settings:
        pytest.importorskip("peft")
    block = classifier(decoder_of_kind(kind, folder, tmp_path / "copy"), **settings)
    block.fit(EXAMPLES, [str(example.label) for example in EXAMPLES], FitContext(device="cpu"))
    longer = [*EXAMPLES[:2], Example(Dialogue.of(["why " * 20]), 0)]
    assert np.allclose(block.predict_proba(longer)[:2], block.predict_proba(EXAMPLES[:2]), atol=1e-6)


@pytest.mark.parametrize("kind", ["bert", "t5"])
def test_encoder_is_refused_as_a_decoder(kind: str, folder: Path, tmp_path: Path) -> None:
    """An encoder would see the padding, so its scores would depend on the batch."""
    copy = decoder_of_kind(kind, folder, tmp_path / "copy")
    for read in (check_decoder, network):
        with pytest.raises(EmoscopeError, match=rf"expected .* causal .* \({kind} is another kind of model"):
            read(copy)


@pytest.mark.parametrize("kind", ["opt", "mamba"])
def test_architecture_without_a_mask_for_both_directions_is_a_one_line_error(
    kind: str, folder: Path, tmp_path: Path
) -> None:
    copy = decoder_of_kind(kind, folder, tmp_path / "copy")
    network(copy)
    with pytest.raises(EmoscopeError, match=rf"bidirectional: .* \({kind}\) takes no mask for it"):
        network(copy, bidirectional=True)


def test_wrong_rank_and_architecture_without_adapters_are_one_line_errors(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    with pytest.raises(EmoscopeError, match=r"lora_rank: expected a positive number, or 0 .*, found -1"):
        network(folder, lora_rank=-1)
    with pytest.raises(EmoscopeError, match=r"lora_rank: peft has no adapters for .*mamba"):
        network(decoder_of_kind("mamba", folder, tmp_path / "mamba"), lora_rank=2)


def test_unknown_pooling_is_a_one_line_error(folder: Path) -> None:
    with pytest.raises(EmoscopeError, match="pooling: expected last or mean, found 'max'"):
        network(folder, pooling="max")


def test_the_prompt_names_speakers_and_labels_and_blanks_the_masked_word(folder: Path) -> None:
    decoder = network(folder, context=2)
    said = Dialogue.of([{"text": "one"}, {"text": "two", "speaker": "Ross"}, {"text": "I [#TRIGGERWORD#]\nyou"}])
    (item,) = decoder.encode([Example(said, 2)])
    text = decoder.tokenizer.decode(item["token_ids"])
    assert text == "Ross: two\nUser: I ____ you\nEmotion of the last message (glad, grim):"
    assert item["truncated"]  # the first turn is not read
    assert not decoder.encode([Example(Dialogue.of(["one", "two"]), 1)])[0]["truncated"]


def test_the_labels_can_be_left_out_of_the_prompt(folder: Path) -> None:
    heads = {"mood": LABELS, "iest": ("joy", "fear"), "emoji": ("0", "1")}
    decoder = Decoder(6, decoder=str(folder), heads=heads, list_labels=False)
    decoder.prepare(EXAMPLES, FitContext())
    items = decoder.encode_for([Example(Dialogue.of(["so"]), 0)] * 3, list(heads))
    texts = [decoder.tokenizer.decode(item["token_ids"]).removeprefix("User: so\n") for item in items]
    assert texts == ["Emotion of the last message:", "Emotion of the word ____:", "Emoji of the last message:"]


def test_the_prompt_can_say_what_each_label_means(folder: Path) -> None:
    heads = {"mood": ("happy", "teal", "sad"), "emoji": ("0", "1")}
    decoder = Decoder(5, decoder=str(folder), heads=heads, describe_labels=True, max_length=256)
    decoder.prepare(EXAMPLES, FitContext())
    items = decoder.encode_for([Example(Dialogue.of(["so"]), 0)] * 2, list(heads))
    mood, emoji = (decoder.tokenizer.decode(item["token_ids"]).removeprefix("User: so\n") for item in items)
    assert mood == (
        "Emotion of the last message (happy: pleased, amused, loving or excited; teal; "
        "sad: hurt, disappointed, lonely or grieving):"
    )
    assert emoji == "Emoji of the last message:"


def test_every_named_label_of_a_teacher_has_a_description() -> None:
    labels = {label for labels in teacher_heads().values() for label in labels if not label.isdigit()}
    assert set(DESCRIPTIONS) == labels


def test_labels_that_are_not_listed_cannot_be_described(folder: Path) -> None:
    with pytest.raises(EmoscopeError, match="describe_labels: labels that are not listed"):
        network(folder, describe_labels=True, list_labels=False)


def test_a_question_that_leaves_no_room_is_a_one_line_error(folder: Path) -> None:
    with pytest.raises(EmoscopeError, match="max_length: expected more than the 41 tokens of the question alone"):
        network(folder, max_length=41).encode(EXAMPLES[:1])


def test_turns_after_the_labelled_one_are_read_and_the_question_quotes_it(folder: Path) -> None:
    said = Dialogue.of([{"text": text, "speaker": "Ross"} for text in ("one", "two", "three", "four", "five")])
    decoder = network(folder, context=2, following=1)
    items = decoder.encode([Example(said, 2), Example(said, 4)])
    middle, last = (decoder.tokenizer.decode(item["token_ids"]) for item in items)
    assert middle == 'Ross: two\nRoss: three\nRoss: four\nEmotion of "Ross: three" (glad, grim):'
    assert last == "Ross: four\nRoss: five\nEmotion of the last message (glad, grim):"
    short = network(folder, context=2, following=2, max_length=56)
    (item,) = short.encode([Example(said, 2)])
    text = short.tokenizer.decode(item["token_ids"])
    assert len(item["token_ids"]) <= 56
    assert "Ross: three\n" in text  # what is cut is what follows
    assert item["truncated"]
    alone = network(folder, context=1, following=2, max_length=56)
    assert alone.encode([Example(said, 0)])[0]["truncated"]


@pytest.fixture(scope="module")
def gap_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_decoder(tmp_path_factory.mktemp("gap"), gaps=True)


def gap_filler(folder: Path, **settings: Any) -> Decoder:
    heads = {"iest": tuple(TRIGGERS), "mood": LABELS}
    decoder = Decoder(8, decoder=str(folder), heads=heads, infilling=True, **settings)
    decoder.prepare([], FitContext())
    return decoder


def test_a_masked_word_is_a_gap_to_fill(gap_folder: Path) -> None:
    decoder = gap_filler(gap_folder)
    tweets = ["I am [#TRIGGERWORD#]  that\nyou left", "un[#TRIGGERWORD#]", "no gap"]
    items = decoder.encode_for([Example(Dialogue.of([tweet]), 0) for tweet in tweets], ["iest"] * 3)
    texts = [decoder.tokenizer.decode(item["token_ids"]) for item in items]
    assert texts[0] == "<|fim_prefix|>I am<|fim_suffix|> that you left<|fim_middle|>"
    assert texts[1] == "<|fim_prefix|>un<|fim_suffix|><|fim_middle|>"
    assert texts[2].startswith("User: no gap\nEmotion of the word ____ (anger,")
    assert not any(item["truncated"] for item in items)
    table = decoder.decoder.get_input_embeddings().weight
    first = [decoder.tokenizer(f" {word}", add_special_tokens=False)["input_ids"][0] for word in TRIGGERS["anger"]]
    assert torch.allclose(decoder.head["iest"].weight[0], table[first].mean(0), atol=1e-3)


def test_of_a_long_text_the_words_around_the_gap_are_read(gap_folder: Path) -> None:
    decoder = gap_filler(gap_folder, max_length=23)
    text = "a" * 50 + "before [#TRIGGERWORD#] after" + "z" * 50
    (item,) = decoder.encode_for([Example(Dialogue.of([text]), 0)], ["iest"])
    assert decoder.tokenizer.decode(item["token_ids"]) == (
        "<|fim_prefix|>aaaabefore<|fim_suffix|> afterzzzz<|fim_middle|>"
    )
    assert item["truncated"]


def test_a_model_that_fills_no_gaps_is_asked_for_the_blank(folder: Path) -> None:
    decoder = Decoder(6, decoder=str(folder), heads={"iest": tuple(TRIGGERS)}, infilling=True)
    decoder.prepare([], FitContext())
    (item,) = decoder.encode([Example(Dialogue.of(["so [#TRIGGERWORD#]"]), 0)])
    assert decoder.tokenizer.decode(item["token_ids"]).startswith("User: so ____\nEmotion of the word ____ (")


def test_a_long_turn_keeps_its_beginning_and_its_end(folder: Path) -> None:
    decoder = network(folder, max_length=70)
    (item,) = decoder.encode([Example(Dialogue.of(["before", "begin " + "x" * 100 + " furious"]), 1)])
    text = decoder.tokenizer.decode(item["token_ids"])
    assert len(item["token_ids"]) == 70
    assert text.startswith("User: begin")
    assert "furious\nEmotion" in text
    assert item["truncated"]


def test_heads_begin_as_the_embeddings_of_their_labels_and_are_taken_over(folder: Path, tmp_path: Path) -> None:
    decoder = network(folder)
    table = decoder.decoder.get_input_embeddings().weight
    ids = decoder.tokenizer(" glad", add_special_tokens=False)["input_ids"]
    assert torch.allclose(decoder.head["mood"].weight[0], table[ids].mean(0), atol=1e-3)
    with torch.no_grad():
        decoder.head["mood"].bias += 3
    decoder.save_pretrained(tmp_path / "next")
    assert (tmp_path / "next" / HEADS).is_file()
    assert torch.equal(network(tmp_path / "next").head["mood"].bias, torch.tensor([3.0, 3.0]))


def test_each_head_has_its_own_question(folder: Path) -> None:
    heads = {"mood": LABELS, "tone": ("up", "down", "flat")}
    settings = {"decoder": str(folder), "heads": heads}
    training = {"epochs": 25, "batch_tokens": 512, "learning_rate": 3e-3}
    teacher = MultiTaskClassifier(heads, "decoder", settings, training)
    tones = [Example(example.dialogue, 2, "up" if example.label == "glad" else "flat") for example in EXAMPLES]
    teacher.fit(*teacher.targets({"mood": EXAMPLES, "tone": tones}), FitContext(device="cpu"))
    assert teacher.predict_proba(EXAMPLES[:2], "mood").argmax(1).tolist() == [0, 1]
    assert teacher.predict_proba(EXAMPLES[:2], "tone").argmax(1).tolist() == [0, 2]


@pytest.mark.parametrize("name", ["", "/nosuch", "no/such/thing", "nobody/nothing"])
def test_model_that_is_not_a_language_model_is_a_one_line_error(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    name = name or str(tmp_path)
    for read in (
        check_decoder,
        lambda name: Decoder(2, decoder=name, heads={"mood": LABELS}).prepare([], FitContext()),
    ):
        with pytest.raises(EmoscopeError, match=f"^decoder {name}: expected a folder with a causal .*Hugging") as error:
            read(name)
        assert "\n" not in str(error.value)


def test_decoder_without_weights_is_found_before_training(folder: Path, tmp_path: Path) -> None:
    check_decoder(str(folder))
    copytree(folder, tmp_path / "bare", ignore=lambda *_: ["model.safetensors"])
    with pytest.raises(EmoscopeError, match="it has no safetensors weights"):
        check_decoder(str(tmp_path / "bare"))


def test_batches_of_tokens_are_full_but_never_over() -> None:
    lengths = [5, 3, 9, 4, 7, 2, 8, 30]
    batches = list(batches_of_like_length(lengths, 1, torch.Generator().manual_seed(0), batch_tokens=20))
    assert sorted(position for batch in batches for position in batch) == list(range(8))
    widths = [max(lengths[position] for position in batch) * len(batch) for batch in batches]
    assert all(width <= 20 or len(batch) == 1 for width, batch in zip(widths, batches, strict=True))
    assert len(batches) < len(lengths)


def test_a_step_whose_gradient_is_not_finite_leaves_the_weights(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", lambda *_: torch.tensor(float("inf")))
    block = classifier(folder)
    block.fit(EXAMPLES, [str(example.label) for example in EXAMPLES], FitContext(device="cpu"))
    assert isinstance(block.network, Decoder)
    fresh = network(folder).state_dict()
    assert all(torch.equal(value, fresh[name]) for name, value in block.network.state_dict().items())


def test_the_cosine_schedule() -> None:
    plan = Training(schedule="cosine", warmup_ratio=0.1)
    factors = [learning_rate_factor(progress, plan) for progress in (0.05, 0.1, 0.55, 1.0)]
    assert np.allclose(factors, [0.5, 1.0, 0.5, 0.0])
