"""The causal language model: shapes, causality, hand-computed numbers, learning, and going on after a kill."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from emoscope.core.errors import EmoscopeError
from emoscope.models.block import FitContext
from emoscope.models.torch.checkpoint import Epoch, TrainingState
from emoscope.models.torch.language_model import (
    Dropouts,
    DroppedLSTM,
    LanguageEncoder,
    LanguageModel,
    LockedDropout,
    discriminative_groups,
)
from emoscope.models.torch.language_training import (
    LanguageTrainer,
    LanguageTraining,
    token_rows,
)

NONE = Dropouts().times(0)
CPU = FitContext(seed=1, device="cpu")


def model(words: int = 8, dropouts: Dropouts = NONE, layers: int = 2) -> LanguageModel:
    torch.manual_seed(0)
    return LanguageModel(LanguageEncoder(words, 6, 10, layers, dropouts))


def counting() -> list[list[int]]:
    """After each number comes the next, after 7 comes 1."""
    return [[1 + (start + step) % 7 for step in range(14)] for start in range(20)]


def test_shapes_and_ends() -> None:
    scores, states, ends = model()(torch.tensor([[1, 2, 3], [4, 5, 6]]))
    assert scores.shape == (2, 3, 8)
    assert states.shape == (2, 3, 6)
    assert [hidden.shape for hidden, _ in ends] == [(1, 2, 10), (1, 2, 6)]


def test_position_does_not_see_later_ones() -> None:
    made = model().eval()
    one, other = torch.tensor([[1, 2, 3, 4]]), torch.tensor([[1, 2, 5, 6]])
    assert torch.equal(made(one)[0][:, :2], made(other)[0][:, :2])
    assert not torch.allclose(made(one)[0][:, 2:], made(other)[0][:, 2:])


def test_the_state_carries_over_from_window_to_window() -> None:
    made = model().eval()
    row = torch.tensor([[1, 2, 3, 4, 5, 6]])
    whole = made(row)[0]
    first, _, ends = made(row[:, :3])
    second = made(row[:, 3:], ends)[0]
    assert torch.allclose(whole, torch.cat([first, second], 1), atol=1e-6)


def test_a_layer_without_dropout_is_torch_s_own_lstm() -> None:
    layer, known = DroppedLSTM(3, 4, 0.5).eval(), torch.nn.LSTM(3, 4, batch_first=True)
    with torch.no_grad():
        known.weight_ih_l0.copy_(layer.input_weights)
        known.weight_hh_l0.copy_(layer.recurrent_weights)
        known.bias_ih_l0.copy_(layer.input_bias)
        known.bias_hh_l0.copy_(layer.recurrent_bias)
    states = torch.randn(2, 5, 3)
    assert torch.allclose(layer(states)[0], known(states)[0], atol=1e-6)


def test_recurrent_weights_are_dropped_in_training_only() -> None:
    layer, states = DroppedLSTM(3, 4, 0.5), torch.randn(1, 6, 3)
    torch.manual_seed(0)
    assert not torch.allclose(layer(states)[0], layer(states)[0])
    layer.eval()
    assert torch.equal(layer(states)[0], layer(states)[0])


def test_locked_dropout_leaves_out_the_same_features_everywhere() -> None:
    torch.manual_seed(0)
    dropped = LockedDropout(0.5)(torch.ones(3, 7, 20))
    assert torch.equal(dropped, dropped[:, :1].expand_as(dropped))
    assert set(dropped.unique().tolist()) == {0.0, 2.0}
    assert not torch.equal(dropped[0], dropped[1])


def test_the_softmax_is_tied_to_the_embedding() -> None:
    made = model()
    names = [name for name, weights in made.named_parameters() if weights.shape == (8, 6)]
    assert names == ["encoder.embedding"]


def perplexity(made: LanguageModel, texts: list[list[int]]) -> float:
    tokens = torch.tensor([[number for text in texts for number in text]])
    with torch.inference_mode():
        logits = made.eval()(tokens[:, :-1])[0]
    return float(torch.nn.functional.cross_entropy(logits[0], tokens[0, 1:]).exp())


def test_an_untrained_uniform_model_hesitates_between_all_words() -> None:
    made = model()
    with torch.no_grad():
        made.encoder.embedding.zero_()
    # All scores are 0, so each of the 8 words has probability 1/8.
    assert perplexity(made, counting()) == pytest.approx(8.0)


def test_it_learns_to_count() -> None:
    made = model()
    plan = LanguageTraining(epochs=12, batch_size=4, bptt=10, learning_rate=2e-2, alpha=0, beta=0)
    curve = LanguageTrainer(made, counting(), plan, CPU).run()
    assert [epoch.epoch for epoch in curve] == list(range(1, 13))
    assert curve[0].loss > 1.5 > curve[-1].loss
    # Only the places where one text ends and another begins cannot be known: 1 of 14.
    assert perplexity(made, counting()[:1]) < 1.5


def test_the_seed_decides() -> None:
    plan = LanguageTraining(epochs=1, batch_size=4, bptt=10)
    first, second, other = model(dropouts=Dropouts()), model(dropouts=Dropouts()), model(dropouts=Dropouts())
    for made, seed in ((first, 1), (second, 1), (other, 2)):
        LanguageTrainer(made, counting(), plan, replace(CPU, seed=seed)).run()
    assert torch.equal(first.bias, second.bias)
    assert not torch.equal(first.bias, other.bias)


def test_killed_training_resumes_to_the_same_result(tmp_path: Path) -> None:
    plan = LanguageTraining(epochs=3, batch_size=4, bptt=10)
    straight = model(dropouts=Dropouts())
    curve = LanguageTrainer(straight, counting(), plan, CPU).run()

    killed = model(dropouts=Dropouts())

    def kill(message: str, done: float) -> None:
        if done > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LanguageTrainer(killed, counting(), plan, replace(CPU, checkpoints=tmp_path, progress=kill)).run()
    assert (tmp_path / "progress.json").is_file()
    resumed = model(dropouts=Dropouts())
    again = LanguageTrainer(resumed, counting(), plan, replace(CPU, checkpoints=tmp_path)).run()
    assert again == curve
    for name, value in straight.state_dict().items():
        assert torch.equal(value, resumed.state_dict()[name]), name


def test_a_checkpoint_of_other_settings_is_not_gone_on_from(tmp_path: Path) -> None:
    def state(folder: Path | None, epochs: int) -> TrainingState:
        network = torch.nn.Linear(2, 1)
        return TrainingState(network, torch.optim.AdamW(network.parameters()), folder, {"epochs": epochs})

    first, again, other, without = state(tmp_path, 2), state(tmp_path, 2), state(tmp_path, 3), state(None, 2)
    first.finish_epoch(0.5, None)
    for each in (again, other, without):
        each.resume(torch.device("cpu"))
    assert again.curve == [Epoch(1, 0.5)]
    assert all(torch.equal(*pair) for pair in zip(again.model.parameters(), first.model.parameters(), strict=True))
    assert other.curve == without.curve == []


def test_rows_hold_the_stream_in_order() -> None:
    rows = token_rows([[1, 2, 3], [4, 5, 6, 7]], 2, None)
    assert rows.tolist() == [[1, 2, 3], [4, 5, 6]]
    drawn = token_rows([[1, 2], [3, 4]], 1, np.random.default_rng(1)).tolist()
    assert drawn in ([[1, 2, 3, 4]], [[3, 4, 1, 2]])


def test_no_text_is_a_clear_line() -> None:
    with pytest.raises(EmoscopeError, match="needs text"):
        LanguageTrainer(model(), [], LanguageTraining(), CPU).run()


def test_lower_layers_learn_slower() -> None:
    made = model()
    groups = discriminative_groups(made.stages(), 0.26, 2.6)
    assert [group["lr"] for group in groups] == pytest.approx([0.26, 0.1, 0.1 / 2.6, 0.1 / 2.6**2])
    held = [weights for group in groups for weights in group["params"]]
    assert {id(weights) for weights in held} == {id(weights) for weights in made.parameters()}
    assert len(held) == len(list(made.parameters()))


def test_dropouts_scale_and_stay_below_one() -> None:
    assert Dropouts().times(0.5).weights == pytest.approx(0.25)
    assert max(Dropouts().times(10).weights, Dropouts().times(10).inputs) < 1
    assert math.isclose(NONE.inputs, 0)
