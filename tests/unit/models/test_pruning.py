"""Encoders of another size: fewer layers, a smaller or larger inner size."""

from pathlib import Path

import pytest

from kits.tiny_encoder import make_tiny_encoder

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from emoscope.core.errors import EmoscopeError
from emoscope.models.torch.pretrained import Encoder, load_encoder
from emoscope.models.torch.pruning import prune_ffn, prune_layers, widen_ffn


def test_units_that_do_nothing_are_the_first_to_go(tmp_path: Path) -> None:
    encoder, _ = load_encoder(str(make_tiny_encoder(tmp_path)))
    encoder.eval()
    whole = encoder.model.config.intermediate_size
    with torch.no_grad():
        for layer in encoder.layers:
            layer.output.dense.weight[:, : whole // 2] = 0
    pieces = torch.tensor([[1, 5, 7, 2]])
    before = encoder(pieces, torch.ones_like(pieces))
    prune_ffn(encoder, whole - whole // 2)
    assert torch.allclose(encoder(pieces, torch.ones_like(pieces)), before, atol=1e-6)
    encoder.save(tmp_path / "narrow")
    assert encoder.model.config.intermediate_size == whole - whole // 2


def test_more_units_than_there_are_cannot_be_kept(tmp_path: Path) -> None:
    encoder, _ = load_encoder(str(make_tiny_encoder(tmp_path)))
    with pytest.raises(EmoscopeError, match="ffn_size: expected 1 to"):
        prune_ffn(encoder, 100_000)


def test_new_units_change_nothing_until_they_learn(tmp_path: Path) -> None:
    encoder, _ = load_encoder(str(make_tiny_encoder(tmp_path)))
    encoder.eval()
    size = encoder.model.config.intermediate_size
    pieces = torch.tensor([[1, 5, 7, 2]])
    before = encoder(pieces, torch.ones_like(pieces))
    widen_ffn(encoder, size + 16)
    after = encoder(pieces, torch.ones_like(pieces))
    assert torch.allclose(after, before, atol=1e-6)
    after[..., 0].sum().backward()
    outgoing = encoder.layers[0].output.dense.weight
    assert outgoing.shape[1] == encoder.model.config.intermediate_size == size + 16
    assert outgoing.grad[:, size:].abs().sum() > 0
    with pytest.raises(EmoscopeError, match="ffn_size: expected"):
        widen_ffn(encoder, size)


def marked(tmp_path: Path, layers: int) -> Encoder:
    """An encoder whose layers say which they were."""
    encoder, _ = load_encoder(str(make_tiny_encoder(tmp_path, layers=layers)))
    with torch.no_grad():
        for number, layer in enumerate(encoder.layers):
            layer.output.dense.bias[:] = number
    return encoder


def kept(encoder: Encoder) -> list[float]:
    return [layer.output.dense.bias[0].item() for layer in encoder.layers]


def test_layers_are_thinned_out_evenly(tmp_path: Path) -> None:
    encoder = marked(tmp_path, 6)
    prune_layers(encoder, 4)
    assert kept(encoder) == [0, 2, 3, 5]
    pieces = torch.tensor([[1, 5, 7, 2]])
    encoder.eval()
    before = encoder(pieces, torch.ones_like(pieces))
    encoder.save(tmp_path / "thin")
    assert encoder.model.config.num_hidden_layers == 4
    again = transformers.AutoModel.from_pretrained(tmp_path / "thin").eval()
    assert torch.allclose(again(pieces).last_hidden_state, before, atol=1e-6)


def test_one_layer_is_the_last_and_all_layers_stay(tmp_path: Path) -> None:
    encoder = marked(tmp_path, 3)
    prune_layers(encoder, 3)
    assert kept(encoder) == [0, 1, 2]
    prune_layers(encoder, 1)
    assert kept(encoder) == [2]
    with pytest.raises(EmoscopeError, match="num_layers: expected 1 to 1, found 2"):
        prune_layers(encoder, 2)
