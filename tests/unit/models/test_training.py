"""The one training loop: learning, seeds, early stopping, schedules, and going on after a kill."""

from pathlib import Path
from typing import Any

import pytest
import torch

from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.torch.checkpoint import Epoch
from emoscope.models.torch.losses import ClassLoss, GroupedLoss, class_weights, rdrop_divergence, warmed_weights
from emoscope.models.torch.training import NetworkTrainer, Training, device_of, learning_rate_factor, predict
from kits.toy_network import data, toy, weights


def train(*arguments: Any) -> list[Epoch]:
    return NetworkTrainer(*arguments).train()


def test_rdrop_makes_what_is_dropped_matter_less() -> None:
    items, targets = data()
    apart = []
    for rdrop_alpha in (0.0, 5.0):
        network = toy()
        training = Training(epochs=30, batch_size=16, learning_rate=0.01, rdrop_alpha=rdrop_alpha)
        train(network, items, targets, ClassLoss(), training, FitContext(device="cpu"))
        right = (predict(network, items, torch.device("cpu")).argmax(1) == targets.argmax(1)).float().mean()
        assert right > 0.85
        network.train()
        torch.manual_seed(0)
        batch = network.collate(items)
        apart.append(rdrop_divergence(network(batch), network(batch)).item())
    assert apart[1] < 0.7 * apart[0]


def test_rdrop_needs_a_single_head() -> None:
    items, targets = data()
    loss = GroupedLoss([[0, 1]], [ClassLoss()], [1.0])
    with pytest.raises(EmoscopeError, match="single head"):
        train(toy(), items, targets, loss, Training(rdrop_alpha=1.0), FitContext(device="cpu"))


def test_it_learns_what_is_not_linear() -> None:
    items, targets = data()
    network = toy()
    curve = train(
        network,
        items,
        targets,
        ClassLoss(),
        Training(epochs=40, batch_size=16, learning_rate=0.01),
        FitContext(device="cpu"),
    )
    right = (predict(network, items, torch.device("cpu")).argmax(1) == targets.argmax(1)).float().mean()
    assert curve[-1].loss < curve[0].loss / 2
    assert right > 0.9


def test_the_seed_is_honoured() -> None:
    items, targets = data()
    made = []
    for seed in (3, 3, 4):
        network = toy()
        train(network, items, targets, ClassLoss(), Training(epochs=2), FitContext(seed=seed, device="cpu"))
        made.append(weights(network))
    assert torch.equal(made[0], made[1])
    assert not torch.equal(made[0], made[2])


class KilledError(Exception):
    pass


@pytest.mark.parametrize("ema_decay", [0.0, 0.9])
def test_killed_run_resumes_to_the_same_weights(tmp_path: Path, ema_decay: float) -> None:
    items, targets = data()
    plan = Training(epochs=5, batch_size=16, learning_rate=0.01, ema_decay=ema_decay, validation_fraction=0.0)
    whole = toy()
    train(whole, items, targets, ClassLoss(), plan, FitContext(seed=1, device="cpu"))

    def kill(message: str, done: float) -> None:
        if message.startswith("epoch 4"):
            raise KilledError

    broken = toy()
    with pytest.raises(KilledError):
        train(broken, items, targets, ClassLoss(), plan, FitContext(1, "cpu", checkpoints=tmp_path, progress=kill))
    again = toy()
    curve = train(again, items, targets, ClassLoss(), plan, FitContext(1, "cpu", checkpoints=tmp_path))
    assert len(curve) == 5
    assert torch.equal(weights(whole), weights(again))


def test_a_checkpoint_of_other_settings_is_not_used(tmp_path: Path) -> None:
    items, targets = data()
    for rate in (0.01, 0.02):
        network, fresh = toy(), toy()
        plan = Training(epochs=2, learning_rate=rate)
        train(network, items, targets, ClassLoss(), plan, FitContext(1, "cpu", checkpoints=tmp_path))
        train(fresh, items, targets, ClassLoss(), plan, FitContext(1, "cpu"))
        assert torch.equal(weights(network), weights(fresh))


def test_early_stopping_keeps_the_best_epoch() -> None:
    items, targets = data()
    noise = torch.eye(2)[torch.randint(0, 2, (200,), generator=torch.Generator().manual_seed(5))]
    network = toy()
    plan = Training(
        epochs=60,
        batch_size=16,
        learning_rate=0.05,
        validation_fraction=0.3,
        patience=3,
        schedule="constant",
        warmup_ratio=0.0,
    )
    curve = train(network, items, noise, ClassLoss(), plan, FitContext(device="cpu"))
    held = [epoch.held_out for epoch in curve if epoch.held_out is not None]
    assert len(curve) < 60
    assert len(held) - 1 - held.index(min(held)) == 3
    assert targets.shape == noise.shape


def test_gradual_unfreezing_leaves_the_first_layer_alone_at_first() -> None:
    items, targets = data()
    network = toy()
    before = network.first.weight.detach().clone()
    train(network, items, targets, ClassLoss(), Training(epochs=1, gradual_unfreezing=True), FitContext(device="cpu"))
    assert torch.equal(before, network.first.weight)
    train(network, items, targets, ClassLoss(), Training(epochs=2, gradual_unfreezing=True), FitContext(device="cpu"))
    assert not torch.equal(before, network.first.weight)


def test_schedules() -> None:
    assert learning_rate_factor(0.5, Training(schedule="constant", warmup_ratio=0.0)) == 1.0
    assert learning_rate_factor(1.0, Training(schedule="linear", warmup_ratio=0.1)) == pytest.approx(0.0)
    assert learning_rate_factor(0.1, Training(schedule="slanted", warmup_ratio=0.1)) == pytest.approx(1.0)
    assert learning_rate_factor(1.0, Training(schedule="slanted", warmup_ratio=0.1)) == pytest.approx(1 / 32)


def test_losses_by_hand() -> None:
    scores, targets = torch.tensor([[0.0, 0.0], [0.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    half = torch.log(torch.tensor(2.0))
    assert ClassLoss()(scores, targets) == pytest.approx(half)
    assert ClassLoss(focal_gamma=2.0)(scores, targets) == pytest.approx(half / 4)  # (1 - 0.5)^2 of it
    # Weights 3 and 1 on equal losses: the weighted mean is the same loss.
    assert ClassLoss(torch.tensor([3.0, 1.0]))(scores, targets) == pytest.approx(half)
    assert class_weights(torch.tensor([[1.0, 0.0]] * 3 + [[0.0, 1.0]]), "root") == pytest.approx(
        torch.tensor([2 / 3, 2.0]).sqrt()
    )
    assert warmed_weights(torch.tensor([0.5, 2.0]), 0.5).tolist() == [0.75, 1.5]


def test_many_questions_at_once_by_hand() -> None:
    # Three labels and a second head "first label or not"; a label the head does not ask about adds nothing.
    loss = GroupedLoss([[0, 1, 2], [0, 1, -1]], [ClassLoss(), ClassLoss()], [1.0, 0.5])
    scores = torch.zeros(2, 5)
    targets = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    expected = torch.log(torch.tensor(3.0)) + 0.5 * torch.log(torch.tensor(2.0))
    assert loss(scores, targets) == pytest.approx(expected)


def test_mistyped_device_is_a_one_line_error() -> None:
    with pytest.raises(EmoscopeError, match=r"^--device: expected auto, cpu or cuda, found 'gpu'$"):
        device_of("gpu")
