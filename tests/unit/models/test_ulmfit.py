"""ULMFiT: how text is laid out, what is learnt from text alone, and the classifier on top."""

from pathlib import Path

import pytest

from kits.auxiliary_files import make_resources
from kits.word_networks import LABELS, toy

torch = pytest.importorskip("torch")

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block
from emoscope.models.torch.classifier import NeuralClassifier
from emoscope.models.torch.network import NETWORKS
from emoscope.models.torch.training import Training, predict
from emoscope.models.torch.ulmfit import PatientBatchNorm, UlmFit

CPU = FitContext(device="cpu")
SMALL = {
    "embedding_size": 8,
    "hidden_size": 12,
    "num_layers": 2,
    "dense_size": 10,
    "dropout": 0.1,
    "min_count": 1,
    "pretraining_text": 0,
    "tune_epochs": 2,
    "lm_batch_size": 4,
}


def prepared(**settings: object) -> UlmFit:
    torch.manual_seed(0)
    network = NETWORKS["ulmfit"](len(LABELS), **{**SMALL, **settings})
    network.prepare(toy()[0], CPU)
    assert isinstance(network, UlmFit)
    return network.eval()


def test_turns_are_laid_out_as_the_language_model_reads_them() -> None:
    network = prepared()
    words = network.vocabulary.encode(["well", "you", "know"])
    example = Example(Dialogue.of(["well you", "know"]), 1)
    assert network.encode([example]) == [{"turns": [[2, words[0], words[1], 2, words[2], 2]], "truncated": False}]
    backward = prepared(backward=True)
    assert backward.encode([example])[0]["turns"] == [[2, words[2], 2, words[1], words[0], 2]]


def test_a_long_row_loses_its_beginning() -> None:
    network = prepared(max_length=4)
    (item,) = network.encode([Example(Dialogue.of(["well you know it is a day"]), 0)])
    assert item["turns"] == [[*network.vocabulary.encode(["is", "a", "day"]), 2]]


@pytest.mark.parametrize(("text", "truncated"), [("is a day", False), ("it is a day", True)])
def test_a_row_that_loses_a_word_is_truncated(text: str, truncated: bool) -> None:
    (item,) = prepared(max_length=4).encode([Example(Dialogue.of([text]), 0)])
    assert item["truncated"] is truncated


def test_scores_do_not_depend_on_the_batch() -> None:
    network, examples = prepared(), toy(20)[0]
    items = network.encode(examples)
    together = predict(network, items, torch.device("cpu"))
    alone = torch.cat([predict(network, [item], torch.device("cpu")) for item in items])
    assert together.shape == (20, len(LABELS))
    assert torch.allclose(together, alone, atol=1e-5)


def test_pooling_is_the_last_the_largest_and_the_mean_state() -> None:
    network = prepared()
    batch = network.collate(network.encode([Example(Dialogue.of(["well you know"]), 0)]))
    states, _ = network.encoder(batch["words"])
    pooled = network.pool(states, batch["lengths"])[0]
    by_hand = torch.cat([states[0, -1], states[0].max(0).values, states[0].mean(0)])
    assert torch.allclose(pooled, by_hand, atol=1e-6)


def test_rates_fall_by_2_6_from_stage_to_stage() -> None:
    network = prepared()
    rates = [group["lr"] for group in network.parameter_groups(2.6)]
    # The dense layers, two LSTM layers, the embedding.
    assert rates == pytest.approx([2.6, 1.0, 1 / 2.6, 1 / 2.6**2])
    staged = [id(weights) for stage in network.stages() for weights in stage]
    assert sorted(staged) == sorted(id(weights) for weights in network.parameters())


def test_preparation_changes_the_encoder_and_text_from_elsewhere_changes_it_again(tmp_path: Path) -> None:
    resources = FitContext(device="cpu", resources=make_resources(tmp_path))
    examples = toy()[0]
    tables = []
    for tune, general in ((0, 0), (2, 0), (2, 30)):
        torch.manual_seed(0)
        network = UlmFit(2, **{**SMALL, "tune_epochs": tune, "pretraining_text": general, "lm_epochs": 1})
        network.prepare(examples, resources)
        tables.append(network.encoder.embedding.detach())
    assert tables[0].shape == tables[1].shape
    assert not torch.allclose(tables[0], tables[1])
    assert len(tables[2]) > len(tables[1])  # it also knows the words of the tweets


def test_text_from_elsewhere_needs_the_resources() -> None:
    with pytest.raises(EmoscopeError, match="auxiliary"):
        UlmFit(2, **{**SMALL, "pretraining_text": 10}).prepare(toy()[0], CPU)


def test_it_learns_and_is_the_same_after_loading(tmp_path: Path) -> None:
    examples, labels = toy(160)
    plan = Training(epochs=12, batch_size=16, learning_rate=3e-2, schedule="slanted", gradual_unfreezing=True)
    block = NeuralClassifier(LABELS, "ulmfit", SMALL, plan).fit(examples, labels, CPU)
    block.save(tmp_path)
    again = Block.load(tmp_path)
    fresh, wanted = toy(80, seed=5)
    assert (block.predict_proba(fresh) == again.predict_proba(fresh)).all()
    right = sum(found == label for found, label in zip(again.predict(fresh), wanted, strict=True))
    assert right >= 60  # of 80, where chance gives 40


def test_frozen_stages_do_not_move() -> None:
    examples, labels = toy(40)
    plan = Training(epochs=1, batch_size=16, learning_rate=1e-1, gradual_unfreezing=True, weight_decay=0.0)
    network = prepared()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    NeuralClassifier(LABELS, "ulmfit", SMALL, plan).fit_soft(
        examples, [[label == name for name in LABELS] for label in labels], CPU, start=network
    )
    after = network.state_dict()
    assert not torch.equal(before["head.weight"], after["head.weight"])
    for name, value in before.items():
        if name.startswith("encoder."):
            assert torch.equal(value, after[name]), name


def test_batch_normalisation_takes_a_batch_of_one() -> None:
    norm = PatientBatchNorm(2).train()
    assert torch.allclose(norm(torch.tensor([[3.0, 4.0]])), torch.tensor([[3.0, 4.0]]), atol=1e-3)
    assert torch.allclose(
        norm(torch.tensor([[1.0, 0.0], [3.0, 0.0]])), torch.tensor([[-1.0, 0.0], [1.0, 0.0]]), atol=1e-3
    )


def test_no_layers_is_a_clear_line() -> None:
    with pytest.raises(EmoscopeError, match="layers"):
        UlmFit(2, **{**SMALL, "num_layers": 0}).prepare(toy()[0], CPU)
