"""What the tests of all word networks share: a toy task and the checks every network must pass."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block
from emoscope.models.torch.classifier import NeuralClassifier
from emoscope.models.torch.network import NETWORKS, Network
from emoscope.models.torch.training import Training, predict

LABELS = ("others", "happy")
TINY = {"vectors": "random", "embedding_size": 8, "min_count": 1, "dropout": 0.0}
FILLERS = ("well", "you", "know", "it", "is", "a", "day", "like", "any", "other")


def toy(count: int = 60, *, in_turn: int = -1, seed: int = 0) -> tuple[list[Example], list[str]]:
    """Dialogues of one to three turns; those with "yay" in the given turn are happy."""
    draw = np.random.default_rng(seed)
    examples, labels = [], []
    for number in range(count):
        turns = [list(draw.choice(FILLERS, draw.integers(1, 7))) for _ in range(3 if in_turn == 0 else 1 + number % 3)]
        label = LABELS[int(draw.integers(2))]
        if label == "happy":
            turns[in_turn].insert(int(draw.integers(len(turns[in_turn]) + 1)), "yay")
        examples.append(Example(Dialogue.of([" ".join(turn) for turn in turns]), len(turns) - 1, label))
        labels.append(label)
    return examples, labels


def prepared(name: str, settings: Mapping[str, Any]) -> Network:
    """A network that knows the toy's words but has learnt nothing yet."""
    torch.manual_seed(0)
    network = NETWORKS[name](len(LABELS), **{**TINY, **settings})
    network.prepare(toy()[0], FitContext())
    return network.eval()


def assert_padding_does_not_matter(name: str, settings: Mapping[str, Any]) -> None:
    """Each example gets the same scores alone, in any batch, and beside a much longer one."""
    network = prepared(name, settings)
    long = Example(Dialogue.of([" ".join(FILLERS * 4), "yay " * 30, " ".join(FILLERS * 2)]), 2)
    examples = [Example(Dialogue.of(["yay"]), 0), Example(Dialogue.of([""]), 0), long, *toy(8)[0]]
    items = network.encode(examples)
    cpu = torch.device("cpu")
    alone = torch.cat([predict(network, [item], cpu) for item in items])
    assert torch.isfinite(alone).all()
    with torch.inference_mode():
        together = network(network.collate(items))
    torch.testing.assert_close(together, alone, rtol=0, atol=2e-6)
    torch.testing.assert_close(predict(network, items, cpu, batch_size=3), alone, rtol=0, atol=2e-6)


def assert_learns(name: str, settings: Mapping[str, Any], *, in_turn: int = -1) -> NeuralClassifier:
    """The toy is learnt, well enough for dialogues that were not seen."""
    examples, labels = toy(128, in_turn=in_turn)
    training = Training(epochs=10, batch_size=32, learning_rate=0.03)
    block = NeuralClassifier(LABELS, name, {**TINY, **settings}, training).fit(examples, labels, FitContext(seed=3))
    fresh, truth = toy(60, in_turn=in_turn, seed=1)
    assert np.mean([found == label for found, label in zip(block.predict(fresh), truth, strict=True)]) > 0.9
    return block


def assert_survives_saving(block: NeuralClassifier, folder: Path) -> None:
    """The saved block gives the same probabilities."""
    fresh = toy(20, seed=1)[0]
    block.save(folder)
    assert np.array_equal(Block.load(folder).predict_proba(fresh), block.predict_proba(fresh))


def assert_repeats(name: str, settings: Mapping[str, Any]) -> None:
    """The same seed gives the same probabilities, another seed gives others."""
    examples, labels = toy(20)
    training = Training(epochs=1, batch_size=10)
    first, second, other = (
        NeuralClassifier(LABELS, name, {**TINY, "dropout": 0.2, **settings}, training)
        .fit(examples, labels, FitContext(seed=seed))
        .predict_proba(examples)
        for seed in (4, 4, 5)
    )
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)
