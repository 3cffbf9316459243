"""Convolutional networks: hand-computed filters, padding, learning and saving."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.models.torch.convolutional import ConvolutionalNetwork, Convolutions
from kits.word_networks import (
    assert_learns,
    assert_padding_does_not_matter,
    assert_repeats,
    assert_survives_saving,
    prepared,
)

CASES: list[dict[str, Any]] = [
    {"num_filters": 6},
    {"num_filters": 6, "turns": "separate", "dense_size": 5},
    {"num_filters": 6, "kernel_sizes": [1, 2], "context": 1},
]


def test_a_filter_by_hand() -> None:
    convolutions = Convolutions(1, 1, [2])
    with torch.no_grad():
        convolutions.filters[0].weight.copy_(torch.tensor([[1.0, 10.0]]))
        convolutions.filters[0].bias.zero_()
    # The row 1 2 gives 0+10, 1+20, 2+0 with its edges: at most 21. The 9 behind its end does not count.
    assert convolutions(torch.tensor([[[1.0], [2.0], [9.0]]]), torch.tensor([2])).item() == 21
    # A row shorter than the filter still meets it: 0+10, 1+0.
    assert convolutions(torch.tensor([[[1.0], [9.0], [9.0]]]), torch.tensor([1])).item() == 10
    # Nothing below zero is kept.
    assert convolutions(torch.tensor([[[-1.0]]]), torch.tensor([1])).item() == 0


@pytest.mark.parametrize("settings", CASES)
def test_padding_does_not_matter(settings: dict[str, Any]) -> None:
    assert_padding_does_not_matter("convolutional", settings)


@pytest.mark.parametrize("settings", CASES[:2], ids=["joined", "separate"])
def test_learning_saving_and_repeating(settings: dict[str, Any], tmp_path: Path) -> None:
    assert_survives_saving(assert_learns("convolutional", settings), tmp_path)
    assert_repeats("convolutional", settings)


@pytest.mark.parametrize(("turns", "truncated"), [("joined", True), ("separate", False)])
def test_turns_that_fit_alone_but_not_joined_are_truncated_if_joined(turns: str, truncated: bool) -> None:
    network = prepared("convolutional", {"num_filters": 2, "turns": turns, "max_length": 4})
    (item,) = network.encode([Example(Dialogue.of(["so so day", "so so day"]), 1)])
    assert item["truncated"] is truncated


def test_separate_turns_are_distinguished_by_position() -> None:
    network = prepared("convolutional", {"num_filters": 2, "kernel_sizes": [1], "turns": "separate"})
    assert isinstance(network, ConvolutionalNetwork)
    batch = network.collate(network.encode([Example(Dialogue.of(["yay", "day"]), 1), Example(Dialogue.of(["day"]), 0)]))
    found = network.features(batch).reshape(2, 3, 2)
    day, yay = found[1, 2], found[0, 1]
    # The last turn stands last, however many there were; missing turns are zeros.
    assert found[0].equal(torch.stack([torch.zeros(2), yay, day]))
    assert found[1].equal(torch.stack([torch.zeros(2), torch.zeros(2), day]))


def test_earlier_turns_change_the_prediction() -> None:
    assert_learns("convolutional", {"num_filters": 8, "turns": "separate"}, in_turn=0)


def test_a_wrong_layout_is_named() -> None:
    with pytest.raises(EmoscopeError, match="turns: expected joined or separate, found 'both'"):
        prepared("convolutional", {"turns": "both"})


def test_filters_agree_with_torchs_convolution() -> None:
    torch.manual_seed(2)
    ours, theirs = Convolutions(4, 5, [3]), nn.Conv1d(4, 5, 3, padding=2)
    with torch.no_grad():
        theirs.weight.copy_(ours.filters[0].weight.reshape(5, 3, 4).transpose(1, 2))
        theirs.bias.copy_(ours.filters[0].bias)
    states = torch.randn(2, 6, 4)
    expected = theirs(states.transpose(1, 2)).relu().amax(-1)
    torch.testing.assert_close(ours(states, torch.tensor([6, 6])), expected, rtol=0, atol=1e-6)
