"""Recurrent layers and networks: nothing depends on padding, patterns are learnt, blocks survive saving."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.torch.layers import Attention, Pooling, Recurrent, mask_of, reverse_rows
from emoscope.models.torch.network import NETWORKS
from emoscope.models.torch.recurrent import HierarchicalNetwork, RecurrentNetwork, SemiHierarchicalNetwork
from emoscope.models.torch.word_network import by_example
from kits.word_networks import (
    LABELS,
    TINY,
    assert_learns,
    assert_padding_does_not_matter,
    assert_repeats,
    assert_survives_saving,
    prepared,
    toy,
)

CASES: list[tuple[str, dict[str, Any]]] = [
    ("recurrent", {"hidden_size": 8}),
    ("recurrent", {"hidden_size": 8, "cell": "gru", "num_layers": 2, "pooling": "attention+max+mean", "dense_size": 6}),
    ("recurrent", {"hidden_size": 8, "bidirectional": False, "context": 1, "tokens": "starter"}),
    ("hierarchical", {"hidden_size": 8}),
    ("hierarchical", {"hidden_size": 8, "context_bidirectional": True, "context_pooling": "attention", "skip": True}),
    ("semi-hierarchical", {"hidden_size": 8, "num_filters": 6}),
]


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_both_directions_agree_with_torch_on_packed_rows(cell: str) -> None:
    torch.manual_seed(1)
    ours = Recurrent(4, 3, cell=cell, num_layers=2)
    theirs = (nn.LSTM if cell == "lstm" else nn.GRU)(4, 3, num_layers=2, bidirectional=True, batch_first=True)
    for layer in range(2):
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            for direction, suffix in ((ours.forwards, ""), (ours.backwards, "_reverse")):
                getattr(theirs, f"{name}_l{layer}{suffix}").data.copy_(getattr(direction[layer], f"{name}_l0"))
    states, lengths = torch.randn(3, 5, 4), torch.tensor([5, 1, 3])
    packed = nn.utils.rnn.pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False)
    expected = nn.utils.rnn.pad_packed_sequence(theirs(packed)[0], batch_first=True)[0]
    inside = mask_of(lengths, 5)
    torch.testing.assert_close(ours(states, lengths)[inside], expected[inside], rtol=0, atol=1e-6)


def test_reversing_twice_is_nothing() -> None:
    states, lengths = torch.arange(24.0).reshape(2, 4, 3), torch.tensor([3, 4])
    assert reverse_rows(states, lengths)[0, :, 0].tolist() == [6, 3, 0, 9]  # the fourth is padding and stays
    assert reverse_rows(reverse_rows(states, lengths), lengths).equal(states)


def test_pooling_by_hand() -> None:
    states = torch.tensor([[[1.0, 8.0], [3.0, 2.0], [99.0, 99.0]]])
    lengths = torch.tensor([2])
    assert Pooling("max", 2)(states, lengths).tolist() == [[3, 8]]
    assert Pooling("mean", 2)(states, lengths).tolist() == [[2, 5]]
    assert Pooling("last", 2)(states, lengths).tolist() == [[3, 2]]
    # One forward and one backward number: forward ends at the second position, backward at the first.
    assert Pooling("last", 2, split=1)(states, lengths).tolist() == [[3, 8]]
    assert Pooling("max+mean", 2)(states, lengths).tolist() == [[3, 8, 2, 5]]


def test_attention_without_preference_is_the_mean() -> None:
    attention = Attention(2)
    nn.init.zeros_(attention.score.weight)
    states = torch.tensor([[[1.0, 8.0], [3.0, 2.0], [float("nan"), 99.0]]])
    assert attention(states.nan_to_num(7.0), torch.tensor([[True, True, False]])).tolist() == [[2, 5]]


def test_rows_find_their_example() -> None:
    rows = torch.arange(10.0).reshape(5, 2)
    table = by_example(rows, torch.tensor([2, 3]))
    assert table.tolist() == [[[0, 1], [2, 3], [0, 0]], [[4, 5], [6, 7], [8, 9]]]


@pytest.mark.parametrize(("name", "settings"), CASES)
def test_padding_does_not_matter(name: str, settings: dict[str, Any]) -> None:
    assert_padding_does_not_matter(name, settings)


@pytest.mark.parametrize(
    ("name", "settings"), [CASES[0], CASES[3], CASES[5]], ids=["recurrent", "hierarchical", "semi-hierarchical"]
)
def test_learning_saving_and_repeating(name: str, settings: dict[str, Any], tmp_path: Path) -> None:
    assert_survives_saving(assert_learns(name, settings), tmp_path)
    assert_repeats(name, settings)


@pytest.mark.parametrize("name", ["hierarchical", "semi-hierarchical"])
def test_earlier_turns_change_the_prediction(name: str) -> None:
    assert_learns(name, {"hidden_size": 12}, in_turn=0)


def test_turns_are_joined_and_too_long_rows_lose_their_beginning() -> None:
    network = prepared("recurrent", {"hidden_size": 4, "context": 2})
    assert isinstance(network, RecurrentNetwork)
    yay, day = network.vocabulary.encode(["yay", "day"])
    example = Example(Dialogue.of(["know", "yay", "day", "later"]), 2)
    assert network.encode([example]) == [{"turns": [[yay, 2, day]], "truncated": True}]
    network.max_length = 2
    assert network.encode([example]) == [{"turns": [[2, day]], "truncated": True}]


def test_turns_stay_apart_and_an_empty_one_is_unknown() -> None:
    network = prepared("hierarchical", {"hidden_size": 4})
    assert isinstance(network, HierarchicalNetwork)
    yay = network.vocabulary.encode(["yay"])[0]
    batch = network.collate(
        network.encode([Example(Dialogue.of(["yay yay", ""]), 1), Example(Dialogue.of(["yay"]), 0)])
    )
    assert batch["words"].tolist() == [[yay, yay], [1, 0], [yay, 0]]
    assert batch["lengths"].tolist() == [2, 1, 1]
    assert batch["counts"].tolist() == [2, 1]


def test_a_new_word_is_known_by_its_letters() -> None:
    network = prepared("semi-hierarchical", {"hidden_size": 4})
    assert isinstance(network, SemiHierarchicalNetwork)
    one, other, same = (Example(Dialogue.of([text]), 0) for text in ("yayy", "dayo", "yayy"))
    items = network.encode([one, other, same])
    assert items[0]["turns"] == items[1]["turns"] == [[1]]
    batch = network.collate(items)
    assert batch["spelt"].tolist() == [[1], [2], [1]]  # each spelling is read once
    scores = network(batch)
    assert scores[0].equal(scores[2])
    assert not torch.allclose(scores[0], scores[1])


def test_fixed_vectors_are_not_trained_and_not_a_stage() -> None:
    fixed, free = (prepared("recurrent", {"hidden_size": 4, "trainable": trainable}) for trainable in (False, True))
    assert [len(network.stages()) for network in (fixed, free)] == [2, 3]
    assert not any(p is fixed.embedding.weight for group in fixed.parameter_groups(0.1) for p in group["params"])
    assert sum(p.numel() for stage in free.stages() for p in stage) == sum(p.numel() for p in free.parameters())


def test_words_are_hidden_in_training_only() -> None:
    network = prepared("recurrent", {"hidden_size": 4, "word_dropout": 1.0})
    assert isinstance(network, RecurrentNetwork)
    words = torch.tensor([[5, 2, 4]])
    unknown, end = network.embedding(torch.tensor([1, 2]))
    assert network.embed(words).equal(network.embedding(words))
    network.train()
    assert network.embed(words)[0].equal(torch.stack([unknown, end, unknown]))


def test_a_new_head_keeps_the_rest() -> None:
    network = prepared("recurrent", {"hidden_size": 4})
    assert isinstance(network, RecurrentNetwork)
    batch = network.collate(network.encode(toy(4)[0]))
    before = network.features(batch)
    network.replace_head(5)
    assert network(batch).shape == (4, 5)
    assert network.features(batch).equal(before)


def test_vectors_are_read_from_the_resources_or_a_clear_error_raised(tmp_path: Path) -> None:
    (tmp_path / "embeddings").mkdir()
    table = np.array([[1, 2, 3, 4, 5, 6, 7, 8]], np.float16)
    np.savez(tmp_path / "embeddings/glove.6B.100d.subset.npz", words=np.array(["yay"]), vectors=table)
    examples = toy(10)[0]
    network = NETWORKS["recurrent"](len(LABELS), **{**TINY, "vectors": "glove"})
    with pytest.raises(EmoscopeError, match=r"this needs embeddings/glove\.6B\.100d\.subset\.npz"):
        network.prepare(examples, FitContext())
    network.prepare(examples, FitContext(resources=tmp_path))
    assert isinstance(network, RecurrentNetwork)
    assert network.embedding.weight[network.vocabulary.encode(["yay"])[0]].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"vectors": "glov"}, "vectors: expected glove"),
        ({"pooling": "sum"}, "unknown pooling 'sum'"),
        ({"cell": "rnn"}, "unknown cell 'rnn'"),
        ({"tokens": "bpe"}, "unknown tokens 'bpe'"),
        ({"context": 0}, "at least 1"),
    ],
)
def test_a_wrong_setting_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(EmoscopeError, match=message):
        prepared("recurrent", settings)
